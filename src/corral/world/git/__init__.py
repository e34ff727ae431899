"""Git, through its own command line. Nothing else starts git, and `command` alone does here.

`refs` works on refs and commits alone; `view` is the way to touch a session's files, and should be
read before doing so; `tree` describes a working tree and reads its git folder.
"""

from corral.world.git.command import GitFailed, version
from corral.world.git.refs import Commit, Git

__all__ = ["Commit", "Git", "GitFailed", "version"]

"""Git, through its own command line. Nothing else starts git, and `command` alone does here.

`refs` has what works on refs and commits alone; `view` is the way to touch a session's files, and
what to read before doing so; `tree` says what a working tree is and reads its git folder.
"""

from corral.world.git.command import GitFailed, version
from corral.world.git.refs import Commit, Git

__all__ = ["Commit", "Git", "GitFailed", "version"]

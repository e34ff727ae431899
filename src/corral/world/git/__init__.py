"""Git, through its own command line. Nothing else starts git.

`refs` has what works on refs and commits alone; `view` is the way to touch a session's files, and
what to read before doing so; `tree` says what a working tree is and reads its git folder.
"""

from corral.world.git.refs import Commit, Git, GitFailed, version

__all__ = ["Commit", "Git", "GitFailed", "version"]

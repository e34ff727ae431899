"""Notice that somebody collects garbage in the repository, and wait until that is over.

`git gc --prune=now` deletes what nothing named when it looked, even if a ref names it by then. It
says that it is at work in a file with its process.
"""

import os
import time
from os.path import join

from corral.world.git.tree import read_plain

_LONGEST_S = 120.0
_LOOK_S = 0.02


def wait_until_over(git_dir: str) -> bool:
    """Wait for the end of the collection that goes on now; False if there is none.

    One that begins later sees what is named now, and is not waited for.
    """
    process = _collector(git_dir)
    if not process:
        return False
    deadline = time.monotonic() + _LONGEST_S
    while _collector(git_dir) == process and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    return True


def stamp(git_dir: str) -> int:
    """Return what is another one after somebody has collected: the file was made and deleted there.

    The same is true of other work of git, so a change means only that somebody may have.
    """
    return os.stat(git_dir).st_mtime_ns


def _collector(git_dir: str) -> int:
    words = (read_plain(join(git_dir, "gc.pid")) or b"").split()
    number = int(words[0]) if words and words[0].isdigit() else 0
    return number if number and os.path.isdir(f"/proc/{number}") else 0

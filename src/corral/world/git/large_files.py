"""Files of Git LFS that a session has added to its own store, copied to the repository's.

A commit has only pointers to them, so without this they would be gone with the session's tree. The
name of each is the hash of its content, which is checked: a session can write anything there.
"""

import hashlib
import os
import re
import tempfile
from os.path import join, lexists

from corral.world.git.tree import open_plain

_NAME = re.compile(r"[0-9a-f]{64}")
_PART = 1 << 20


def bring(own: str, git_dir: str) -> None:
    """Copy the large files of a tree's git folder that the repository does not have."""
    for inside, _, names in os.walk(join(own, "lfs", "objects")):
        for name in filter(_NAME.fullmatch, names):
            folder = join(git_dir, "lfs", "objects", name[:2], name[2:4])
            if not lexists(join(folder, name)):
                _copy(join(inside, name), folder, name)


def _copy(path: str, folder: str, name: str) -> None:
    source = open_plain(path)
    if source is None:
        return
    os.makedirs(folder, exist_ok=True)
    found = hashlib.sha256()
    file, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    with source, open(file, "wb") as target:
        for part in iter(lambda: source.read(_PART), b""):
            found.update(part)
            target.write(part)
        target.flush()
        os.fsync(file)
    if found.hexdigest() == name:
        os.replace(temporary, join(folder, name))
    else:
        os.unlink(temporary)

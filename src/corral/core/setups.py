"""The key under which the result of a set-up is kept and given to the next tree.

Commands that only install dependencies (`core/installs`) depend on lock files and the like. All
others may build or copy something from the sources, so their result is valid for exactly one tree:
tests that use a stale build would say nothing about the work.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from corral.core import paths
from corral.core.installs import TreeFiles, is_manifest, only_installs

_FORM = 2  # greater when the rule changes: what an older rule kept is not used


def key(
    setup: Sequence[Sequence[str]],
    locks: Sequence[str],
    tree: str,
    files: Mapping[str, str],
    read: Callable[[str], str],
) -> str:
    """Return the key of a set-up on a tree with these files (path to blob).

    `locks` are patterns of the files that alone decide, if a person says so; `read` returns the
    text of a file.
    """
    if locks:
        inputs = [path for path in files if any(paths.matches(lock, path) for lock in locks)]
    elif all(only_installs(command, TreeFiles(files, read)) for command in setup):
        inputs = [path for path in files if is_manifest(path)]
    else:
        inputs = []
    decides: object = {path: files[path] for path in sorted(inputs)} if inputs else tree
    asked = [_FORM, [list(command) for command in setup], list(locks), decides]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]

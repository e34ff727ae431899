"""Checks out files into a tree and removes everything else.

Both use our own index of the tree, never the session's: git assumes that a file matches the index
if its times and size do, so a session could pass a changed file on to the next one. Our index was
correct when we checked out the file, and the time of the last change of a file's data or name
cannot be set back.
"""

import os
import shutil
from collections.abc import Sequence
from os.path import exists, join

from corral.core.errors import Refused
from corral.world.git.tree import Tree
from corral.world.git.view import Desk
from corral.world.keep import nested
from corral.world.keep.entries import GITLINK, of_index
from corral.world.keep.snapshot import paths_in
from corral.world.trees import trash


def check_out(tree: Tree, desk: Desk, commit: str) -> None:
    """Write the files of a commit; unchanged ones are skipped."""
    refuse_link(tree)
    desk.run("read-tree", "--reset", "-u", commit)


def clean(tree: Tree, desk: Desk, keep: Sequence[str]) -> None:
    """Remove every file that we did not check out, ignored or not, except the paths to keep."""
    refuse_link(tree)
    kept = [word for path in keep for word in ("-e", f"/{path.strip('/')}")]
    desk.run("clean", "-ffdxq", *kept)


def empty_nested(tree: Tree, desk: Desk, keep: Sequence[str]) -> None:
    """Remove the repositories in a cleaned tree; a submodule leaves its folder, as git does."""
    left_in = frozenset(os.fsencode(path.strip("/")) for path in keep)
    inside = list(nested.folders(paths_in(tree.path, left_in)))
    if not inside:
        return
    links = {entry.path for entry in of_index(desk) if entry.mode == GITLINK}
    for path in inside:
        folder = join(tree.path, os.fsdecode(path))
        trash.delete(folder if path in links else join(folder, ".git"))
        os.makedirs(folder, exist_ok=True)


def hand_over(tree: Tree, desk: Desk) -> None:
    """Give the session its own copy of our index."""
    source = join(desk.folder, "index")
    if exists(source):
        target = join(tree.git_dir, "index")
        shutil.copy2(source, f"{target}.new")
        os.replace(f"{target}.new", target)


def refuse_link(tree: Tree) -> None:
    if not tree.exists:
        raise Refused(
            f"{tree.path!r} is no longer a folder of its own; nothing was touched",
            "inspect it, and remove it by hand",
        )

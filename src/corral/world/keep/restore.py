"""Restores kept work in a new working tree: HEAD, index and files as they were."""

import os
import shutil
from os.path import abspath, dirname, exists, join

from corral.core.errors import BadInput, Refused
from corral.core.refs import branch_ref
from corral.world.git.view import Desk, View
from corral.world.git.worktrees import add, forget, locked
from corral.world.keep import entries
from corral.world.keep.entries import IndexEntry
from corral.world.keep.kept import Kept


def restore(plain: View, raw: View, kept: Kept, to: str, branch: str) -> str:
    path = abspath(to)
    if exists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise Refused(f"{path!r} exists already; nothing was restored", "name a new folder")
    record = kept.record
    if branch and raw.commit(branch_ref(branch)):
        raise Refused(f"the branch {branch!r} exists already; nothing was restored")
    if not exists(dirname(path)):
        raise BadInput(f"there is no folder {dirname(path)!r}")
    with locked(raw.git_dir):
        own = add(raw.git_dir, path, record.head or kept.commit, held=False)
    try:
        with raw.desk() as desk:
            Desk(raw, desk.folder, path).run("read-tree", "--reset", "-u", kept.commit)
        _put_index(plain, kept, own, path)
        _put_head(plain, kept, own, branch)
    except BaseException:
        forget(own)
        shutil.rmtree(path, ignore_errors=True)
        raise
    return path


def _put_index(plain: View, kept: Kept, own: str, path: str) -> None:
    record = kept.record
    with plain.desk() as empty:
        desk = Desk(plain, empty.folder, path)
        desk.run("read-tree", record.index or record.head or kept.commit)
        if record.unmerged:
            unmerged = [
                IndexEntry(entry.mode, entry.blob, entry.path[2:], int(entry.path[:1]))
                for entry in entries.of_tree(plain, record.unmerged)
            ]
            entries.put(desk, "index", unmerged)
        desk.run("update-index", "-q", "--unmerged", "--refresh", fine=(0, 1))
        shutil.copy2(join(desk.folder, "index"), join(own, "index"))


def _put_head(plain: View, kept: Kept, own: str, branch: str) -> None:
    record = kept.record
    if branch and record.head:
        plain.move(branch_ref(branch), record.head, None)
    # Without any commit, HEAD can only be an unborn branch.
    name = branch or ("" if record.head else record.on or "restored")
    if name:
        with open(join(own, "HEAD"), "w", encoding="utf-8") as file:
            file.write(f"ref: {branch_ref(name)}\n")

"""The changes of a session so far, committed or not, compared with where it began.

They are read with a view (`world/git/view`), which runs nothing that a session could have
configured, and only up to a limit, because a session may write as much as it likes.
"""

import os

from msgspec import Struct

from corral.core.log.state import Session
from corral.world.git.tree import Tree, read_branch, read_head
from corral.world.git.view import View
from corral.world.repository import Repository
from corral.world.trees import Trees
from corral.world.trees.unsaved import snapshot, unsaved

_LISTED = 256 << 10  # bytes of the list of files
# A session's files must not choose programs, nor how much is compared at once.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--submodule=short")
_SETTINGS = ("-c", "core.bigFileThreshold=1m", "-c", "diff.algorithm=histogram")


class ChangedFile(Struct, frozen=True):
    path: str
    added: int | None  # lines; None for a binary file
    deleted: int | None


class Changes(Struct, frozen=True):
    base: str
    commit: str  # the session's newest; empty if there is none
    uncommitted: int  # number of files that differ from that commit
    files: list[ChangedFile]
    patch: str
    cut: bool  # there is more


def changes(repository: Repository, folder: str | None, session: Session, most: int) -> Changes:
    """Return the changes of a session; `folder` is where the working trees are."""
    view = View(os.path.realpath(repository.git_dir))
    trees = Trees(repository, place=folder)
    known = trees.find(session.id)
    tree = known if known and known.exists else None
    borrow = tree.borrowed if tree else ()
    base, commit = view.commits(session.base, _newest(view, session, tree), borrow=borrow)
    if base is None or commit is None:
        return Changes(session.base, "", 0, [], "", cut=False)
    if tree is not None:
        trees.fetch(tree, commit)
    after, uncommitted = commit, 0
    if tree is not None and session.live:
        found = unsaved(view, tree, commit)
        uncommitted = len(found.paths)
        after = snapshot(view, tree, commit, found) if found.paths else commit
    compared = (*_SETTINGS, "diff", *_PLAIN)
    listed = view.first(_LISTED, *compared, "--numstat", "-z", base, after, "--")
    patch = view.first(most + 1, *compared, base, after, "--")
    return Changes(
        base=base,
        commit=commit,
        uncommitted=uncommitted,
        files=_files(listed),
        patch=patch[:most].decode("utf-8", "replace"),
        cut=len(patch) > most or len(listed) >= _LISTED,
    )


def _newest(view: View, session: Session, tree: Tree | None) -> str:
    """Return the commit that a session is at or has ended with; `-` if there is none."""
    if tree is None or not session.live:
        return session.commit or read_branch(view.git_dir, session.branch) or "-"
    head = read_head(tree.git_dir)
    source = tree.with_refs(view.git_dir)
    return (read_branch(source, head.branch) if head.branch else head.commit) or "-"


def _files(listed: bytes) -> list[ChangedFile]:
    found = []
    for entry in listed.split(b"\0")[:-1]:  # the last one is empty, or was cut off
        added, deleted, path = entry.split(b"\t", 2)
        name = path.decode("utf-8", "replace")
        found.append(ChangedFile(name, _count(added), _count(deleted)))
    return found


def _count(said: bytes) -> int | None:
    return int(said) if said.isdigit() else None

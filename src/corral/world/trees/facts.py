"""What a session has done, from git and the disk alone, whatever state its tree is in."""

import os
from collections.abc import Sequence

from msgspec import Struct

from corral.world.git.command import GitFailed
from corral.world.git.tree import Tree, read_branch, read_head
from corral.world.git.view import View
from corral.world.keep.entries import GITLINK, names
from corral.world.keep.nested import is_known
from corral.world.keep.snapshot import STATUS

_SHOWN = 200


class TreeFacts(Struct, frozen=True):
    exists: bool
    head_branch: str  # empty: detached or unreadable
    head_commit: str | None
    branch_commit: str | None  # of the branch that the session was given
    dirty: tuple[str, ...]  # the first uncommitted paths
    changed: tuple[str, ...]  # between the base and the branch
    commits: int  # beyond the base
    follows_base: bool  # whether the base is in the branch's history
    lost_links: tuple[str, ...] = ()  # submodules at commits that are nowhere else


def facts(view: View, tree: Tree) -> TreeFacts:
    borrow = tree.borrowed
    source = tree.with_refs(view.git_dir)
    head = read_head(tree.git_dir)
    at = read_branch(source, head.branch) if head.branch else head.commit
    head_commit, branch_commit = view.commits(
        at or "-", read_branch(source, tree.branch) or "-", borrow=borrow
    )
    changed, links, commits, follows = _beyond(view, tree, branch_commit, borrow)
    return TreeFacts(
        exists=tree.exists,
        head_branch=head.branch,
        head_commit=head_commit,
        branch_commit=branch_commit,
        dirty=_dirty(view, tree, head_commit) if tree.exists else (),
        changed=changed,
        commits=commits,
        follows_base=follows,
        lost_links=tuple(
            os.fsdecode(path) for path, commit in links if not is_known(view, tree, path, commit)
        ),
    )


def untracked(view: View, tree: Tree) -> tuple[str, ...]:
    """Return the files and folders of a tree that git neither tracks nor ignores."""
    lines = _status(view, tree, read_head(tree.git_dir).commit or None)
    return names(b"\0".join(line[3:] for line in lines if line.startswith(b"?? ")))


def _dirty(view: View, tree: Tree, head: str | None) -> tuple[str, ...]:
    try:
        lines = _status(view, tree, head)
    except GitFailed:
        return (".git",)  # an unreadable index counts as a change
    return names(b"\0".join(line[3:] for line in lines[:_SHOWN]))


def _status(view: View, tree: Tree, head: str | None) -> list[bytes]:
    with view.desk(head, tree) as desk:
        return desk.run(*STATUS, "-unormal").split(b"\0")


def _beyond(
    view: View, tree: Tree, commit: str | None, borrow: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[bytes, str]], int, bool]:
    if commit is None:
        return (), [], 0, False
    both = f"{tree.base}...{commit}"
    lost, new = view.run("rev-list", "--count", "--left-right", both, borrow=borrow).split()
    options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames")
    said = view.run("diff-tree", *options, tree.base, commit, borrow=borrow).split(b"\0")
    changes = list(zip(said[:-1:2], said[1::2], strict=True))
    paths = tuple(os.fsdecode(path) for _, path in changes)
    links = [(path, about) for about, path in changes if about.split()[1] == GITLINK]
    return (
        paths,
        [(path, about.split()[3].decode()) for path, about in links],
        int(new),
        not int(lost),
    )

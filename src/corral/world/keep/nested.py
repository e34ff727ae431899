"""Repositories inside a session's tree: submodules, clones, worktrees, and what `git init` makes.

Git does not look into them, so they are read here, with our own configuration as everything else.
What their remote has can be had again. If there is more (a commit that no remote-tracking branch
has, or an uncommitted file), all files that they do not ignore are kept as files of the tree, and
the commits as a bundle among them.
"""

import os
from collections.abc import Iterable, Iterator
from os.path import dirname, isdir, islink, join, normpath, realpath

from msgspec import Struct

from corral.world.git.tree import (
    Tree,
    mentioned,
    packed_tags,
    read_branch,
    read_head,
    read_plain,
    read_refs,
)
from corral.world.git.view import Desk, View

BUNDLE = b"corral-commits.bundle"
_GIT = b"/.git"
_NOT_A_CHANGE = b"!! "


class Inner(Struct, frozen=True):
    """A repository in a tree."""

    path: bytes
    folder: str
    git_dir: str  # of its working tree; where nothing is if that is not in the session's hands
    common: str

    @property
    def objects(self) -> tuple[str, ...]:
        store = join(self.common, "objects")
        return (store,) if isdir(store) and not islink(store) else ()


class Nested(Struct, frozen=True):
    """What is in a repository in a tree that would be lost with it."""

    path: bytes
    head: str | None
    ignored: frozenset[bytes]  # paths of the tree
    unsaved: bool
    bundle: bytes  # of the commits that its remote does not have


def inner(tree: Tree, path: bytes) -> Inner:
    """Find the git folder of a repository in a tree; it must be in that tree or in its git folder.

    One that is elsewhere stays when the tree goes.
    """
    folder = join(tree.path, os.fsdecode(path))
    link = join(folder, ".git")
    own = link
    if not isdir(link):
        said = os.fsdecode((read_plain(link, 4096) or b"").removeprefix(b"gitdir: ").strip())
        found = normpath(join(folder, said)) if said else link
        own = found if _is_below(found, tree.git_dir, tree.path) else link
    common = os.fsdecode((read_plain(join(own, "commondir"), 4096) or b"").strip())
    shared = normpath(join(own, common)) if common else own
    if not _is_below(shared, tree.git_dir, tree.path):
        shared = own
    return Inner(path, folder, own, shared)


def look(tree: Tree, path: bytes, raw: View, plain: View, status: tuple[str, ...]) -> Nested:
    """Say what of a repository in a tree would be lost."""
    found = inner(tree, path)
    at = read_head(found.git_dir)
    named = read_branch(found.common, at.branch) if at.branch else at.commit
    head = raw.commit(named or "-", found.objects)
    seen = Tree(found.folder, tree.name, "worktree", "", "", found.git_dir)
    with plain.desk(head, seen) as desk:
        borrowing = Desk(plain, desk.folder, found.folder, found.objects)
        said = borrowing.run(*status, "-uall", "--ignored=matching")
    lines = [line for line in said.split(b"\0") if line]
    ignored = (line[3:].rstrip(b"/") for line in lines if line.startswith(_NOT_A_CHANGE))
    # The commits of a worktree of the tree's own repository are kept with that.
    bundle = b"" if found.common == tree.git_dir else _bundle(raw, found)
    changed = any(not line.startswith(_NOT_A_CHANGE) for line in lines)
    inside = frozenset(os.path.join(path, one) for one in ignored)
    return Nested(path, head, inside, changed or bool(bundle), bundle)


def is_known(view: View, tree: Tree, path: bytes, commit: str) -> bool:
    """Say whether others can get the commit of a submodule, as far as can be told without asking.

    They can if the user's own clone of a submodule has it, or if it came from a remote.
    """
    if any(view.commit(commit, (store,)) for store in _stores(join(view.git_dir, "modules"))):
        return True
    found = inner(tree, path)
    known = [*found.objects, *_stores(join(tree.git_dir, "modules"))]
    return any(_has_published(view, dirname(store), commit) for store in known)


def _has_published(view: View, git_dir: str, commit: str) -> bool:
    """Say whether a commit of a git folder came from a remote, as far as that folder knows."""
    store = (join(git_dir, "objects"),)
    if view.commit(commit, store) is None:
        return False
    known = [f"^{one}" for one in view.commits(*_published(git_dir), borrow=store) if one]
    asked = ("rev-list", "-n1", "--ignore-missing", "--stdin")
    return not view.run(*asked, stdin=_lines([commit, *known]), borrow=store).strip()


def _stores(modules: str) -> Iterator[str]:
    """Yield the object stores of the submodules of a git folder, whose names may have slashes."""
    for inside, folders, _ in os.walk(modules):
        if "objects" in folders:
            yield join(inside, "objects")
            folders[:] = ["modules"] if "modules" in folders else []


def folders(paths: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the folders of the repositories among the paths of a tree."""
    yield from (path.removesuffix(_GIT) for path in paths if path.endswith(_GIT))


def _published(git_dir: str) -> list[str]:
    """Return what came from a remote: a session's own tags and branches did not."""
    refs = read_refs(git_dir)
    remote = {commit for ref, commit in refs.items() if ref.startswith("refs/remotes/")}
    said = b"".join(read_plain(join(git_dir, name)) or b"" for name in ("FETCH_HEAD", "shallow"))
    fetched = {line.split()[0].decode() for line in said.splitlines() if line.strip()}
    return sorted(remote | fetched | packed_tags(git_dir))


def _bundle(view: View, found: Inner) -> bytes:
    """Return the commits that no remote has, as a bundle that `git fetch` takes; empty if none."""
    store = found.objects
    there = view.commits(*sorted(mentioned(found.common)), borrow=store)
    known = view.commits(*_published(found.common), borrow=store)
    asked = _lines([*{one for one in there if one}, *{f"^{one}" for one in known if one}])
    said = view.run(
        *("rev-list", "--parents", "--boundary", "--stdin"), stdin=asked, borrow=store
    ).decode()
    listed = [line.split() for line in said.splitlines()]
    new = [line for line in listed if not line[0].startswith("-")]
    if not new:
        return b""
    parents = {parent for _, *above in new for parent in above}
    tips = [commit for commit, *_ in new if commit not in parents]
    before = [line[0] for line in listed if line[0].startswith("-")]
    heads = [f"{commit} refs/kept/{number}" for number, commit in enumerate(tips, 1)]
    options = ("--revs", "--thin", "--stdout", "--quiet")
    pack = view.run("pack-objects", *options, stdin=asked, borrow=store)
    return _lines(["# v2 git bundle", *(f"{one} " for one in before), *heads, ""]) + pack


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode()


def _is_below(path: str, *tops: str) -> bool:
    real = realpath(path)
    return any(real.startswith(realpath(top) + os.sep) or real == realpath(top) for top in tops)

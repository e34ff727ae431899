"""The git folder of a session's tree: refs, settings and hooks of its own, and borrowed objects.

This is what `git clone --shared --separate-git-dir` creates, with copies of what a session expects
to find: see docs/trees.md. The folder is beside the trees and not in one, so that a session which
deletes its `.git` loses no commit. A ref holds the base while the tree is in use, because git does
not know who borrows objects.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os.path import basename, dirname, isdir, islink, join, normpath, realpath

from corral.core.refs import BASE_REFS, branch_ref, is_ours
from corral.core.session.verdict import REPORTS
from corral.world.git.command import SAFE, own_environment, run
from corral.world.git.tree import Tree, read_head, read_plain, read_ref, read_refs
from corral.world.git.view import as_config, configuration, put
from corral.world.git.worktrees import remove
from corral.world.repository import POINTER
from corral.world.trees import trash

_FOLDER = "git"  # beside the trees
# What describes the user's checkout, and what would start programs that outlive a command.
_NOT_COPIED = ("core.bare", "core.worktree", "core.fsmonitor", "extensions.worktreeconfig")
_NOT_COPIED_BELOW = ("core.sparsecheckout", "gc.", "maintenance.")
_SPECIAL = re.compile(r"[\\*?\[ ]")  # in a line of an exclude file
_OURS = [
    ("core.bare", "false"),
    ("gc.auto", "0"),  # the deacon tidies up
    ("maintenance.auto", "false"),
]


def hold_base(git_dir: str, tree: Tree) -> None:
    """Point a ref at the base of a tree. Nobody else writes it, so it is a file without a lock."""
    path = _base_file(git_dir, tree)
    os.makedirs(dirname(path), exist_ok=True)
    put(path, f"{tree.base}\n")


def let_go_of_base(git_dir: str, tree: Tree) -> None:
    """Delete that ref; one that git has packed since then takes git to delete."""
    ref, path = BASE_REFS + basename(tree.path), _base_file(git_dir, tree)
    remove(path)
    with suppress(OSError):
        os.rmdir(dirname(path))
    if read_ref(git_dir, ref):
        run(
            ["git", f"--git-dir={git_dir}", *SAFE, "update-ref", "-d", ref],
            git_dir,
            own_environment(),
        )


def _base_file(git_dir: str, tree: Tree) -> str:
    return join(git_dir, BASE_REFS + basename(tree.path))


def place_of(tree: str) -> str:
    """Return where the git folder of a tree is, by the path of the tree."""
    return join(dirname(tree), _FOLDER, basename(tree))


def forget(own: str) -> None:
    """Delete the git folder of a tree; the last one also deletes the folder of all of them."""
    folder = dirname(own)
    trash.remove(own, place=dirname(folder))  # where a sweep finds what a kill leaves
    with suppress(OSError):
        os.rmdir(folder)


def found(git_dir: str, place: str) -> Iterator[Tree]:
    """Yield the trees of a repository by what is on disk, even if nothing lists them any more."""
    folder = join(place, _FOLDER)
    for name in sorted(os.listdir(folder)) if isdir(folder) else ():
        own, path = join(folder, name), join(place, name)
        if read_plain(join(own, POINTER)) == os.fsencode(f"{git_dir}\n"):
            base = read_ref(git_dir, f"{BASE_REFS}{name}") or ""
            yield Tree(path, name, "clone", read_head(own).branch, base, own)


def lay_out(git_dir: str, tree: Tree, commit: str, config: str) -> None:
    """Make the git folder of a tree from nothing, with its branch at a commit."""
    draft = f"{tree.git_dir}.new"
    remove(draft)
    for folder in ("objects/info", "info", "refs"):
        os.makedirs(join(draft, folder))
    _connect(git_dir, draft)
    put(join(draft, "config"), config)
    put(join(draft, "HEAD"), f"ref: {branch_ref(tree.branch)}\n")
    put(join(draft, "packed-refs"), "".join(_refs(git_dir, tree)))
    put_branch(draft, tree.branch, commit)
    excluded = os.fsdecode(read_plain(join(git_dir, "info", "exclude")) or b"")
    ours = "".join(f"/{name}\n" for name in sorted(REPORTS))
    put(join(draft, "info", "exclude"), f"{excluded.rstrip()}\n{ours}".lstrip())
    for name in ("info/attributes", "shallow"):
        if (content := read_plain(join(git_dir, name))) is not None:
            put(join(draft, name), os.fsdecode(content))
    _copy_hooks(join(git_dir, "hooks"), join(draft, "hooks"))
    _copy_defaults(join(git_dir, "refs", "remotes"), join(draft, "refs", "remotes"))
    remove(tree.git_dir)
    os.rename(draft, tree.git_dir)
    _link(tree)


def exclude(own: str, paths: Sequence[str]) -> None:
    """Make git ignore these paths of a tree, beside what it ignores already."""
    place = join(own, "info", "exclude")
    known = os.fsdecode(read_plain(place) or b"").splitlines()
    lines = ["/" + _SPECIAL.sub(r"\\\g<0>", path) for path in paths if "\n" not in path]
    put(place, "".join(f"{line}\n" for line in dict.fromkeys((*known, *lines))))


def reconnect(git_dir: str, tree: Tree) -> None:
    """Repair the links that git needs to find a tree and its objects; the session's files stay."""
    if tree.git_dir == join(tree.path, ".git"):
        return  # an earlier version made it
    for folder in ("objects/info", "refs"):
        os.makedirs(join(tree.git_dir, folder), exist_ok=True)
    _connect(git_dir, tree.git_dir)
    head = read_head(tree.git_dir)
    if not head.branch and not head.commit:
        put(join(tree.git_dir, "HEAD"), f"ref: {branch_ref(tree.branch)}\n")
    if tree.exists and not isdir(join(tree.path, ".git")):
        _link(tree)


def put_branch(own: str, branch: str, commit: str) -> None:
    """Point a branch of a git folder at a commit."""
    ref = join(own, branch_ref(branch))
    os.makedirs(dirname(ref), exist_ok=True)
    put(ref, f"{commit}\n")


def _connect(git_dir: str, own: str) -> None:
    put(join(own, "objects", "info", "alternates"), join(git_dir, "objects") + "\n")
    put(join(own, POINTER), f"{git_dir}\n")


def _link(tree: Tree) -> None:
    link = join(tree.path, ".git")
    if islink(link) or isdir(link):
        remove(link)
    put(link, f"gitdir: {tree.git_dir}\n")


def settings(git_dir: str) -> str:
    """Return the user's settings of the repository, as they apply to a tree of its own."""
    copied = []
    for key, value in configuration(git_dir):
        if key in _NOT_COPIED or key.startswith(_NOT_COPIED_BELOW) or "\n" in key:
            continue
        relative = key.startswith(("include.", "includeif.")) and not value.startswith("~")
        copied.append((key, normpath(join(git_dir, value)) if relative else value))
    return as_config(copied + _OURS)


def _refs(git_dir: str, tree: Tree) -> Iterator[str]:
    """Yield the user's branches and tags, and the trunk, as lines of `packed-refs`."""
    trunk = branch_ref(f"{dirname(tree.branch)}/trunk")
    for ref, commit in sorted(read_refs(git_dir).items()):
        if not is_ours(ref) or ref == trunk:
            yield f"{commit} {ref}\n"


def _copy_defaults(source: str, target: str) -> None:
    """Copy which branch of each remote is its default."""
    for remote in os.listdir(source) if isdir(source) else ():
        content = os.fsdecode(read_plain(join(source, remote, "HEAD"), 4096) or b"")
        if content.startswith("ref: refs/remotes/"):
            os.makedirs(join(target, remote))
            put(join(target, remote, "HEAD"), content)


def _copy_hooks(source: str, target: str) -> None:
    os.mkdir(target)
    for entry in os.scandir(source) if isdir(source) else ():
        if entry.name.endswith(".sample") or not entry.is_file():
            continue
        if entry.is_symlink():
            os.symlink(realpath(entry.path), join(target, entry.name))
        else:
            shutil.copy2(entry.path, join(target, entry.name))

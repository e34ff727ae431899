"""Git on a session's files, where nothing that a session wrote can decide what runs.

Git runs programs that configuration names (hooks, filters, drivers …), and a session can write the
repository's configuration, replace the `.git` of its tree, and put repositories inside. Switching
each of these off by name is a race with git's next release, so the repository's configuration is
not read at all: see `View`. The user's own configuration (`~/.gitconfig`) does apply.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os.path import isdir, join
from subprocess import Popen
from typing import IO

from msgspec import Struct

from corral.world.git import command
from corral.world.git.command import GitFailed, own_environment
from corral.world.git.tree import Tree, read_branch, read_plain

_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol"
    r"|safecrlf|bigfilethreshold|compression)"
    r"|extensions\.(objectformat|partialclone)"
    r"|merge\.(renames|renamelimit|directoryrenames|renormalize|conflictstyle|default)"
    r"|diff\.(renames|renamelimit)"
    r"|user\.(name|email)"
    r"|remote\..*\.(url|promisor|partialclonefilter)",
    re.DOTALL,
)
_OURS = {
    "core.bare": "false",
    "core.hookspath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedcache": "false",
    "core.splitindex": "false",
    "core.logallrefupdates": "false",
    "core.sparsecheckout": "false",
    "core.usereplacerefs": "false",  # they show another commit than the one named
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "advice.detachedhead": "false",
    "index.threads": "1",
    "core.preloadindex": "false",
    "status.submodulesummary": "false",
    # Only the change time reveals a modified file whose other times were set back.
    "core.trustctime": "true",
    "core.checkstat": "default",
}
# Pinned work is deleted next, so it must be on disk by then.
_RAW = {
    "core.filemode": "true",
    "core.symlinks": "true",
    "core.ignorecase": "false",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.protectntfs": "false",
    "core.protecthfs": "false",
    "core.fsync": "loose-object,pack,pack-metadata,reference",
    "core.fsyncmethod": "batch",
    "advice.addembeddedrepo": "false",
}
_RAW_ATTRIBUTES = "* -text !eol -ident !filter !working-tree-encoding\n"
_NO_HEAD = "ref: refs/corral/none\n"


class View:
    """A git folder of our own in `<git dir>/corral/`, with links to the objects and refs.

    Only a short list of harmless keys is copied into its configuration. Git would ask a submodule
    for its status inside of it, where no option of ours arrives: every call that could do so says
    `--ignore-submodules=dirty`, or works on an index without submodules.
    """

    def __init__(self, git_dir: str, *, raw: bool = False) -> None:
        """A plain one converts files as git does for the user, a raw one leaves all bytes."""
        self.git_dir = git_dir
        self._home = join(git_dir, "corral")
        self._folder = join(self._home, "view-raw" if raw else "view")
        self._environment = own_environment()
        self._set_up(raw=raw)

    def run(
        self,
        *args: str,
        desk: str | None = None,
        worktree: str | None = None,
        index: str | None = None,
        borrow: Sequence[str] = (),
        held: Sequence[int] = (),
        stdin: bytes | IO[bytes] = b"",
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """Run git and return its output; an unexpected exit code is an error.

        `borrow` names object stores to read from besides the repository's own; the files in `held`
        stay open in git: a lock that lasts as long as either of us does.
        """
        git, cwd, environment = self._command(desk, worktree, borrow)
        if index:
            environment |= {"GIT_INDEX_FILE": index}
        return command.run([*git, *args], cwd, environment, stdin=stdin, held=held, fine=fine)

    def first(self, most: int, *args: str, borrow: Sequence[str] = ()) -> bytes:
        """Run git and return its first bytes of output; it is ended once it has printed enough."""
        process = self.talk(*args, borrow=borrow)
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            said = process.stdout.read(most)
            if len(said) >= most:
                process.kill()
                return said
        if process.returncode:
            raise GitFailed(f"git failed with {process.returncode}")
        return said

    def talk(self, *args: str, borrow: Sequence[str] = ()) -> Popen[bytes]:
        """Start git as a process that answers many queries; the caller ends it."""
        git, cwd, environment = self._command(None, None, borrow)
        return command.talk([*git, *args], cwd, environment)

    def commits(self, *names: str, borrow: Sequence[str] = ()) -> list[str | None]:
        """Return the commit of each name, None where there is none."""
        asked = "".join(f"{name}^{{commit}}\n" for name in names)
        said = self.run(
            "cat-file", "--batch-check", stdin=os.fsencode(asked), borrow=borrow, fine=(0, 128)
        )
        lines = (line.partition(" ") for line in said.decode("utf-8", "replace").splitlines())
        found = [commit if rest.startswith("commit ") else None for commit, _, rest in lines]
        return found if len(found) == len(names) else [None] * len(names)

    def commit(self, name: str, borrow: Sequence[str] = ()) -> str | None:
        """Return the commit of a name, if there is one."""
        return self.commits(name, borrow=borrow)[0]

    def tip(self, branch: str) -> str | None:
        """Return the commit of a branch; None if there is no such branch, or its commit is gone."""
        tip = read_branch(self.git_dir, branch)
        return self.commit(tip) if tip else None

    def fork(self, one: str, other: str) -> str | None:
        """Return the merge base of two commits."""
        said = self.run("merge-base", one, other, fine=(0, 1)).decode().split()
        return said[0] if said else None

    def contains(self, commit: str, part: str) -> bool:
        """Say whether a commit equals another one or has it as an ancestor."""
        return not self.run("rev-list", "-n1", part, "--not", commit).strip()

    def new_commits(self, tip: str, commits: Sequence[str]) -> set[str]:
        """Return the commits in these histories that a tip does not have."""
        asked = "".join(f"{commit}\n" for commit in (*commits, f"^{tip}"))
        return set(self.run("rev-list", "--stdin", stdin=asked.encode()).decode().split())

    def surely_contains(self, commit: str, part: str) -> bool:
        """Say the same for names that may not resolve; then it is false."""
        whole, within = self.commits(commit, part)
        return whole is not None and within is not None and self.contains(whole, within)

    def empty_tree(self) -> str:
        return self.run("hash-object", "-w", "-t", "tree", "--stdin").decode().strip()

    def move(self, ref: str, new: str, old: str | None) -> None:
        """Point a ref at a commit, unless it has moved."""
        self.run("update-ref", "--no-deref", ref, new, old or "0" * len(new))

    def drop(self, ref: str) -> None:
        self.run("update-ref", "--no-deref", "-d", ref)

    @contextmanager
    def desk(self, head: str | None = None, tree: Tree | None = None) -> Iterator["Desk"]:
        """Provide a desk temporarily; for a tree, with its files and a copy of its index."""
        parent = join(self._home, "desks")
        os.makedirs(parent, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="d", dir=parent) as desk:
            put(join(desk, "HEAD"), f"{head}\n" if head else _NO_HEAD)
            if tree and isdir(tree.git_dir):
                _copy_index(tree.git_dir, desk)
            if tree is None:
                yield Desk(self, desk)
            else:
                yield Desk(self, desk, tree.path if tree.exists else None, tree.borrowed)

    def _command(
        self, desk: str | None, worktree: str | None, borrow: Sequence[str]
    ) -> tuple[list[str], str, dict[str, str]]:
        """Return the command line, folder and environment of git."""
        git = ["git", f"--git-dir={desk or self._folder}"]
        if worktree:
            git.append(f"--work-tree={worktree}")
        environment = self._environment | {"GIT_COMMON_DIR": self._folder}
        if borrow:
            stores = ":".join(f'"{_escaped(path)}"' for path in borrow)
            environment |= {"GIT_ALTERNATE_OBJECT_DIRECTORIES": stores}
        return git, worktree or self.git_dir, environment

    def _set_up(self, *, raw: bool) -> None:
        if isdir(join(self.git_dir, "reftable")):
            raise GitFailed("refs are stored as a reftable, which Corral cannot read yet")
        os.makedirs(join(self._folder, "info"), exist_ok=True)
        for shared in ("objects", "refs", "packed-refs", "shallow"):
            link = join(self._folder, shared)
            if not os.path.islink(link):
                with suppress(FileExistsError):  # another process was faster
                    os.symlink(join("..", "..", shared), link)
        found = configuration(self.git_dir)
        settings = [one for one in found if _HARMLESS.fullmatch(one[0]) and "\n" not in one[0]]
        settings += _OURS.items()
        settings += _RAW.items() if raw else ()
        put(join(self._folder, "config"), as_config(settings))
        put(join(self._folder, "info", "attributes"), _RAW_ATTRIBUTES if raw else "")
        excluded = read_plain(join(self.git_dir, "info", "exclude")) or b""
        put(join(self._folder, "info", "exclude"), os.fsdecode(excluded))
        put(join(self._folder, "HEAD"), _NO_HEAD)


class Desk(Struct, frozen=True):
    """A view with a HEAD and an index of our own, and optionally the files and objects of a tree.

    The session's index is read as a copy, and neither believed nor written.
    """

    view: View
    folder: str
    worktree: str | None = None
    borrow: tuple[str, ...] = ()
    held: tuple[int, ...] = ()

    def run(
        self,
        *args: str,
        index: str | None = None,
        stdin: bytes | IO[bytes] = b"",
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """Run git; `index` is the name of another index on the desk."""
        return self.view.run(
            *args,
            desk=self.folder,
            worktree=self.worktree,
            index=join(self.folder, index) if index else None,
            borrow=self.borrow,
            held=self.held,
            stdin=stdin,
            fine=fine,
        )


def put(path: str, content: str) -> None:
    """Write a file atomically, unless it already has that content."""
    data = os.fsencode(content)
    if read_plain(path) == data:
        return
    file, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".new-")
    with open(file, "wb") as opened:
        opened.write(data)
    os.replace(temporary, path)


def configuration(git_dir: str) -> list[tuple[str, str]]:
    """Return the keys of the repository's own configuration, without what it includes."""
    asked = ["git", "config", "--file", join(git_dir, "config"), "--no-includes", "--list", "-z"]
    listed = command.start(asked, git_dir, own_environment()).stdout
    pairs = (os.fsdecode(entry).partition("\n") for entry in listed.split(b"\0") if entry)
    # A key without a value means true.
    return [(key, value if between else "true") for key, between, value in pairs]


def as_config(settings: Sequence[tuple[str, str]]) -> str:
    lines = []
    for key, value in settings:
        section, rest = key.split(".", 1)
        inner, _, variable = rest.rpartition(".")
        title = f'{section} "{_escaped(inner)}"' if inner else section
        said = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'[{title}]\n\t{variable} = "{said}"\n')
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _copy_index(session: str, desk: str) -> None:
    names = [n for n in os.listdir(session) if n == "index" or n.startswith("sharedindex.")]
    for name in names:
        path = join(session, name)
        content = read_plain(path, 1 << 32)
        if content is None:
            continue
        stat = os.lstat(path)
        with open(join(desk, name), "wb") as copy:
            copy.write(content)
        # From this time, git infers whether an entry could have changed unnoticed.
        os.utime(join(desk, name), ns=(stat.st_atime_ns, stat.st_mtime_ns))

"""Refs and their commits, in the repository itself, never in a working tree.

Hooks and file monitors are off: programs in a repository must not run because Corral reads it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from subprocess import CompletedProcess

from msgspec import Struct

from corral.core.refs import branch_ref
from corral.world.git import command
from corral.world.git.command import SAFE, GitFailed, users_environment


class Commit(Struct, frozen=True):
    """A commit to be created on a ref: a message and its files."""

    message: str
    at_s: int
    files: dict[str, bytes]


class Git:
    def __init__(self, git_dir: str, cwd: str) -> None:
        self._command = ("git", f"--git-dir={git_dir}", *SAFE)
        self._cwd = cwd
        # For commands that run configured programs (ssh, helpers), git itself checks where it
        # is, and refuses a repository that belongs to another user.
        self._home = cwd if os.path.lexists(os.path.join(cwd, ".git")) else git_dir

    def resolve(self, ref: str) -> str | None:
        """Return the commit that a ref points to, if it exists."""
        said = self._run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", fine=(0, 1))
        return said.decode().strip() or None

    def tip(self, ref: str) -> tuple[str, str] | None:
        """Return the commit that a ref points to and its message; None if there is no such ref.

        Read as an object: `git log` would run programs from the repository's configuration.
        """
        said = self._run("cat-file", "--batch", stdin=f"{ref}\n".encode())
        header, _, body = said.partition(b"\n")
        words = header.split()
        if words[-1:] == [b"missing"]:
            if self._says("rev-parse", "--verify", "--quiet", ref):
                raise GitFailed(f"{ref} points to a missing commit", "git fsck")
            return None
        if len(words) != 3 or words[1] != b"commit":
            raise GitFailed(f"{ref} is not a commit", f"git cat-file -t {ref}")
        message = body.partition(b"\n\n")[2].decode("utf-8", "replace")
        return words[0].decode(), message

    def history(self, commit: str) -> list[str]:
        """Return a commit's first-parent history, oldest first."""
        return self._run("rev-list", "--first-parent", "--reverse", commit).decode().split()

    def files(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of each object, named like `commit:path`."""
        asked = "".join(f"{name}\n" for name in names).encode()
        out = memoryview(self._run("cat-file", "--batch", stdin=asked))
        at = 0
        while at < len(out):
            end = at + bytes(out[at : at + 4096]).index(b"\n")
            header = bytes(out[at:end]).decode().rsplit(" ", 2)
            if header[-1] == "missing":
                raise GitFailed(f"{header[0]} is missing from the repository", "git fsck")
            size = int(header[2])
            yield bytes(out[end + 1 : end + 1 + size])
            at = end + 1 + size + 1

    def append(self, ref: str, tip: str | None, commits: Iterable[Commit]) -> None:
        """Add commits on top of a ref atomically; fails if the ref has moved."""
        stream: list[bytes] = []
        parent = tip
        for commit in commits:
            message = commit.message.encode()
            stream.append(b"commit %s\n" % ref.encode())
            stream.append(b"committer Corral <corral@localhost> %d +0000\n" % commit.at_s)
            stream.append(b"data %d\n%s\n" % (len(message), message))
            if parent:
                stream.append(b"from %s\n" % parent.encode())
            stream.append(b"deleteall\n")
            for path, content in commit.files.items():
                stream.append(b"M 100644 inline %s\n" % path.encode())
                stream.append(b"data %d\n%s\n" % (len(content), content))
            parent = None  # the next one continues the ref as it is in this stream
        self._run("fast-import", "--quiet", "--done", stdin=b"".join([*stream, b"done\n"]))

    def move(self, ref: str, new: str, old: str | None) -> None:
        """Point a ref at a commit, unless it has moved."""
        self._run("update-ref", ref, new, old or "0" * len(new))

    def land(self, ref: str, new: str, old: str, message: str) -> None:
        """Do the same durably: it is on disk, and the reflog says why."""
        self._run(
            *("-c", "core.logAllRefUpdates=true", "-c", "core.fsync=reference"),
            *("update-ref", "--no-deref", "-m", message, ref, new, old),
        )

    def delete(self, ref: str) -> None:
        self._run("update-ref", "-d", ref)

    def refs(self) -> dict[str, str]:
        """Return every ref with the object that it points to."""
        said = self._run("for-each-ref", "--format=%(refname) %(objectname)")
        lines = said.decode("utf-8", "surrogateescape").splitlines()
        return dict(line.rsplit(" ", 1) for line in lines)

    def missing_from(self, commits: Iterable[str], others: Iterable[str]) -> set[str]:
        """Return the commits in the history of some objects that others do not have in theirs."""
        return set(self._run("rev-list", "--stdin", stdin=_range(commits, others)).decode().split())

    def bundle(self, path: str, refs: Iterable[str], others: Iterable[str]) -> None:
        """Write refs to a file, with all that the histories of others do not have; check it."""
        self._run("bundle", "create", "--quiet", path, "--stdin", stdin=_range(refs, others))
        self._run("bundle", "verify", "--quiet", path)

    def delete_all(self, refs: Mapping[str, str]) -> None:
        """Delete refs and the settings of branches; nothing is deleted if one of them has moved."""
        moves = "".join(f"delete {ref}\0{commit}\0" for ref, commit in refs.items())
        self._run("update-ref", "--no-deref", "-z", "--stdin", stdin=os.fsencode(moves))
        listed = self._run("config", "--local", "--name-only", "--list", "-z", fine=(0, 1))
        keys = listed.decode("utf-8", "surrogateescape").split("\0")
        for section in {key.rpartition(".")[0] for key in keys if key.startswith("branch.")}:
            if branch_ref(section.removeprefix("branch.")) in refs:
                self._run("config", "--local", "--remove-section", section)

    def is_tracked(self, path: str) -> bool:
        """Say whether the checkout has a path, or files below it, in its index."""
        found = command.run(["git", *SAFE, "ls-files", "--", path], self._cwd, users_environment())
        return bool(found)

    def contains(self, commit: str, ancestor: str) -> bool:
        """Say whether a commit has another one as an ancestor."""
        return self._says("merge-base", "--is-ancestor", ancestor, commit)

    def fetch(self, remote: str, source: str, target: str) -> bool:
        """Fetch one ref; False if the remote does not have it."""
        listed = self._outside("ls-remote", "--exit-code", remote, source)
        if listed.returncode == 2:
            return False
        if listed.returncode:
            raise command.failure(listed)
        options = ("--quiet", "--no-tags", "--no-write-fetch-head")
        self._run("fetch", *options, remote, f"+{source}:{target}")
        return True

    def push(self, remote: str, ref: str) -> bool:
        """Push one ref without force; False if the remote has commits that we do not have."""
        done = self._outside("push", "--porcelain", remote, f"{ref}:{ref}")
        if done.returncode == 0:
            return True
        if b"\n!\t" in b"\n" + done.stdout and b"[rejected]" in done.stdout:
            return False
        raise command.failure(done)

    def _run(self, *args: str, stdin: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        git, environment = [*self._command, *args], users_environment()
        return command.run(git, self._cwd, environment, stdin=stdin, fine=fine, limit_s=None)

    def _outside(self, *args: str) -> CompletedProcess[bytes]:
        """Run git for communication with another repository."""
        git = ["git", *SAFE, *args]
        return command.start(git, self._home, users_environment(), limit_s=None)

    def _says(self, *args: str) -> bool:
        """Say whether a git query succeeds."""
        git = [*self._command, *args]
        return command.start(git, self._cwd, users_environment(), limit_s=None).returncode == 0


def _range(names: Iterable[str], others: Iterable[str]) -> bytes:
    return os.fsencode("".join([f"{name}\n" for name in names] + [f"^{one}\n" for one in others]))

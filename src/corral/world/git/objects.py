"""Reads and writes objects through git processes that stay open: about 0.1 ms each, not 2 ms.

Use it in one thread at a time, and close it when done. Methods that cache say so.
"""

import hashlib
import os
import struct
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import IO

from msgspec import Struct

from corral.world.git.command import GitFailed
from corral.world.git.view import View

TREE = b"40000"
_AT_ONCE = 500  # so that all queries fit into a pipe before answers are read
_REMEMBERED = 20_000
_MANY = 64  # loose objects are slow, and packing a few would create too many packs
_COMMIT = 1  # in a pack
_SHA1_LINE = len("tree ") + 40


class CommitObject(Struct, frozen=True):
    """A parsed commit object. Names and messages are bytes in the commit's encoding."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: bytes
    message: bytes
    encoding: bytes = b""


class TreeEntry(Struct, frozen=True):
    """One line of a tree object."""

    mode: bytes
    name: bytes
    oid: str


class Objects(AbstractContextManager["Objects"]):
    def __init__(self, view: View) -> None:
        self.view = view
        self._reader: subprocess.Popen[bytes] | None = None
        self._writer: subprocess.Popen[bytes] | None = None
        self._found: dict[str, CommitObject] = {}

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        for process in (self._reader, self._writer):
            if process is not None:
                process.communicate()
        self._reader = self._writer = None

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, str, bytes] | None]:
        """Yield id, kind and content for each name (without a newline); None if it is missing."""
        for start in range(0, len(names), _AT_ONCE):
            yield from self._answers(names[start : start + _AT_ONCE])

    def contents(self, names: Sequence[str], kind: str) -> list[bytes]:
        """Return the contents of objects, all of the same kind."""
        found = []
        for name, answer in zip(names, self.read(names), strict=True):
            if answer is None or answer[1] != kind:
                raise GitFailed(f"there is no {kind} {name}", "git fsck")
            found.append(answer[2])
        return found

    def kinds(self, names: Sequence[str]) -> list[str | None]:
        """Return the id of each name, None if it does not resolve."""
        return [found and found[1] for found in self.read(names)]

    def commits(self, oids: Sequence[str]) -> list[CommitObject]:
        """Return commits by their ids; they are cached."""
        wanted = [oid for oid in dict.fromkeys(oids) if oid not in self._found]
        if len(self._found) + len(wanted) > _REMEMBERED:
            self._found.clear()
            wanted = list(dict.fromkeys(oids))
        for oid, content in zip(wanted, self.contents(wanted, "commit"), strict=True):
            self._found[oid] = _as_commit(oid, content)
        return [self._found[oid] for oid in oids]

    def commit(self, oid: str) -> CommitObject:
        return self.commits([oid])[0]

    def trees(self, oids: Sequence[str]) -> list[list[TreeEntry]]:
        """Return the entries of trees, each one level deep."""
        found = zip(oids, self.contents(oids, "tree"), strict=True)
        return [list(_entries(content, len(oid) // 2)) for oid, content in found]

    def write_commits(self, contents: Sequence[bytes]) -> list[str]:
        """Write commit objects as given; many of them as one pack."""
        if len(contents) >= _MANY:
            self.view.run("index-pack", "--stdin", stdin=_pack(contents))
            return [commit_id(content) for content in contents]
        if self._writer is None:
            self._writer = self.view.talk("hash-object", "-t", "commit", "-w", "--stdin-paths")
        try:
            return self._written(self._writer, contents)
        except BaseException:
            _end(self._writer)
            self._writer = None
            raise

    def _written(self, writer: subprocess.Popen[bytes], contents: Sequence[bytes]) -> list[str]:
        # The drafts are files in memory: nothing remains of them if we are killed.
        with ExitStack() as stack:
            files = [
                stack.enter_context(os.fdopen(os.memfd_create("commit"), "wb")) for _ in contents
            ]
            for file, content in zip(files, contents, strict=True):
                file.write(content)
                file.flush()
            _tell(writer, (b"/proc/%d/fd/%d" % (os.getpid(), file.fileno()) for file in files))
            oids = [_stdout(writer).readline().strip().decode() for _ in files]
        if "" in oids:
            raise GitFailed("git refused to write a commit")
        return oids

    def _answers(self, names: Sequence[str]) -> list[tuple[str, str, bytes] | None]:
        if self._reader is None:
            self._reader = self.view.talk("cat-file", "--batch")
        try:
            _tell(self._reader, (os.fsencode(name) for name in names))
            return [_answer(_stdout(self._reader)) for _ in names]
        except BaseException:
            # Unread output would be taken for the answer to the next query.
            _end(self._reader)
            self._reader = None
            raise


def _answer(pipe: IO[bytes]) -> tuple[str, str, bytes] | None:
    header = pipe.readline()
    if not header:
        raise GitFailed("git cat-file ended before it answered")
    about, _, size = header.strip().rpartition(b" ")
    oid, _, kind = about.rpartition(b" ")
    if not size.isdigit() or not oid:
        return None  # missing or ambiguous
    content = pipe.read(int(size))
    pipe.read(1)
    return oid.decode(), kind.decode(), content


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def commit_id(content: bytes) -> str:
    """Return the id that a commit object has or will have."""
    # A repository's ids are all of one length, and a commit begins with one.
    digest = hashlib.sha256 if len(content.partition(b"\n")[0]) > _SHA1_LINE else hashlib.sha1
    return digest(b"commit %d\0%s" % (len(content), content)).hexdigest()


def _pack(contents: Sequence[bytes]) -> bytes:
    """Return commits in git's format for many objects."""
    once = list(dict.fromkeys(contents))
    parts = [b"PACK", struct.pack(">II", 2, len(once))]
    for content in once:
        size = len(content)
        byte, size = _COMMIT << 4 | size & 15, size >> 4
        head = bytearray()
        while size:
            head.append(byte | 128)
            byte, size = size & 127, size >> 7
        head.append(byte)
        parts += [bytes(head), zlib.compress(content, 1)]
    body = b"".join(parts)
    digest = hashlib.sha256 if len(commit_id(once[0])) == 64 else hashlib.sha1
    return body + digest(body).digest()


def _tell(process: subprocess.Popen[bytes], lines: Iterable[bytes]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
    except BrokenPipeError as error:
        raise GitFailed("a git process ended that was still needed") from error


def _stdout(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _as_commit(oid: str, content: bytes) -> CommitObject:
    head, _, message = content.partition(b"\n\n")
    tree, author, encoding = "", b"", b""
    parents = []
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree" and not tree:
            tree = value.decode()
        elif key == b"parent":
            parents.append(value.decode())
        elif key == b"author" and not author:
            author = value
        elif key == b"encoding" and not encoding:
            encoding = value
    return CommitObject(oid, tree, tuple(parents), author, message, encoding)


def _entries(content: bytes, size: int) -> Iterator[TreeEntry]:
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        oid = content[end + 1 : end + 1 + size].hex()
        yield TreeEntry(content[at:space], content[space + 1 : end], oid)
        at = end + 1 + size

"""A session's output in pages, forwards and backwards, across rotation and launches.

A place in the output is `RUN-INODE-BYTES`: the launch, the file (which keeps its inode when it is
rotated), and the offset. Callers treat it as opaque. If the file is gone, the next page continues
with the output that still exists, and says so.
"""

import os
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from msgspec import Struct

from corral.core.errors import BadInput
from corral.roles.records.rooms import Room
from corral.world.processes.output import NEWEST, OLDER

_RUNS = 20  # launches back


class Place(NamedTuple):
    run: int
    inode: int
    at: int

    def __str__(self) -> str:
        return "-".join(map(str, self))


class Page(Struct, frozen=True):
    """A part of the output, and the places where it begins and ends."""

    text: str = ""
    begin: str = ""
    end: str = ""
    restarted: bool = False  # output between the requested place and this page is lost


class _File(NamedTuple):
    run: int
    inode: int
    size: int
    descriptor: int


def place(said: str) -> Place | None:
    """Parse a place that a client sent; None if it sent none."""
    if not said:
        return None
    parts = said.split("-")
    if len(parts) != 3 or not all(p.isascii() and p.isdigit() and len(p) < 20 for p in parts):
        raise BadInput("this is not a position in the output", "use the begin or end of a page")
    return Place(*map(int, parts))


def after(room: Room, start: Place | None, most: int) -> Page:
    """Return the output after a place; without one, the last output."""
    with _files(room) as files:
        if not files:
            return Page()
        index = _find(files, start)
        if start is None or index is None or start.at > files[index].size:
            page = _back(files, len(files) - 1, files[-1].size, most)
            return Page(page.text, page.begin, page.end, restarted=start is not None)
        at = start.at
        while at >= files[index].size and index + 1 < len(files):
            index, at = index + 1, 0
        return _page(files[index], at, os.pread(files[index].descriptor, most, at))


def before(room: Room, end: Place, most: int) -> Page:
    """Return the output before a place, beginning with a whole line if there is one."""
    with _files(room) as files:
        index = _find(files, end)
        if index is None:
            return Page(end=str(end), begin=str(end))
        at = min(end.at, files[index].size)
        while at == 0 and index > 0:
            index -= 1
            at = files[index].size
        return _back(files, index, at, most)


def _back(files: list[_File], index: int, at: int, most: int) -> Page:
    file = files[index]
    begin = max(0, at - most)
    data = os.pread(file.descriptor, at - begin, begin)
    if begin:
        cut = data.find(b"\n") + 1
        data, begin = data[cut:], begin + cut
    return _page(file, begin, data)


def _page(file: _File, at: int, data: bytes) -> Page:
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)  # without a last character that is incomplete
    size = len(data) - len(decoder.getstate()[0])
    begin, end = Place(file.run, file.inode, at), Place(file.run, file.inode, at + size)
    return Page(text, str(begin), str(end))


def _find(files: list[_File], wanted: Place | None) -> int | None:
    found = (i for i, file in enumerate(files) if wanted and file[:2] == wanted[:2])
    return next(found, None)


@contextmanager
def _files(room: Room) -> Iterator[list[_File]]:
    """Open the files of the output, oldest first."""
    files: list[_File] = []
    try:
        for run, folder in room.launches()[-_RUNS:]:
            # The newest first: if it is rotated in between, the older one is the same file.
            newest, older = _open(run, f"{folder}/{NEWEST}"), _open(run, f"{folder}/{OLDER}")
            if older is not None and newest is not None and older.inode == newest.inode:
                os.close(older.descriptor)
                older = None
            files += [file for file in (older, newest) if file is not None]
        yield files
    finally:
        for file in files:
            os.close(file.descriptor)


def _open(run: int, path: str) -> _File | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    status = os.fstat(descriptor)
    return _File(run, status.st_ino, status.st_size, descriptor)

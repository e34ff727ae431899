"""The two files that say what became of a session: `process.json` and `exit.json`.

`process.json` is linked into place, which fails if it is there: whoever puts it there first decides
whether a launch happens in this folder at all, so a launch happens at most once. `exit.json` is
renamed into place, on disk with certainty before anyone can see it.
"""

import json
import os
from contextlib import suppress
from typing import Any

PROCESS = "process.json"
EXIT = "exit.json"
_ROOM = 4096

Record = dict[str, Any]


def write_once(folder: str, name: str, record: Record) -> None:
    """Make a record; FileExistsError if there is one. It may be lost with the machine."""
    path = f"{folder}/.{name}.{os.getpid()}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, _encode(record))
        os.link(path, f"{folder}/{name}")
    finally:
        os.close(fd)
        os.unlink(path)


def reserve(folder: str, name: str) -> None:
    """Take the room that a record will need, so that a disk full by then cannot refuse it."""
    fd = os.open(f"{folder}/.{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(fd, 0, _ROOM)
    finally:
        os.close(fd)


def write_durably(folder: str, name: str, record: Record) -> None:
    """Put a record into place, at once and for good; in the room that was reserved, if any."""
    path = f"{folder}/.{name}"
    text = _encode(record)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, text)
        os.ftruncate(fd, len(text))
        os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(path, f"{folder}/{name}")
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read(folder: str, name: str) -> Record | None:
    """Return a record; None if it is not there, or is not one of ours."""
    with suppress(FileNotFoundError, NotADirectoryError):
        fd = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(fd, 65_536)
        finally:
            os.close(fd)
        with suppress(ValueError):
            record = json.loads(text)
            return record if isinstance(record, dict) else None
    return None


def _encode(record: Record) -> bytes:
    return json.dumps(record).encode() + b"\n"

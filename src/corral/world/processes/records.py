"""The two files that record the fate of a session: `process.json` and `exit.json`.

`process.json` is linked into place, which fails if it exists: its first creator decides whether a
launch happens in this folder, so a launch happens at most once. `exit.json` is renamed into place
after it is safely on disk.
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
    """Create a record; FileExistsError if there is one. A power failure may lose it."""
    path = f"{folder}/.{name}.{os.getpid()}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, _encode(record))
        os.link(path, f"{folder}/{name}")
    finally:
        os.close(fd)
        os.unlink(path)


def reserve(folder: str, name: str) -> None:
    """Reserve space for a record, so that it can be written even if the disk is full by then."""
    fd = os.open(f"{folder}/.{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(fd, 0, _ROOM)
    finally:
        os.close(fd)


def write_durably(folder: str, name: str, record: Record) -> None:
    """Write a record atomically and durably, in the reserved space if there is any."""
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
    """Return a record; None if it is missing or not one of ours."""
    nothing = suppress(FileNotFoundError, NotADirectoryError, ValueError)
    with nothing, open(f"{folder}/{name}", "rb", buffering=0) as file:
        record = json.loads(file.read(65_536))
        return record if isinstance(record, dict) else None
    return None


def _encode(record: Record) -> bytes:
    return json.dumps(record).encode() + b"\n"

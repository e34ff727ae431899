"""The state on disk, so that a command need not replay the log. Derived: it may be deleted.

    4 bytes CRC-32 of the rest, then msgpack of (state.VERSION, State)

A snapshot that is damaged, of another version or of another log is ignored.
"""

import os
import zlib
from contextlib import suppress

import msgspec

from corral.core.log.state import VERSION, State

EVERY = 1000


def save(path: str, state: State) -> None:
    """Write the snapshot in one step; without fsync, because losing it costs only a replay."""
    body = msgspec.msgpack.encode((VERSION, state))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    scratch = f"{path}.{os.getpid()}"
    try:
        with open(scratch, "wb") as file:
            file.write(zlib.crc32(body).to_bytes(4, "big") + body)
        os.replace(scratch, path)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(scratch)
        raise


def load(path: str) -> State | None:
    with suppress(OSError, msgspec.MsgspecError), open(path, "rb") as file:
        content = file.read()
        body = memoryview(content)[4:]
        if zlib.crc32(body) == int.from_bytes(content[:4], "big"):
            version, state = msgspec.msgpack.decode(body, type=tuple[int, State])
            return state if version == VERSION else None
    return None

"""The configuration file, read once for each change of it.

Reading TOML takes longer than many a command. What was read is kept beside the log, with the size
and time of the file that it came from; anything odd about it means that the file is read again.
"""

import os
from contextlib import suppress

import msgspec

from corral.core.config import Config, parse
from corral.core.errors import BadConfig

_Mark = tuple[bytes, int, int, int]
_Kept = tuple[_Mark, Config]


def load(path: str, kept: str) -> Config:
    """Return the configuration in a file; `kept` is where to remember it, if its folder exists."""
    try:
        found = os.stat(path)
        mark = (os.fsencode(path), found.st_ino, found.st_size, found.st_mtime_ns)
        config = _remembered(kept, mark)
        if config is None:
            with open(path, encoding="utf-8-sig") as file:
                config = parse(file.read(), f".corral/{os.path.basename(path)}")
            _remember(kept, (mark, config))
        return config
    except OSError as error:
        raise BadConfig(f"{path!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path!r} is not UTF-8 text") from error


def _remembered(kept: str, mark: _Mark) -> Config | None:
    with suppress(OSError, msgspec.MsgspecError), open(kept, "rb") as file:
        entry: _Kept = msgspec.msgpack.decode(file.read(), type=_Kept)
        if entry[0] == mark:
            return entry[1]
    return None


def _remember(kept: str, entry: _Kept) -> None:
    scratch = f"{kept}.{os.getpid()}"
    # No folder yet, read-only or full: then the file is simply read again the next time.
    with suppress(OSError):
        with open(scratch, "wb") as file:
            file.write(msgspec.msgpack.encode(entry))
        os.replace(scratch, kept)

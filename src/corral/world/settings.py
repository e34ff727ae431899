"""The configuration file, parsed once per change.

Parsing TOML takes longer than many commands. The result is cached beside the log with the size and
time of the file; if anything about the cache is odd, the file is parsed again.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from corral.core.errors import BadConfig

if TYPE_CHECKING:
    from corral.core.config import Config
    from corral.world.repository import Repository

_Mark = tuple[bytes, int, int, int]
_FOR_EVERY_ROLE = {"shared-rules", "beat-protocol"}


def check(path: str, kept: str) -> None:
    """Refuse an invalid file; a file that is in the cache is valid and not parsed again."""
    if _remembered(kept, path) is None:
        load(path, kept)


def load(path: str, kept: str) -> "Config":
    """Return the configuration in a file; `kept` is the path of the cache, if its folder exists."""
    from corral.core.config import Config, parse

    with suppress(msgspec.MsgspecError):  # from a version with other settings
        known = _remembered(kept, path)
        if known is not None:
            return msgspec.msgpack.decode(known, type=Config)
    try:
        mark = _mark(path)
        with open(path, encoding="utf-8-sig") as file:
            config = parse(file.read(), f".corral/{os.path.basename(path)}")
    except OSError as error:
        raise BadConfig(f"{path!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path!r} is not UTF-8 text") from error
    _remember(kept, mark, config)
    return config


def of_repository(place: "Repository") -> "Config":
    """Return the configuration of a repository; the default one if it has none."""
    from corral.core.config import Config

    path = place.config_file()
    return load(path, f"{place.folder}/derived/config") if path else Config()


def claim_ttl_s(place: "Repository") -> int:
    """Return how long a claim lasts, from the cache if possible: claiming must load little."""
    path = place.config_file()
    known = _remembered(f"{place.folder}/derived/config", path) if path else None
    if known is None:
        return of_repository(place).board.claim_ttl_s
    found: int = msgspec.msgpack.decode(known)["board"]["claim_ttl_s"]
    return found


def role_names(worktree: str) -> frozenset[str]:
    """Return the roles that tasks may name: the files of .corral/roles, without their ending."""
    folder = os.path.join(worktree, ".corral", "roles")
    files = os.listdir(folder) if os.path.isdir(folder) else []
    found = {name.removesuffix(".md") for name in files if name.endswith(".md")}
    return frozenset(found - _FOR_EVERY_ROLE)


def _mark(path: str) -> _Mark:
    found = os.stat(path)
    return os.fsencode(path), found.st_ino, found.st_size, found.st_mtime_ns


def _remembered(kept: str, path: str) -> msgspec.Raw | None:
    """Return the cached configuration of this file."""
    with suppress(OSError, msgspec.MsgspecError), open(kept, "rb") as file:
        mark, config = msgspec.msgpack.decode(file.read(), type=tuple[_Mark, msgspec.Raw])
        if mark == _mark(path):
            return config
    return None


def _remember(kept: str, mark: _Mark, config: "Config") -> None:
    scratch = f"{kept}.{os.getpid()}"
    # No folder yet, read-only or full disk: the file is parsed again next time.
    with suppress(OSError):
        with open(scratch, "wb") as file:
            file.write(msgspec.msgpack.encode((mark, config)))
        os.replace(scratch, kept)

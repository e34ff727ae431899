"""What the preflight has found to be fine, so that nothing is tried again while nothing changes.

A result is remembered under a key of everything that it depends on. The file may be deleted. This
module is loaded at each start of `corral up`, so it imports little.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from os.path import join
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from corral.core.config import Config
from corral.core.environment import is_passed
from corral.roles.preflight.finding import Finding
from corral.world import clock

_MOST = 20
_DAY_MS = 86_400_000  # a key may be revoked, and a network may be gone

T = TypeVar("T")
_Mark = tuple[str, int, int, int]  # path, inode, size, time


class _Clearance(Struct, frozen=True):
    """Work may start: at that time, with these programs, and if that folder has space."""

    at: int
    folder: str
    programs: tuple[_Mark, ...]


class _Remembered(Struct):
    found: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    clear: dict[str, _Clearance] = field(default_factory=dict)


class Memory:
    def __init__(self, folder: str, now: clock.Clock = clock.now) -> None:
        self._path = join(folder, "derived", "preflight")
        self._now = now

    def recall(self, key: str) -> tuple[Finding, ...] | None:
        """Return what was found under a key; None if it is unknown."""
        return self._all().found.get(key)

    def keep(self, key: str, *found: Finding) -> None:
        known = self._all()
        known.found = _newest(known.found, key, found)
        self._write(known)

    def is_clear(self, key: str, least: int) -> bool:
        """Say whether work may start, as far as is known, and so many bytes are free."""
        known = self._all().clear.get(key)
        if known is None or self._now() - known.at >= _DAY_MS:
            return False
        with suppress(OSError):
            same = all(_mark(path) == (path, *rest) for path, *rest in known.programs)
            return same and shutil.disk_usage(known.folder).free >= least
        return False

    def clear(self, key: str, folder: str, programs: Iterable[str]) -> None:
        """Remember that work may start."""
        known = self._all()
        marks = tuple(_mark(path) for path in programs)
        known.clear = _newest(known.clear, key, _Clearance(self._now(), folder, marks))
        self._write(known)

    def _all(self) -> _Remembered:
        with suppress(OSError, msgspec.MsgspecError), open(self._path, "rb") as file:
            return msgspec.json.decode(file.read(), type=_Remembered)
        return _Remembered()

    def _write(self, known: _Remembered) -> None:
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        mine = f"{self._path}.{os.getpid()}"
        with open(mine, "wb") as file:
            file.write(msgspec.json.encode(known))
        os.replace(mine, self._path)


def _newest(known: Mapping[str, T], key: str, value: T) -> dict[str, T]:
    rest = [(name, one) for name, one in known.items() if name != key]
    return dict([*rest, (key, value)][-_MOST:])


def _mark(path: str) -> _Mark:
    about = os.stat(path)
    return path, about.st_ino, about.st_size, about.st_mtime_ns


def key_of(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def surroundings(config: Config, environ: Mapping[str, str]) -> list[object]:
    """Return what the settings and this process's variables decide; of secrets, only hashes."""
    passed = sorted(item for item in environ.items() if is_passed(item[0], config.environment))
    keys = [environ.get(name) for one in config.engine.values() for name in one.env]
    return [config, hashlib.sha256(repr((passed, keys)).encode()).hexdigest()]

"""The SQLite file: its tables, its version, and how an older version is upgraded.

`STEPS[n]` turns version n-1 into version n. An upgrade runs in one transaction, after the file was
copied; it either reaches the newest version or changes nothing. Stored lines are
never rewritten: they are hashed. A new meaning of an event is a new type (`core/log/events.py`).
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

import apsw

from corral.core.errors import LogDamaged, LogTooNew, StoreFailed

APPLICATION_ID = 0x434F5252  # "CORR"

Step = Callable[[apsw.Connection], None]


def _create(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE event"
        " (seq INTEGER PRIMARY KEY, line BLOB NOT NULL, hash BLOB NOT NULL) STRICT"
    )
    connection.pragma("application_id", APPLICATION_ID)


STEPS: Mapping[int, Step] = {1: _create}
NEWEST = max(STEPS)
_CREDIBLE = 50  # no version will ever be higher: a higher number means damage

# Several processes on one WAL file corrupt it on these versions: https://sqlite.org/wal.html
_FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))


def check_library(version: str = apsw.sqlite_lib_version()) -> None:
    """Refuse a version of SQLite that has the WAL-reset bug."""
    found = tuple(int(part) for part in version.split("."))
    if found >= _FIXED[0] or any(found[:2] == fix[:2] and found >= fix for fix in _FIXED):
        return
    said = f"SQLite {version} can corrupt a log that several processes write; nothing was opened"
    raise StoreFailed(said, "pip install --upgrade apsw")


def version_of(connection: apsw.Connection) -> int:
    """Return the file's version: 0 for an empty file."""
    version = int(connection.pragma("user_version"))
    application = int(connection.pragma("application_id"))
    if (version and application != APPLICATION_ID) or not 0 <= version <= _CREDIBLE:
        what = "cannot be read: the file's header is damaged, or it is not a Corral log"
        raise LogDamaged(1, what)
    return version


def upgrade(connection: apsw.Connection, path: str, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring the file to the newest version. The caller holds the log's lock."""
    newest = max(steps)
    version = version_of(connection)
    if version == newest:
        return
    if version > newest:
        raise LogTooNew(
            f"the log has version {version}; this Corral knows versions up to {newest}",
            "upgrade Corral; if it is up to date, the file's header is damaged:"
            " corral rebuild --from-mirror",
        )
    if version:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}.v{version}")
        connection.execute("VACUUM INTO ?", (f"{path}.v{version}",))
    with connection:
        for number in range(version + 1, newest + 1):
            steps[number](connection)
        connection.pragma("user_version", newest)

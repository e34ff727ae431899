"""The reports that a session writes into its tree: `progress.md` and `results.json`.

The session owns the tree, so a report may be a pipe, a link, or as large as the disk. Only regular
files are read, and only up to a limit.
"""

import json
import os
from enum import Enum
from os.path import join

from corral.core.session.pulse import Note, read_note
from corral.core.session.verdict import PROGRESS, RESULTS
from corral.core.text import unstyled
from corral.world.git.tree import read_plain

_LARGEST = 1 << 20
_LAST = 4096


class ReportedResult(Enum):
    NONE = "none"
    GOOD = "good"
    BAD = "bad"


def note(tree: str) -> Note | None:
    """Return the last line of progress."""
    path = join(tree, PROGRESS)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        start = max(0, os.fstat(file).st_size - _LAST)
        lines = os.pread(file, _LAST, start).decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return None  # a pipe, or a folder
    finally:
        os.close(file)
    return read_note(_printable(lines[-1])) if lines else None


def result(tree: str) -> tuple[ReportedResult, str]:
    """Say whether a result was handed in, and what is wrong with it."""
    if not os.path.lexists(join(tree, RESULTS)):
        return ReportedResult.NONE, ""
    content = read_plain(join(tree, RESULTS), _LARGEST + 1)
    if content is None:
        return ReportedResult.BAD, "it is not a plain file"
    if not content:
        return ReportedResult.NONE, ""  # yet to be written
    if len(content) > _LARGEST:
        return ReportedResult.BAD, f"it is larger than {_LARGEST} bytes"
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        return ReportedResult.BAD, f"it is not JSON: {_printable(str(error))[:200]}"
    if not isinstance(found, dict):
        return ReportedResult.BAD, f"it is a JSON {type(found).__name__}, not an object"
    return ReportedResult.GOOD, ""


def changed_at(path: str, now: int) -> int:
    """Return when a file last changed; 0 if it is missing or its time lies in the future."""
    try:
        found = os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
    return found if found <= now + 1000 else 0


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in unstyled(text))

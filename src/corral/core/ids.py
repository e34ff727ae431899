"""Names that people read: convoys (`auth-fix`), tasks (`AF-1`), sessions (`AF-1.2`), and tokens.

A prefix belongs to one convoy forever, so a task id is never used twice. The names of branches and
refs are in `core/refs`.
"""

from collections.abc import Container
from itertools import count
from typing import NewType

ConvoyId = NewType("ConvoyId", str)
TaskId = NewType("TaskId", str)
SessionId = NewType("SessionId", str)
Token = NewType("Token", str)

_SLUG_LENGTH = 40
_INITIALS = 4


def words(title: str) -> list[str]:
    """Split a title into ASCII words; accents are dropped, other scripts vanish."""
    import unicodedata

    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return "".join(c if c.isalnum() else " " for c in ascii_title).split()


def slug(title: str, taken: Container[str]) -> ConvoyId:
    """Make a convoy's id from its title, different from all that are taken."""
    base = "-".join(words(title)).lower()[:_SLUG_LENGTH].strip("-") or "convoy"
    names = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return ConvoyId(next(name for name in names if name not in taken))


def prefix(title: str, taken: Container[str]) -> str:
    """Make the prefix of a convoy's task ids: the initials, or the start of a single word."""
    parts = [word.upper() for word in words(title) if not word.isdigit()]
    if len(parts) > 1:
        base = "".join(word[0] for word in parts)[:_INITIALS]
    else:
        base = parts[0][:3] if parts else "C"
    if not base[0].isalpha():
        base = "C" + base
    # Letters keep prefixes apart (AF, AFA): "AF2-1" would read like a task number.
    names = (base + _letters(number) for number in count())
    return next(name for name in names if name not in taken)


def task_id(convoy_prefix: str, number: int) -> TaskId:
    return TaskId(f"{convoy_prefix}-{number}")


def session_id(task: TaskId, attempt: int) -> SessionId:
    """Name a session after its task and attempt: AF-1.2 is the second one on AF-1."""
    return SessionId(f"{task}.{attempt}")


def session_before(session: SessionId) -> SessionId:
    """Return the session of the same task before this one."""
    task, _, number = session.rpartition(".")
    return SessionId(f"{task}.{int(number) - 1}")


def mail_of(session: str) -> str:
    """Return the address that a session's commits are made with."""
    return f"{session}@corral.invalid".lower()


def _letters(number: int) -> str:
    """Count A, B, … Z, AA, AB, … from 1; 0 is empty."""
    out = ""
    while number:
        number, digit = divmod(number - 1, 26)
        out = chr(ord("A") + digit) + out
    return out

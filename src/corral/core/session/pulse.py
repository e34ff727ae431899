"""Must a running session stop now, and why? The witness measures the signs; this decides.

The first that holds: it handed in its result, its engine's facts say so (`core/engine/watchdog`),
its time is up, or it was silent for three beats. Two silent beats raise an alert. Words are not
outputs: a session that talks for many beats without producing anything raises an alert of its own.
"""

from collections.abc import Callable

from msgspec import Struct

from corral.core.log.state import Session, Task
from corral.core.session.verdict import RESULT, Verdict
from corral.core.text import counted

LOOK_BEATS = 2
STOP_BEATS = 3
_MARGIN_MS = 30_000  # for a shim to enforce the time limit on its own


class Stop(Struct, frozen=True):
    """End the session with this verdict; with `RESULT`, its work decides."""

    verdict: str
    text: str


class Signs(Struct, frozen=True):
    """What was measured about a session whose program runs."""

    now: int
    heard_at: int  # when it last gave a sign of life
    made_at: int  # when it last produced something
    handed_in: bool = False  # a valid result
    engine: Stop | None = None  # from the facts that its engine prints
    asks: bool = False  # its engine waits for the answer to a question


class Alerts(Struct, frozen=True):
    """What to tell people about a session that goes on: a text, or none if all is well."""

    silent: str = ""
    barren: str | None = ""  # None: not known while it is silent


def pulse(
    session: Session, signs: Signs, beat_s: int, barren_beats: int, last_words: Callable[[], str]
) -> Stop | Alerts:
    """Return why a session must stop now, or else what there is to tell about it."""
    if signs.handed_in:
        return Stop(RESULT, "it wrote results.json")
    if signs.engine is not None:
        return signs.engine
    if session.wall_s and signs.now > session.started_at + session.wall_s * 1000 + _MARGIN_MS:
        return Stop(Verdict.TIMED_OUT, "it ran past its time limit")
    if session.waits or signs.asks:
        return Alerts()  # it waits for somebody else
    beat = beat_s * 1000
    made = max(signs.made_at, session.waited_at)
    silent = signs.now - max(signs.heard_at, session.progress_at, made)
    if silent >= STOP_BEATS * beat:
        said = f"silent for {STOP_BEATS * beat_s} s; its last words: {last_words()}"
        return Stop(Verdict.SILENT, said)
    if silent >= LOOK_BEATS * beat:
        return Alerts(f"silent for two beats; its last words: {last_words()}", None)
    if barren_beats and signs.now - max(made, session.outputs_at) >= barren_beats * beat:
        says = session.progress or last_words()
        return Alerts(
            "", f"alive, but no output for {counted(barren_beats, 'beat')}; it says: {says}"
        )
    return Alerts()


def claim_gone(task: Task) -> Stop:
    """Return why a session stops that no longer holds its task, whatever its signs."""
    return Stop(Verdict.STOPPED, f"its claim is gone: {task.id} is now in state {task.state}")


class Note(Struct, frozen=True):
    """One line of `progress.md`: `time - sentence [outputs: n]`."""

    text: str
    outputs: int


def read_note(line: str) -> Note | None:
    """Parse a line of progress; None if it is empty."""
    text, bracket, rest = line.strip().rpartition("[outputs:")
    digits = rest.strip().rstrip("]").strip()
    if bracket and digits.isascii() and digits.isdigit() and len(digits) < 10:
        return Note(text.strip(), int(digits))
    return Note(line.strip(), 0) if line.strip() else None

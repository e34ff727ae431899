"""Liveness: is a running session making progress?

Two silent beats raise an alert, three end the session. Words are not outputs: a session that talks
for many beats without producing anything raises an alert of its own.
"""

from enum import StrEnum

from msgspec import Struct

LOOK_BEATS = 2
STOP_BEATS = 3


class Pulse(StrEnum):
    FINE = "fine"
    LOOK = "look"
    STOP = "stop"
    BARREN = "barren"


class Signs(Struct, frozen=True):
    """When a session last gave a sign of life, and when it last produced something."""

    heard_at: int
    made_at: int


def pulse(signs: Signs, now: int, beat_s: int, barren_beats: int) -> Pulse:
    beat = beat_s * 1000
    silent = now - signs.heard_at
    if silent >= STOP_BEATS * beat:
        return Pulse.STOP
    if silent >= LOOK_BEATS * beat:
        return Pulse.LOOK
    if barren_beats and now - signs.made_at >= barren_beats * beat:
        return Pulse.BARREN
    return Pulse.FINE


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

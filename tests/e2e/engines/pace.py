"""How many sessions ran, and when, according to the log."""

from itertools import pairwise
from typing import Any

from msgspec import Struct

Event = dict[str, Any]


class Pace(Struct, frozen=True):
    """The number of sessions that ran, from each moment on (milliseconds)."""

    points: tuple[tuple[int, int], ...]

    @property
    def begin(self) -> int:
        return self.points[0][0]

    @property
    def end(self) -> int:
        return self.points[-1][0]

    def at(self, share: float) -> int:
        """Return the moment at which a share of the whole time has passed."""
        return self.begin + int((self.end - self.begin) * share)

    def number(self, at: int) -> int:
        """Return the number that ran at a moment."""
        return [number for begun, number in self.points if begun <= at][-1]

    def median(self, begin: int, end: int) -> int:
        """Return the number that ran, or fewer, for half of a time."""
        lasted: dict[int, int] = {}
        for (at, number), (until, _) in pairwise(self.points):
            span = min(until, end) - max(at, begin)
            if span > 0:
                lasted[number] = lasted.get(number, 0) + span
        left = sum(lasted.values()) / 2
        for number in sorted(lasted):
            left -= lasted[number]
            if left <= 0:
                return number
        raise AssertionError("nothing is known of that time")


def pace_of(events: list[Event], profile: str = "") -> Pace:
    """Return how many sessions of a profile, or of all, ran over time."""
    running: set[str] = set()
    points: list[tuple[int, int]] = []
    for event in events:
        kind, data = event["type"], event["data"]
        if kind == "session.started" and (not profile or data["profile"] == profile):
            running.add(data["session"])
        elif kind == "session.ended" and data["session"] in running:
            running.remove(data["session"])
        else:
            continue
        points.append((event["at"], len(running)))
    return Pace(tuple(points))

"""Cron lines: `minute hour day month weekday`, in UTC, or `@daily` and the like.

Each field is `*`, a number or a range `a-b`; `*` and ranges can have a step `/n`; commas join
several. Months and weekdays also have names (`jan`, `mon`), and 7 is Sunday too. As in Vixie's
cron, a day must match both day fields if one of them starts with `*`, and otherwise either of the
two. Dates are milliseconds since 1970, at the beginning of their minute.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import lru_cache

from msgspec import Struct

from corral.core.errors import BadInput
from corral.core.text import printable

_MINUTE = 60_000
_DAY = 1440  # minutes
_EPOCH = date(1970, 1, 1).toordinal()
_CALENDAR = 146_097  # days in 400 years, after which the calendar repeats
_HINT = "five fields, minute hour day month weekday, like '0 3 * * 1-5'"

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class _Field(Struct, frozen=True):
    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()  # names of the numbers from `least` on


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY = _Field("weekday", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _WEEKDAY,
)


class Cron(Struct, frozen=True):
    moments: tuple[int, ...]  # minutes of the day, ascending
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # Sunday is 0
    either: bool  # one of the two day fields is enough

    def on(self, day: date) -> bool:
        """Say whether the line has dates on this day."""
        if day.month not in self.months:
            return False
        by_day = day.day in self.days
        by_weekday = day.isoweekday() % 7 in self.weekdays
        return by_day or by_weekday if self.either else by_day and by_weekday

    def after(self, at: int) -> int | None:
        """Return the first date later than `at`; None if the calendar ends before it."""
        day, minute = divmod(at // _MINUTE + 1, _DAY)
        for found in self._days(day, 1):
            place = bisect_left(self.moments, minute) if found == day else 0
            if place < len(self.moments):
                return (found * _DAY + self.moments[place]) * _MINUTE
        return None

    def until(self, at: int) -> int | None:
        """Return the last date that is not later than `at`."""
        day, minute = divmod(at // _MINUTE, _DAY)
        for found in self._days(day, -1):
            place = bisect_right(self.moments, minute) if found == day else len(self.moments)
            if place:
                return (found * _DAY + self.moments[place - 1]) * _MINUTE
        return None

    def _days(self, start: int, step: int) -> Iterator[int]:
        """Yield the matching days from `start` on, as days since 1970."""
        for day in range(start, start + step * (_CALENDAR + 2), step):
            ordinal = _EPOCH + day
            if not 1 <= ordinal <= date.max.toordinal():
                return
            if self.on(date.fromordinal(ordinal)):
                yield day


@lru_cache(maxsize=256)
def parse(line: str) -> Cron:
    """Read a cron line; BadInput says in one sentence what is wrong with it."""
    words = _ALIASES.get(line.strip().lower(), line).split()
    if len(words) == 1 and words[0].startswith("@"):
        what = f"the cron line {printable(words[0])} is not known"
        raise BadInput(what, f"one of {', '.join(_ALIASES)}")
    if len(words) != len(_FIELDS):
        said = f"the cron line {printable(line)!r} has {len(words)} fields instead of 5"
        raise BadInput(said, _HINT)
    minutes, hours, days, months, weekdays = (
        frozenset(number for item in word.lower().split(",") for number in _item(item, field))
        for word, field in zip(words, _FIELDS, strict=True)
    )
    found = Cron(
        moments=tuple(hour * 60 + minute for hour in sorted(hours) for minute in sorted(minutes)),
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        either=not (words[2].startswith("*") or words[4].startswith("*")),
    )
    if found.after(0) is None:
        what = f"the cron line {printable(line)!r} never matches: no such day exists"
        raise BadInput(what, _HINT)
    return found


def shown(at: int) -> str:
    """Return a date as text for people."""
    return f"{datetime.fromtimestamp(at // 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _item(item: str, field: _Field) -> range:
    span, slash, step = item.partition("/")
    first, dash, last = span.partition("-")
    if span == "*":
        low, high = field.least, field.most
    else:
        low = _number(first, field)
        high = _number(last, field) if dash else low
        if field is _WEEKDAY and dash and high == 0 < low:
            high = 7  # fri-sun
    if low > high:
        raise BadInput(f"the {field.name} {printable(item)!r} of the cron line is reversed")
    if slash and not dash and span != "*":
        said = f"the {field.name} {printable(item)!r} of the cron line has a step but no range"
        raise BadInput(said, f"{printable(first)}-{field.most}/{printable(step)}")
    return range(low, high + 1, _step(step, field) if slash else 1)


def _number(word: str, field: _Field) -> int:
    if word in field.words:
        return field.words.index(word) + field.least
    if _digits(word) and field.least <= int(word) <= field.most:
        return int(word)
    named = f" or a name like {field.words[1]}" if field.words else ""
    raise BadInput(
        f"the {field.name} {printable(word)!r} of the cron line is not a number from"
        f" {field.least} to {field.most}{named}",
        _HINT,
    )


def _step(word: str, field: _Field) -> int:
    if _digits(word) and 1 <= int(word) <= field.most:
        return int(word)
    raise BadInput(
        f"the step {printable(word)!r} of the cron line's {field.name} is not a number from 1 to"
        f" {field.most}",
        _HINT,
    )


def _digits(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 2

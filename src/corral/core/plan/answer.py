"""Reads a plan from an engine's answer: JSON, with any prose and fences around it.

The last complete object that looks like a plan counts. The parser is our own because it reports the
line of each key, and where a malformed answer breaks off. An object is parsed again only if one
around it is broken, so a text is read as often as it is nested.
"""

import re
from bisect import bisect_left
from json import loads
from typing import Any

from msgspec import Struct

from corral.core.plan.problems import Source, unreadable
from corral.core.text import printable
from corral.core.toml_lines import Place

_DEEPEST = 8
_MOST_OBJECTS = 1_000
_PLAN = re.compile(r'\{(?=[ \t\n\r]*"(?:convoy|policy|tasks?|cancel)"[ \t\n\r]*:)')
_MOST_ITEMS = 5_000
_PARTS = ("task", "tasks", "convoy", "cancel")
_BEGIN = re.compile(r"\{(?=[ \t\n\r]*[\"}])")
_INSIDE = re.compile(r'(?:[^"\\\x00-\x1f]++|\\.)*')
_BLANK = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"-?(?:0|[1-9]\d{0,18})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?|true|false|null")
_WORDS = {"true": True, "false": False, "null": None}


class _Broken(Exception):
    def __init__(self, at: int, text: str) -> None:
        super().__init__(text)
        self.at = at
        self.text = text


class _Found(Struct):
    """One complete object."""

    data: dict[str, Any]
    places: dict[Place, int]  # where each key and element begins, as an offset


def read_answer(text: str) -> Source:
    """Read the last plan in a text."""
    ends = [match.start() for match in re.finditer("\n", text)]
    found = _objects(text, _PLAN)
    if found.plan is None:
        found = _objects(text, _BEGIN)
    if found.plan is not None:
        places = found.plan.places.items()
        return Source(found.plan.data, {place: _line(ends, at) for place, at in places})
    return _nothing(ends, found)


def means_a_plan(text: str) -> bool:
    """Say whether a plan begins anywhere in a text, complete or not."""
    return _PLAN.search(text) is not None


class _Objects(Struct):
    """The last plan, the last object, and the broken object that got furthest."""

    plan: _Found | None = None
    other: _Found | None = None
    broken: tuple[int, _Broken] | None = None


def _objects(text: str, pattern: "re.Pattern[str]") -> _Objects:
    """Read the objects whose beginning matches; only the last ones if there are very many."""
    found, end = _Objects(), 0
    for start in [begin.start() for begin in pattern.finditer(text)][-_MOST_OBJECTS:]:
        if start < end:
            continue
        reader = _JsonReader(text)
        try:
            data, end = reader.value(start, ())
        except _Broken as error:
            if found.broken is None or error.at > found.broken[1].at:
                found.broken = start, error
        else:
            found.other = _Found(data, reader.places)
            if any(isinstance(data.get(part), list | dict) for part in _PARTS):
                found.plan = found.other
    return found


def _nothing(ends: list[int], found: _Objects) -> Source:
    """Say why there is no plan: where an object is broken, or what the last one has instead."""
    if found.broken:
        start, error = found.broken
        begun, line = _line(ends, start), _line(ends, error.at)
        where = f" (the object begins on line {begun})" if begun != line else ""
        return unreadable(f"not valid JSON: {error.text}{where}", line)
    if found.other:
        keys = ", ".join(printable(key) for key in list(found.other.data)[:5]) or "nothing"
        line = _line(ends, next(iter(found.other.places.values()), 0))
        said = 'not a plan: the last object has neither "convoy" nor "task", but'
        return unreadable(f"{said} {keys}", line)
    return unreadable("it contains no JSON object")


def _line(ends: list[int], at: int) -> int:
    return bisect_left(ends, at) + 1


class _JsonReader:
    """Reads one value; `places` has the offset of each part."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.places: dict[Place, int] = {}

    def value(self, at: int, place: Place) -> tuple[Any, int]:
        if place:
            self.places[place] = at
        if len(place) >= _DEEPEST:
            raise _Broken(at, f"it is nested deeper than {_DEEPEST} levels")
        char = self._text[at : at + 1]
        if char == "{":
            return self._object(at, place)
        if char == "[":
            return self._list(at, place)
        if char == '"':
            return self._string(at)
        word = _WORD.match(self._text, at)
        if not word:
            raise self._unexpected(at, "a value")
        if word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        whole = word[0].lstrip("-").isdigit()
        return int(word[0]) if whole else float(word[0]), word.end()

    def _object(self, start: int, place: Place) -> tuple[dict[str, Any], int]:
        data: dict[str, Any] = {}
        at = self._skip(start + 1)
        if self._text[at : at + 1] == "}":
            return data, at + 1
        while True:
            if self._text[at : at + 1] != '"':
                raise self._unexpected(at, "a name in double quotes")
            key, after = self._string(at)
            if key in data:
                raise _Broken(at, f'duplicate key "{printable(key)}"')
            colon = self._skip(after)
            if self._text[colon : colon + 1] != ":":
                raise self._unexpected(colon, f'a ":" after "{printable(key)}"')
            data[key], after = self.value(self._skip(colon + 1), (*place, key))
            self.places[*place, key] = at
            at, ended = self._next(after, "}")
            if ended:
                return data, at

    def _list(self, start: int, place: Place) -> tuple[list[Any], int]:
        items: list[Any] = []
        at = self._skip(start + 1)
        if self._text[at : at + 1] == "]":
            return items, at + 1
        while True:
            item, after = self.value(at, (*place, len(items)))
            items.append(item)
            if len(items) > _MOST_ITEMS:
                raise _Broken(at, f"a list has more than {_MOST_ITEMS:,} elements")
            at, ended = self._next(after, "]")
            if ended:
                return items, at

    def _next(self, after: int, closing: str) -> tuple[int, bool]:
        """Go past a comma to the next element, or past the end."""
        at = self._skip(after)
        char = self._text[at : at + 1]
        if char == closing:
            return at + 1, True
        if char != ",":
            raise self._unexpected(at, f'"," or "{closing}"')
        following = self._skip(at + 1)
        if self._text[following : following + 1] == closing:
            raise _Broken(at, f'trailing comma before "{closing}"')
        return following, False

    def _string(self, at: int) -> tuple[str, int]:
        inside = _INSIDE.match(self._text, at + 1)
        end = inside.end() if inside else at + 1
        if self._text[end : end + 1] != '"':
            if end >= len(self._text):
                raise _Broken(end, "it ends in the middle of a string")
            raise _Broken(end, "a string contains a line break: write \\n")
        try:
            return str(loads(self._text[at : end + 1])), end + 1
        except ValueError as error:
            said = "a string has an invalid escape: write \\\\ for a backslash"
            raise _Broken(at, said) from error

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _unexpected(self, at: int, wanted: str) -> _Broken:
        if at >= len(self._text):
            return _Broken(at, f"it ends where {wanted} should follow")
        return _Broken(at, f"expected {wanted}, found {self._text[at : at + 1]!r}")

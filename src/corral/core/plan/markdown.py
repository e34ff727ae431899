"""Reads a plan from a Markdown checklist. The grammar is in `docs/how-to/plans.md`.

An open item (`- [ ] title`) is a task; a ticked one is done and left out. Indented lines directly
below it of the form `field: value` are its fields. From the first empty or other line on, all
indented text is the brief.
"""

import re
import shlex
from difflib import get_close_matches
from textwrap import dedent
from typing import Any

from msgspec import Struct

from corral.core.ids import words
from corral.core.plan.problems import MOST, Problem, Source, nearest, unreadable
from corral.core.plan.schema import KEY, ConvoyPlan, PlanPolicy, TaskPlan
from corral.core.toml_lines import Place

_ITEM = re.compile(r"^([-*+]|\d{1,9}[.)]) +\[([ xX]?)\](?: +(.*)|)$")
_FIELD = re.compile(r"^([A-Za-z_]+) *:(?: +(.*)|)$")
_BULLET = re.compile(r"^[-*+] +(.*)$")
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$")

# Lines are repeated in a checklist, so most list names may be singular.
_ALIASES = {"path": "paths", "input": "inputs", "check": "checks", "need": "needs", "id": "key"}
_LISTS = {"needs", "paths", "inputs", "accept", "checks", "beside"}
_COMMAS = {"needs", "paths", "inputs", "beside"}  # commands may hold commas
_NUMBERS = {"priority", "minutes"}
_POLICY = set(PlanPolicy.__struct_fields__)
_OF_TASK = {*TaskPlan.__struct_fields__} - {"brief"}
_OF_CONVOY = {*ConvoyPlan.__struct_fields__} | _POLICY


def read_markdown(text: str) -> Source:
    """Read a checklist."""
    reader = _MarkdownReader()
    for number, line in enumerate(text.expandtabs(4).split("\n"), 1):
        reader.take(number, line.rstrip())
    return reader.source()


class _Item(Struct):
    """An item of the list, while its lines are read."""

    fields: dict[str, Any]
    done: bool
    place: Place
    lines: dict[Place, int]
    brief: list[str] = []
    in_brief: bool = False


class _MarkdownReader:
    def __init__(self) -> None:
        self._convoy: dict[str, Any] = {}
        self._policy: dict[str, Any] = {}
        self._lines: dict[Place, int] = {}
        self._items: list[_Item] = []
        self._open = 0  # the number of open items
        self._problems: list[Problem] = []
        self._fence = ""
        self._list = ""  # the field whose values follow as bullets

    def take(self, number: int, line: str) -> None:
        text = line.strip()
        indented = line[:1] == " "
        fenced = bool(self._fence)
        fence = _FENCE.match(text)
        if fence and not self._fence:
            self._fence, fenced = fence[1], True
        elif fence and fence[1].startswith(self._fence) and text.strip(text[0]) == "":
            self._fence = ""
        item = self._items[-1] if self._items else None
        if not fenced and (found := _ITEM.match(text)) and (not indented or item is None):
            self._begin(number, (found[3] or "").strip(), found[2] in ("x", "X"))
        elif item is not None and (indented or not text or fenced):
            self._inside(item, number, line, fenced)
        elif item is None and not fenced:
            self._head(number, text)

    def _begin(self, number: int, title: str, done: bool) -> None:
        place = ("task", self._open)
        self._items.append(_Item({"title": _bare(title)}, done, place, {place: number}))
        self._open += not done
        self._list = ""

    def _head(self, number: int, text: str) -> None:
        """Read a line above the first item: the title, fields of the convoy, or prose."""
        if heading := _HEADING.match(text):
            if "title" not in self._convoy:
                self._convoy["title"] = _bare(heading[1])
                self._lines["convoy", "title"] = self._lines["convoy",] = number
            return
        if self._list and (bullet := _BULLET.match(text)):
            self._convoy.setdefault(self._list, []).append(_bare(bullet[1]))
            return
        self._list = ""
        name, value = _field(text)
        if name in _OF_CONVOY:
            table, part = (self._policy, "policy") if name in _POLICY else (self._convoy, "convoy")
            self._lines[part, name] = number
            self._set(table, name, value, number, part)

    def _inside(self, item: _Item, number: int, line: str, fenced: bool) -> None:
        text = line.strip()
        if not item.in_brief and not fenced:
            if self._list and (bullet := _BULLET.match(text)):
                item.fields.setdefault(self._list, []).append(_bare(bullet[1]))
                return
            name, value = _field(text)
            if name in _OF_TASK:
                item.lines[*item.place, name] = number
                self._set(item.fields, name, value, number, self._name(item))
                return
            likely = len(self._problems) <= MOST and name.islower()
            if likely and get_close_matches(name[:100], _OF_TASK, 1, 0.8):
                hint = f"{nearest(name, _OF_TASK)} (a brief begins after an empty line)"
                self._say(number, f"{self._name(item)}.{name}", f"unknown field{hint}")
                return
        if text or item.in_brief or item.brief:
            item.lines.setdefault((*item.place, "brief"), number)
        item.in_brief = True
        self._list = ""
        item.brief.append(line)

    def _set(self, table: dict[str, Any], name: str, value: str, number: int, part: str) -> None:
        where = f"{part}.{name}"
        self._list = name if name in _LISTS and not value else ""
        if name in _LISTS:
            parts = value.split(",") if name in _COMMAS else [value]
            table.setdefault(name, []).extend(_bare(part) for part in parts if part.strip())
        elif name in table:
            self._say(number, where, "given twice")
        elif name in _NUMBERS:
            digits = value.isascii() and value.isdigit() and len(value) < 19
            table[name] = int(value) if digits else value
        elif name == "unproved":
            table[name] = {"true": True, "yes": True, "false": False, "no": False}.get(value, value)
        elif name == "run":
            try:
                table[name] = shlex.split(_bare(value))
            except ValueError as error:
                self._say(number, where, f"cannot parse the command: {error}".lower())
        else:
            table[name] = _bare(value)

    def _name(self, item: _Item) -> str:
        return f"task.{item.fields.get('key') or _slug(item.fields['title']) or 'task'}"

    def _say(self, line: int, where: str, text: str) -> None:
        self._problems.append(Problem(line, where, text))

    def source(self) -> Source:
        if not self._items:
            return unreadable("it contains no task: a task is a line like `- [ ] title`")
        for item in self._items:
            item.fields.setdefault("key", _slug(item.fields["title"]))
            brief = dedent("\n".join(item.brief)).strip("\n")
            if brief:
                item.fields["brief"] = brief
        keys = {str(item.fields["key"]) for item in self._items}
        titles = {_slug(item.fields["title"]): str(item.fields["key"]) for item in self._items}
        done = {str(item.fields["key"]) for item in self._items if item.done}
        tasks = []
        for item in self._items:
            for name in ("needs", "beside"):
                if name in item.fields:  # by key, or else by title
                    named = item.fields[name]
                    found = (n if n in keys else titles.get(_slug(n), n) for n in named)
                    item.fields[name] = [n for n in found if n not in done]
            if not item.done:
                self._lines |= item.lines
                tasks.append(item.fields)
        data = {"convoy": self._convoy, "policy": self._policy, "task": tasks}
        if not tasks:
            self._say(0, "", "nothing to do: every task is ticked")
        return Source(data, self._lines, tuple(self._problems))


def _field(text: str) -> tuple[str, str]:
    found = _FIELD.match(text)
    if not found:
        return "", ""
    name = found[1].lower()
    return _ALIASES.get(name, name), (found[2] or "").strip()


def _bare(value: str) -> str:
    """Remove one pair of backticks, with which Markdown marks commands like `pytest -q`."""
    value = value.strip()
    whole = len(value) > 2 and value[0] == value[-1] == "`" and "`" not in value[1:-1]
    return value[1:-1] if whole else value


def _slug(title: str) -> str:
    return "-".join(words(title)).lower()[:KEY].strip("-")

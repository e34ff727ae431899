"""Turns parsed data into a plan, and reports every wrong type and name, not only the first.

A wrong part is left out, so that the rest can be checked as well.
"""

import typing
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from corral.core.plan.problems import Problem, Source, nearest, quoted
from corral.core.plan.schema import MOST_TASKS, ConvoyPlan, Plan, PlanPolicy, TaskPlan
from corral.core.toml_lines import Place

_WORDS = {str: "a string", bool: "true or false", int: "an integer"}
_KINDS = ((bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a string"))
_PARTS = ("convoy", "policy", "task")
# Other names that people and models write.
_ALIASES = {"tasks": "task", "id": "key", "acceptance": "accept", "depends_on": "needs"}
UNNAMED = "(no title)"


class Shaped(Struct, frozen=True):
    """A plan as far as it could be read, the place of each task, and the problems."""

    plan: Plan | None
    source: Source
    indices: tuple[int, ...]  # each task's number in the source
    problems: tuple[Problem, ...]

    @property
    def spelling(self) -> str:
        """What the plan calls its list of tasks: `task`, or `tasks`."""
        data = self.source.data
        return "tasks" if isinstance(data, dict) and "tasks" in data else "task"

    def place(self, number: int) -> Place:
        """Return the place of the plan's task with this number."""
        return (self.spelling, self.indices[number])


def shaped(source: Source) -> Shaped:
    """Make a plan from parsed data."""
    maker = _Maker(source)
    plan = maker.plan() if not source.problems or source.data is not None else None
    return Shaped(plan, source, tuple(maker.indices), (*source.problems, *maker.problems))


class _Maker:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.problems: list[Problem] = []
        self.indices: list[int] = []

    def plan(self) -> Plan | None:
        data = self._source.data
        if not isinstance(data, dict):
            self._say((), "", f"a plan is a table, not {_kind(data)}")
            return None
        table = self._renamed(data, (), "", _PARTS)
        convoy = self._table(ConvoyPlan, table.get("convoy", {}), ("convoy",), "convoy")
        policy = self._table(PlanPolicy, table.get("policy", {}), ("policy",), "policy")
        if "convoy" not in table:
            self._say((), "convoy", "missing: a plan needs a convoy with a title")
        elif isinstance(table["convoy"], dict) and "title" not in table["convoy"]:
            self._say(("convoy",), "convoy.title", "missing")
        tasks = self._tasks(table, "tasks" if "tasks" in data else "task")
        return Plan(
            convoy=ConvoyPlan(**{"title": UNNAMED, **convoy}),
            policy=PlanPolicy(**policy),
            tasks=tasks,
        )

    def _tasks(self, table: dict[str, Any], spelling: str) -> tuple[TaskPlan, ...]:
        written = table.get("task", [])
        if not isinstance(written, list):
            self._say((spelling,), spelling, f"expected a list of tables, got {_kind(written)}")
            return ()
        if not written and not self._source.problems:
            self._say((), spelling, "the plan has no tasks")
        if len(written) > MOST_TASKS:
            said = f"the plan has {len(written):,} tasks: at most {MOST_TASKS} are allowed"
            self._say((spelling,), spelling, f"{said}; split it into several plans")
            return ()
        made = (self._task(item, (spelling, n), n) for n, item in enumerate(written))
        return tuple(task for task in made if task)

    def _task(self, item: Any, place: Place, number: int) -> TaskPlan | None:
        spelling = str(place[0])
        key = item.get("key", item.get("id")) if isinstance(item, dict) else None
        name = key if isinstance(key, str) and key else f"{number + 1}"
        where = f"{spelling}.{quoted(name)[1:-1]}"
        if not isinstance(item, dict):
            self._say(place, where, f"expected a table, got {_kind(item)}")
            return None
        fields = self._table(TaskPlan, item, place, where)
        given = {_ALIASES.get(name, name) for name in item}
        for needed in ("key", "title"):
            if needed not in given:
                self._say(place, f"{where}.{needed}", "missing")
        self.indices.append(number)
        return TaskPlan(**{"key": name, "title": UNNAMED, **fields})

    def _table(self, kind: type[Struct], value: Any, place: Place, where: str) -> dict[str, Any]:
        """Return the fields of a table that have the right type."""
        if not isinstance(value, dict):
            self._say(place, where, f"expected a table, got {_kind(value)}")
            return {}
        known = {field.name: field.type for field in msgspec.structs.fields(kind)}
        made: dict[str, Any] = {}
        for name, item in self._renamed(value, place, where, known).items():
            spelt = next((old for old in value if _ALIASES.get(old, old) == name), name)
            found, wrong = _fitting(_plain(known[name]), item)
            if wrong:
                self._say((*place, spelt), f"{where}.{name}", wrong)
            else:
                made[name] = found
        return made

    def _renamed(
        self, table: dict[str, Any], place: Place, where: str, known: Iterable[str]
    ) -> dict[str, Any]:
        """Return the known fields by their own names; report unknown and duplicate ones."""
        names = set(known)
        kept: dict[str, Any] = {}
        for spelt, item in table.items():
            name = spelt if spelt in names else _ALIASES.get(spelt, spelt)
            full = f"{where}.{quoted(spelt)[1:-1]}" if where else quoted(spelt)[1:-1]
            if name not in names:
                hint = (
                    nearest(spelt, names, len(self.problems))
                    or f"; known fields are {', '.join(sorted(names))}"
                )
                self._say((*place, spelt), full, f"unknown field{hint}")
            elif name in kept:
                self._say((*place, spelt), full, f"duplicate of {name}")
            else:
                kept[name] = item
        return kept

    def _say(self, place: Place, where: str, text: str) -> None:
        self.problems.append(Problem(self._source.line(place), where, text))


def _plain(kind: Any) -> Any:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


def _fitting(kind: Any, value: Any) -> tuple[Any, str]:
    """Return the value as the field expects it, or what is wrong with it."""
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value in choices:
            return value, ""
        said = quoted(value) if isinstance(value, str) else _kind(value)
        return None, f"expected {' or '.join(map(quoted, choices))}, got {said}"
    if typing.get_origin(kind) is tuple:
        return _texts(value)
    if type(value) is kind:
        return value, ""
    return None, f"expected {_WORDS[kind]}, got {_kind(value)}"


def _texts(value: Any) -> tuple[Any, str]:
    if not isinstance(value, list):
        hint = f"; write [{quoted(value)}]" if isinstance(value, str) else ""
        return None, f"expected a list of strings, got {_kind(value)}{hint}"
    for number, item in enumerate(value, 1):
        if not isinstance(item, str):
            return None, f"expected a list of strings, but element {number} is {_kind(item)}"
    return tuple(value), ""


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return next((word for kind, word in _KINDS if isinstance(value, kind)), "a date or time")

"""Checks every text, name and path in a plan, and the dependencies of its tasks.

The limits are those of single commands (`core/text`, `core/paths`), so a plan that passes can be
applied.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter

from msgspec import Struct

from corral.core import paths, text
from corral.core.errors import BadInput
from corral.core.plan.edges import comparisons
from corral.core.plan.problems import Problem, Source, bounded, nearest, quoted
from corral.core.plan.schema import KEY, MOST_COMPARISONS, MOST_MINUTES, MOST_PATHS, Plan, TaskPlan
from corral.core.plan.shape import UNNAMED, Shaped
from corral.core.session.brief import CHANGE_NOTHING
from corral.core.toml_lines import Place

_STRATEGIES = ("", "rebase", "squash", "merge")


class Surroundings(Struct, frozen=True):
    """The names that a plan may refer to. None means unknown, so not checked."""

    engines: frozenset[str] | None = None
    roles: frozenset[str] | None = None
    tasks: frozenset[str] = frozenset()  # on the board, by key or by id


def problems(
    plan: Plan | Shaped, around: Surroundings | None = None, more: Sequence[Problem] = ()
) -> tuple[Problem, ...]:
    """Return all problems by line, limited in number for a hopeless plan."""
    if isinstance(plan, Plan):
        plan = Shaped(plan, Source(None, {}), tuple(range(len(plan.tasks))), ())
    if plan.plan is None:
        return bounded(plan.problems)
    found = _all(plan.plan, around or Surroundings(), plan)
    told = {(problem.line, problem.where) for problem in plan.problems}
    return bounded((*plan.problems, *(p for p in found if (p.line, p.where) not in told), *more))


def _problem(shaped: Shaped, place: Place, where: str, said: str, warning: bool = False) -> Problem:
    return Problem(shaped.source.line(place), where, text.shown(said), warning)


def _about(
    shaped: Shaped, place: Place, name: str, field: str, said: str, *, warning: bool = False
) -> Problem:
    return _problem(shaped, (*place, field), f"{name}.{field}", said, warning)


def _all(plan: Plan, around: Surroundings, shaped: Shaped) -> Iterator[Problem]:
    yield from _convoy(plan, shaped)
    if sum(len(task.paths) for task in plan.tasks) > MOST_PATHS:
        yield _problem(shaped, (), shaped.spelling, f"a plan may have at most {MOST_PATHS:,} paths")
    elif _usable(plan) and comparisons(plan.tasks) > MOST_COMPARISONS:
        said = "too many paths begin with the same wildcards: name folders instead"
        yield _problem(shaped, (), shaped.spelling, said)
    seen: dict[str, int] = {}
    for number, task in enumerate(plan.tasks):
        place = shaped.place(number)
        name = f"{shaped.spelling}.{text.printable(task.key)}"
        if task.key in seen:
            line = shaped.source.line(shaped.place(seen[task.key]))
            first = f" (the first is on line {line})" if line else ""
            said = f"two tasks have the key {quoted(task.key)}{first}"
            yield _problem(shaped, (*place, "key"), f"{name}.key", said)
        seen.setdefault(task.key, number)
        yield from _task(plan, task, around, partial(_about, shaped, place, name))
    yield from _needs(plan, around, shaped)


def _usable(plan: Plan) -> bool:
    """Say whether all paths are valid patterns: only those can be compared."""
    return not any(paths.problem(path.strip()) for task in plan.tasks for path in task.paths)


def _convoy(plan: Plan, shaped: Shaped) -> Iterator[Problem]:
    convoy = plan.convoy
    say = partial(_about, shaped, ("convoy",), "convoy")
    yield from _text(say, "title", convoy.title, "the title", text.TITLE)
    yield from _text(say, "base", convoy.base, "the base branch", empty=True)
    yield from _list(say, "checks", convoy.checks, "a check")
    if convoy.strategy not in _STRATEGIES:
        known = ", ".join(_STRATEGIES[1:])
        yield say("strategy", f"unknown strategy {quoted(convoy.strategy)}; use one of {known}")
    slug = convoy.slug
    words = all(p.isascii() and p.isalnum() and p == p.lower() for p in slug.split("-"))
    if slug and not (words and len(slug) <= 40):
        yield say(
            "slug", f"{quoted(slug)} is not an id: use lower-case letters, digits and single -"
        )
    letters = convoy.prefix.isascii() and convoy.prefix.isalpha() and convoy.prefix.isupper()
    if convoy.prefix and not (letters and len(convoy.prefix) <= 8):
        yield say("prefix", f"{quoted(convoy.prefix)} is not a prefix: use up to 8 capital letters")


Say = Callable[..., Problem]


def _task(plan: Plan, task: TaskPlan, around: Surroundings, say: Say) -> Iterator[Problem]:
    bare = task.key.replace("-", "").replace("_", "")
    if not (bare.isascii() and bare.isalnum()) or len(task.key) > KEY:
        said = f"{quoted(task.key)} is not a key: use up to {KEY} letters, digits, - and _"
        yield say("key", said)
    if task.title != UNNAMED:
        yield from _text(say, "title", task.title, "the title", text.TITLE)
    yield from _caught(say, "brief", lambda: text.prose(task.brief, "the brief", text.BRIEF))
    yield from _list(say, "accept", task.accept, "an acceptance command")
    yield from _paths(say, "paths", task.paths)
    yield from _paths(say, "inputs", task.inputs)
    for path in task.inputs:
        if any(mark in path for mark in "*?["):
            yield say("inputs", f"the input {quoted(path)} is a pattern: name one file")
    yield from _number(say, "priority", task.priority, text.PRIORITY)
    yield from _number(say, "minutes", task.minutes, MOST_MINUTES)
    yield from _run(say, task)
    yield from _names(task, around, say)
    yield from _acceptance(plan, task, say)


def _acceptance(plan: Plan, task: TaskPlan, say: Say) -> Iterator[Problem]:
    if task.accept and task.unproved:
        yield say("unproved", "it has acceptance commands, so it cannot be unproved")
    if not task.accept and not task.unproved and task.role not in CHANGE_NOTHING:
        lax = plan.policy.acceptance == "optional"
        hint = "" if lax else ': give commands, or set "unproved" if there are none'
        yield say("accept", f"nothing proves that it is done{hint}", warning=lax)


def _names(task: TaskPlan, around: Surroundings, say: Say) -> Iterator[Problem]:
    engines, name = around.engines, task.engine or "default"
    if engines is not None and name not in engines and (task.engine or (engines and not task.run)):
        known = nearest(name, engines) or f"; there are {', '.join(sorted(engines)) or 'none'}"
        chosen = "" if task.engine else ", and none is named"
        yield say("engine", f"there is no engine profile {quoted(name)}{chosen}{known}")
    yield from _text(say, "engine", task.engine, "the engine", text.NAME, empty=True)
    if task.role and around.roles is not None and task.role not in around.roles:
        known = nearest(task.role, around.roles)
        yield say("role", f"there is no role {quoted(task.role)} in .corral/roles{known}")
    elif task.role and not task.role.replace("-", "").replace("_", "").isalnum():
        yield say("role", f"{quoted(task.role)} is not the name of a role")
    yield from _text(say, "role", task.role, "the role", text.NAME, empty=True)


def _run(say: Say, task: TaskPlan) -> Iterator[Problem]:
    if len(task.run) > text.ITEMS:
        said = f"the command has {len(task.run)} words: at most {text.ITEMS} are allowed"
        yield say("run", said)
    for word in task.run[: text.ITEMS]:
        what = "a word of the command"
        yield from _caught(say, "run", partial(text.prose, word, what, text.COMMENT))


def _paths(say: Say, field: str, patterns: tuple[str, ...]) -> Iterator[Problem]:
    if len(patterns) > text.ITEMS:
        yield say(field, f"{len(patterns)} paths are given: at most {text.ITEMS} are allowed")
    for pattern in patterns[: text.ITEMS]:
        wrong = paths.problem(pattern.strip())
        if wrong:
            yield say(field, f"the path {quoted(pattern)} cannot be used: {wrong}")
        else:
            yield from _text(say, field, pattern, "the path", paths.MAX_LENGTH)


def _number(say: Say, field: str, value: int, most: int) -> Iterator[Problem]:
    if not 0 <= value <= most:
        shown = f"{value:.3e}" if abs(value) > 10**18 else str(value)
        yield say(field, f"{shown} is out of range: it must be between 0 and {most:,}")


def _text(
    say: Say, field: str, value: str, what: str, limit: int = text.LINE, *, empty: bool = False
) -> Iterator[Problem]:
    yield from _caught(say, field, lambda: text.line(value, what, limit, empty=empty))


def _list(say: Say, field: str, values: tuple[str, ...], what: str) -> Iterator[Problem]:
    if len(values) > text.ITEMS:
        yield say(field, f"{what} is given {len(values)} times: at most {text.ITEMS} are allowed")
    for value in values[: text.ITEMS]:
        yield from _text(say, field, value, what)


def _caught(say: Say, field: str, checked: Callable[[], object]) -> Iterator[Problem]:
    try:
        checked()
    except BadInput as error:
        yield say(field, error.message)


def _needs(plan: Plan, around: Surroundings, shaped: Shaped) -> Iterator[Problem]:
    keys = {task.key for task in plan.tasks}
    graph: dict[str, list[str]] = {}
    unknown = 0
    for number, task in enumerate(plan.tasks):
        graph.setdefault(task.key, [])
        for field, named in (("needs", task.needs), ("beside", task.beside)):
            place = (*shaped.place(number), field)
            name = f"{shaped.spelling}.{text.printable(task.key)}.{field}"
            if len(named) > text.ITEMS:
                said = f"{len(named)} tasks are named: at most {text.ITEMS} are allowed"
                yield _problem(shaped, place, name, said)
            for other in dict.fromkeys(named[: text.ITEMS]):
                if other not in keys and other not in around.tasks:
                    hint = nearest(other, keys, unknown)
                    unknown += 1
                    yield _problem(shaped, place, name, f"there is no task {quoted(other)}{hint}")
                elif field == "needs" and other in keys:
                    graph[task.key].append(other)
    yield from _cycle(plan, graph, shaped)


def _cycle(plan: Plan, graph: dict[str, list[str]], shaped: Shaped) -> Iterator[Problem]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # It lists each task before the one that needs it, so the reverse reads as "needs".
        circle = list(reversed(error.args[1]))
        number = min(n for n, task in enumerate(plan.tasks) if task.key in circle)
        first = circle.index(plan.tasks[number].key)
        ring = [*circle[first:-1], *circle[:first], circle[first]] if first else circle
        trail = " → ".join(map(text.printable, ring if len(ring) <= 12 else [*ring[:11], "…"]))
        name = f"{shaped.spelling}.{text.printable(ring[0])}.needs"
        said = f"dependency cycle: {trail}"
        yield _problem(shaped, (*shaped.place(number), "needs"), name, said)

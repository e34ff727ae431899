"""Turns a plan into events: its convoy and tasks, or what has changed about them.

The events are those of single commands, each decided on a copy of the state that includes the ones
before it. So a plan can do nothing that commands could not, and it is all or nothing.

Applying a plan again changes nothing. A task is identified by its key in the convoy, its wording by
a digest: manual edits stay until the plan itself changes. A task that somebody works on, or that
was handed in, is not changed, and `outcome` reports that. One that has failed is tried again if the
plan has corrected it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from corral.core.board import commands as c
from corral.core.board.rules import decide
from corral.core.errors import BadInput, Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.fold import apply
from corral.core.log.state import Convoy, State, Task, TaskState
from corral.core.plan.check import Surroundings, problems
from corral.core.plan.edges import Edge, Graph, graph_of
from corral.core.plan.problems import errors
from corral.core.plan.schema import Plan, TaskPlan, digest

_UNTOUCHED = (TaskState.TODO, TaskState.BLOCKED)


class AppliedTask(Struct, frozen=True):
    task: TaskId
    key: str


class Left(Struct, frozen=True):
    """A difference between the plan and the board that was left as it is."""

    what: str
    text: str


class PlanOutcome(Struct, frozen=True):
    """The result of applying a plan."""

    convoy: ConvoyId
    created: bool
    added: tuple[AppliedTask, ...]
    changed: tuple[AppliedTask, ...]
    left: tuple[Left, ...]


def applied(state: State, plan: Plan, actor: str, now: int) -> Sequence[e.Event]:
    """Return the events that make the board match the plan, or refuse all of it."""
    wrong = errors(problems(plan, Surroundings(tasks=names(state, plan))))
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        said = str(wrong[0])
        said = said if len(said) <= 200 else said[:199] + "…"
        what = f"the plan cannot be applied: {said}{more}; nothing was changed"
        raise BadInput(what, "corral plan check FILE shows all problems", code="bad_plan")
    return _Change(state, plan, actor, now).events()


def outcome(state: State, plan: Plan, events: Iterable[e.Event]) -> PlanOutcome:
    """Return what was done, from the events and the state after them."""
    convoy = find_convoy(state, plan)
    if convoy is None:
        raise BadInput("the plan was not applied")
    made = list(events)
    added = [AppliedTask(event.task, event.key) for event in made if isinstance(event, e.TaskAdded)]
    new = {named.task for named in added}
    edited = dict.fromkeys(event.task for event in made if isinstance(event, e.TaskEdited))
    changed = [AppliedTask(task, state.tasks[task].key) for task in edited if task not in new]
    created = any(isinstance(event, e.ConvoyCreated) for event in made)
    left = (*_convoy_left(convoy, plan), *_tasks_left(state, convoy, plan))
    return PlanOutcome(convoy.id, created, tuple(added), tuple(changed), left)


def _convoy_left(convoy: Convoy, plan: Plan) -> list[Left]:
    asked = plan.convoy
    pairs = [("title", convoy.title, asked.title.strip()), ("prefix", convoy.prefix, asked.prefix)]
    pairs += [("base", convoy.base, asked.base), ("strategy", convoy.strategy, asked.strategy)]
    found = [
        Left(convoy.id, f"its {name} stays {is_now or 'unset'}; the plan says {said}")
        for name, is_now, said in pairs
        if said and said != is_now
    ]
    if asked.checks and set(asked.checks) != set(convoy.checks):
        found.append(Left(convoy.id, "its checks are unchanged; the plan has others"))
    return found


def _tasks_left(state: State, convoy: Convoy, plan: Plan) -> list[Left]:
    asked = {task.key: task for task in plan.tasks}
    found = []
    for key, task in keyed(state, convoy.id).items():
        if key not in asked:
            over = task.state in (TaskState.DONE, TaskState.CANCELLED)
            hint = "" if over else f" (to drop it: corral task cancel {task.id})"
            found.append(Left(task.id, f"{key} is no longer in the plan{hint}"))
        elif task.spec != digest(plan, asked[key]):
            said = f"{key} is in state {task.state}, so the plan's changes to it were not applied"
            found.append(Left(task.id, said))
    return found


def find_convoy(state: State, plan: Plan) -> Convoy | None:
    """Return the plan's convoy: by its id, else by its exact title."""
    if plan.convoy.slug:
        return state.convoys.get(ConvoyId(plan.convoy.slug))
    title = plan.convoy.title.strip()
    return next((one for one in reversed(state.convoys.values()) if one.title == title), None)


def keyed(state: State, convoy: ConvoyId) -> dict[str, Task]:
    """Return the tasks of a convoy that come from a plan, by their keys."""
    tasks = state.tasks.values()
    return {task.key: task for task in tasks if task.key and task.convoy == convoy}


def names(state: State, plan: Plan) -> frozenset[str]:
    """Return the names of tasks on the board that a dependency may refer to."""
    convoy = find_convoy(state, plan)
    return frozenset(state.tasks) | frozenset(keyed(state, convoy.id) if convoy else ())


class _Change:
    def __init__(self, state: State, plan: Plan, actor: str, now: int) -> None:
        self._trial = replace(state, convoys=dict(state.convoys), tasks=dict(state.tasks))
        self._plan = plan
        self._actor = actor
        self._now = now
        self._events: list[e.Event] = []
        self._convoy = self._made_convoy()
        before = keyed(self._trial, self._convoy)
        self._before = {task.key: before[task.key] for task in plan.tasks if task.key in before}
        self._ids = {key: task.id for key, task in before.items()}

    def events(self) -> list[e.Event]:
        asked = {task.key: task for task in self._plan.tasks}
        changed = {
            key: task
            for key, task in self._before.items()
            if _correctable(task) and task.spec != digest(self._plan, asked[key])
        }
        fixed = frozenset(
            k for k, task in self._before.items() if not unstarted(task) and k not in changed
        )
        graph = graph_of(self._plan, fixed)
        kept = {k: t for k, t in self._before.items() if k not in fixed and k not in changed}
        fresh = {*changed, *(key for key in asked if key not in self._before)}
        # Old needs are dropped first, because a new one may be the reverse of an old one.
        for key, task in changed.items():
            self._drop(task, self._needs(asked[key], graph), task.needs)
        for key, task in kept.items():
            about = {self._ids[other] for other in fresh if other in self._ids}
            self._drop(task, self._needs(asked[key], graph), about & task.reasons.keys())
        for key in graph.rank:
            if key not in self._before:
                self._add(asked[key], graph)
        for key, task in changed.items():
            self._edit(task, asked[key], graph)
            if task.state is TaskState.FAILED:
                self._do(c.RetryTask(task=task.id, reason="the plan was corrected"))
        for key, task in kept.items():
            self._wait(task, [edge for edge in graph.needs(key) if edge.need in fresh])
        return self._events

    def _made_convoy(self) -> ConvoyId:
        found = find_convoy(self._trial, self._plan)
        if found is not None:
            return found.id
        asked = self._plan.convoy
        taken = {convoy.prefix for convoy in self._trial.convoys.values()}
        if asked.prefix in taken:
            said = f"the prefix {asked.prefix} belongs to another convoy; nothing was changed"
            raise Refused(said, "leave it out, or choose another one", code="prefix_taken")
        chosen = {"convoy": asked.slug, "prefix": asked.prefix}
        command = c.CreateConvoy(
            title=asked.title, base=asked.base, strategy=asked.strategy, checks=asked.checks
        )
        self._do(command, **{name: value for name, value in chosen.items() if value})
        return next(reversed(self._trial.convoys))

    def _add(self, task: TaskPlan, graph: Graph) -> None:
        needs = self._needs(task, graph)
        command = c.AddTask(
            convoy=self._convoy, needs=tuple(needs), run=task.run, role=task.role, **_editable(task)
        )
        self._do(command, key=task.key, spec=digest(self._plan, task), reasons=_reasons(needs))
        self._ids[task.key] = next(reversed(self._trial.tasks))

    def _edit(self, old: Task, task: TaskPlan, graph: Graph) -> None:
        needs = self._needs(task, graph)
        current = self._trial.tasks[old.id].needs
        new = tuple(need for need in needs if need not in current)
        command = c.EditTask(task=old.id, needs=new, **_editable(task))
        more = {"run": task.run, "role": task.role, "reasons": _reasons(needs)}
        self._do(command, spec=digest(self._plan, task), **more)

    def _wait(self, task: Task, edges: Sequence[Edge]) -> None:
        """Add the dependencies that new tasks imply for an unchanged task."""
        reasons = {self._ids[edge.need]: edge.reason for edge in edges if edge.reason}
        new = {need: why for need, why in reasons.items() if need not in task.needs}
        if new:
            current = self._trial.tasks[task.id].reasons
            self._do(c.EditTask(task=task.id, needs=tuple(new)), reasons=current | new)

    def _drop(self, task: Task, wanted: dict[TaskId, str], about: Iterable[TaskId]) -> None:
        """Remove dependencies that came from the plan and are no longer in it."""
        ours = {*self._ids.values(), *task.reasons}
        gone = tuple(n for n in task.needs if n in about and n in ours and n not in wanted)
        if gone:
            self._do(c.EditTask(task=task.id, drop_needs=gone))

    def _needs(self, task: TaskPlan, graph: Graph) -> dict[TaskId, str]:
        """Return a task's dependencies that are on the board, with their reasons."""
        named = [self._ids.get(need, TaskId(need)) for need in task.needs]
        found = {need: "" for need in named if need in self._trial.tasks}
        for edge in graph.needs(task.key):
            if edge.reason and edge.need in self._ids:
                found.setdefault(self._ids[edge.need], edge.reason)
        return found

    def _do(self, command: c.Command, **more: Any) -> None:
        """Decide one command, and add to its events what only plans can set."""
        for event in decide(self._trial, command, self._actor, self._now):
            made = replace(event, **more)
            apply(self._trial, made, self._trial.seq + 1, self._now)
            self._events.append(made)


def unstarted(task: Task) -> bool:
    """Say whether nobody has worked on a task yet."""
    return task.state in _UNTOUCHED and not task.attempts


def _correctable(task: Task) -> bool:
    """Say whether a changed plan still changes a task: nobody works on it, and it has not ended."""
    return task.state in (*_UNTOUCHED, TaskState.FAILED)


def _editable(task: TaskPlan) -> dict[str, Any]:
    names = ("title", "priority", "paths", "accept", "inputs", "engine", "brief")
    return {name: getattr(task, name) for name in names}


def _reasons(needs: dict[TaskId, str]) -> dict[TaskId, str]:
    return {need: reason for need, reason in needs.items() if reason}

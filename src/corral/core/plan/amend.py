"""Interprets the mayor's answer: a whole plan, or changes to the one before it.

The answer to a goal is a plan. Later answers contain only new or changed tasks, and in `cancel`
those that are no longer wanted; the rest stays as it was. A started task can be neither changed nor
cancelled, only followed by others; a failed one can be cancelled. The whole plan is checked again,
so that every proposal can be applied.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State, TaskState
from corral.core.plan.answer import means_a_plan, read_answer
from corral.core.plan.apply import find_convoy, keyed, unstarted
from corral.core.plan.check import Surroundings, problems
from corral.core.plan.problems import Problem, Source, bounded, errors, quoted, unreadable
from corral.core.plan.schema import MOST_BYTES, MOST_TASKS, Plan, digest
from corral.core.plan.shape import shaped


class Before(Struct, frozen=True):
    """What an answer may build on: the plan so far, and its convoy once on the board."""

    plan: Plan | None = None
    convoy: ConvoyId = ConvoyId("")


class MayorReply(Struct, frozen=True):
    """The meaning of an answer. Without a plan and problems, it is only words."""

    plan: Plan | None = None
    cancel: tuple[TaskId, ...] = ()
    problems: tuple[Problem, ...] = ()


def understood(
    text: str, state: State, before: Before, around: Surroundings, *, must: bool
) -> MayorReply:
    """Interpret an answer; with `must`, it is wrong without a plan."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        said = f"the answer is longer than {MOST_BYTES >> 20} MiB"
        return MayorReply(problems=unreadable(said).problems)
    source = read_answer(text)
    if not must and source.data is None and not means_a_plan(text):
        return MayorReply()
    if not isinstance(source.data, dict):
        return MayorReply(problems=source.problems)
    if before.plan is None:
        return _whole(source, state, around)
    return _Amended(source, state, before, around).reply()


def _whole(source: Source, state: State, around: Surroundings) -> MayorReply:
    made = shaped(source)
    found = list(problems(made, around))
    if made.plan is not None and find_convoy(state, made.plan) is not None:
        said = "a convoy of this name exists already: choose another title"
        found.append(Problem(source.line(("convoy", "title")), "convoy.title", said))
    wrong = bool(errors(found)) or made.plan is None
    return MayorReply(problems=bounded(found)) if wrong else MayorReply(plan=made.plan)


class _Amended:
    def __init__(self, source: Source, state: State, before: Before, around: Surroundings) -> None:
        assert before.plan is not None
        assert isinstance(source.data, dict)
        self._data: dict[str, Any] = dict(source.data)
        self._source = source
        self._plan = before.plan
        self._board = keyed(state, before.convoy) if before.convoy else {}
        self._around = around
        self._problems: list[Problem] = list(source.problems)

    def reply(self) -> MayorReply:
        cancelled = self._cancelled()
        changed = self._changed(cancelled)
        if changed is None or errors(self._problems):
            return MayorReply(problems=bounded(self._problems))
        plan = self._merged(changed, cancelled)
        self._problems += [*self._unmovable(changed), *self._orphans(plan, cancelled)]
        if len(plan.tasks) > MOST_TASKS:
            self._say("task", f"the plan would have more than {MOST_TASKS} tasks in all")
        if not errors(self._problems):
            known = self._around.tasks | frozenset(self._board)
            self._problems += errors(problems(plan, replace(self._around, tasks=known)))
        if errors(self._problems):
            return MayorReply(problems=bounded(self._problems))
        ids = tuple(self._board[key].id for key in cancelled if key in self._board)
        return MayorReply(plan, ids)

    def _cancelled(self) -> list[str]:
        """Return the keys of the tasks to cancel, which may be named by id as well."""
        asked = self._data.pop("cancel", [])
        if not isinstance(asked, list) or not all(isinstance(one, str) for one in asked):
            self._say("cancel", "expected a list of keys")
            return []
        known = {task.key for task in self._plan.tasks}
        by_id = {task.id: key for key, task in self._board.items()}
        found = []
        for name in dict.fromkeys(asked):
            key = by_id.get(TaskId(name), name)
            task = self._board.get(key)
            if task is None and key not in known:
                self._say("cancel", f"there is no task {quoted(name)} in the plan")
            elif task is None or unstarted(task) or task.state is TaskState.FAILED:
                found.append(key)
            else:
                said = "a task that has started cannot be cancelled"
                self._say("cancel", f"{quoted(name)} is in state {task.state}: {said}")
        return found

    def _changed(self, cancelled: list[str]) -> Plan | None:
        """Return the answer's own tasks, as a plan for the existing convoy."""
        spelling = "tasks" if "tasks" in self._data else "task"
        if cancelled and not self._data.get(spelling):
            return replace(self._plan, tasks=())
        self._data["convoy"] = msgspec.to_builtins(self._plan.convoy)
        self._data.pop("policy", None)
        made = shaped(Source(self._data, self._source.lines, ()))
        known = {task.key for task in self._plan.tasks}
        around = replace(self._around, tasks=self._around.tasks | known)
        self._problems += problems(made, around)
        return made.plan

    def _merged(self, changed: Plan, cancelled: list[str]) -> Plan:
        new = {task.key: task for task in changed.tasks}
        kept = [new.pop(task.key, task) for task in self._plan.tasks if task.key not in cancelled]
        return replace(self._plan, tasks=(*kept, *new.values()))

    def _unmovable(self, changed: Plan) -> Iterator[Problem]:
        for asked in changed.tasks:
            task = self._board.get(asked.key)
            if task is None or unstarted(task) or task.spec == digest(self._plan, asked):
                continue
            tried = task.state is TaskState.TODO
            now = "was tried before" if tried else f"is in state {task.state}"
            said = f"it {now} and cannot be changed: give follow-up work a new key"
            yield Problem(0, f"task.{asked.key}", said)

    def _orphans(self, plan: Plan, cancelled: list[str]) -> Iterator[Problem]:
        gone = {*cancelled, *(self._board[key].id for key in cancelled if key in self._board)}
        for task in plan.tasks:
            for need in task.needs:
                if need in gone:
                    said = f"it needs {quoted(need)}, which this plan cancels: change its needs"
                    yield Problem(0, f"task.{task.key}.needs", said)

    def _say(self, where: str, said: str) -> None:
        self._problems.append(Problem(self._source.line((where,)), where, said))

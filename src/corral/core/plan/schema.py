"""The schema of a plan, the same for TOML files, checklists and engines' answers.

The JSON schema in an engine's prompt is generated from these classes. `check` enforces the length
limits of `core/text`.
"""

from typing import Annotated as A
from typing import Literal

import msgspec
from msgspec import Meta, Struct

MOST_BYTES = 1 << 20  # of the text of a plan
MOST_TASKS = 500
MOST_PATHS = 2_000  # in the whole plan: all of them are compared for overlaps
MOST_COMPARISONS = 100_000  # of those paths with each other
MOST_MINUTES = 10_000
KEY = 60


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


def _about(text: str) -> Meta:
    return Meta(description=text)


class ConvoyPlan(_Part, frozen=True, kw_only=True):
    """The convoy: a group of tasks with one feature branch."""

    title: A[str, _about("what the convoy is for, in one line")]
    slug: A[str, _about("its id, like auth-fix; default: made from the title")] = ""
    prefix: A[
        str, _about("the prefix of its tasks' ids, like AF; default: made from the title")
    ] = ""
    base: A[str, _about("the branch that it starts from and lands on")] = ""
    strategy: A[str, _about("how its work lands: rebase, squash or merge")] = ""
    checks: A[tuple[str, ...], _about("commands that must exit 0 before anything lands")] = ()


class PlanPolicy(_Part, frozen=True, kw_only=True):
    """How a plan handles overlaps, tests and missing acceptance commands."""

    overlap: A[
        Literal["order", "allow"],
        _about("tasks with overlapping paths: one after another, or at the same time"),
    ] = "order"
    tests: A[
        Literal["after", "apart"],
        _about("tests of a module: after the task that changes the module, or at any time"),
    ] = "after"
    acceptance: A[
        Literal["required", "optional"],
        _about("a task without acceptance commands: an error, or a warning"),
    ] = "required"


class TaskPlan(_Part, frozen=True, kw_only=True):
    """One piece of work for one agent."""

    key: A[str, _about("its name within the plan: letters, digits, - and _")]
    title: A[str, _about("the task in one line")]
    brief: A[str, _about("the full description of the work")] = ""
    engine: A[str, _about("the engine profile that should do it")] = ""
    needs: A[tuple[str, ...], _about("keys of tasks that must land first")] = ()
    paths: A[tuple[str, ...], _about("paths or patterns that it may change: src/auth/**")] = ()
    inputs: A[tuple[str, ...], _about("files that must exist before it starts")] = ()
    accept: A[tuple[str, ...], _about("commands that must exit 0 on the result")] = ()
    unproved: A[bool, _about("true: no command can prove that it is done")] = False
    priority: A[int, _about("0 or more; higher goes first")] = 0
    role: A[str, _about("a file in .corral/roles without its extension")] = ""
    run: A[tuple[str, ...], _about("the program and its arguments, for a scripted task")] = ()
    minutes: A[int, _about("estimated duration, for the critical path")] = 0
    beside: A[
        tuple[str, ...], _about("tasks that may run at the same time although paths overlap")
    ] = ()


class Plan(_Part, frozen=True, kw_only=True):
    """A convoy with its tasks."""

    convoy: ConvoyPlan
    tasks: A[tuple[TaskPlan, ...], _about("the tasks")] = msgspec.field(name="task")
    policy: PlanPolicy = PlanPolicy()


def digest(plan: Plan, task: TaskPlan) -> str:
    """Return a fingerprint of a task's wording. Its estimate does not count."""
    from hashlib import sha256  # OpenSSL would cost every command

    asked = msgspec.structs.replace(task, minutes=0)
    said = msgspec.json.encode((asked, plan.policy.overlap, plan.policy.tests))
    return sha256(said).hexdigest()[:16]

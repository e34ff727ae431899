"""What a plan can say: the one schema of TOML files, check lists and engines' answers.

Annotations are evaluated here: the JSON schema that engines are given is made from these classes.
The bounds of each text are those of `core/text`; `check` holds them.
"""

from typing import Annotated as A
from typing import Literal

import msgspec
from msgspec import Meta, Struct

MOST_BYTES = 1 << 20  # of the text of a plan
MOST_TASKS = 500
MOST_PATHS = 2_000  # in the whole plan: overlaps are looked for between all of them
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
    slug: A[str, _about("its id, like auth-fix; left out: made from the title")] = ""
    prefix: A[str, _about("what its tasks' ids begin with, like AF; left out: made")] = ""
    base: A[str, _about("the branch that it starts from and lands on")] = ""
    strategy: A[str, _about("how its work lands: rebase, squash or merge")] = ""
    checks: A[tuple[str, ...], _about("commands that must exit 0 before anything lands")] = ()


class PlanPolicy(_Part, frozen=True, kw_only=True):
    """What is done about things that can be seen one way or the other."""

    overlap: A[
        Literal["order", "allow"],
        _about("tasks with overlapping paths: one after the other, or beside each other"),
    ] = "order"
    tests: A[
        Literal["after", "apart"],
        _about("tests of a module: after the task that changes the module, or whenever"),
    ] = "after"
    acceptance: A[
        Literal["required", "optional"],
        _about("a task that nothing proves: an error, or a warning"),
    ] = "required"


class TaskPlan(_Part, frozen=True, kw_only=True):
    """One piece of work for one agent."""

    key: A[str, _about("its name within the plan: letters, digits, - and _")]
    title: A[str, _about("the task in one line")]
    brief: A[str, _about("what is asked, in full")] = ""
    engine: A[str, _about("the engine profile that should do it")] = ""
    needs: A[tuple[str, ...], _about("keys of tasks that must have landed before")] = ()
    paths: A[tuple[str, ...], _about("paths or patterns that it may change: src/auth/**")] = ()
    inputs: A[tuple[str, ...], _about("files that must exist before it starts")] = ()
    accept: A[tuple[str, ...], _about("commands that must exit 0 on the result")] = ()
    unproved: A[bool, _about("true: no command can tell whether it is done")] = False
    priority: A[int, _about("0 or more; higher goes first")] = 0
    role: A[str, _about("a file of .corral/roles without its ending")] = ""
    run: A[tuple[str, ...], _about("the program and its arguments, for a scripted task")] = ()
    minutes: A[int, _about("how long it may take, for the critical path")] = 0
    beside: A[
        tuple[str, ...], _about("tasks that it need not wait for, although paths overlap")
    ] = ()


class Plan(_Part, frozen=True, kw_only=True):
    """A convoy with its tasks."""

    convoy: ConvoyPlan
    tasks: A[tuple[TaskPlan, ...], _about("the tasks")] = msgspec.field(name="task")
    policy: PlanPolicy = PlanPolicy()


def digest(plan: Plan, task: TaskPlan) -> str:
    """Return what tells this task as it is asked for from any other wording of it.

    Its estimate is left out: nobody works differently because of it.
    """
    from hashlib import sha256  # OpenSSL would cost every command

    asked = msgspec.structs.replace(task, minutes=0)
    said = msgspec.json.encode((asked, plan.policy.overlap, plan.policy.tests))
    return sha256(said).hexdigest()[:16]

"""`corral check`: everything that would fail later, before anything is spent."""

import os
import time
from collections.abc import Sequence

from msgspec.structs import asdict

from corral.core.board.commands import AddTask, EditTask
from corral.core.ids import ConvoyId
from corral.core.log.state import TaskState
from corral.core.queue.fold import trunk_of
from corral.interfaces.cli import output
from corral.interfaces.cli.commands.board import decoded, perform_anywhere
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, table
from corral.interfaces.cli.parser import Options
from corral.roles.preflight import BAD, Finding, Preflight
from corral.world import settings
from corral.world.git.tree import read_branch

_WAIT_S = 30.0  # without a screen, nobody may come to fix it
_LOOK_S = 0.5
_STYLE = {"ok": "green", "bad": "red", "note": "yellow"}


def check(context: Context, options: Options) -> int:
    """Look for faults of the machine, the settings and the base branch; fail if there is one."""
    accepts: list[str] = []
    if context.log.exists():
        tasks = context.log.state().tasks.values()
        accepts = [word for t in tasks if t.state is TaskState.TODO for word in t.accept]
    found = list(Preflight(context.repository, context.config).all(accepts))
    bad = sum(one.state == BAD for one in found)
    context.answer(
        {"findings": [asdict(one) for one in found], "bad": bad}, lambda: told(found, bad)
    )
    return 1 if bad else 0


def fit(context: Context, convoy: ConvoyId, on_red: str, *, patient: bool) -> bool:
    """Say whether a convoy may start; wait for a person to fix its base, without end if `patient`.

    A convoy that has a trunk, or whose sessions run, has begun already; one whose base does not
    exist waits on the board for that.
    """
    state = context.store.state()
    begun = trunk_of(state, convoy).tip or any(s.live for s in state.sessions.values())
    deadline = time.monotonic() + _WAIT_S
    said = ""
    while not begun and on_red != "ignore":
        base, own = state.convoys[convoy].base, state.convoys[convoy].checks
        before = _look(context, base)  # first, so that no change is missed
        config = settings.of_repository(context.repository)
        commands = (own or config.refinery.checks) if config.refinery.require_ci else ()
        if config.refinery.external:
            return True
        found = Preflight(context.repository, config).base(base, commands, ())
        bad = [one for one in found if one.state == BAD and one.name != "branch"]
        if not bad:
            return True
        if on_red == "mend" and {one.name for one in bad} == {"base"}:
            _mend_first(context, convoy, commands, bad[0])
            return True
        text = "\n".join(f"{one.name}: {one.text}\n  {one.remedy}".rstrip() for one in bad)
        if text != said:
            output.warn(f"{text}\nnothing was started; it goes on once that is fixed")
            said = text
        while _look(context, base) == before:
            if not patient and time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_S)
    return True


def _look(context: Context, base: str) -> object:
    """Return what a person changes to fix a base: the branch, or the settings."""
    path = context.repository.config_file()
    about = os.stat(path) if path else None
    return read_branch(context.repository.git_dir, base), about and about.st_mtime_ns


def _mend_first(
    context: Context, convoy: ConvoyId, commands: Sequence[str], found: Finding
) -> None:
    """Add a task that makes the base green, and have all others of the convoy wait for it."""
    tasks = context.store.state().tasks.values()
    waiting = [task.id for task in tasks if task.convoy == convoy and not task.needs]
    command = AddTask(
        title="Make the checks pass",
        brief=f"The checks fail on the base, before any change: {found.text}",
        convoy=convoy,
        accept=tuple(commands),
    )
    mending = decoded(perform_anywhere(context, command))["id"]
    for task in waiting:
        perform_anywhere(context, EditTask(task=task, needs=(mending,)))


def told(found: list[Finding], bad: int) -> str:
    rows = [(one.name, paint(one.state, _STYLE[one.state]), one.text) for one in found]
    lines = [table(rows, ("about", "", "found"))]
    lines += [f"{one.name}: {one.remedy}" for one in found if one.remedy and one.state == BAD]
    said = f"{bad} problem{'s' * (bad > 1)} found" if bad else "no problems found"
    return "\n".join([*lines, paint(said, "red" if bad else "green")])

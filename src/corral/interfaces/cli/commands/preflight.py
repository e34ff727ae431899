"""`corral check`, and the same before `corral run` and `corral up` start anything."""

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec.structs import asdict

from corral.core.config import Config
from corral.core.ids import ConvoyId
from corral.core.log.state import Convoy, State, Task, TaskState
from corral.core.queue.fold import trunk_of
from corral.core.session.fitness import NOT_READY
from corral.core.text import counted, shown
from corral.interfaces.cli import output
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import columns, cut, paint
from corral.interfaces.cli.parser import Options
from corral.roles.preflight import gate
from corral.roles.preflight.finding import BAD, Finding
from corral.roles.preflight.gate import BaseBranch
from corral.world import settings
from corral.world.git.tree import read_branch
from corral.world.repository import Repository

_LOOK_S = 0.5
_AGAIN_S, _RARELY_S = 5.0, 60.0  # what no file shows, like a network, is tried again
_STYLE = {"ok": "green", "bad": "red", "note": "yellow"}
_NAME, _STATE = 11, 4
_OVER = (TaskState.DONE, TaskState.CANCELLED, TaskState.FAILED)


def check(context: Context, options: Options) -> int:
    """Look for faults of the machine, the settings and the base branch; fail if there is one."""
    from corral.roles.preflight.whole import Preflight

    config = context.config
    state = context.log.state() if context.log.exists() else None
    say = _Progress(quiet=context.as_json)
    found = []
    bases = bases_of(context.repository, config, state)
    for one in Preflight(context.repository, config, say).all(bases, state):
        found.append(one)
        if not context.as_json:
            say.clear()
            output.say(line(one))
            sys.stdout.flush()
    say.clear()
    bad = sum(one.state == BAD for one in found)
    said = f"{counted(bad, 'problem')} found" if bad else "no problems found"
    data = {"findings": [asdict(one) for one in found], "bad": bad}
    context.answer(data, lambda: paint(said, "red" if bad else "green"))
    return 1 if bad else 0


def line(one: Finding) -> str:
    """Return a finding for a person: one line, and one with its remedy unless all is well."""
    head = f"{paint(f'{one.state:<{_STATE}}', _STYLE[one.state])}  {one.name:<{_NAME}}"
    text = f"{head}  {shown(one.text)}"
    indent = " " * (_STATE + _NAME + 4)
    return f"{text}\n{indent}{paint('try:', 'dim')} {shown(one.remedy)}" if one.remedy else text


class _Progress:
    """Says what takes a while: on a terminal in one line that is replaced, else in lines."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._drawn = False

    def __call__(self, text: str) -> None:
        if self._quiet:
            return
        if output.fancy(sys.stderr):
            self.clear()
            sys.stderr.write(paint(cut(f"{text} …", columns() - 1), "dim", stream=sys.stderr))
            self._drawn = True
        else:
            sys.stderr.write(f"{text} …\n")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False


def bases_of(repository: Repository, config: Config, state: State | None) -> list[BaseBranch]:
    """Return the branch that is checked out, and the bases of convoys that have not begun."""
    here = repository.branch()
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {(here, _checks(config, ())): []}
    for convoy in waiting(state) if state is not None else ():
        accepts = found.setdefault((convoy.base or here, _checks(config, convoy.checks)), [])
        accepts += [word for task in _open(state, [convoy]) for word in task.accept]
    return [BaseBranch(name, checks, tuple(accepts)) for (name, checks), accepts in found.items()]


def _checks(config: Config, own: Sequence[str]) -> tuple[str, ...]:
    """Return the checks that the refinery will run here."""
    refinery = config.refinery
    return tuple(own or refinery.checks) if refinery.require_ci and not refinery.external else ()


def waiting(state: State) -> list[Convoy]:
    """Return the convoys that have work and have not begun."""
    if any(session.live for session in state.sessions.values()):
        return []
    convoys = state.convoys.values()
    return [one for one in convoys if not trunk_of(state, one.id).tip and _open(state, [one])]


def _open(state: State | None, convoys: Iterable[Convoy]) -> list[Task]:
    those = {convoy.id for convoy in convoys}
    tasks = state.tasks.values() if state is not None else ()
    return [task for task in tasks if task.convoy in those and task.state is TaskState.TODO]


def profiles_of(state: State, convoys: Iterable[Convoy]) -> set[str]:
    """Return the engine profiles that the open tasks of these convoys use."""
    return {task.engine or "default" for task in _open(state, convoys) if not task.run}


def fit(context: Context, convoy: ConvoyId, on_red: str, *, wait_s: float | None) -> list[Finding]:
    """Return why a convoy cannot start, after waiting for a person to fix it.

    One that has a trunk, or whose sessions run, has begun already; one whose base does not exist
    waits on the board for that. `wait_s` of None waits without end.
    """
    state = context.store.state()
    one = state.convoys[convoy]
    begun = trunk_of(state, convoy).tip or any(s.live for s in state.sessions.values())
    if begun or on_red == "ignore":
        _show(context, convoy, [])
        return []
    here, profiles = one.base or context.repository.branch(), profiles_of(state, [one])
    accepts = tuple(word for task in _open(state, [one]) for word in task.accept)

    def faults(config: Config) -> list[Finding]:
        base = BaseBranch(here, _checks(config, one.checks), accepts)
        found = _faults(context, config, base, profiles)
        found = [fault for fault in found if fault.name != "branch"]
        if on_red == "mend" and {fault.name for fault in found} == {"base"}:
            _mend_first(context, convoy, base.commands, found[0])
            return []
        return found

    return _fixed(context, faults, here, convoy, wait_s)


def ready(
    context: Context, on_red: str, *, profiles: Iterable[str] = (), wait_s: float | None
) -> list[Finding]:
    """Return why nothing can start on the branch that is checked out, after waiting likewise.

    With `mend`, its checks may fail: the first convoy that is made on it will mend it.
    """
    here, used = context.repository.branch(), set(profiles)

    def faults(config: Config) -> list[Finding]:
        base = BaseBranch(here, _checks(config, ()))
        found = _faults(context, config, base, used)
        return [one for one in found if not (on_red == "mend" and one.name == "base")]

    return [] if on_red == "ignore" else _fixed(context, faults, here, here, wait_s)


def all_fit(context: Context, on_red: str, *, wait_s: float | None) -> list[Finding]:
    """Return why the convoys that have not begun cannot start.

    If there is no work at all, the branch that is checked out is looked at: the next convoy will
    start from it. Work that has begun goes on.
    """
    state = context.store.state()
    for convoy in waiting(state):
        if found := fit(context, convoy.id, on_red, wait_s=wait_s):
            return found
    idle = all(task.state in _OVER for task in state.tasks.values())
    return ready(context, on_red, wait_s=wait_s) if idle else []


def told(found: Sequence[Finding]) -> str:
    """Return faults for a person, each with its remedy."""
    return "\n".join(
        f"{shown(one.sentence)}\n  try: {shown(one.remedy)}" if one.remedy else shown(one.sentence)
        for one in found
    )


def _faults(
    context: Context, config: Config, base: BaseBranch, profiles: Collection[str]
) -> list[Finding]:
    say = _Progress(quiet=context.as_json)
    try:
        return gate.faults(context.repository, config, base, profiles, say)
    finally:
        say.clear()


def _fixed(
    context: Context,
    faults: Callable[[Config], list[Finding]],
    base: str,
    subject: str,
    wait_s: float | None,
) -> list[Finding]:
    """Look for faults until there are none, or for `wait_s`; return those that are left.

    While there are some, an alert about the subject shows them to those who look elsewhere.
    """
    began, pause_s, said = time.monotonic(), _AGAIN_S, ""
    while True:
        before = _look(context, base)  # first, so that no change is missed
        found = faults(settings.of_repository(context.repository))
        if not found or wait_s == 0:
            _show(context, subject, [])
            return found
        # The variables of this process will not change.
        final = any(one.name == "key" for one in found)
        if (text := told(found)) != said:
            then = "" if final else "; this continues once that is fixed"
            output.warn(f"{text}\nnothing was started{then}")
            _show(context, subject, found)
            said = text
        if final:
            return found
        due = time.monotonic() + pause_s
        pause_s = min(2 * pause_s, _RARELY_S)
        shows = all(one.name == "base" for one in found)  # only a commit or a setting fixes it
        while _look(context, base) == before and (shows or time.monotonic() < due):
            if wait_s is not None and time.monotonic() > began + wait_s:
                return found
            time.sleep(_LOOK_S)


def _show(context: Context, subject: str, found: Sequence[Finding]) -> None:
    """Replace the alert about what a convoy, or a branch, waits for before it begins."""
    from corral.roles.log import Log, find_alert

    if found or find_alert(context.store.state(), NOT_READY, subject):
        log = Log(context.appended, context.actor)
        log.over(NOT_READY, subject)
        if found:
            log.alert(NOT_READY, subject, "; ".join(one.sentence for one in found))


def _look(context: Context, base: str) -> object:
    """Return what a person changes to fix a base: the branch, or the settings."""
    path = context.repository.config_file()
    about = os.stat(path) if path else None
    return read_branch(context.repository.git_dir, base), about and about.st_mtime_ns


def _mend_first(
    context: Context, convoy: ConvoyId, commands: Sequence[str], found: Finding
) -> None:
    """Add a task that makes the base green, and have all others of the convoy wait for it."""
    from corral.core.board.commands import AddTask, EditTask
    from corral.interfaces.cli.commands.board import decoded, perform_anywhere

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

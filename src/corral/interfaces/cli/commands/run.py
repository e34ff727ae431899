"""`corral run PLAN|GOAL`: from a plan, or a goal, to a landed convoy, with a screen or without."""

import gc
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os.path import isfile, join
from types import FrameType

import msgspec
from msgspec.structs import replace

from corral.core.errors import BadConfig, BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.codec import decode, mirrored
from corral.core.log.state import TaskState
from corral.core.mayor import rules as mayor_rules
from corral.core.plan.apply import find_convoy, keyed
from corral.core.plan.schema import Plan
from corral.core.refs import trunk_branch
from corral.core.session.profiles import limits_of
from corral.core.session.rules import WITNESS
from corral.core.session.slots import CANNOT_OPEN
from corral.core.show.outlook import (
    EXIT_CODES,
    Lot,
    Outlook,
    RunReport,
    Standing,
    outlook,
    report,
)
from corral.core.text import printable
from corral.interfaces.cli import output
from corral.interfaces.cli.commands import plans
from corral.interfaces.cli.commands.preflight import fit, ready
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.junit import junit
from corral.interfaces.cli.output import fancy, paint
from corral.interfaces.cli.parser import Options
from corral.interfaces.cli.progress import FINISHED, Progress, sentence
from corral.interfaces.cli.replan import Replanner, replanner
from corral.roles.convoy_run import Roles, interrupt, still_there
from corral.roles.log import Log
from corral.roles.trunks import start_of
from corral.roles.witness.loop import Witness
from corral.world import settings
from corral.world.git.view import View

ROLE_ENDED = "role_ended"
_GOAL_WORDS = 2  # fewer words are a name
_LOOK_S = 1.0
_HELD_S = 30.0  # without a screen, nobody may come to fix it
_REST_S = 0.1  # events that arrive together are shown together
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(context: Context, options: Options) -> int:
    """Apply a plan, run all roles until the convoy is over, and report the result."""
    before = context.store.state().seq
    ask = not options.yes and not options.headless
    wait_s = None if fancy() and not options.headless else _HELD_S
    if _is_goal(context, options.plan):
        convoy = _planned(context, options, wait_s)
    else:
        convoy = apply(context, options.plan, options.format or "", ask=ask)
    gc.enable()  # unlike other commands, this one keeps running
    if convoy is None or fit(context, convoy, options.on_red or "", wait_s=wait_s):
        return EXIT_CODES[Standing.NEEDS_PERSON]
    summary = options.summary or join(context.repository.folder, "runs", f"{convoy}.json")
    screened = fancy() and not options.headless and not context.as_json
    one = ConvoyRun(context, convoy, before, Progress(convoy) if screened else None)
    asked = options.replan or ""
    one.replanner = replanner(context, convoy, one.say, asked=asked, yes=not ask)
    told = one.follow()
    _write(summary, msgspec.json.format(msgspec.json.encode(told), indent=2))
    _write(options.junit or os.path.splitext(summary)[0] + ".xml", junit(told))
    context.answer(told, lambda: _told(told, summary))
    return told.exit_code


def _is_goal(context: Context, name: str) -> bool:
    many = len(name.split()) >= _GOAL_WORDS
    return many and not isfile(name) and name not in context.store.state().convoys


def _planned(context: Context, options: Options, wait_s: float | None) -> ConvoyId | None:
    """Have the mayor plan for a goal and return its convoy; None if nothing can be started."""
    from corral.interfaces.cli.commands import mayor
    from corral.roles.mayor.conversation import engine_of

    goal = options.plan.strip()
    if not mayor.continued(context, goal):
        engine = options.engine or engine_of(context.config)
        if ready(context, options.on_red or "", profiles=[engine], wait_s=wait_s):
            return None
    return mayor.planned(context, goal, options)


def apply(context: Context, name: str, kind: str = "", *, ask: bool = False) -> ConvoyId:
    """Return the convoy to run: an existing one, or that of a plan, which is applied first."""
    if not isfile(name) and name != "-":
        if ConvoyId(name) in context.store.state().convoys:
            return ConvoyId(name)
        said = f"{name!r} is neither a file with a plan nor a convoy, and too short to be a goal"
        raise NotFound(said, "corral plan check FILE, or corral convoy list")
    examined = plans.examined(context, name, kind)
    plan = plans.sound(examined, name)
    _can_start(context, plan)
    if ask:
        plans.confirm(plans.drawn(examined), "Run this?", "corral run PLAN --yes")
    return plans.put_on_board(context, plan).convoy


def _can_start(context: Context, plan: Plan) -> None:
    """Refuse a plan that no session could start on, before anything is changed."""
    state = context.store.state()
    convoy = find_convoy(state, plan)
    begun = keyed(state, convoy.id) if convoy else {}
    idle = [
        task.key
        for task in plan.tasks
        if not (task.run or task.engine)
        and (task.key not in begun or begun[task.key].state is TaskState.TODO)
    ]
    if idle and "default" not in context.config.engine:
        raise BadInput(
            f"no engine can run {printable(', '.join(idle))}: there is no engine 'default' in"
            " .corral/config.toml; nothing was changed",
            "add [engine.default] there, or give the tasks an engine or a command to run",
        )
    if convoy is None:
        base = plan.convoy.base or context.repository.branch()
        start_of(View(os.path.realpath(context.repository.git_dir)), base)


class ConvoyRun:
    """One run of a convoy; `beside` is called at every look and may act on the roles."""

    def __init__(
        self,
        context: Context,
        convoy: ConvoyId,
        after: int,
        screen: Progress | None = None,
        *,
        quiet: bool = False,
        beside: Callable[[Roles], None] = lambda roles: None,
    ) -> None:
        self._context = context
        self._convoy = convoy
        self._store = context.store
        self._log = Log(self._store, context.actor)
        self._config = context.config
        self._screen = screen
        self._quiet = quiet
        self._beside = beside
        self._seen = after
        self._held_since = 0.0
        self.replanner: Replanner | None = None
        self._said: deque[str] = deque()  # by the supervisor, in its own thread

    def follow(self) -> RunReport:
        """Run all roles until the convoy is over, or until interrupted; return the report."""
        roles = Roles(self._context.repository, self._said.append)
        found: Outlook | None = None
        with _interruptible() as ear:
            try:
                self._ask_anew()
                found = self._until_over(roles)
            except KeyboardInterrupt:
                self.say("stopping")
            finally:
                ear.deaf = True  # a second Ctrl-C must not interrupt this
                if self.replanner is not None:
                    self.replanner.stop()
                ours = roles.runs(WITNESS)
                roles.stop()
            if found is None:
                self._interrupt(ear, ours=ours)
        self._log.over(ROLE_ENDED, self._convoy)
        return self._report(found)

    def _ask_anew(self) -> None:
        """Clear alerts about tasks that could not start: the cause may have been fixed since."""
        state = self._log.look()
        for alert in state.alerts.values():
            task = state.tasks.get(TaskId(alert.subject))
            if alert.kind == CANNOT_OPEN and task and task.convoy == self._convoy:
                self._log.over(CANNOT_OPEN, task.id)

    def _until_over(self, roles: Roles) -> Outlook:
        while True:
            roles.tend()
            seq = self._store.state().seq
            before = self._replans()
            found = self._outlook()
            self._show(found)
            # The mayor was idle both before and after the look, so the look is complete.
            over = found.standing is not Standing.RUNNING and not before and not self._replans()
            if over and not self._waits(found):
                return self._with_proposal(found)
            self._beside(roles)
            if self._store.wait(seq, _LOOK_S):
                self._store.wait(self._store.state().seq, _REST_S)

    def _waits(self, found: Outlook) -> bool:
        """Say whether to wait for a person to fix the machine or the trunk: at a screen, always."""
        if not found.held or found.standing is not Standing.NEEDS_PERSON:
            self._held_since = 0.0
            return False
        if not self._held_since:
            self._held_since = time.monotonic()
            self.say("waiting for what the alerts name to be fixed: corral alert list")
        return self._screen is not None or time.monotonic() - self._held_since < _HELD_S

    def _replans(self) -> bool:
        return self.replanner is not None and self.replanner.busy(self._store.state())

    def _with_proposal(self, found: Outlook) -> Outlook:
        """Count a changed plan that waits for approval as something that needs a person."""
        mayor = mayor_rules.of_convoy(self._store.state(), self._convoy)
        if mayor is None or not mayor.pending or found.standing is Standing.LANDED:
            return found
        self.say(f"{mayor.id} proposes to change the plan: corral mayor approve")
        return replace(found, standing=Standing.NEEDS_PERSON)

    def _interrupt(self, ear: "_Ear", *, ours: bool) -> None:
        """End the sessions, unless another process's witness watches them."""
        if not ours:
            self.say("the sessions keep running: another witness watches them")
            return
        self.say("stopping the sessions; no attempt is used up")
        asked = interrupt(self._store, self._context.repository, self._context.actor)
        ear.deaf = False  # they now end without us
        left = still_there(asked)
        for session in left:
            self.say(f"{session} has not stopped: corral session list")
        if not left:
            with suppress(Refused):  # another witness has taken over
                Witness(self._store, self._context.repository, self._config).finish()

    def _outlook(self) -> Outlook:
        with suppress(BadConfig):  # the settings from before apply until it is fixed
            self._config = settings.of_repository(self._context.repository)
        limits = limits_of(self._config)
        return outlook(self._store.state(), self._convoy, limits, self._context.now())

    def _report(self, found: Outlook | None) -> RunReport:
        last = found or replace(self._outlook(), standing=Standing.INTERRUPTED)
        self._show(last)
        return report(self._store.state(), self._convoy, last, self._context.now())

    def _show(self, found: Outlook) -> None:
        while self._said:
            self._log.alert(ROLE_ENDED, self._convoy, self._said.popleft(), again=True)
        for stored in self._store.read(self._seen):
            self._seen = stored.seq
            if self._context.as_json and not self._quiet:
                sys.stdout.buffer.write(mirrored(stored) + b"\n")
            elif not self._context.as_json:
                record = decode(stored.line)
                self._tell(record.at, sentence(record.type, msgspec.json.decode(record.data)))
        if self._screen is not None:
            self._screen.draw(self._store.state(), found, self._context.now())
        sys.stdout.flush()

    def _tell(self, at: int, said: str) -> None:
        line = f"{output.moment(at)[-8:]}  {said}"
        if said and self._screen is not None:
            self._screen.note(line)
        elif said and not self._quiet:
            output.say(line)

    def say(self, text: str) -> None:
        if self._screen is not None:
            self._screen.note(text)
            self._screen.draw(self._store.state(), self._outlook(), self._context.now())
        elif not self._quiet:
            output.warn(text)


class _Ear:
    deaf = False  # a signal to end was received and is being obeyed


@contextmanager
def _interruptible() -> Iterator[_Ear]:
    """Treat every signal that asks us to end like Ctrl-C: CI systems send different ones."""
    ear = _Ear()

    def leave(number: int, frame: FrameType | None) -> None:
        if not ear.deaf:
            ear.deaf = True
            raise KeyboardInterrupt

    # A signal that is ignored (`nohup`) stays ignored.
    heeded = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = [signal.signal(number, leave) for number in heeded]
    try:
        yield ear
    finally:
        for number, handler in zip(heeded, before, strict=True):
            signal.signal(number, handler)


def _write(path: str, content: bytes) -> None:
    """Write a report whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(f"{path}.new", "wb") as file:
        file.write(content)
    os.replace(f"{path}.new", path)


_STYLE = {Standing.LANDED: "green", Standing.FAILED: "red"}
_STANDING = {
    Standing.LANDED: "complete",
    Standing.NEEDS_PERSON: "needs a person",
    Standing.OUT_OF_BUDGET: "out of budget",
}


def _told(told: RunReport, summary: str) -> str:
    head = f"{told.convoy}: {told.landed} of {len(told.tasks)} landed"
    words = _STANDING.get(told.standing, str(told.standing))
    lines = ["", f"{head}, {paint(words, _STYLE.get(told.standing, 'yellow'), 'bold')}"]
    for task in told.tasks:
        if task.lot not in (Lot.OVER, Lot.WORKING):
            lines.append(f"  {task.id} {task.state}: {task.reason or task.title}")
            lines.append(paint(f"    corral why {task.id}", "dim"))
    if told.finished:
        branch = trunk_branch(told.convoy)
        lines.append(f"its work {FINISHED[told.finished]} {branch}; see it with: git log {branch}")
    if told.known_usd:
        more = "" if told.cost_usd is not None else " and more"
        lines.append(f"cost: ${told.known_usd:.4f}{more}")
    lines.append(f"summary: {summary}")
    if told.standing is Standing.INTERRUPTED:
        lines.append(f"continue with: corral run {told.convoy}")
    return "\n".join(lines)

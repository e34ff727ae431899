"""`corral run PLAN|GOAL`: from a plan, or a goal, to a landed convoy, with a screen or without."""

import gc
import os
import sys
from os.path import isfile, join

import msgspec
from msgspec.structs import replace

from corral.core import mayor_rules
from corral.core.codec import Record, decode, event_of, mirrored
from corral.core.commands import ApplyPlan
from corral.core.errors import NotFound
from corral.core.ids import ConvoyId
from corral.core.plan.apply import Outcome, outcome
from corral.core.profiles import limits_of
from corral.core.whole import Lot, Outlook, Report, Standing, outlook, report
from corral.interfaces.cli import output, plans
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.junit import junit
from corral.interfaces.cli.output import fancy, paint
from corral.interfaces.cli.parser import Options
from corral.interfaces.cli.progress import Progress, sentence
from corral.interfaces.cli.replanning import replanner
from corral.store.port import perform
from corral.store.sqlite import SqliteStore

INTERRUPTED = 130
_LOOK_S = 1.0


def run(context: Context, options: Options) -> int:
    """Apply a plan, run all roles until the convoy is over, and say what it came to."""
    convoy = _convoy(context, options)
    gc.enable()  # unlike other commands, this one stays
    return _Run(context, convoy, options).follow()


def _convoy(context: Context, options: Options) -> ConvoyId:
    """Return the convoy to run: of a plan that is applied first, or one that is there."""
    name = options.plan
    if not isfile(name) and name != "-":
        if ConvoyId(name) in context.store.state().convoys:
            return ConvoyId(name)
        if len(name.split()) > 1:
            from corral.interfaces.cli import mayor

            return mayor.planned(context, name.strip(), options)
        raise NotFound(
            f"{name!r} is neither a file with a plan nor a convoy, and too short to be a goal",
            "corral plan check FILE, or corral convoy list",
        )
    examined = plans.examined(context, name, options.format or "")
    plan = plans.sound(examined, name)
    if not plan.convoy.base:
        base = context.repository.branch()
        plan = replace(plan, convoy=replace(plan.convoy, base=base))
    if not options.yes and not options.headless:
        plans.confirm(plans.drawn(examined), "Run this?", "corral run PLAN --yes")
    done: Outcome = perform(
        context.writable,
        ApplyPlan(plan=plan),
        context.actor,
        lambda state, stored: outcome(state, plan, [event_of(decode(s.line)) for s in stored]),
    )
    return done.convoy


class _Run:
    def __init__(self, context: Context, convoy: ConvoyId, options: Options) -> None:
        self._context = context
        self._convoy = convoy
        self._store: SqliteStore = context.store
        self._limits = limits_of(context.config)
        self._summary = options.summary or join(context.repository.folder, "runs", f"{convoy}.json")
        self._junit = options.junit or os.path.splitext(self._summary)[0] + ".xml"
        self._screen = Progress(convoy) if fancy() and not options.headless else None
        self._seen = 0
        self._replanner = replanner(
            context,
            convoy,
            self._say,
            asked=options.replan or "",
            yes=options.yes or options.headless,
        )

    def follow(self) -> int:
        from corral.roles.whole import Roles, interrupt

        roles = Roles(self._context.repository, self._say)
        self._seen = self._store.state().seq
        found: Outlook | None = None
        try:
            roles.start()
            found = self._until_over()
        except KeyboardInterrupt:
            self._say("stopping; the sessions are ended without using up an attempt")
        finally:
            if self._replanner is not None:
                self._replanner.stop()
            roles.stop()
        if found is not None:
            return self._end(found, None)
        for session in interrupt(self._store, self._context.repository, self._context.actor):
            self._say(f"{session} does not end: corral session list")
        return self._end(self._outlook(), INTERRUPTED)

    def _until_over(self) -> Outlook:
        while True:
            seq = self._store.state().seq
            before = self._replans()
            found = self._outlook()
            self._show(found)
            # Not at work before the look and not after it: what was seen is what there is.
            if found.standing is not Standing.RUNNING and not before and not self._replans():
                return self._with_proposal(found)
            self._store.wait(seq, _LOOK_S)

    def _replans(self) -> bool:
        return self._replanner is not None and self._replanner.busy(self._store.state())

    def _with_proposal(self, found: Outlook) -> Outlook:
        """Let a changed plan that waits for approval count as what a person is needed for."""
        mayor = mayor_rules.of_convoy(self._store.state(), self._convoy)
        if mayor is None or not mayor.pending or found.standing is Standing.LANDED:
            return found
        self._say(f"{mayor.id} proposes to change the plan: corral mayor approve")
        return replace(found, standing=Standing.NEEDS_PERSON)

    def _outlook(self) -> Outlook:
        return outlook(self._store.state(), self._convoy, self._limits, self._context.now())

    def _show(self, found: Outlook) -> None:
        if self._screen is not None:
            self._screen.draw(self._store.state(), found, self._context.now())
            return
        for stored in self._store.read(self._seen):
            self._seen = stored.seq
            if self._context.as_json:
                sys.stdout.buffer.write(mirrored(stored) + b"\n")
            else:
                self._tell(decode(stored.line))
        sys.stdout.flush()

    def _tell(self, record: Record) -> None:
        said = sentence(record.type, msgspec.json.decode(record.data))
        if said:
            output.say(f"{output.moment(record.at)}  {said}")

    def _say(self, text: str) -> None:
        if self._screen is not None:
            self._screen.note(text)
        else:
            output.warn(text)

    def _end(self, found: Outlook, code: int | None) -> int:
        self._show(found)
        state, now = self._store.state(), self._context.now()
        told = report(state, self._convoy, found, now)
        if code is not None:
            told = replace(told, exit_code=code)
        _write(self._summary, msgspec.json.format(msgspec.json.encode(told), indent=2))
        _write(self._junit, junit(told))
        if self._context.as_json:
            output.say_json(told)
        else:
            output.say(_told(told, self._summary, resume=code is not None))
        return told.exit_code


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(f"{path}.new", "wb") as file:
        file.write(content)
    os.replace(f"{path}.new", path)


_STYLE = {Standing.LANDED: "green", Standing.FAILED: "red"}


def _told(told: Report, summary: str, *, resume: bool) -> str:
    head = f"{told.convoy}: {told.landed} of {len(told.tasks)} landed"
    words = paint(str(told.standing).replace("_", " "), _STYLE.get(told.standing, "yellow"), "bold")
    lines = ["", f"{head}, {words}"]
    for task in told.tasks:
        if task.lot is not Lot.OVER:
            lines.append(f"  {task.id} {task.state}: {task.reason or task.title}")
            lines.append(paint(f"    corral why {task.id}", "dim"))
    if told.finished:
        lines.append(f"its work is {told.finished.replace('_', '-')}: {told.trunk[:12]}")
    if told.known_usd:
        lines.append(
            f"cost: ${told.known_usd:.4f}{'' if told.cost_usd is not None else ' and more'}"
        )
    lines.append(f"summary: {summary}")
    if resume:
        lines.append(f"go on with: corral run {told.convoy}")
    return "\n".join(lines)

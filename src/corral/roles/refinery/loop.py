"""The refinery lands submitted work on the convoys' trunks, checked and in order.

It carries out a plan (`core/queue`) that is made again from the log whenever something happens. Its
memory decides nothing: it can be killed at any point, and the next refinery continues. Each step is
announced in the log before it is taken in git or on the machine, so that it can be completed later.
The trunk moves only by compare-and-swap, to a commit whose checks were green.
"""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

from msgspec.structs import replace

from corral.core import text
from corral.core.config import Config
from corral.core.errors import CorralError, described
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.queue.from_state import outdated, queue_of
from corral.core.queue.planner.model import (
    POLICIES,
    Cancel,
    Land,
    Queue,
    Rerun,
    SendBack,
    Start,
)
from corral.core.queue.planner.parts import Kind
from corral.core.queue.planner.plan import plan, wake_at
from corral.core.queue.planner.timing import check_slots, deadline_s
from corral.core.queue.rules import FINISH, GREEN, REFINERY, REGENERATE
from corral.core.queue.state import Change, CheckRun
from corral.core.refs import SPEC_REFS
from corral.roles import signals
from corral.roles.current_settings import SettingsWatch
from corral.roles.locks import only_one
from corral.roles.log import Log
from corral.roles.refinery.admission import Admission
from corral.roles.refinery.checks import CheckRuns
from corral.roles.refinery.finish import ConvoyFinish
from corral.roles.refinery.generated_files import GeneratedFiles, last_run
from corral.roles.refinery.landing import Landings
from corral.roles.refinery.pins import Pins
from corral.roles.refinery.stacks import Misfit, Stack, Stacks
from corral.roles.trunks import Trunks
from corral.store.sqlite import SqliteStore
from corral.world.clock import Clock, now
from corral.world.keep import Keep
from corral.world.repository import Repository
from corral.world.watch import Watch

_REST_S = 0.05  # events that come this close together are handled together
_SOON_S = 0.2  # something is about to end
_LOOK_S = 15.0  # while checks run: a killed shim causes no event
_LONGEST_S = 60.0
_MOST_ROUNDS = 1000
_MENDED_MS = 2000  # between two looks at a trunk that was red on its own
_UNKNOWN: frozenset[frozenset[str]] = frozenset()  # remembered results about which changes conflict
_TIDY_AT = 50  # pins of runs; fewer are released only when no check runs
_SLOTS, _PINS = "check slots", "pinned commits"  # subjects of alerts that no convoy is about
_FEW = 4  # lost runs in a row that `--once` waits for


class Refinery:
    def __init__(
        self, store: SqliteStore, repository: Repository, config: Config, clock: Clock = now
    ) -> None:
        self._folder = repository.folder
        self._config = config.refinery
        self._clock = clock
        self._stopping = threading.Event()
        self._log = Log(store, REFINERY)
        self._watch = Watch(store.derived)
        self._settings = SettingsWatch(REFINERY, repository, config, self._watch)
        keep = Keep(os.path.realpath(repository.git_dir), now=clock)
        self._trunks = Trunks(self._log, repository, keep)
        view = self._trunks.view
        self._stacks = Stacks(view, config.refinery)
        self._generated = GeneratedFiles(self._stacks, config.refinery.regenerate)
        self._check_runs = CheckRuns(
            self._log, repository, config, self._watch, generated=self._generated, clock=clock
        )
        self._landings = Landings(self._log, view, self._stacks)
        self._admission = Admission(
            self._log, self._stacks.objects, keep, self._trunks, config.refinery.returns
        )
        self._pins = Pins(view, SPEC_REFS)
        policy = config.refinery.finish
        self._finish = ConvoyFinish(
            self._log, view, self._stacks, policy, check=self._start_finish, clock=clock
        )
        self._policy = POLICIES[config.refinery.mode]

    def run(self, *, once: bool = False) -> Config | None:
        """Land work until asked to stop; with `once`, until there is nothing to do.

        If the settings have changed, return them: another refinery continues with them.
        """
        with (
            only_one(self._folder, REFINERY),
            closing(self._watch),
            closing(self._stacks),
            closing(self._finish),
            signals.heeded(self.stop),
        ):
            self._check_runs.sweep(self._log.look())
            found = self._loop(once=once)
            if self._stopping.is_set():
                self._check_runs.give_up(self._log.look())
            return found

    def stop(self) -> None:
        """Make the loop end soon; running checks are ended, and the next refinery reruns them."""
        self._stopping.set()
        self._watch.ring()

    def _loop(self, *, once: bool) -> Config | None:
        while not self._stopping.is_set():
            before, since = self._log.look().seq, self._clock()
            soon = self._round()
            state = self._log.look()
            if once and not soon and state.seq == before and not self._goes_on(state):
                return None
            self._watch.wait(_SOON_S if soon else self._patience_s(state, since))
            if not self._stopping.is_set():
                self._watch.wait(_REST_S)
                if not once and (found := self._settings.changed(self._log)) is not None:
                    return found
        return None

    def _goes_on(self, state: State) -> bool:
        """Say whether something will happen on its own: a run ends, or a short delay is over.

        Everything else is paused, or needs work that is not in the queue.
        """
        return _busy(state) or any(
            0 < queue_rules.rest(state, convoy, self._key(state, convoy)).lost <= _FEW
            for convoy in _unpaused(state)
        )

    def _patience_s(self, state: State, since: int) -> float:
        """Return how long to wait if nothing happens; what was due at the last look was done."""
        due = [check.due_at for check in state.checks.values() if check.live and check.external]
        for convoy in _unpaused(state):
            key = self._key(state, convoy)
            due.append(queue_rules.rest(state, convoy, key).until)
            queue = queue_of(state, convoy, _UNKNOWN, key)
            if queue.base_was(green=False):
                due.append(self._clock() + _MENDED_MS)
            due.append(wake_at(queue, self._policy) or 0)
        left = [(at - self._clock()) / 1000 for at in due if at >= since]
        return max(_SOON_S, min([_LOOK_S if _busy(state) else _LONGEST_S, *left]))

    def _round(self) -> bool:
        """Do everything that can be done now; say whether to look again soon."""
        runs = self._check_runs
        soon = self._step(REFINERY, lambda: runs.tend(self._log.look()))
        for convoy in list(self._log.look().convoys):
            soon |= self._step(convoy, partial(self._advance, convoy))
        soon |= self._step(_SLOTS, lambda: runs.release(self._log.look()))
        self._step(_PINS, partial(self._tidy, soon=soon))
        return soon

    def _step(self, subject: str, step: Callable[[], bool]) -> bool:
        """Take a step of a round; say whether to look again soon.

        A border: an error in one convoy, or in tidying up, becomes an alert and holds up nothing
        else. The next round tries again.
        """
        try:
            soon = step()
        except (CorralError, OSError) as error:
            self._log.alert(REFINERY, subject, described(error))
            return False
        self._log.over(REFINERY, subject)
        return soon

    def _advance(self, convoy: ConvoyId) -> bool:
        self._landings.settle(convoy)
        state = self._log.look()
        waiting = [task for task in queue_rules.waiting(state) if task.convoy == convoy]
        queued = any(change.convoy == convoy for change in state.changes.values())
        going = any(check.live and check.convoy == convoy for check in state.checks.values())
        if not (waiting or queued or going):
            self._trunks.guard(convoy)
            return self._finish.finish(convoy)
        trunk = self._trunks.at(convoy)
        if waiting:
            self._admission.admit(state, waiting, trunk)
        for _ in range(_MOST_ROUNDS):
            self._trunks.at(convoy)  # a push may come at any time
            self._drop_outdated(convoy)
            held = self._return_conflicts(convoy)
            if not self._carry_out(convoy, held):
                break
        soon = self._finish.finish(convoy)
        return self._check_runs.tend(self._log.look()) or soon

    def _drop_outdated(self, convoy: ConvoyId) -> None:
        """Cancel runs of withdrawn work, and runs that generate files for a former trunk."""
        state = self._log.look()
        tip = trunk_of(state, convoy).tip
        for check in state.checks.values():
            if not check.live or check.convoy != convoy:
                continue
            if outdated(state, check):
                self._check_runs.cancel(check, "member-left")
            elif _makes(check) and (check.tip != tip or check.members[0] not in state.changes):
                self._check_runs.cancel(check, "stale")

    def _return_conflicts(self, convoy: ConvoyId) -> set[str]:
        """Send back changes that conflict with the trunk: no check is needed to know that.

        Return the changes that wait for a command which may still resolve their conflict.
        """
        state = self._log.look()
        tip = trunk_of(state, convoy).tip
        changes = [change for change in state.changes.values() if change.convoy == convoy]
        stacked = _stacked(state, convoy, tip)
        asked = [
            change
            for change in changes
            if change.task not in stacked and not queue_rules.missing(state, change.task)
        ]
        held = {task for check in state.checks.values() if _makes(check) for task in check.members}
        for conflict in self._stacks.conflicts_with(state, tip, asked):
            if self._regenerates(conflict):
                held.add(conflict.change.task)
            else:
                self._return_conflict(state, conflict, tip)
        return {str(task) for task in held}

    def _regenerates(self, conflict: Misfit) -> bool:
        """Say whether a command can generate the files in conflict; start it if there is room."""
        state, change = self._log.look(), conflict.change
        stack = self._generated.prepared(conflict)
        if stack is None or last_run(state, stack) is not None:
            return False
        if self._free(state, change.convoy) and not queue_rules.paused(state, change.convoy):
            key = self._check_runs.key(self._generated.commands_for(conflict.merged))
            slot = _free_slot(state)
            self._record(change.convoy, [change], stack, REGENERATE, key=key, slot=slot)
        return True

    def _return_conflict(self, state: State, conflict: Misfit, tip: str) -> None:
        paths = conflict.paths
        beside = _who_touched(state, conflict.change, paths)
        names = ", ".join(map(text.printable, paths[:5])) + (" …" if len(paths) > 5 else "")
        said = f"it conflicts with the trunk at {tip[:12]} in {names}"
        if beside:
            said += f", with {' and '.join(beside)}"
        change = conflict.change
        self._log.note(
            queue_rules.send_back,
            change.task,
            change.commit,
            "conflict",
            most=self._config.returns,
            detail=said,
            beside=beside,
            paths=paths,
        )

    def _carry_out(self, convoy: ConvoyId, held: set[str]) -> bool:
        """Carry out one plan; say whether to make another one at once."""
        state = self._log.look()
        if queue_rules.paused(state, convoy):
            return False
        changes = [change for change in state.changes.values() if change.convoy == convoy]
        key = self._key(state, convoy)
        queue = queue_of(state, convoy, self._stacks.clashes(changes), key)
        self._tell_red_base(state, convoy, queue)
        free = tuple(entry for entry in queue.entries if entry.task not in held)
        queue, again = replace(queue, entries=free), False
        for action in plan(queue, self._free(state, convoy), self._clock(), self._policy):
            match action:
                case Start(members, kind):
                    again |= self._start(convoy, members, kind, fresh=kind is Kind.BASE)
                case Rerun(members, kind, _):
                    again |= self._start(convoy, members, kind, fresh=True)
                case Land(run):
                    self._landings.land(run)
                    again = True
                case Cancel(run, why):
                    self._check_runs.cancel(state.checks[run], why)
                    again = True
                case SendBack(task, why, run, beside):
                    self._blame(state, TaskId(task), why, run, beside)
                    again = True
        return again

    def _tell_red_base(self, state: State, convoy: ConvoyId, queue: Queue) -> None:
        """Say that a convoy waits because its trunk is red; follow its base if that was fixed."""
        if not queue.base_was(green=False):
            self._log.over(queue_rules.RED_BASE, convoy)
            return
        runs = [c for c in state.checks.values() if c.kind == Kind.BASE and c.tip == queue.tip]
        said = f"{runs[-1].command or 'its check'}: {runs[-1].detail}" if runs else "unknown"
        self._log.alert(
            queue_rules.RED_BASE,
            convoy,
            f"the trunk of {convoy} at {queue.tip[:12]} is red without any change ({said}). Nothing"
            " lands, and no change is blamed, until the trunk, its base or the checks are fixed",
        )
        self._trunks.follow(convoy)

    def _key(self, state: State, convoy: ConvoyId) -> str:
        """Return the key of the declared checks; empty if each change brings its own."""
        declared = self._check_runs.declared(state, convoy)
        return self._check_runs.key(declared) if declared and not self._config.external else ""

    def _free(self, state: State, convoy: ConvoyId) -> int:
        if queue_rules.rest(state, convoy, self._key(state, convoy)).until > self._clock():
            return 0
        slots = self._config.slots or (4 if self._config.external else 0)
        slots = slots or check_slots(trunk_of(state, convoy).learned, os.cpu_count() or 1)
        taken = sum(check.live for check in state.checks.values())
        return max(0, slots - taken)

    def _start(self, convoy: ConvoyId, members: Sequence[str], kind: str, *, fresh: bool) -> bool:
        """Announce a check run; say whether its result is known already."""
        state = self._log.look()
        changes = [state.changes[TaskId(task)] for task in members]
        stack = self._stacks.stack(state, convoy, changes, queue_rules.next_run(state))
        if isinstance(stack, Stack):
            return self._announce(convoy, changes, stack, kind, fresh=fresh)
        if stack.below:
            self._stacks.remember_clash(stack, changes)  # the next plan takes it in
        else:
            self._return_conflict(state, stack, trunk_of(state, convoy).tip)
        return True

    def _start_finish(self, convoy: ConvoyId, base: str, commit: str, tree: str) -> None:
        """Announce a check run of the trunk merged into its base."""
        state = self._log.look()
        stack = Stack(base, (trunk_of(state, convoy).tip,), tree, commit)
        self._announce(convoy, [], stack, FINISH, fresh=False)

    def _announce(
        self, convoy: ConvoyId, changes: Sequence[Change], stack: Stack, kind: str, *, fresh: bool
    ) -> bool:
        state = self._log.look()
        commands = self._check_runs.commands(state, convoy, [change.task for change in changes])
        key = self._check_runs.key(commands)
        known = "" if fresh else _known_green(state, stack.tree, key)
        external = self._config.external and not known and bool(commands)
        slot = 0 if known or not commands or external else _free_slot(state)
        run = self._record(convoy, changes, stack, kind, key=key, slot=slot, external=external)
        if run not in self._log.look().checks:
            return True  # something has changed in the meantime
        if commands and not known:
            return False
        why = "none are given" if self._config.require_ci else "none are required"
        detail = f"the same tree was green in {known}" if known else f"it was not checked: {why}"
        self._log.note(queue_rules.end_check, run, GREEN, detail=detail, cached=known or run)
        return True

    def _record(
        self,
        convoy: ConvoyId,
        changes: Sequence[Change],
        stack: Stack,
        kind: str,
        *,
        key: str,
        slot: int,
        external: bool = False,
    ) -> str:
        """Pin the commits of a run, announce it, and return its name."""
        run = queue_rules.next_run(self._log.look())
        self._pins.hold({run: stack.commit})
        self._log.record(
            lambda state, _: queue_rules.start_check(
                state,
                run,
                convoy,
                changes,
                tip=stack.tip,
                commits=stack.commits,
                commit=stack.commit,
                tree=stack.tree,
                key=key,
                kind=kind,
                slot=slot,
                deadline_s=self._config.deadline_s
                or int(deadline_s(trunk_of(state, convoy).learned)),
                external=external,
            )
        )
        return run

    def _blame(self, state: State, task: TaskId, why: str, run: str, beside: Sequence[str]) -> None:
        change = state.changes[task]
        check = state.checks.get(run)
        detail = "work that landed after it was begun has probably broken it"
        if check is not None:
            detail = f"alone on the trunk at {check.tip[:12]}, {check.command or 'the check'} fails"
            detail += f": {check.detail}" if check.detail else ""
        others = [TaskId(other) for other in beside]
        self._log.note(
            queue_rules.send_back,
            task,
            change.commit,
            why,
            most=self._config.returns,
            detail=detail,
            beside=others,
            run=run,
        )

    def _tidy(self, *, soon: bool) -> bool:
        """Release pins that nothing refers to any more, now and then; nothing waits for it."""
        state = self._log.look()
        if len(self._pins.all()) <= _TIDY_AT and (soon or _busy(state)):
            return False
        held = {check.run for check in state.checks.values() if _held(state, check)}
        self._pins.let_go([run for run in self._pins.all() if run not in held])
        self._admission.release(state)
        return False


def _busy(state: State) -> bool:
    return any(check.live for check in state.checks.values())


def _makes(check: CheckRun) -> bool:
    return check.live and check.kind == REGENERATE


def _unpaused(state: State) -> list[ConvoyId]:
    """Return the convoys that have work waiting and may land it."""
    waiting = dict.fromkeys(change.convoy for change in state.changes.values())
    return [convoy for convoy in waiting if not queue_rules.paused(state, convoy)]


def _stacked(state: State, convoy: ConvoyId, tip: str) -> set[TaskId]:
    """Return the changes of runs on the current trunk: they are known to stack cleanly."""
    return {
        task
        for check in state.checks.values()
        if (check.convoy, check.tip) == (convoy, tip) and (check.live or check.result == GREEN)
        for task in check.members
    }


def _held(state: State, check: CheckRun) -> bool:
    landing = trunk_of(state, check.convoy).landing
    lands = landing is not None and landing.run == check.run
    waits = check.result == GREEN and all(task in state.changes for task in check.members)
    return check.live or lands or (waits and bool(check.members))


def _known_green(state: State, tree: str, key: str) -> str:
    """Return a green run of the same checks on the same tree, if none of them was red."""
    same = [check for check in state.checks.values() if (check.tree, check.key) == (tree, key)]
    if any(check.result == "red" for check in same):
        return ""
    return next((check.run for check in same if check.result == GREEN and not check.cached), "")


def _free_slot(state: State) -> int:
    taken = {check.slot for check in state.checks.values() if check.live}
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def _who_touched(state: State, change: Change, paths: Sequence[str]) -> list[TaskId]:
    """Return the tasks that landed after the change forked and touched these paths."""
    landings = trunk_of(state, change.convoy).learned.landings
    since = (one for one in landings if one.number > change.since)
    return [TaskId(one.task) for one in since if not set(paths).isdisjoint(one.paths)]

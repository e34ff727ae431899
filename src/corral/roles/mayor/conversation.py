"""A conversation with the mayor: ask a question, read the answer, send back what is wrong with it.

Each step is recorded before it is taken, and a run of the engine outlives the process that started
it. So this process may be killed between any two steps: the next one to continue the conversation
finds the question, and the run that goes on or has ended, and proceeds from there.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from corral.core.config import Config
from corral.core.engine import governor
from corral.core.engine.bill import Bill
from corral.core.engine.facts import PASSING
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.codec import decode, event_of
from corral.core.log.state import State, Task
from corral.core.mayor import commands as c
from corral.core.mayor import events as m
from corral.core.mayor import rules as mayor_rules
from corral.core.mayor.state import MayorConversation, MayorState
from corral.core.plan import prompt as prompts
from corral.core.plan.amend import Before, understood
from corral.core.plan.check import Surroundings
from corral.core.plan.schema import Plan
from corral.core.session.profiles import account_of, budgets_of, limits_of
from corral.core.text import BRIEF, LINE, counted, cut
from corral.roles import signals
from corral.roles.locks import only_one, taken
from corral.roles.log import Log
from corral.roles.mayor.engine_run import EngineRunEnd, EngineRunner
from corral.roles.mayor.tree import MayorTree
from corral.roles.records.rooms import Room
from corral.roles.secrets import Secrets
from corral.roles.witness.launch import template
from corral.store.port import Store
from corral.world import processes
from corral.world.clock import now
from corral.world.git.tree import Tree
from corral.world.git.view import View
from corral.world.keep.entries import names
from corral.world.repository import Repository
from corral.world.settings import role_names

ROLE = "mayor"
_ENDING_S = 10  # another process may still be tidying up after its answer
_LOOK_S = 1.0
_PASSING = frozenset(map(str, PASSING))
_UNCOUNTED = ("interrupted", "auth", "over_budget")  # troubles that do not count as an attempt
_SAID = 20_000  # characters of one question or answer that are repeated to an engine
_EXCHANGES = 8
_PATHS = 50


class Talk:
    def __init__(
        self,
        store: Store,
        repository: Repository,
        config: Config,
        *,
        actor: str,
        say: Callable[[str], None],
        key: str = "",
        stopping: threading.Event | None = None,
    ) -> None:
        """`key` is that of the request that `perform` carries out.

        `stopping` asks for the end of the work and its engine; the conversation can go on later.
        """
        self._store = store
        self._log = Log(store, actor, Secrets(config, os.environ))
        self._repository = repository
        self._config = config
        self._actor = actor
        self._key = key
        roles = role_names(repository.main_worktree)
        self._around = Surroundings(engines=frozenset(config.engine), roles=roles)
        self._say = say
        self._runner = EngineRunner(repository, config, stopping or threading.Event())
        self._tree = MayorTree(repository, config)
        self._view = View(repository.git_dir)
        self._accounts = limits_of(config).accounts

    def perform(self, command: c.MayorCommand) -> MayorConversation:
        """Carry out a command and see the conversation through; return how it stands then."""
        match command:
            case c.StartMayor():
                return self._start(command) if command.goal.strip() else self.go_on()
            case c.AskMayor():
                return self._ask(mayor_rules.wish(command.text))
            case c.ApprovePlan():
                self._approve(command.proposal)
            case c.RejectPlan():
                mayor = self.look()
                self._record(lambda state: mayor_rules.reject(state, mayor.id, command.reason))
            case c.StopMayor():
                self._stop(self.look(), command.reason)
        return self.look()

    def _start(self, command: c.StartMayor) -> MayorConversation:
        """Begin a conversation and see it through; the same goal again continues it."""
        name = command.engine or engine_of(self._config)
        goal = mayor_rules.wish(command.goal)
        self._runner.check(name)
        with self._alone():
            last = mayor_rules.newest(self._log.look())
            same = last is not None and not last.over and self.goal(last) == goal
            if last is None or not same or last.state is MayorState.IDLE:
                self._record(lambda state: mayor_rules.start(state, goal, name, command.replan))
            return self._settle()

    def go_on(self) -> MayorConversation:
        """See the newest conversation through, wherever it is."""
        mayor = self.look()
        if mayor.over or mayor.state is MayorState.IDLE:
            raise BadInput("there is no conversation to continue", 'corral mayor start --task "…"')
        with self._alone():
            return self._settle()

    def unattended(self) -> bool:
        """Say whether an engine has answered, or is about to, and nobody waits for it."""
        mayor = mayor_rules.newest(self._log.look())
        if mayor is None or mayor.state is not MayorState.ASKING:
            return False
        return not taken(self._repository.folder, ROLE) and self._runner.answers(mayor)

    def _ask(self, text: str) -> MayorConversation:
        """Ask a person's question."""
        with self._alone():
            mayor = self._settle()
            if mayor.over:
                raise Refused(
                    f"{mayor.id} has ended: {mayor.reason or mayor.state}",
                    'corral mayor start --task "…"',
                    code="mayor_over",
                )
            message = prompts.question(text, self.before(mayor).plan, self._standing(mayor))
            self._pose(mayor, "question", message, key=self._key)
            return self._settle()

    def replan(self, convoy: ConvoyId, *, yes: bool) -> list[TaskId]:
        """Ask about each failed task of a convoy once; return those tasks."""
        told: list[TaskId] = []
        mayor = mayor_rules.of_convoy(self._log.look(), convoy)
        if mayor is None:
            raise BadInput(f"there is no conversation with the mayor about {convoy!r}")
        if mayor != self.look():
            raise Refused(f"{mayor.id} is not the newest conversation", code="mayor_over")
        mayor = self.go_on() if mayor.busy else mayor
        while True:
            if mayor.pending:
                if not yes or mayor.cause != "failure":
                    return told
                self._approve(mayor.proposed_seq)
                mayor = self.look()
            task = mayor_rules.untold(self._log.look(), mayor, self._config.mayor.replans)
            if task is None or task.id in told:
                return told
            told.append(task.id)
            mayor = self._tell_failure(task)

    def _tell_failure(self, task: Task) -> MayorConversation:
        """Ask what to do about a task that has failed for good."""
        with self._alone():
            mayor = self._settle()
            plan = self.before(mayor).plan
            if plan is None or mayor.state is not MayorState.IDLE:
                return mayor
            lines = self._standing(mayor)
            message = prompts.failure(task.key or task.id, self._happened(task), plan, lines)
            self._pose(mayor, "failure", message, task.id)
            return self._settle()

    def _stop(self, mayor: MayorConversation, reason: str) -> None:
        """End a conversation and its engine; tidy up unless somebody waits for the answer."""
        self._record(lambda state: mayor_rules.stop(state, mayor.id, reason))
        if mayor.state is MayorState.ASKING:
            self._runner.stop(mayor)
        if taken(self._repository.folder, ROLE):
            return
        with self._alone():
            if mayor.state is MayorState.ASKING and self._runner.begun(mayor):
                self._run(mayor)
            self._tree.remove(mayor)

    def _approve(self, seq: int) -> None:
        proposal = self._event(seq)
        if not isinstance(proposal, m.PlanProposed):
            raise Refused("no plan waits for approval", "corral mayor status")
        base = self._repository.branch()
        self._log.record(
            lambda state, at: mayor_rules.approve(
                state, proposal, seq, base=base, actor=self._actor, now=at
            ),
            self._key,
        )

    def _record(self, decide: Callable[[State], mayor_rules.Decision]) -> None:
        self._log.record(lambda state, _: decide(state), self._key)

    def look(self) -> MayorConversation:
        return mayor_rules.current(self._log.look())

    def goal(self, mayor: MayorConversation) -> str:
        return str(getattr(self._event(mayor.goal_seq), "goal", ""))

    def proposal(self, mayor: MayorConversation) -> m.PlanProposed | None:
        """Return the newest plan that was proposed."""
        found = self._event(mayor.proposed_seq)
        return found if isinstance(found, m.PlanProposed) else None

    def said(self, mayor: MayorConversation) -> Iterator[m.MayorAsked | m.MayorAnswered]:
        """Yield the questions and answers, as far back as the state remembers."""
        for seq in mayor.said:
            event = self._event(seq)
            if isinstance(event, m.MayorAsked | m.MayorAnswered):
                yield event

    def before(self, mayor: MayorConversation) -> Before:
        """Return the plan that an answer builds on: the proposed one, else the approved one."""
        found = self._event(mayor.proposed_seq if mayor.pending else mayor.approved_seq)
        if not isinstance(found, m.PlanProposed):
            return Before()
        plan = msgspec.json.decode(found.plan, type=Plan)
        if mayor.convoy:
            plan = replace(plan, convoy=replace(plan.convoy, slug=mayor.convoy))
        return Before(plan, mayor.convoy)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (
            only_one(self._repository.folder, ROLE, wait_s=_ENDING_S),
            signals.heeded(self._runner.stopping.set),
        ):
            yield

    def _settle(self) -> MayorConversation:
        """Take the next step until the conversation waits for a person or is over."""
        while True:
            mayor = self.look()
            if mayor.state is MayorState.ASKING:
                self._run(mayor)
            elif mayor.state is MayorState.OPEN:
                self._pose_next(mayor)
            else:
                self._tree.remove(mayor)
                return mayor

    def _pose_next(self, mayor: MayorConversation) -> None:
        """Ask the next question: the goal, what was wrong with the answer, or the same again."""
        if not mayor.turn:
            self._pose(mayor, "goal", self.goal(mayor))
            return
        answered = self._event(mayor.answered_seq)
        if isinstance(answered, m.MayorAnswered) and answered.problems:
            self._say(f"the answer cannot be used: {answered.problems[0]}")
            self._pose(mayor, "wrong", prompts.corrected(answered.problems))
        else:
            asked = self._event(mayor.asked_seq)
            self._pose(mayor, "again", str(getattr(asked, "message", "")))

    def _pose(
        self, mayor: MayorConversation, cause: str, message: str, task: str = "", key: str = ""
    ) -> None:
        state = self._log.look()
        profile = governor.stand_in(state, mayor.engine, self._accounts, now())
        self._runner.check(profile)
        spent = mayor_rules.over(state, mayor, Bill(), budgets_of(self._config), now())
        if spent:
            raise Refused(
                f"the mayor is over budget: {spent}; nothing was asked",
                "raise the limit in .corral/config.toml, then: corral mayor start",
                code="no_money",
            )
        self._wait_for(self._account(profile))
        tree = self._tree.make(state, mayor)
        known = mayor.thread and profile == mayor.profile and tree.path == mayor.place
        resume = mayor.thread if known and self._runner.profiles.resumes(profile) else ""
        asked = m.MayorAsked(
            mayor=mayor.id,
            turn=0,
            cause=cause,
            message=message[:BRIEF],
            profile=profile,
            prompt="" if resume else self._all(mayor, message, tree.base)[:BRIEF],
            resume=resume,
            task=TaskId(task),
        )
        self._log.record(lambda now_state, _: mayor_rules.ask(now_state, mayor.id, asked), key)

    def _run(self, mayor: MayorConversation) -> None:
        """Watch the newest run of the engine to its end, and record the result."""
        if not self._runner.begun(mayor):
            asked = self._event(mayor.asked_seq)
            assert isinstance(asked, m.MayorAsked)
            self._say(f"asking {mayor.profile} ({mayor.id}, turn {mayor.turn}) …")
            made = self._tree.make(self._log.look(), mayor)
            self._runner.start(mayor, made, asked.prompt or asked.message)
        tree = self._tree.find(mayor)
        ended = self._runner.finish(mayor, tree.path if tree else "", self._over(mayor))
        if ended is None:
            self._runner.stop(mayor)
            raise KeyboardInterrupt
        self._take_in(mayor, ended, tree)

    def _take_in(self, mayor: MayorConversation, ended: EngineRunEnd, tree: Tree | None) -> None:
        stream, bill = ended.stream, ended.stream.bill
        wrote = self._tree.written(mayor, tree) if tree else ()
        if wrote:
            what = ", ".join(wrote[:5])
            self._say(f"it wrote {what}, which was discarded but saved (corral rescue list)")
        limit = stream.finished if stream.finished and stream.finished.trouble else stream.limited
        account = self._account(mayor.profile)
        limited = ended.trouble in _PASSING
        counts = not limited and ended.trouble not in _UNCOUNTED
        if ended.trouble == "session" and mayor.resume:
            counts = False  # the next run starts a new conversation of the engine
        if ended.trouble == "auth":
            said = f"{mayor.profile} was refused: {cut(ended.text, LINE)}"
            self._log.alert(governor.REFUSED, account, said, again=True)
        answered = m.MayorAnswered(
            mayor=mayor.id,
            turn=mayor.turn,
            text=_clean(ended.text),
            trouble=ended.trouble,
            thread=stream.thread,
            place=tree.path if tree else "",
            model=stream.model,
            account=account if limited else "",
            wrote=wrote[:_PATHS],
            fresh=bill.fresh,
            cached=bill.cached,
            output=bill.output,
            nano_usd=bill.nano_usd,
            unpriced=bill.unpriced,
        )
        if ended.trouble:
            self._say(f"no answer ({ended.trouble}): {cut(ended.text, 300)}")
        before = self.before(mayor)

        def decide(state: State, at: int) -> mayor_rules.Decision:
            around = replace(self._around, tasks=frozenset(state.tasks))
            must = mayor.cause == "goal"
            reply = None
            if not ended.trouble:
                reply = understood(ended.text, state, before, around, must=must)
            full = replace(answered, used_up=counts and (reply is None or bool(reply.problems)))
            if limited:
                until_at = governor.free_at(
                    state.accounts.get(account),
                    reset_at=limit.reset_at if limit else None,
                    retry_s=limit.retry_s if limit else None,
                    now=at,
                )
                full = replace(full, until_at=until_at)
            return mayor_rules.answer(state, full, reply, self._config.mayor.attempts)

        self._log.record(decide)

    def _over(self, mayor: MayorConversation) -> Callable[[Bill], str]:
        budgets = budgets_of(self._config)
        if not budgets.any(mayor.profile):
            return lambda _: ""
        return lambda bill: mayor_rules.over(self._log.look(), mayor, bill, budgets, now())

    def _wait_for(self, account: str) -> None:
        """Wait until an account is free; park the conversation if that takes too long."""
        until = now() + self._config.mayor.wait_s * 1000
        told = False
        while (why := governor.held(self._log.look(), account, now())) is not None:
            known = self._log.look().accounts.get(account)
            if known is None or known.until_at > until or known.until_at <= now():
                raise Refused(
                    f"the mayor is parked: {why[0]}",
                    "corral mayor start continues it" if known else why[1],
                    code="account_limited",
                )
            if not told:
                self._say(f"waiting: {why[0]}")
            told = True
            if self._runner.stopping.wait(min(_LOOK_S, (known.until_at - now()) / 1000 + 0.01)):
                raise KeyboardInterrupt

    def _account(self, name: str) -> str:
        return account_of(name, self._runner.profiles.profile(name)) or f"command:{name}"

    def _all(self, mayor: MayorConversation, message: str, commit: str) -> str:
        """Return the full prompt, for an engine that does not remember the conversation."""
        listed = self._view.run("ls-tree", "-r", "-z", "--name-only", commit)
        offered = {
            name: engine.good_for or f"{engine.type} {engine.model}".strip()
            for name, engine in self._config.engine.items()
        }
        rules = template(self._repository, "shared-rules")[:BRIEF]
        beginning = prompts.prompt(
            self.goal(mayor), names(listed), offered, rules, sorted(self._around.roles or ())
        )
        said: list[tuple[str, str]] = []
        asked = ""
        for event in self.said(mayor):
            if isinstance(event, m.MayorAsked):
                asked = "" if event.cause == "goal" else event.message
            elif not event.trouble:
                said += [("You were asked", asked[-_SAID:])] * bool(asked)
                said.append(("You answered", event.text[-_SAID:]))
        if not said and message == self.goal(mayor):
            return beginning
        return prompts.go_on(beginning, said[-_EXCHANGES:], message)

    def _standing(self, mayor: MayorConversation) -> list[str]:
        state = self._log.look()
        tasks = [task for task in state.tasks.values() if task.convoy == mayor.convoy]
        return mayor_rules.standing(tasks) if mayor.convoy else []

    def _happened(self, task: Task) -> str:
        state = self._log.look()
        lines = [f"state {task.state} after {counted(task.attempts, 'attempt')}: {task.reason}"]
        session = state.sessions.get(task.session)
        if session is not None:
            lines.append(f"its last session: {session.verdict} {session.detail}")
            folder = Room(self._repository.folder, session.id).launch()
            lines += processes.last_lines(folder, 20) if folder else []
        returned = state.returned.get(task.id)
        if returned is not None:
            lines.append(
                f"came back from the queue {counted(returned.times, 'time')}: {returned.why}"
            )
            lines.append(returned.detail)
        return "\n".join(cut(line, LINE) for line in lines if line)

    def _event(self, seq: int) -> object:
        if not seq:
            return None
        stored = next(self._store.read(seq - 1, 1), None)
        return event_of(decode(stored.line)) if stored else None


def _clean(text: str) -> str:
    """Make an engine's text fit for the log: bounded, and without control characters."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text[-BRIEF:])


def engine_of(config: Config) -> str:
    """Return the engine profile that makes plans."""
    engines = config.engine
    for name in (config.mayor.engine, "default", *list(engines)[: len(engines) == 1]):
        if name and name in engines:
            return name
    raise NotFound(
        "no engine is configured that can make a plan",
        "add [engine.default] to .corral/config.toml, or use --engine PROFILE",
    )

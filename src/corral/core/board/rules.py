"""decide(state, command, actor, now) → the events that carry it out, or a refusal.

Pure, and the only place that says yes or no. It runs inside the log's transaction, so the events
are appended to exactly the state that it saw. A refused command leaves no trace.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from msgspec import UnsetType

from corral.core import ids, text
from corral.core.board import commands as c
from corral.core.board import family, leases, recurrence
from corral.core.board.claims import TO_REDO, next_offer, obstacles, reverted_alert
from corral.core.board.graph import cycle, find_task
from corral.core.board.moves import Fence, check
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import Claim, Convoy, State, Task
from corral.core.redaction import redacted, without_secrets

V = TypeVar("V")
Decision = Sequence[e.Event]
Rule = Callable[[State, Any, str, int], Decision]

STRATEGIES = ("", "rebase", "squash", "merge")


def decide(state: State, command: c.Command, actor: str, now: int) -> Decision:
    name = text.line(actor, "the name", text.NAME)
    if redacted(name) != name:
        raise BadInput("the name looks like a secret, which must not be logged", "use another name")
    rule = _RULES.get(type(command)) or _of_concept(type(command))
    return rule(state, without_secrets(command), name, now)


def _of_concept(kind: type[c.Command]) -> Rule:
    """Load the rules of other concepts until there is one for this command."""
    for module in ("board.steering", "queue.rules", "message.rules"):
        _RULES.update(import_module(f"corral.core.{module}").RULES)
        if kind in _RULES:
            break
    return _RULES[kind]


def find_convoy(state: State, convoy: str) -> Convoy:
    found = state.convoys.get(ConvoyId(convoy))
    if found is None:
        raise NotFound(f"there is no convoy {text.printable(convoy)!r}", "corral convoy list")
    return found


def _create_convoy(state: State, command: c.CreateConvoy, actor: str, now: int) -> Decision:
    title = _title(command.title)
    if command.strategy not in STRATEGIES:
        said = f"there is no strategy {text.printable(command.strategy)!r}"
        raise BadInput(said, "use rebase, squash or merge")
    prefixes = {convoy.prefix for convoy in state.convoys.values()}
    return [
        e.ConvoyCreated(
            convoy=ids.slug(title, state.convoys),
            title=title,
            prefix=ids.prefix(title, prefixes),
            base=text.line(command.base or "", "the base branch", empty=True),
            strategy=command.strategy,
            checks=text.lines(command.checks, "a check"),
        )
    ]


def _add_task(state: State, command: c.AddTask, actor: str, now: int) -> Decision:
    convoy = find_convoy(state, _the_convoy(state, command.convoy))
    parent = family.parent(state, command) if command.parent else None
    task = ids.task_id(convoy.prefix, convoy.last_number + 1)
    added = e.TaskAdded(
        task=task,
        convoy=convoy.id,
        title=_title(command.title),
        priority=_priority(command.priority),
        needs=_needs(state, task, command.needs),
        paths=_patterns(command.paths),
        accept=_accept(command.accept),
        inputs=_inputs(command.inputs),
        engine=_engine(command.engine),
        brief=_brief(command.brief),
        assignee=text.line(command.assignee, "the name", text.NAME, empty=True),
        run=_run(command.run),
        role=_role(command.role),
        urgent=command.urgent,
        parent=parent.id if parent else TaskId(""),
        budget=text.number(command.budget, "the budget", 0, 1000),
        levels=family.levels(command, parent),
        **recurrence.asked(command),
    )
    return [added, *recurrence.first(added, now)]


def _edit_task(state: State, command: c.EditTask, actor: str, now: int) -> Decision:
    task = find_task(state, command.task)
    check(task, "edit")
    event = e.TaskEdited(
        task=task.id,
        title=_given(command.title, _title),
        priority=_given(command.priority, _priority),
        needs=_edited_needs(state, task, command),
        paths=_given(command.paths, _patterns),
        accept=_given(command.accept, _accept),
        inputs=_given(command.inputs, _inputs),
        engine=_given(command.engine, _engine),
        brief=_given(command.brief, _brief),
    )
    if event == e.TaskEdited(task=task.id):
        raise BadInput(f"there is nothing to change for {task.id}", "corral task edit --help")
    return [event]


def _edited_needs(state: State, task: Task, command: c.EditTask) -> tuple[TaskId, ...] | None:
    if not command.needs and not command.drop_needs:
        return None
    dropped = {find_task(state, need).id for need in command.drop_needs}
    for need in dropped - set(task.needs):
        raise Refused(f"{task.id} does not need {need}; nothing was changed", code="not_needed")
    kept = [need for need in task.needs if need not in dropped]
    return _needs(state, task.id, (*kept, *command.needs))


def _apply_plan(state: State, command: c.ApplyPlan, actor: str, now: int) -> Decision:
    from corral.core.plan.apply import applied  # it is built on these rules

    return applied(state, command.plan, actor, now)


def _claim_task(state: State, command: c.ClaimTask, actor: str, now: int) -> Decision:
    expires_at = _expiry(command.ttl_s, now)
    if command.task is None:
        task = next_offer(state, now, actor)
        if task is None:
            raise NotFound("no task is ready to be claimed", "corral status", code="nothing_ready")
    else:
        task = find_task(state, command.task)
        for obstacle in obstacles(state, task, now, actor):
            said = f"{obstacle.text}; nothing was changed"
            raise Refused(said, obstacle.hint, code=obstacle.code)
    events: list[e.Event] = []
    if task.claim is not None:
        events.append(e.TaskLapsed(task=task.id, holder=task.claim.holder, token=task.claim.token))
    token = _token(state, len(events))
    events.append(e.TaskClaimed(task=task.id, holder=actor, token=token, expires_at=expires_at))
    return events


def _renew_task(state: State, command: c.RenewTask, actor: str, now: int) -> Decision:
    task = _fenced(state, command.task, "renew", command.token)
    expires_at = _expiry(command.ttl_s, now)
    return [e.TaskRenewed(task=task.id, token=command.token, expires_at=expires_at)]


def _submit_task(state: State, command: c.SubmitTask, actor: str, now: int) -> Decision:
    task = _fenced(state, command.task, "submit", command.token)
    commit = _commit(command.commit)
    session = state.sessions.get(task.session)
    if session is not None and session.live and session.token == command.token:
        raise Refused(
            f"{session.id} is working on {task.id}: its work is submitted once it has ended and"
            " was judged; nothing was changed",
            "commit your work, then stop",
            code="not_judged",
        )
    return [e.TaskSubmitted(task=task.id, token=command.token, commit=commit)]


def _reasoned(move: str, event: Callable[..., e.Event]) -> Rule:
    """Make the rule of a move of which only the reason is recorded."""

    def rule(state: State, command: Any, actor: str, now: int) -> Decision:
        token, force = getattr(command, "token", ""), getattr(command, "force", False)
        task = _fenced(state, command.task, move, token, force=force)
        return [event(task=task.id, reason=text.line(command.reason, "the reason", empty=True))]

    return rule


def _retry_task(state: State, command: c.RetryTask, actor: str, now: int) -> Decision:
    """Put a task back on the board, even a landed one if its work was reverted since."""
    task = find_task(state, command.task)
    reason = text.line(command.reason, "the reason", empty=True)
    alert = reverted_alert(state, task)
    if alert is None:
        check(task, "retry")
        return [e.TaskRetried(task=task.id, reason=reason)]
    said = alert.text.rpartition(TO_REDO)[0]
    reason = f"{reason}; {said}" if reason else said
    retried = e.TaskRetried(task=task.id, reason=text.cut(reason, text.LINE))
    return [e.AlertCleared(alert=alert.id), retried]


def _hand_off_task(state: State, command: c.HandOffTask, actor: str, now: int) -> Decision:
    task = _fenced(state, command.task, "hand-off", command.token, force=command.force)
    to = text.line(command.to, "the name", text.NAME, empty=True)
    note = text.line(command.note, "the note", empty=True)
    return [e.TaskHandedOff(task=task.id, to=to, note=note)]


def _land_task(state: State, command: c.LandTask, actor: str, now: int) -> Decision:
    task = _fenced(state, command.task, "land")
    return [e.TaskLanded(task=task.id, commit=_commit(command.commit))]


def _comment_task(state: State, command: c.CommentTask, actor: str, now: int) -> Decision:
    task = _fenced(state, command.task, "comment", command.token)
    if not command.text.strip():
        raise BadInput("the comment is empty: give it at least one visible character")
    said = text.prose(command.text, "the comment", text.COMMENT)
    return [e.TaskCommented(task=task.id, text=said)]


def _acquire_lease(state: State, command: c.AcquireLease, actor: str, now: int) -> Decision:
    resource = leases.resource_name(command.resource)
    expires_at = _expiry(command.ttl_s, now)
    events: list[e.Event] = []
    for name, lease in leases.clashes(state, resource):
        if not lease.lapsed(now):
            raise _lease_held(resource, name, lease, now)
        events.append(e.LeaseLapsed(resource=name, holder=lease.holder, token=lease.token))
    token = _token(state, len(events))
    granted = e.LeaseAcquired(resource=resource, holder=actor, token=token, expires_at=expires_at)
    return [*events, granted]


def _renew_lease(state: State, command: c.RenewLease, actor: str, now: int) -> Decision:
    resource = _fenced_lease(state, command.resource, command.token)
    expires_at = _expiry(command.ttl_s, now)
    return [e.LeaseRenewed(resource=resource, token=command.token, expires_at=expires_at)]


def _release_lease(state: State, command: c.ReleaseLease, actor: str, now: int) -> Decision:
    resource = _fenced_lease(state, command.resource, command.token)
    return [e.LeaseReleased(resource=resource, token=command.token)]


def _raise_alert(state: State, command: c.RaiseAlert, actor: str, now: int) -> Decision:
    kind = text.line(command.kind, "the kind", text.NAME)
    subject = text.line(command.subject, "the subject", text.TITLE)
    said = text.line(command.text, "the text")
    if any(a.kind == kind and a.subject == subject for a in state.alerts.values()):
        return []
    alert = f"alert-{state.seq + 1}"
    return [e.AlertRaised(alert=alert, kind=kind, subject=subject, text=said)]


def _clear_alert(state: State, command: c.ClearAlert, actor: str, now: int) -> Decision:
    if command.alert not in state.alerts:
        raise NotFound(f"no alert {text.printable(command.alert)!r} is open", "corral alert list")
    return [e.AlertCleared(alert=command.alert)]


def _fenced(
    state: State, task_id: str, move_name: str, token: str = "", *, force: bool = False
) -> Task:
    """Return the task if the move is allowed from its state and the token is the current one."""
    task = find_task(state, task_id)
    if token and (task.claim is None or task.claim.token != token):
        raise _stale(task.id, task.claim, "claim")
    move = check(task, move_name)
    demanded = move.fence is Fence.ALWAYS or (move.fence is Fence.WHEN_CLAIMED and not force)
    if demanded and task.claim is not None and not token:
        raise Refused(
            f"{task.id} is held by {task.claim.holder}: {move_name} needs the token of the claim;"
            " nothing was changed",
            f"corral task {move_name} {task.id} --token TOKEN"
            + (" (or --force)" if move.fence is Fence.WHEN_CLAIMED else ""),
            code="token_needed",
        )
    return task


def _fenced_lease(state: State, name: str, token: str) -> str:
    resource = leases.resource_name(name)
    lease = state.leases.get(resource)
    if lease is None or lease.token != token:
        raise _stale(resource, lease, "lease")
    return resource


def _stale(name: str, current: Claim | None, kind: str) -> Refused:
    now_held = f"{current.holder} holds it now" if current else "nobody holds it now"
    return Refused(
        f"the token for {name} is stale: its {kind} has ended, and {now_held}; nothing was changed",
        f"leave it alone, or get a new {kind}",
        code="stale_token",
    )


def _lease_held(wanted: str, name: str, lease: Claim, now: int) -> Refused:
    which = f"{wanted} is" if name == wanted else f"{wanted} overlaps {name}, which is"
    left = max(0, lease.expires_at - now) // 1000
    said = f"{which} held by {lease.holder} for another {left} s; nothing was changed"
    return Refused(said, "corral lease list", code="lease_held")


def _token(state: State, before: int) -> Token:
    """A fencing token is the number of the event that granted it: unique and increasing."""
    return Token(str(state.seq + before + 1))


def _the_convoy(state: State, convoy: str) -> str:
    if convoy:
        return convoy
    if len(state.convoys) == 1:
        return next(iter(state.convoys))
    if not state.convoys:
        raise BadInput("there is no convoy yet", 'corral convoy create "…"')
    said = f"there are {len(state.convoys)} convoys: name one"
    raise BadInput(said, "--convoy ID (corral convoy list)")


def _needs(state: State, task: TaskId, needs: Sequence[str]) -> tuple[TaskId, ...]:
    if len(needs) > text.ITEMS:
        raise BadInput(f"there are {len(needs)} needs: at most {text.ITEMS} are allowed")
    # A new task can be named by the id that it is about to get.
    found = [task if n.upper() == task else find_task(state, n).id for n in needs]
    circle = cycle(state.tasks, task, found)
    if circle:
        said = f"that would create a cycle: {' → '.join(circle)}; nothing was changed"
        raise Refused(said, "remove one of these needs", code="cycle")
    return tuple(dict.fromkeys(found))


def _given(value: V | None, checked: Callable[[V], V]) -> V | None:
    return None if value is None else checked(value)


_title = partial(text.line, what="the title", limit=text.TITLE)
_priority = partial(text.number, what="the priority", low=0, high=text.PRIORITY)
_accept = partial(text.lines, what="an acceptance command")
_engine = partial(text.line, what="the engine", limit=text.NAME, empty=True)
_brief = partial(text.prose, what="the brief", limit=text.BRIEF)


def _expiry(ttl_s: int | UnsetType, now: int) -> int:
    seconds = text.CLAIM_TTL_S if isinstance(ttl_s, UnsetType) else ttl_s
    return now + text.number(seconds, "the time to live", 1, text.TTL_S) * 1000


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if len(patterns) > text.ITEMS:
        raise BadInput(f"there are {len(patterns)} paths: at most {text.ITEMS} are allowed")
    return tuple(dict.fromkeys(leases.pattern(pattern) for pattern in patterns))


def _inputs(inputs: tuple[str, ...]) -> tuple[str, ...]:
    for path in inputs:
        if any(mark in path for mark in "*?["):
            raise BadInput(f"the input {text.printable(path)!r} is a pattern: name one file")
    return _patterns(inputs)


def _run(argv: tuple[str, ...]) -> tuple[str, ...]:
    if len(argv) > text.ITEMS:
        raise BadInput(f"the command has {len(argv)} words: at most {text.ITEMS} are allowed")
    return tuple(text.prose(word, "a word of the command", text.COMMENT) for word in argv)


def _role(role: str) -> str:
    if role and not role.replace("-", "").replace("_", "").isalnum():
        raise BadInput(f"{text.printable(role)!r} is not the name of a role", "ls .corral/roles")
    return text.line(role, "the role", text.NAME, empty=True)


def _commit(commit: str) -> str:
    if commit and not (
        7 <= len(commit) <= 64 and all(char in "0123456789abcdef" for char in commit)
    ):
        raise BadInput(f"{text.printable(commit)!r} is not a commit id", "git rev-parse HEAD")
    return commit


_RULES: dict[type[c.Command], Rule] = {
    c.CreateConvoy: _create_convoy,
    c.AddTask: _add_task,
    c.EditTask: _edit_task,
    c.ApplyPlan: _apply_plan,
    c.ClaimTask: _claim_task,
    c.RenewTask: _renew_task,
    c.SubmitTask: _submit_task,
    c.FailTask: _reasoned("fail", e.TaskFailed),
    c.BlockTask: _reasoned("block", e.TaskBlocked),
    c.UnblockTask: lambda state, command, *_: [
        e.TaskUnblocked(task=_fenced(state, command.task, "unblock").id)
    ],
    c.RetryTask: _retry_task,
    c.CancelTask: _reasoned("cancel", e.TaskCancelled),
    c.HandOffTask: _hand_off_task,
    c.LandTask: _land_task,
    c.CommentTask: _comment_task,
    c.AcquireLease: _acquire_lease,
    c.RenewLease: _renew_lease,
    c.ReleaseLease: _release_lease,
    c.RaiseAlert: _raise_alert,
    c.ClearAlert: _clear_alert,
}

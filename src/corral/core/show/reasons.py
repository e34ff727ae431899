"""Why anything is as it is: a task, a session, a convoy, a check run, a lease, …

Tasks, which have a place on the board and moves, are explained in `core/show/why`.
"""

from collections.abc import Iterator

from msgspec import Struct

from corral.core.board.graph import find_task
from corral.core.board.leases import clashes, resource_name
from corral.core.config import Config
from corral.core.errors import NotFound
from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import Alert, Convoy, Message, Session, State, TaskState
from corral.core.mayor.state import MayorConversation
from corral.core.queue.fold import trunk_of
from corral.core.queue.state import CheckRun
from corral.core.show.why import Explanation, explain, explained
from corral.core.text import counted, cut, printable

_OPEN = 10  # at most this many open tasks of a convoy are named


class Reason(Struct, frozen=True):
    kind: str  # task, session, convoy, check, lease, message, alert or mayor
    id: str
    summary: str
    because: list[str]
    hint: str = ""


def why(
    state: State, name: str, now: int, config: Config | None = None, earlier: Session | None = None
) -> Explanation | Reason:
    """Explain anything by its name; `earlier` is a session that the state no longer holds."""
    upper = name.upper()
    if earlier is not None:
        return _of_session(state, earlier, now)
    if upper in state.sessions:
        return _of_session(state, state.sessions[SessionId(upper)], now)
    if name in state.convoys:
        return _of_convoy(state, state.convoys[ConvoyId(name)], now)
    if upper in state.checks:
        return _of_check(state.checks[upper], now)
    if name in state.messages:
        return _of_message(state.messages[name], now)
    if name in state.alerts:
        return _of_alert(state.alerts[name], now)
    if name in state.mayors:
        return _of_mayor(state.mayors[name])
    if name.startswith(("m-", "alert-", "mayor-")):
        raise NotFound(f"{printable(name)} has ended or never existed", "corral log")
    if ":" in name:
        return _of_lease(state, resource_name(name), now)
    task = find_task(state, TaskId(name))
    return explained(state, task, now, config) if config else explain(state, task, now)


def reason(
    state: State, name: str, now: int, config: Config | None = None, earlier: Session | None = None
) -> Reason:
    """Explain anything by its name, in one shape for all kinds of things."""
    found = why(state, name, now, config, earlier)
    if isinstance(found, Reason):
        return found
    because = [*(one.text for one in found.obstacles), *found.met]
    hints = (one.hint for one in found.obstacles if one.hint)
    return Reason("task", found.task, found.summary, because, next(hints, ""))


def _of_session(state: State, session: Session, now: int) -> Reason:
    met = [*session.reactions, *([f"says: {session.progress}"] if session.progress else [])]
    name = session.id
    if not session.live:
        detail = f": {session.detail}" if session.detail else ""
        met.append(f"{session.task} is now in state {state.tasks[session.task].state}")
        said = f"{name} ended as {session.verdict}{detail}"
        return Reason("session", name, said, met, f"corral why {session.task}")
    hint = f"corral session tail {name}"
    said = f"has worked on {session.task} with {session.profile} for {_s(now - session.started_at)}"
    question = state.messages.get(session.waits)
    if session.stop:
        said = f"is being stopped as {session.stop}: {session.detail}"
    elif question is not None:
        said = f"waits for an answer to {question.id}: {cut(question.text, 200)}"
        hint = f'corral message send {name} "…" --reply-to {question.id}'
    elif session.asked:
        said, hint = f"waits for an answer: {session.asked}", f'corral session send {name} "…"'
    elif session.limited:
        said = f"waits because its account {session.account} has hit a rate limit"
    return Reason("session", name, f"{name} {said}", met, hint)


def _of_convoy(state: State, convoy: Convoy, now: int) -> Reason:
    tasks = [task for task in state.tasks.values() if task.convoy == convoy.id]
    landed = sum(task.state is TaskState.DONE for task in tasks)
    over = (TaskState.DONE, TaskState.CANCELLED)
    left = [task for task in tasks if task.state not in over]
    trunk = trunk_of(state, convoy.id)
    said = f"{convoy.id}: {landed} of {len(tasks)} landed, {len(left)} left"
    if trunk.finished:
        said = f"{convoy.id} is finished: {trunk.finished}"
    because = list(_pauses(state, convoy.id))
    because += [explain(state, task, now).summary for task in left[:_OPEN]]
    because += [f"and {len(left) - _OPEN} more"] if len(left) > _OPEN else []
    hint = f"corral why {left[0].id}" if left else f"corral convoy show {convoy.id}"
    return Reason("convoy", convoy.id, said, because, hint)


def _pauses(state: State, convoy: ConvoyId) -> Iterator[str]:
    for name in dict.fromkeys(("", convoy)):
        pause = state.paused.get(ConvoyId(name))
        if pause is not None:
            why = f": {pause.reason}" if pause.reason else ""
            yield f"sessions are paused by {pause.by}{why}"
    held = state.held or trunk_of(state, convoy).paused
    if held:
        yield f"landing is paused: {held}"


def _of_check(check: CheckRun, now: int) -> Reason:
    what = " ".join(check.members) or "the trunk itself"
    where = f"{what} on {check.tip[:12]}"
    hint = f"corral queue show {check.run}"
    because = [f"it times out in {_s(check.due_at - now)}"]
    if not check.live:
        said = f"{check.run}, {where}, is {check.result}"
        because = [text for text in (check.command, check.detail) if text]
    elif check.external:
        said = f"{check.run}, {where}, waits for a report"
        hint = f"corral queue report {check.run} green"
    else:
        said = f"{check.run} has been checking {where} for {_s(now - check.started_at)}"
        because.insert(0, f"it runs in slot {check.slot}")
    return Reason("check", check.run, said, because, hint)


def _of_lease(state: State, resource: str, now: int) -> Reason:
    lease = state.leases.get(resource)
    if lease is not None and not lease.lapsed(now):
        said = f"{resource} is held by {lease.holder} for another {_s(lease.expires_at - now)}"
        return Reason("lease", resource, said, [], "wait, or ask its holder")
    others = [
        f"{name} is held by {held.holder} for another {_s(held.expires_at - now)}"
        for name, held in clashes(state, resource)
        if not held.lapsed(now)
    ]
    said = f"{resource} cannot be leased: it overlaps with other leases" if others else ""
    hint = "" if others else f"corral lease acquire {resource}"
    return Reason("lease", resource, said or f"{resource} is free", others, hint)


def _of_message(message: Message, now: int) -> Reason:
    way = f"{message.id} from {message.sender} to {message.to}"
    because = [cut(message.text, 200)]
    because += ["its sender waits for an answer"] if message.question else []
    if not message.reader:
        because.append(f"it expires in {_s(message.expires_at - now)}")
        said = f"{way} waits: nobody has read it yet"
    elif not message.read_at:
        said = f"{way} is being delivered to {message.reader}"
    else:
        said = f"{way} was delivered to {message.reader}"
        because += [] if message.acknowledged else ["it has not been acknowledged yet"]
    return Reason("message", message.id, said, because, "corral message list")


def _of_alert(alert: Alert, now: int) -> Reason:
    seen = f"acknowledged by {alert.seen_by}" if alert.seen_by else "nobody has acknowledged it"
    hint = f"corral alert {'clear' if alert.seen_by else 'acknowledge'} {alert.id}"
    said = f"{alert.id} is about {printable(alert.subject)}: {alert.text}"
    raised = f"it was raised {_s(now - alert.raised_at)} ago, as {alert.kind}"
    return Reason("alert", alert.id, said, [raised, seen], hint)


def _of_mayor(mayor: MayorConversation) -> Reason:
    because = [f"{counted(mayor.turn, 'turn')} with {mayor.engine}"]
    because += [f"its plan became the convoy {mayor.convoy}"] if mayor.convoy else []
    why = f": {mayor.reason}" if mayor.reason else ""
    said, hint = f"{mayor.id} is {mayor.state}{why}", "corral mayor tail"
    if mayor.pending:
        said = f"the plan of {mayor.id} waits for approval"
        hint = "corral mayor approve, or corral mayor reject"
    return Reason("mayor", mayor.id, said, because, hint)


def _s(milliseconds: int) -> str:
    return f"{max(0, milliseconds) // 1000} s"

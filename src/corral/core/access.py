"""Permissions through the server: people may do everything, a session only what is its own.

A session authenticates with a key that is derived from its claim. So nothing secret is in the log,
and the key is no longer valid once the claim has ended:

    corral_s_SESSION_MAC      MAC = HMAC-SHA-256(secret of the repository, log, session, token)

A session owns its task, the tasks below it, its leases and its inbox. `bound` fills in what follows
from that, and `permit` refuses the rest, inside the transaction that carries out the command.
"""

import hmac

from msgspec import Struct
from msgspec.structs import replace

from corral.core.board import commands as c
from corral.core.board.family import is_below, is_over, must_have_room
from corral.core.board.leases import resource_name
from corral.core.errors import NotFound, NoToken, NotYours
from corral.core.ids import SessionId, TaskId, Token
from corral.core.log.state import Session, State, Task

SESSION_PREFIX = "corral_s_"
PERSON_PREFIX = "corral_p_"


class Principal(Struct, frozen=True):
    """The caller: a person by any name, or a session with the token of its claim."""

    name: str
    session: SessionId = SessionId("")
    token: Token = Token("")


# What a session may do with its own task, and with the tasks below it.
_OWN = {"renew", "submit", "fail", "block", "comment", "hand-off"}
_BELOW = _OWN | {"edit", "claim", "unblock", "retry", "cancel"}
# Commands about no task: the rules or `permit` check the caller.
_FREE = {"lease acquire", "alert raise", "message send", "message read", "message ack"}


def session_key(secret: bytes, log: str, session: Session) -> str:
    """Return the key of a session, which is valid for as long as it has its claim."""
    told = f"{log}\n{session.id}\n{session.token}".encode()
    return f"{SESSION_PREFIX}{session.id}_{hmac.digest(secret, told, 'sha256').hex()[:40]}"


def session_of(state: State, secret: bytes, key: str) -> Principal:
    """Return the session with this key; NoToken if there is none, or it has lost its claim."""
    name = key.removeprefix(SESSION_PREFIX).rpartition("_")[0]
    session = state.sessions.get(SessionId(name))
    if session is None or not hmac.compare_digest(
        session_key(secret, state.log, session).encode(), key.encode("utf-8", "replace")
    ):
        raise NoToken("this token is not known", "corral link, or the file .git/corral/token")
    principal = Principal(session.id, session.id, session.token)
    still_holds(state, principal)
    return principal


def still_holds(state: State, who: Principal) -> Task:
    """Return the task that a session works on; NoToken if the session lost it or has ended."""
    session = state.sessions.get(who.session)
    task = state.tasks[session.task] if session else None
    if session is None or task is None or not session.live or session.token != who.token:
        raise NoToken(f"the session {who.session} has ended, so its token is no longer valid")
    if task.claim is None or task.claim.token != who.token:
        raise NoToken(f"{who.session} no longer holds {task.id}, so its token is no longer valid")
    return task


def visible(state: State, who: Principal, task: str) -> bool:
    """Say whether the caller may see a task: people all, a session its own and those below."""
    if not who.session:
        return True
    session, found = state.sessions.get(who.session), state.tasks.get(TaskId(task))
    if session is None or found is None:
        return False
    return found.id == session.task or is_below(state, found, session.task)


def admitted(state: State, who: Principal, command: c.Command) -> c.Command:
    """Return the command to carry out for a caller, or refuse it."""
    mine = bound(state, who, command)
    permit(state, who, mine)
    return mine


def bound(state: State, who: Principal, command: c.Command) -> c.Command:
    """Fill in what the caller implies: a session adds tasks below its own and shows its token."""
    if not who.session:
        return command
    own = still_holds(state, who)
    if isinstance(command, c.AddTask):
        parent = command.parent or own.id
        return replace(command, parent=parent, convoy=command.convoy or own.convoy)
    if getattr(command, "token", None) == "" and getattr(command, "task", "").upper() == own.id:
        return replace(command, token=who.token)
    return command


def permit(state: State, who: Principal, command: c.Command) -> None:
    """Refuse what the caller may not do."""
    if not who.session:
        return
    own = still_holds(state, who)
    kind, _, verb = command.name.partition(" ")
    if isinstance(command, c.AddTask):
        _must_be_in(state, own, command.parent, "add tasks below")
        if command.convoy != own.convoy:
            raise NotYours(
                f"a session can add tasks only to its own convoy, {own.convoy}; nothing was changed"
            )
        if command.urgent and not own.urgent:
            said = f"{who.name} is not urgent, so it cannot add urgent tasks; nothing was changed"
            raise NotYours(said)
    elif kind == "task":
        _permit_task(state, own, verb, getattr(command, "task", None))
    elif command.name in ("lease renew", "lease release"):
        lease = state.leases.get(resource_name(getattr(command, "resource", "")))
        if lease is not None and lease.holder != who.session:
            raise NotYours(f"the lease belongs to {lease.holder}; nothing was changed")
    elif isinstance(command, c.ReportProgress):
        if command.session != who.session:
            raise NotYours("a session can report only its own progress; nothing was changed")
    elif isinstance(command, c.StopSession | c.SendText):
        found = state.sessions.get(command.session)
        if found is None or not is_below(state, state.tasks[found.task], own.id):
            raise NotYours(f"{verb} works only for sessions below {own.id}; nothing was changed")
    elif command.name not in _FREE:
        raise NotYours(f"a session may not do {command.name!r}; nothing was changed")


def _permit_task(state: State, own: Task, verb: str, task: str | None) -> None:
    if task is None:
        said = f"a session can claim only tasks below {own.id}; nothing was changed"
        raise NotYours(said, "name the task")
    found = _must_be_in(state, own, task, verb)
    if verb not in (_OWN if found.id == own.id else _BELOW):
        raise NotYours(f"a session may not {verb} {found.id}; nothing was changed")
    if verb == "retry" and is_over(found):
        must_have_room(state, state.tasks[found.parent])


def _must_be_in(state: State, own: Task, name: str, verb: str) -> Task:
    """Return a task that is the session's own or below it; do not reveal that others exist."""
    found = state.tasks.get(TaskId(name.upper()))
    if found is not None and (found.id == own.id or is_below(state, found, own.id)):
        return found
    said = f"a session may {verb} only {own.id} and the tasks below it; nothing was changed"
    raise NotYours(said)


def seen(state: State, who: Principal, task: str) -> Task:
    """Return a task that the caller may see; NotFound for every other."""
    found = state.tasks.get(TaskId(task.upper()))
    if found is None or not visible(state, who, found.id):
        raise NotFound(f"there is no task {task[:80]!r}", "GET /api/tasks")
    return found

"""The commands that change the board: one function for all, and a sentence for each."""

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from corral.core.board.commands import COMMANDS, Command, Pause, Resume
from corral.core.errors import BadInput
from corral.core.text import shown as safe
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.fields import filled
from corral.interfaces.cli.output import moment
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.core.log.state import State
    from corral.store.port import Answer


def operate(context: Context, options: Options) -> None:
    """Carry out one command of the core and show the result."""
    name = options.command
    command = filled(name, options, _defaults(context, name, options))
    if name == "task claim" and bool(options.task) == bool(options.next):
        raise BadInput("name one task, or use --next", "corral task claim --next")
    data = perform_anywhere(context, command)
    context.answer(data, lambda: _sentence(name, command, decoded(data)))


def perform_anywhere(context: Context, command: Command) -> Any:
    """Carry out a command through the server if one runs, else on the log; in any case once."""
    key = ""
    if context.session and context.actor != context.session:
        context.for_people(f"act as {safe(context.actor)}")
    # Some engines withhold the key of their session: the server would take it for a person.
    if context.served and (os.environ.get("CORRAL_KEY") or not context.session):
        from corral.interfaces.cli import remote

        key = os.urandom(12).hex()
        try:
            data = remote.ask(context.repository.folder, command, context.actor, key)
            if data is not None:
                context.wrote = True
                return data
            key = ""  # no server took it
        except remote.Unanswered:
            pass
    return perform_here(context, command, key=key)


def perform_here(
    context: Context, command: Command, answer: "Answer[Any] | None" = None, *, key: str = ""
) -> Any:
    """Carry out a command on the log, whether or not a server runs."""
    from corral.store.service import Defaults, perform
    from corral.world.settings import claim_ttl_s

    defaults = Defaults(claim_ttl_s(context.repository), context.repository.branch)
    admit = partial(_admitted, context.session) if context.session else None
    return perform(
        *(context.appended, command, context.actor, answer),
        key=key,
        defaults=defaults,
        admit=admit,
    )


def _admitted(session: str, state: "State", command: Command) -> Command:
    """Let a session do what the server would let it do, and nothing else."""
    from corral.core.access import Principal, admitted
    from corral.core.errors import NotYours
    from corral.core.ids import SessionId

    known = state.sessions.get(SessionId(session))
    if known is None:
        raise NotYours(f"{session} may only look; nothing was changed")
    return admitted(state, Principal(known.id, known.id, known.token), command)


def decoded(data: Any) -> dict[str, Any]:
    """Return an answer as a dictionary; one of the server's is still JSON."""
    found: dict[str, Any] = msgspec.json.decode(data) if isinstance(data, msgspec.Raw) else data
    return found


def _defaults(context: Context, name: str, options: Options) -> dict[str, Any]:
    known = COMMANDS[name].__struct_fields__
    extra: dict[str, Any] = {}
    if "brief" in known and options.brief_file:
        if options.brief is not None:
            raise BadInput("give --brief or --brief-file, not both")
        extra["brief"] = context.read_text(options.brief_file)
    own = os.environ.get("CORRAL_TASK", "").upper()
    if "token" in known and own and own == (getattr(options, "task", "") or "").upper():
        extra["token"] = os.environ.get("CORRAL_TOKEN")
    if name == "task add" and own:
        extra["parent"] = own  # a session adds tasks below its own
    return extra


_SENTENCES = {
    "convoy create": "{id}: {title!r} was created; its tasks will be {prefix}-1, {prefix}-2, …",
    "task add": "{id} was added to {convoy}: {title}",
    "task edit": "{id} was changed",
    "task claim": "{id} is yours until {until}: {title}\n"
    "token {token}; submit it with: corral task submit {id} --token {token}",
    "task renew": "{id} is yours until {until}",
    "task submit": "{id} was submitted and waits to land",
    "task fail": "{id} failed",
    "task block": "{id} is blocked",
    "task unblock": "{id} is back on the board",
    "task retry": "{id} is back on the board",
    "task cancel": "{id} was cancelled",
    "task hand-off": "{id} is back on the board, for {who}",
    "task land": "{id} has landed",
    "task comment": "the comment was added to {id}",
    "lease acquire": "{resource} is yours until {until}\n"
    "token {token}; release it with: corral lease release {quoted} --token {token}",
    "lease renew": "{resource} is yours until {until}",
    "lease release": "{resource} was released",
    "alert raise": "{id} was raised",
    "alert clear": "{id} was cleared",
    "queue eject": "{id} was taken out of the queue; its work is kept",
    "queue prioritise": "{id} now has priority {priority}",
    "queue report": "{run} was recorded as {result}",
    "alert acknowledge": "{id} was acknowledged by {seen_by}",
    "session report": "the progress of {id} was recorded",
    "message send": "{id} was sent to {to}",
    "message ack": "{id} was acknowledged",
}


def _sentence(name: str, command: Command, data: dict[str, Any]) -> str:
    if "unchanged" in data:
        return "no change needed"
    if isinstance(command, Pause | Resume):
        return _paused(command)
    if name == "message read":
        return _letters(data["messages"])
    until = moment(data["expires_at"]) if "expires_at" in data else ""
    shown = {key: safe(value) if isinstance(value, str) else value for key, value in data.items()}
    who = safe(getattr(command, "to", "")) or "anyone"
    quoted = _quoted(shown["resource"]) if "resource" in shown else ""
    return _SENTENCES[name].format(until=until, who=who, quoted=quoted, **shown)


def _paused(command: Pause | Resume) -> str:
    what, are, have, flag = "New sessions and landing", "are", "have", ""
    if command.sessions and not command.landing:
        what, flag = "New sessions", " --sessions"
    elif command.landing and not command.sessions:
        what, are, have, flag = "Landing", "is", "has", " --landing"
    whose = safe(command.convoy) or "all convoys"
    if isinstance(command, Resume):
        return f"{what} {have} resumed for " + (
            f"{whose}." if command.convoy else "all convoys that are not paused by name."
        )
    flag += f" --convoy {whose}" if command.convoy else ""
    return f"{what} {are} paused for {whose}. Resume with: corral resume{flag}"


def _quoted(word: str) -> str:
    import shlex  # it loads `re`

    return shlex.quote(word)


def _letters(messages: list[Any]) -> str:
    lines = []
    for message in msgspec.to_builtins(messages):
        asks = " asks" if message["question"] else ""
        lines.append(f"{message['id']} {message['sender']}{asks}:")
        lines += [f"  {safe(line)}" for line in message["text"].splitlines()]
    return "\n".join(lines) or "no messages"

"""`corral witness run` and `corral session …`."""

import gc
from typing import TYPE_CHECKING

from corral.core import messages, session_rules
from corral.core.state import Session
from corral.core.text import line
from corral.core.verdict import Verdict
from corral.core.views import SessionView, session_view
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint, span, table
from corral.interfaces.cli.parser import Options
from corral.roles.files import Room
from corral.store.port import Request

if TYPE_CHECKING:
    from corral.world.processes import Usage


def witness(context: Context, options: Options) -> None:
    from corral.roles.witness import Witness

    gc.enable()  # unlike other commands, this one stays
    Witness(context.writable, context.repository, context.config).run(once=options.once)


def listed(context: Context, options: Options) -> None:
    state = context.store.state()
    now = context.now()
    sessions, asking = list(state.sessions.values()), messages.asking(state, now)
    context.answer(
        [session_view(session) for session in sessions],
        lambda: _sessions(sessions, now, asking) if sessions else "no session yet",
    )


def _doing(session: Session, asking: dict[str, str]) -> str:
    if session.stop:
        return "stopping"
    return f"waits ({asking[session.id]})" if session.id in asking else "running"


def _sessions(sessions: list[Session], now: int, asking: dict[str, str]) -> str:
    rows = [
        (
            session.id,
            session.verdict or _doing(session, asking),
            span((session.ended_at or now) - session.started_at),
            session.profile,
            session.detail or session.progress,
        )
        for session in sessions
    ]
    return table(rows, ("session", "verdict", "time", "engine", "note"))


def show(context: Context, options: Options) -> None:
    found = session_rules.find_session(context.store.state(), options.session)
    view = session_view(found)
    used = _usage(context, found)
    data = {name: getattr(view, name) for name in view.__struct_fields__} | {"usage": used}
    context.answer(data, lambda: _shown(view, used))


def _usage(context: Context, session: Session) -> "Usage | None":
    """Return what a session that runs uses: one look at the table of processes."""
    from corral.world import processes

    folder = Room(context.repository.folder, session.id).launch()
    return processes.usage([folder]).get(folder) if folder and session.live else None


def _shown(view: SessionView, used: "Usage | None") -> str:
    lines = [f"{paint(view.id, 'bold')} on {view.task}, by {view.profile}"]
    lines.append(f"began {moment(view.started_at)}, branch {view.branch}")
    if view.ended_at:
        lines.append(f"ended {moment(view.ended_at)}: {view.verdict}")
    if used is not None:
        size = f"{used.pss / 2**20:.1f} MB"
        lines.append(f"{used.processes} processes, {size}, {used.cpu_s:.1f} s of CPU")
    lines += [text for text in (view.detail, view.progress) if text]
    return "\n".join(lines)


def tail(context: Context, options: Options) -> None:
    from corral.world import processes

    found = session_rules.find_session(context.store.state(), options.session)
    folder = Room(context.repository.folder, found.id).launch()
    lines = processes.tail(folder, max(0, options.lines)) if folder else []
    context.answer({"lines": lines}, lambda: "\n".join(lines))


def stop(context: Context, options: Options) -> None:
    reason = line(options.reason, "the reason")
    found = session_rules.find_session(context.store.state(), options.session)
    context.writable.transaction(
        Request(
            context.actor,
            lambda state, _: session_rules.ask_stop(state, found.id, Verdict.STOPPED, reason),
            lambda state, stored: None,
        )
    )
    context.answer(
        {"session": found.id}, lambda: f"{found.id} was asked to stop; the witness sees to it"
    )

"""`corral witness run` and `corral session …`."""

import gc

from corral.core.board.commands import StopSession
from corral.core.log.state import Session, State
from corral.core.show.queries import alerts, board_sessions
from corral.core.show.views import AlertView, SessionView
from corral.core.text import counted, line, shown
from corral.interfaces.cli.commands.board import perform_anywhere
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint, span, table
from corral.interfaces.cli.parser import Options
from corral.roles.records.session_page import SessionPage, session_page


def witness(context: Context, options: Options) -> None:
    from corral.roles.current_settings import run_current
    from corral.roles.witness.loop import Witness

    gc.enable()  # unlike other commands, this one keeps running
    store, place = context.writable, context.repository
    run_current(lambda config: Witness(store, place, config), context.config, once=options.once)


def listed(context: Context, options: Options) -> None:
    found = context.ask(board_sessions, "/api/sessions", list[SessionView])
    context.answer(found, lambda: _sessions(context, found) if found else "no session yet")


def _doing(session: SessionView, asking: set[str]) -> str:
    if session.stop:
        return "stopping"
    if session.waits:
        return f"waits ({session.waits})"
    return "asks" if session.id in asking else "running"


def _sessions(context: Context, found: list[SessionView]) -> str:
    open_alerts = context.ask(alerts, "/api/alerts", list[AlertView])
    asking = {alert.subject for alert in open_alerts if alert.kind == "asked"}
    rows, now = [], context.now()
    for one in found:
        time = span((one.ended_at or now) - one.started_at)
        verdict = one.verdict or _doing(one, asking)
        rows.append((one.id, verdict, time, one.profile, one.detail or one.progress))
    return table(rows, ("session", "verdict", "time", "engine", "note"))


def show(context: Context, options: Options) -> None:
    def here(state: State) -> SessionPage:
        from corral.roles.records.earlier import find

        session = find(context.store, state, options.session)
        return session_page(state, session, context.config, context.repository.folder)

    found = context.ask(here, f"/api/sessions/{options.session}/summary", SessionPage)
    context.answer(found, lambda: "\n".join([_shown(found), *_engine_lines(found)]))


def _engine_lines(session: SessionPage) -> list[str]:
    lines, stream, bill = [], session.engine, session.spent
    if session.model or session.thread:
        known = f"model {session.model or 'unknown'}"
        lines.append(f"{known}, conversation {session.thread or 'unknown'}")
    if bill.fresh or bill.cached or bill.output or session.turns:
        cost = "cost unknown" if bill.cost_usd is None else f"${bill.cost_usd:.4f}"
        lines.append(
            f"{bill.fresh:,} tokens in, {bill.cached:,} cached, {bill.output:,} out: {cost}"
        )
    lines += [f"stepped in: {reaction}" for reaction in session.reactions]
    if stream is None:
        return lines
    if stream.files:
        lines.append(f"files: {', '.join(map(shown, stream.files[:10]))}")
    lines += [f"> {call.tool} {call.what}".rstrip() for call in stream.calls[-3:]]
    if stream.said:
        lines.append(shown(" ".join(stream.said.split())[-300:]))
    return lines


def _shown(view: SessionPage) -> str:
    used = view.usage
    lines = [f"{paint(view.id, 'bold')} on {view.task}, run by {view.profile}"]
    lines.append(f"started {moment(view.started_at)}, branch {view.branch}")
    if view.ended_at:
        lines.append(f"ended {moment(view.ended_at)}: {view.verdict}")
    if used is not None:
        size = f"{used.pss / 2**20:.1f} MB"
        number = counted(used.processes, "process", "processes")
        lines.append(f"{number}, {size}, {used.cpu_s:.1f} s of CPU")
    lines += [text for text in (view.detail, view.progress) if text]
    return "\n".join(lines)


def tail(context: Context, options: Options) -> None:
    from corral.interfaces.cli.commands.send import screen
    from corral.roles.records import earlier
    from corral.roles.records.rooms import Room
    from corral.world import processes

    found = earlier.find(context.store, context.store.state(), options.session)
    folder = Room(context.repository.folder, found.id).launch()
    most = max(0, options.lines)
    lines = None if options.raw else screen(context, found, most)
    if lines is None and not options.raw:
        lines = _in_words(context, found, most)
    if lines is None:
        lines = processes.tail(folder, most) if folder else []
    shown_lines = _without_secrets(context, lines)
    context.answer({"lines": shown_lines}, lambda: "\n".join(shown_lines))


def _without_secrets(context: Context, lines: list[str]) -> list[str]:
    """Remove the values of keys, as far as the caller's environment has them."""
    if not any(engine.env for engine in context.config.engine.values()):
        return lines
    import os

    from corral.roles.secrets import Secrets

    secrets = Secrets(context.config, os.environ)
    return [secrets.hide(one) for one in lines]


def _in_words(context: Context, session: Session, lines: int) -> list[str] | None:
    engine = context.config.engine.get(session.profile)
    if engine is None or engine.type == "shell":
        return None
    from corral.roles.records.words import in_words

    return in_words(
        context.store.state(), session, context.config, context.repository.folder, lines
    )


def stop(context: Context, options: Options) -> None:
    from corral.core.session.rules import ended
    from corral.roles.records import earlier

    reason = line(options.reason, "the reason")
    found = earlier.find(context.store, context.store.state(), options.session)
    if not found.live:
        raise ended(found)
    perform_anywhere(context, StopSession(session=found.id, reason=reason))
    context.answer(
        {"session": found.id}, lambda: f"{found.id} was asked to stop; the witness will stop it"
    )

"""The commands that only look: lists, single things, and why."""

from typing import Any

import msgspec

from corral.core.board.claims import ready
from corral.core.board.graph import find_task
from corral.core.board.rules import find_convoy
from corral.core.engine.governor import profile_for
from corral.core.log.codec import decode
from corral.core.log.state import State
from corral.core.session.profiles import limits_of
from corral.core.show import views
from corral.core.show.why import Explanation, explain
from corral.core.text import shown
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import STATE_STYLE, holder, moment, paint, span, table
from corral.interfaces.cli.parser import Options


def convoy_list(context: Context, options: Options) -> None:
    found = views.convoy_views(context.store.state())
    context.answer(found, lambda: _convoys(found) if found else "no convoy yet")


def _convoys(found: list[views.ConvoyView]) -> str:
    rows = [
        (
            convoy.id,
            convoy.prefix,
            str(sum(convoy.tasks.values())),
            str(convoy.tasks["done"]),
            convoy.base,
            convoy.title,
        )
        for convoy in found
    ]
    return table(rows, ("convoy", "prefix", "tasks", "done", "base", "title"))


def convoy_show(context: Context, options: Options) -> None:
    state = context.store.state()
    convoy = find_convoy(state, options.convoy)
    view = next(view for view in views.convoy_views(state) if view.id == convoy.id)
    lines = [views.task_line(state, t) for t in state.tasks.values() if t.convoy == convoy.id]
    tally = ", ".join(f"{n} {name}" for name, n in view.tasks.items() if n) or "no tasks"
    context.answer(
        {"convoy": view, "tasks": lines},
        lambda: "\n".join(
            [
                f"{paint(view.id, 'bold')}: {view.title}",
                f"base {view.base or '(none)'}; {tally}",
                *([_tasks(lines, context.now())] if lines else []),
            ]
        ),
    )


def task_list(context: Context, options: Options) -> None:
    state = context.store.state()
    if options.convoy:
        find_convoy(state, options.convoy)
    now = context.now()
    lines = [
        line
        for task in state.tasks.values()
        if (not options.convoy or task.convoy == options.convoy)
        and (not options.ready or ready(state, task, now))
        and ((line := views.task_line(state, task)).column == (options.state or line.column))
    ]
    context.answer(lines, lambda: _tasks(lines, now) if lines else "no such task")


def _tasks(lines: list[views.TaskLine], now: int) -> str:
    rows = [
        (
            line.id,
            line.column,
            str(line.priority),
            holder(line, now),
            ",".join(line.needs),
            line.title,
        )
        for line in lines
    ]
    head = ("task", "column", "prio", "holder", "needs", "title")
    return table(rows, head, styles={1: "state"})


def task_show(context: Context, options: Options) -> None:
    state = context.store.state()
    task = find_task(state, options.task)
    view = views.task_view(state, task)
    brief = _event(context, task.brief_seq)["brief"] if task.brief_seq else ""
    comments = [_event(context, seq) for seq in task.comments]
    data = {name: getattr(view, name) for name in view.__struct_fields__}
    data |= {"brief": brief, "comments": comments}

    def human() -> str:
        lines = [f"{paint(task.id, 'bold')}: {task.title}"]
        style = STATE_STYLE.get(view.column, "bold")
        lines.append(f"{paint(view.column, style)} in {task.convoy}, priority {task.priority}")
        for name in ("needs", "paths", "accept", "inputs"):
            lines += [f"{name}: {', '.join(data[name])}"] if data[name] else []
        lines += [f"  {need} was inferred: {reason}" for need, reason in task.reasons.items()]
        for name in ("engine", "role", "assignee", "reason", "commit"):
            lines += [f"{name}: {data[name]}"] if data[name] else []
        if view.claim:
            lines.append(f"held by {view.claim.holder} until {moment(view.claim.expires_at)}")
        lines += ["", brief.rstrip()] if brief else []
        lines += ["", *(f"{moment(c['at'])} {c['actor']}: {c['text']}" for c in comments)][
            : None if comments else 0
        ]
        return "\n".join(lines)

    context.answer(data, human)


def _event(context: Context, seq: int) -> dict[str, Any]:
    """Return what one event says, straight from the log."""
    record = decode(next(context.store.read(seq - 1, 1)).line)
    data: dict[str, Any] = msgspec.json.decode(record.data)
    return {"seq": seq, "at": record.at, "actor": record.actor} | data


def lease_list(context: Context, options: Options) -> None:
    state = context.store.state()
    found = [views.lease_view(resource, lease) for resource, lease in state.leases.items()]
    now = context.now()

    def human() -> str:
        rows = [(lease.resource, lease.holder, _left(lease.expires_at - now)) for lease in found]
        return table(rows, ("resource", "holder", "left")) if found else "nobody holds anything"

    context.answer(found, human)


def _left(milliseconds: int) -> str:
    return span(milliseconds) if milliseconds > 0 else "lapsed"


def alert_list(context: Context, options: Options) -> None:
    found = views.alert_views(context.store.state())

    def human() -> str:
        rows = [(a.id, moment(a.raised_at), a.kind, a.subject, a.text) for a in found]
        return table(rows, ("alert", "raised", "kind", "about", "text")) if found else "no alerts"

    context.answer(found, human)


def message_list(context: Context, options: Options) -> None:
    found = views.message_views(context.store.state())

    def human() -> str:
        rows = [(m.id, m.sender, m.to, _fate(m), m.text.partition("\n")[0]) for m in found]
        return table(rows, ("message", "from", "to", "", "text")) if found else "no messages"

    context.answer(found, human)


def _fate(message: views.MessageView) -> str:
    if message.question and message.reader:
        return f"{message.reader} owes an answer"
    return f"taken by {message.reader}" if message.reader else "waits"


def why(context: Context, options: Options) -> None:
    state = context.store.state()
    if options.thing.upper() not in state.tasks:
        _why_else(context, state, options.thing)
        return
    task = find_task(state, options.thing)
    limits, now = limits_of(context.config), context.now()
    engine = context.config.engine.get(profile_for(state, task, limits.accounts, now))
    found = explain(state, task, now, limits, engine.pool if engine else "")
    context.answer(found, lambda: _why(found))


def _why_else(context: Context, state: State, name: str) -> None:
    """Explain what is no task."""
    from corral.roles.records.explain import explained

    found = explained(context.store, state, name, context.now())
    hint = [f"    {paint('try:', 'dim')} {found.hint}"] if found.hint else []
    lines = [found.summary, *(f"  - {shown(line)}" for line in found.because), *hint]
    context.answer(found, lambda: "\n".join(lines))


def _why(found: Explanation) -> str:
    style = STATE_STYLE.get(found.column, "bold")
    lines = [f"{found.summary} ({paint(found.column, style)})"]
    for obstacle in found.obstacles:
        lines.append(f"  - {obstacle.text}")
        lines += [f"    {paint('try:', 'dim')} {obstacle.hint}"] if obstacle.hint else []
    lines += [f"  {found.session} {met}" for met in found.met]
    lines += [f"  {paint('coming:', 'yellow')} {one.text}" for one in found.overlaps]
    if found.waiting_for_it:
        lines.append(f"  {', '.join(found.waiting_for_it)} cannot start before it has landed")
    return "\n".join(lines)

"""The commands that only show something: lists, single things, and `corral why`."""

from functools import partial
from typing import TYPE_CHECKING

from corral.core.board.graph import find_task
from corral.core.show import details, queries, reasons
from corral.core.show.reasons import Reason
from corral.core.show.views import AlertView, ConvoyView, LeaseView, MessageView, TaskLine
from corral.core.show.why import Explanation
from corral.core.text import shown
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import STATE_STYLE, holder, moment, paint, span, table
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.core.log.state import State


def convoy_list(context: Context, options: Options) -> None:
    found = context.ask(queries.convoys, "/api/convoys", list[ConvoyView])
    context.answer(found, lambda: _convoys(found) if found else "no convoy yet")


def _convoys(found: list[ConvoyView]) -> str:
    rows = [
        (c.id, c.prefix, str(sum(c.tasks.values())), str(c.tasks["done"]), c.base, c.title)
        for c in found
    ]
    return table(rows, ("convoy", "prefix", "tasks", "done", "base", "title"))


def convoy_show(context: Context, options: Options) -> None:
    name = options.convoy
    found = context.ask(
        lambda state: details.convoy(state, name), f"/api/convoys/{name}", details.ConvoyPage
    )
    convoy, now = found.convoy, context.now()
    tally = ", ".join(f"{n} {name}" for name, n in convoy.tasks.items() if n) or "no tasks"
    lines = [
        f"{paint(convoy.id, 'bold')}: {convoy.title}",
        f"base {convoy.base or '(none)'}; {tally}",
    ]
    context.answer(
        found, lambda: "\n".join([*lines, *([_tasks(found.tasks, now)] if found.tasks else [])])
    )


def task_list(context: Context, options: Options) -> None:
    now, where, convoy = context.now(), options.state or "", options.convoy or ""
    ready_at = now if options.ready else None

    def here(state: "State") -> details.TasksPage:
        tasks = details.tasks(state, where=where, convoy=convoy, ready_at=ready_at)
        return details.TasksPage(tasks, "", state.seq)

    wanted = {"state": where, "convoy": convoy, "ready": options.ready, "limit": details.MOST}
    found = context.ask(here, "/api/tasks", details.TasksPage, **wanted).tasks
    context.answer(found, lambda: _tasks(found, now) if found else "no such task")


def _tasks(lines: list[TaskLine], now: int) -> str:
    rows = [
        (one.id, one.column, str(one.priority), holder(one, now), ",".join(one.needs), one.title)
        for one in lines
    ]
    head = ("task", "column", "prio", "holder", "needs", "title")
    return table(rows, head, styles={1: "state"})


def task_show(context: Context, options: Options) -> None:
    found = task_page(context, options.task)
    context.answer(found, lambda: _task(found))


def task_page(context: Context, name: str) -> details.TaskPage:
    def here(state: "State") -> details.TaskPage:
        from corral.store.port import record_at

        return details.task(state, find_task(state, name), partial(record_at, context.store))

    return context.ask(here, f"/api/tasks/{name}", details.TaskPage)


def _task(task: details.TaskPage) -> str:
    where = paint(task.column, STATE_STYLE.get(task.column, "bold"))
    lines = [f"{paint(task.id, 'bold')}: {task.title}"]
    lines.append(f"{where} in {task.convoy}, priority {task.priority}")
    for name in ("needs", "paths", "accept", "inputs"):
        lines += [f"{name}: {', '.join(getattr(task, name))}"] if getattr(task, name) else []
    lines += [f"  {need} was inferred: {reason}" for need, reason in task.reasons.items()]
    for name in ("engine", "role", "assignee", "reason", "commit"):
        lines += [f"{name}: {getattr(task, name)}"] if getattr(task, name) else []
    if task.claim:
        lines.append(f"held by {task.claim.holder} until {moment(task.claim.expires_at)}")
    lines += ["", task.brief.rstrip()] if task.brief else []
    lines += [""] if task.comments else []
    return "\n".join([*lines, *(f"{moment(c.at)} {c.actor}: {c.text}" for c in task.comments)])


def lease_list(context: Context, options: Options) -> None:
    found = context.ask(queries.leases, "/api/leases", list[LeaseView])
    now = context.now()

    def human() -> str:
        rows = [(lease.resource, lease.holder, _left(lease.expires_at - now)) for lease in found]
        return table(rows, ("resource", "holder", "left")) if found else "no leases are held"

    context.answer(found, human)


def _left(milliseconds: int) -> str:
    return span(milliseconds) if milliseconds > 0 else "lapsed"


def alert_list(context: Context, options: Options) -> None:
    found = context.ask(queries.alerts, "/api/alerts", list[AlertView])

    def human() -> str:
        rows = [(a.id, moment(a.raised_at), a.kind, a.subject, a.text) for a in found]
        return table(rows, ("alert", "raised", "kind", "about", "text")) if found else "no alerts"

    context.answer(found, human)


def message_list(context: Context, options: Options) -> None:
    found = context.ask(queries.messages, "/api/messages", list[MessageView])

    def human() -> str:
        rows = [(m.id, m.sender, m.to, _fate(m), m.text.partition("\n")[0]) for m in found]
        return table(rows, ("message", "from", "to", "", "text")) if found else "no messages"

    context.answer(found, human)


def _fate(message: MessageView) -> str:
    if message.question and message.reader:
        return f"waits for an answer from {message.reader}"
    return f"read by {message.reader}" if message.reader else "unread"


def why(context: Context, options: Options) -> None:
    name = options.thing

    def here(state: "State") -> Explanation | Reason:
        from corral.roles.records.earlier import replaced

        earlier = replaced(context.store, state, name)
        return reasons.why(state, name, context.now(), context.config, earlier)

    found = context.ask(here, "/api/explanation", Explanation, Reason, of=name)
    context.answer(found, lambda: _reason(found) if isinstance(found, Reason) else _why(found))


def _reason(found: Reason) -> str:
    hint = [f"    {paint('try:', 'dim')} {found.hint}"] if found.hint else []
    return "\n".join([found.summary, *(f"  - {shown(line)}" for line in found.because), *hint])


def _why(found: Explanation) -> str:
    style = STATE_STYLE.get(found.column, "bold")
    lines = [f"{found.summary} ({paint(found.column, style)})"]
    for obstacle in found.obstacles:
        lines.append(f"  - {obstacle.text}")
        lines += [f"    {paint('try:', 'dim')} {obstacle.hint}"] if obstacle.hint else []
    lines += [f"  {found.session} {met}" for met in found.met]
    lines += [f"  {paint('upcoming conflict:', 'yellow')} {one.text}" for one in found.overlaps]
    if found.waiting_for_it:
        lines.append(f"  {', '.join(found.waiting_for_it)} cannot start before it has landed")
    return "\n".join(lines)

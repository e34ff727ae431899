"""Plans on the command line: check, show, apply."""

import sys
from collections.abc import Sequence
from typing import Any

from corral.core.board.commands import ApplyPlan
from corral.core.errors import BadInput, NotARepository
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.state import State
from corral.core.plan import draw
from corral.core.plan.apply import PlanOutcome, outcome
from corral.core.plan.check import Surroundings
from corral.core.plan.problems import errors
from corral.core.plan.read import read
from corral.core.plan.report import PlanReport, examine
from corral.core.plan.schema import MOST_BYTES, Plan, TaskPlan
from corral.core.text import counted, shown
from corral.interfaces.cli.commands.board import perform_here
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import columns, cut, paint, say, table
from corral.interfaces.cli.parser import Options
from corral.world.settings import role_names


def check(context: Context, options: Options) -> int:
    """Summarise a plan, or list everything that is wrong with it."""
    report = examined(context, options.file, options.format)
    context.answer(_data(report), lambda: _human(report, options.file))
    return 0 if report.sound else BadInput.exit_code


def show(context: Context, options: Options) -> None:
    report = examined(context, options.file, options.format)
    plan = sound(report, options.file)
    context.answer(_data(report), lambda: drawn(report) if options.graph else _tasks(plan, report))


def apply(context: Context, options: Options) -> None:
    """Make the convoy and the tasks of a plan, or bring them up to date."""
    report = examined(context, options.file, options.format)
    done = put_on_board(context, sound(report, options.file))
    context.answer(done, lambda: _applied(done))


def put_on_board(context: Context, plan: Plan) -> PlanOutcome:
    """Apply a plan and return what changed."""

    def answer(state: State, stored: Sequence[Stored]) -> PlanOutcome:
        return outcome(state, plan, [event_of(decode(one.line)) for one in stored])

    done: PlanOutcome = perform_here(context, ApplyPlan(plan=plan), answer)
    return done


def sound(report: PlanReport, name: str) -> Plan:
    """Return the plan, or refuse it with the first of its problems."""
    if report.sound and report.plan is not None:
        return report.plan
    wrong = errors(report.problems)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    said = f"{shown(name)} is not a plan that can be applied: {wrong[0]}{more}; nothing was changed"
    raise BadInput(said, f"corral plan check {shown(name)}", code="bad_plan")


def examined(context: Context, name: str, kind: str | None) -> PlanReport:
    """Read a plan's file and report on it."""
    return examine(read(_content(name), name, kind or ""), _surroundings(context))


def _content(name: str) -> bytes:
    """Read a plan's file, up to one byte more than it may have."""
    try:
        with open(0 if name == "-" else name, "rb", closefd=name != "-") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{cut(name, 400)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{cut(name, 400)!r} is not the name of a file") from error


def _surroundings(context: Context) -> Surroundings:
    """Return the names that plans may use here; none are known outside of a repository."""
    try:
        place = context.repository
    except NotARepository:
        return Surroundings()
    log = context.log
    tasks = frozenset(log.state().tasks) if log.exists() else frozenset()
    if place.config_file() is None:
        return Surroundings(tasks=tasks)
    engines, roles = frozenset(context.config.engine), role_names(place.main_worktree)
    return Surroundings(engines=engines, roles=roles, tasks=tasks)


def _data(report: PlanReport) -> dict[str, Any]:
    graph = report.graph
    return {
        "valid": report.sound,
        "problems": report.problems,
        "plan": report.plan if report.sound else None,
        "edges": graph.edges if graph else (),
        "waves": report.waves,
        "critical": report.critical,
        "overlaps": graph.overlaps if graph else (),
    }


def _human(report: PlanReport, name: str) -> str:
    bad = len(errors(report.problems))
    kinds = {True: paint("warning:", "yellow"), False: paint("error:", "red")}
    said = [f"{kinds[one.warning]} {shown(str(one))}" for one in report.problems]
    if report.plan is None or report.graph is None:
        return "\n".join([*said, paint(f"{shown(name)}: {counted(bad, 'problem')}", "red")])
    parts = [_summary(report), _tasks(report.plan, report)]
    inferred = [
        f"  {edge.task} waits for {edge.need}: {edge.reason}"
        for edge in report.graph.edges
        if edge.reason
    ]
    if inferred:
        parts.append("\n".join([paint("inferred", "bold"), *(_cut(line) for line in inferred)]))
    if said:
        parts.append("\n".join(said))
    return "\n\n".join(parts)


def _summary(report: PlanReport) -> str:
    plan, longest = report.plan, report.critical
    if plan is None or longest is None:
        return ""
    count, number = len(plan.tasks), len(report.waves)
    widest = max(map(len, report.waves))
    chain = " → ".join(longest.keys)
    return "\n".join(
        [
            f"{paint(shown(plan.convoy.title), 'bold')}: {counted(count, 'task')} in"
            f" {counted(number, 'wave')}, at most {widest} at once",
            _cut(f"critical path ({counted(longest.length, longest.unit[:-1])}): {chain}"),
        ]
    )


def _tasks(plan: Plan, report: PlanReport) -> str:
    by_key = {task.key: task for task in plan.tasks}
    rows = [
        (str(number), key, by_key[key].engine or "default", _needs(report, key), _said(by_key[key]))
        for number, keys in enumerate(report.waves, 1)
        for key in keys
    ]
    return table(rows, ("wave", "task", "engine", "needs", "title"))


def _said(task: TaskPlan) -> str:
    return task.title.strip() + (f" ({task.minutes} min)" if task.minutes else "")


def _needs(report: PlanReport, key: str) -> str:
    edges = report.graph.needs(key) if report.graph else []
    return ", ".join(f"{edge.need}{'*' * bool(edge.reason)}" for edge in edges)


def drawn(report: PlanReport) -> str:
    if report.plan is None or report.graph is None:
        return ""
    titles = {task.key: task.title.strip() for task in report.plan.tasks}
    picture = draw.text(report.graph, titles, columns(), cut)
    return f"{paint(shown(report.plan.convoy.title), 'bold')}\n{picture}"


def must_be_able_to_ask(otherwise: str) -> None:
    if not sys.stdin.isatty():
        said = "this needs a confirmation, and there is no terminal to ask on"
        raise BadInput(said, f"{otherwise}, or --headless")


def confirm(plan: str, question: str, otherwise: str) -> None:
    """Show a plan and ask for approval; refuse without it."""
    must_be_able_to_ask(otherwise)
    say(plan)
    if not answered_yes(question):
        raise BadInput("nothing was started", otherwise)


def answered_yes(question: str) -> bool:
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _cut(text: str) -> str:
    return cut(shown(text), columns())


def _applied(done: PlanOutcome) -> str:
    lines = [f"{done.convoy} was created"] if done.created else []
    for word, named in (("added", done.added), ("changed", done.changed)):
        if named:
            which = ", ".join(f"{one.task} ({one.key})" for one in named[:20])
            more = f" and {len(named) - 20} more" if len(named) > 20 else ""
            lines.append(f"{counted(len(named), 'task')} {word}: {which}{more}")
    if not lines:
        lines.append(f"{done.convoy} already matches the plan; nothing was changed")
    lines += [f"unchanged: {left.what}: {left.text}" for left in done.left]
    return "\n".join(lines)

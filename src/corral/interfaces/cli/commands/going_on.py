"""Going on after a failure: `corral task retry`, `corral queue recheck` and `corral finish`."""

import os
from contextlib import closing
from typing import Any

from corral.core.board.commands import ClaimTask, RetryTask, SubmitTask
from corral.core.board.graph import find_task
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log.state import State, Task, TaskState
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.refs import trunk_branch
from corral.core.session.verdict import Verdict
from corral.core.text import printable
from corral.interfaces.cli.commands.board import decoded, perform_anywhere
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options


def retry(context: Context, options: Options) -> None:
    """Put tasks back on the board: those that are named, or all that have failed."""
    named = options.tasks or []
    if bool(named) == options.failed:
        raise BadInput("name tasks, or use --failed", "corral task retry --failed")
    if not options.failed:
        found = [_again(context, TaskId(name), options.reason) for name in named]
    else:
        failed = [
            task.id
            for task in context.store.state().tasks.values()
            if task.state is TaskState.FAILED and options.convoy in (None, task.convoy)
        ]
        found = [_again(context, task, options.reason) for task in failed]
    _answer(context, found, many=options.failed, said="{id} is back on the board")


def recheck(context: Context, options: Options) -> None:
    """Hand in the proved work of tasks again, without a new agent."""
    state = context.store.state()
    works = [
        (task := find_task(state, TaskId(name)), _proved(state, task)) for name in options.tasks
    ]
    found = []
    for task, commit in works:
        if task.state is TaskState.FAILED:
            _again(context, task.id, "its work is checked again")
        claim = decoded(perform_anywhere(context, ClaimTask(task=task.id)))
        command = SubmitTask(task=task.id, token=Token(claim["token"]), commit=commit)
        found.append(decoded(perform_anywhere(context, command)))
    _answer(context, found, many=False, said="{id} was handed in again and waits to land")


def _again(context: Context, task: TaskId, reason: str | None) -> dict[str, Any]:
    return decoded(perform_anywhere(context, RetryTask(task=task, reason=reason or "")))


def _proved(state: State, task: Task) -> str:
    """Return the newest commit of a task that was handed in or proved."""
    if task.state not in (TaskState.FAILED, TaskState.TODO):
        where = "waits to land already" if task.state is TaskState.REVIEW else f"is {task.state}"
        raise Refused(f"{task.id} {where}; nothing was changed", f"corral why {task.id}")
    returned, session = state.returned.get(task.id), state.sessions.get(task.session)
    proved = session is not None and session.verdict == Verdict.PROVED
    commit = session.commit if session is not None and proved else ""
    commit = commit or (returned.commit if returned else "")
    if not commit:
        raise Refused(
            f"{task.id} has no proved work to check again; nothing was changed",
            f"corral task retry {task.id}",
        )
    return commit


def _answer(context: Context, found: list[dict[str, Any]], *, many: bool, said: str) -> None:
    lines = [said.format(**one) for one in found] or ["no task has failed"]
    one = len(found) == 1 and not many
    context.answer(found[0] if one else {"tasks": found}, lambda: "\n".join(lines))


def finish(context: Context, options: Options) -> None:
    """Bring a landed convoy to its base branch, now, after a refinery has left it as it is."""
    from corral.roles.log import Log
    from corral.roles.preflight.whole import Preflight
    from corral.roles.refinery.finish import ConvoyFinish
    from corral.roles.refinery.stacks import Stacks
    from corral.world.git.view import View

    state, convoy = context.store.state(), ConvoyId(options.convoy)
    if convoy not in state.convoys:
        raise NotFound(f"there is no convoy {printable(convoy)!r}", "corral convoy list")
    if not queue_rules.complete(state, convoy):
        raise Refused(f"{convoy} is not complete; nothing was changed", f"corral why {convoy}")
    how = options.how or context.config.refinery.finish
    view = View(os.path.realpath(context.repository.git_dir))
    log = Log(context.writable, context.actor)

    def check(convoy: ConvoyId, base: str, commit: str, tree: str) -> None:
        refinery = context.config.refinery
        commands = state.convoys[convoy].checks or refinery.checks if refinery.require_ci else ()
        found = Preflight(context.repository, context.config).checked("the merge", commit, commands)
        if found is not None:
            by_hand = f"git merge {trunk_branch(convoy)}, and fix it there"
            raise Refused(f"{found.text}; nothing was changed", by_hand)
        finisher.move(convoy, state.convoys[convoy].base, base, commit, "merged")

    with closing(Stacks(view, context.config.refinery)) as stacks:
        policy = "merge" if how == "leave" else how
        finisher = ConvoyFinish(log, view, stacks, policy, check, context.now, again=True)
        finisher.finish(convoy)
        finisher.wait()
    trunk = trunk_of(context.store.state(), convoy)
    data = {"convoy": convoy, "finished": trunk.finished, "commit": trunk.finished_commit}
    how = {"asked": "is in a pull request"}.get(trunk.finished, f"was {trunk.finished}")
    context.answer(data, lambda: f"{convoy} {how.replace('_', '-')}: {trunk.finished_commit}")

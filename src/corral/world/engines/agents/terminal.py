"""Agents on a terminal, as people use them: the differences from their headless recipes."""

from collections.abc import Callable

from msgspec.structs import replace

from corral.world.engines.recipe import EngineJob, Permission, Prepared
from corral.world.engines.runners.orders import TmuxOrder

_CLAUDE_MODE = {
    Permission.READ: "plan",
    Permission.EDIT: "acceptEdits",
    Permission.ALL: "bypassPermissions",
}


def prepare(
    type: str, job: EngineJob, recipe: Callable[[EngineJob], Prepared], *, room: str
) -> tuple[TmuxOrder, Prepared]:
    """Return the order for a job on a terminal, and what must be prepared: see `agents.acp`.

    This works for any engine; all but Claude Code are started with `job.args` alone.
    """
    prepared = recipe(job)
    order = TmuxOrder(room=room, argv=(*job.program, *job.args))
    if type == "claude-code":
        args = ["--setting-sources", "user", "--permission-mode", _CLAUDE_MODE[job.permission]]
        args += [*job.model_args, *(["--resume", job.resume] if job.resume else [])]
        # Escape puts the last prompt back into the input line, so clear it first.
        argv = (*job.program, *args, *job.args)
        order = TmuxOrder(room=room, argv=argv, record="claude", clear="C-u")
    env = {name: value for name, value in prepared.env.items() if name not in ("TERM", "NO_COLOR")}
    return order, replace(prepared, argv=list(order.argv), env=env)

"""Agents on a terminal, as people use them: the differences from their headless recipes."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from corral.world.engines.recipe import EngineJob, Permission, Prepared
from corral.world.engines.runners.orders import TmuxOrder


class TmuxAgent(Struct, frozen=True, kw_only=True):
    args: Callable[[EngineJob], tuple[str, ...]] = lambda job: ()
    record: str = ""
    clear: str = ""


def _claude(job: EngineJob) -> tuple[str, ...]:
    modes = {
        Permission.READ: "plan",
        Permission.EDIT: "acceptEdits",
        Permission.ALL: "bypassPermissions",
    }
    args = ("--setting-sources", "user", "--permission-mode", modes[job.permission])
    return (*args, *job.model_args, *(("--resume", job.resume) if job.resume else ()))


AGENTS: dict[str, TmuxAgent] = {
    # Escape puts the last prompt back into the input line, so clear it first.
    "claude-code": TmuxAgent(args=_claude, record="claude", clear="C-u"),
}


def prepare(
    type: str, job: EngineJob, recipe: Callable[[EngineJob], Prepared], *, room: str
) -> tuple[TmuxOrder, Prepared]:
    """Return the order for a job on a terminal, and what must be prepared: see `agents.acp`.

    This works for any engine; one that is not in the table is started with `job.args` alone.
    """
    agent = AGENTS.get(type, TmuxAgent())
    prepared = recipe(job)
    order = TmuxOrder(
        room=room,
        argv=(*job.program, *agent.args(job), *job.args),
        record=agent.record,
        clear=agent.clear,
    )
    env = {name: value for name, value in prepared.env.items() if name not in ("TERM", "NO_COLOR")}
    return order, msgspec.structs.replace(prepared, argv=list(order.argv), env=env)

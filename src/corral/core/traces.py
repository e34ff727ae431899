"""What was left in a repository and will never be used again, with the command that removes it."""

from collections.abc import Iterable, Mapping

from corral.core.chores import live, of_session
from corral.core.ids import TaskId
from corral.core.log.state import State
from corral.core.refs import branch_of

_SHOWN = 5
_LEFT = {
    "refs": ("refs without a log", "corral rebuild --from-mirror, or corral uninstall"),
    "worktrees": ("worktrees that no session uses", "git worktree remove -ff PATH"),
    "unfinished": ("trees that were not finished or not deleted", "corral deacon run --once"),
    "rooms": ("folders of sessions that are not in the log", "rm -r .git/corral/sessions/NAME"),
    "processes": ("processes of sessions that have ended", "corral deacon run --once"),
    "sockets": ("the socket of a server that was killed", "corral up"),
}


def leftovers(state: State, seen: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each kind of leftover; `seen` are names by kind, all of them in use or not.

    They were looked at before the log was read: a session is in the log before it leaves anything.
    """
    lines = []
    for kind, (what, command) in _LEFT.items():
        names = sorted({name for name in seen.get(kind, ()) if not _is_used(state, kind, name)})
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            lines.append(f"{what}: {', '.join(names[:_SHOWN])}{more} (try: {command})")
    return lines


def _is_used(state: State, kind: str, name: str) -> bool:
    match kind:
        case "refs":
            return bool(state.seq or branch_of(name))  # a branch may have been fetched
        case "rooms":
            return not of_session(name) or TaskId(name.rpartition(".")[0]) in state.tasks
        case "processes":
            return not of_session(name) or name in live(state)
    return False

"""`corral uninstall`: list everything that Corral has left in a repository, then remove it."""

import sys
from itertools import count
from os.path import exists
from typing import TYPE_CHECKING, Any

from corral.core.errors import BadInput
from corral.core.refs import branch_of
from corral.core.text import shown
from corral.interfaces.cli.commands.plans import answered_yes
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import say, table
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.roles.traces import Traces

_AGAIN = "corral uninstall --yes"


def uninstall(context: Context, options: Options) -> None:
    from corral.roles.traces import Ground

    ground = Ground(context.repository, context.config.trees.folder)
    branches = not options.keep_branches
    found, running = ground.look(branches=branches), ground.running()
    into = options.to or _beside(context.repository.main_worktree)
    data: dict[str, Any] = {
        "refs": sorted(found.refs),
        "trees": found.trees,
        "folders": [*found.folders, *found.settings],
        "stay": found.stay,
        "running": running,
    }
    if not any(data[name] for name in ("refs", "trees", "folders")):
        data |= {"kept": "", "removed": False}
        context.answer(data, lambda: "there is nothing to remove")
        return
    listed = _table(found, running, into)
    if not options.yes and (context.as_json or not sys.stdin.isatty()):
        data |= {"kept": into, "removed": False}
        context.answer(data, lambda: f"{listed}\nnothing was removed; to remove it: {_AGAIN}")
        return
    if not context.as_json:
        say(listed)
    if not options.yes and not answered_yes("Remove all this?"):
        raise BadInput("nothing was removed", _AGAIN)
    done = ground.remove(into, branches=branches, stop=options.stop)
    kept = into if exists(into) else ""
    data |= {"refs": sorted(done.refs), "running": [], "kept": kept, "removed": True}
    context.answer(data, lambda: f"removed; kept in {shown(kept)}" if kept else "removed")


def _beside(worktree: str) -> str:
    """Name a new folder beside the repository."""
    names = (f"{worktree}-corral-kept{f'-{n}' * (n > 1)}" for n in count(1))
    return next(name for name in names if not exists(name))


def _table(found: "Traces", running: list[str], into: str) -> str:
    branches = sorted(filter(None, map(branch_of, found.refs)))
    rows = [("branch", name) for name in branches]
    rows += [("refs", f"{len(found.refs) - len(branches)} in refs/corral")]
    rows += [("worktree", path) for path in found.trees]
    rows += [("folder", path) for path in (*found.folders, *found.settings)]
    rows += [("running", name) for name in running]
    rows += [("stays", f"{branch_of(what) or what}: {why}") for what, why in found.stay.items()]
    refs = f"{len(found.alone)} ref{'s' * (len(found.alone) != 1)}"
    rows += [("kept", f"in {into}: the log, the settings, and {refs} with work found nowhere else")]
    return table([(what, shown(name)) for what, name in rows], ("what", "name"))

"""Checks: running a project's check commands on a commit, in trees of the refinery's own.

    refinery ── Runs.start() ──► keeper ──► shim ──► runner ── /bin/sh -c, one command after another

`pool` has the trees, one for each slot; `tree` brings one to a commit, whatever the run before left
in it. A run is its folder, `<git dir>/corral/checks/<run>`: what was asked (`run.json`), what
`world/processes` keeps there, and how each command ended (`results`). So whoever started it may be
killed: `Runs.all` and `outcome` tell the rest. `runner` is the program of a run.

A check is the project's own code and has our rights. It can move the repository's branches and
write its configuration, which all working trees share: whoever lands a commit has to look at the
refs again. What it cannot do, short of malice, is to change the next run in its slot: its processes
have ended before its outcome is known, and its tree is made anew from git where it is not clean.
The paths that the pool is told to keep (caches) are the exception.
"""

from corral.world.checks.keys import key
from corral.world.checks.model import ChecksRun, CommandResult, RunOutcome, RunResult
from corral.world.checks.outcomes import is_overdue, outcome, read_run, tail
from corral.world.checks.pool import Pool
from corral.world.checks.runs import Runs, stop

__all__ = [
    "ChecksRun",
    "CommandResult",
    "Pool",
    "RunOutcome",
    "RunResult",
    "Runs",
    "is_overdue",
    "key",
    "outcome",
    "read_run",
    "stop",
    "tail",
]

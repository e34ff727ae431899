"""Checks: running a project's check commands on a commit, in the refinery's own working trees.

    refinery ── Runs.start() ──► keeper ──► shim ──► runner ── /bin/sh -c, one command after another

`pool` holds the trees, one per slot; `tree` brings one to a commit, whatever the previous run left
in it. A run is a folder, `<git dir>/corral/checks/<run>`: the request (`run.json`), the files of
`world/processes`, and how each command ended (`results`). The refinery that started it may be
killed: `Runs.all` and `outcome` recover the rest. `runner` is the program of a run.

A check is the project's own code and has our rights. It can move the repository's branches and
write its configuration, which all working trees share, so the refs must be read again before a
commit lands. Short of malice, it cannot affect the next run in its slot: its processes have ended
before its outcome is known, and its tree is recreated from git where it is not clean. The paths
that the pool is told to keep (caches) are the exception.
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

"""Checks: running a project's check commands on a commit, in the refinery's own working trees.

`pool` holds the trees, one per slot; `tree` brings one to a commit; `runner` is the program of a
run under its shim. A run is a folder: the request (`run.json`), the files of `world/processes`, and
how each command ended (`results`), so it outlives the refinery. A check has our rights and can move
the repository's branches, so the refs must be read again before a commit lands.
"""

from corral.world.checks.model import (
    RESERVED_SLOTS,
    ChecksRun,
    CommandResult,
    RunOutcome,
    RunResult,
    key,
)
from corral.world.checks.outcomes import is_overdue, outcome, read_run, step
from corral.world.checks.pool import Pool
from corral.world.checks.runs import Runs, stop
from corral.world.processes import tail

__all__ = [
    "RESERVED_SLOTS",
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
    "step",
    "stop",
    "tail",
]

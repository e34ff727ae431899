"""Fifty sessions at once cost the harness little memory and, while they are quiet, no time."""

import time
from pathlib import Path

from corral.world import processes
from tests.patience import until
from tests.world.processes.sessions import Sessions, pss

CROWD = 50


def test_fifty_quiet_sessions_cost_next_to_nothing(sessions: Sessions) -> None:
    names = [f"s{number}" for number in range(CROWD)]
    shims = [sessions.start(name, "sleep", "1000").pid for name in names]
    harness = [sessions.keeper().pid, *shims]
    memory = [pss(pid) for pid in harness]
    assert sum(memory) < 60_000_000, f"a shim has {memory[1]:,} bytes"

    def still() -> bool:
        before = _wakings(harness)
        time.sleep(1)
        return _wakings(harness) == before

    until(still, "a second in which neither the keeper nor a shim is woken")
    used = processes.usage([sessions.folder(name) for name in names])
    assert [used[sessions.folder(name)].processes for name in names] == [1] * CROWD
    for name in names:
        processes.ask_stop(sessions.folder(name))
    assert {sessions.ended(name).signal for name in names} == {15}
    assert sessions.alive() == set()


def _wakings(pids: list[int]) -> list[str]:
    """Return how often each process has waited for something, which it does again once woken."""
    return [
        line
        for pid in pids
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("voluntary_ctxt_switches")
    ]

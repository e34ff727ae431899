"""Fifty sessions at once cost the harness little memory and, while they are quiet, no time."""

import os
import time

from corral.world import processes
from corral.world.processes import table
from tests.world.processes.sessions import Sessions, await_in, pss

CROWD = 50
QUIET_S = 10


def test_fifty_quiet_sessions_cost_next_to_nothing(sessions: Sessions) -> None:
    names = [f"s{number}" for number in range(CROWD)]
    begun = time.monotonic()
    shims = [sessions.start(name, "sleep", "1000").pid for name in names]
    latency = (time.monotonic() - begun) / CROWD
    harness = [sessions.keeper().pid, *shims]
    memory = [pss(pid) for pid in harness]
    before, since = _ticks(harness), time.monotonic()
    sessions.start("clock", "sleep", str(QUIET_S))
    clock = sessions.folder("clock")
    await_in(clock, lambda: processes.read_exit(clock), QUIET_S + 20)
    share = (_ticks(harness) - before) / table.TICKS_PER_S / (time.monotonic() - since)
    print(
        f"{CROWD} sessions: {sum(memory) / 1e6:.1f} MB PSS, a shim {memory[1] >> 10} kB, "
        f"start {latency * 1000:.1f} ms, {share:.2%} of a core"
    )
    assert sum(memory) < 60_000_000
    assert share < 0.02
    used = processes.usage([sessions.folder(name) for name in names])
    assert [used[sessions.folder(name)].processes for name in names] == [1] * CROWD
    for name in names:
        processes.ask_stop(sessions.folder(name))
    assert {sessions.ended(name).signal for name in names} == {15}
    assert sessions.alive() == set()


def _ticks(pids: list[int]) -> int:
    found = [table.look(pid) for pid in pids]
    assert all(found), os.listdir("/proc")
    return sum(process.cpu for process in found if process is not None)

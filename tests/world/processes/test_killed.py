"""Whichever process is killed, a session's end is known and nothing stays behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corral.world import processes
from corral.world.processes import EndReason, records, table
from corral.world.processes.keeper import LINGER_S, SOCKET
from tests.world.processes.sessions import Sessions, await_end, kill, written

DAEMON = "setsid sh -c 'trap \"\" TERM; sleep 1000 & wait' & echo > ready; exec sleep 1000"

CALLER = """
import sys, time
from corral.world.processes import Launch, start
import msgspec
start(sys.argv[1], msgspec.json.decode(sys.argv[2], type=Launch))
print("started", flush=True)
time.sleep(1000)
"""


def test_a_killed_caller_loses_nothing(sessions: Sessions) -> None:
    launch = sessions.launch("a", "sh", "-c", "read go < gate; seq 1000; exit 9")
    os.mkfifo(sessions.root / "gate")
    asked = json.dumps({name: getattr(launch, name) for name in launch.__struct_fields__})
    command = [sys.executable, "-c", CALLER, sessions.run, asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"started\n"
        caller.kill()
    assert processes.alive(sessions.folder("a"))
    assert processes.outcome(sessions.folder("a")) is None
    (sessions.root / "gate").write_text("go\n")
    end = sessions.ended("a")
    assert (end.reason, end.code) == (EndReason.EXITED, 9)
    expected = "".join(f"{number}\n" for number in range(1, 1001))
    assert Path(sessions.folder("a"), "output").read_text() == expected
    kill(sessions.record("a")["keeper_pid"], signal.SIGKILL)


def test_a_killed_shim_is_lost_and_the_keeper_ends_the_rest(sessions: Sessions) -> None:
    started = sessions.shell("a", DAEMON)
    other = sessions.shell("b", "exec sleep 1000")
    written(str(sessions.root / "ready"))
    kill(started.pid, signal.SIGKILL)
    assert not processes.alive(sessions.folder("a"))
    assert sessions.ended("a").reason is EndReason.LOST
    assert sessions.alive() == {other.program_pid}
    assert processes.outcome(sessions.folder("b")) is None


def test_a_frozen_shim_can_be_stopped_or_forced(sessions: Sessions) -> None:
    for name, stop, reason in (
        ("a", processes.ask_stop, EndReason.STOPPED),
        ("b", processes.force_stop, EndReason.LOST),
    ):
        started = sessions.shell(name, "exec sleep 1000")
        kill(started.pid, signal.SIGSTOP)
        assert stop(sessions.folder(name))
        assert sessions.ended(name).reason is reason
        assert sessions.alive() == set()


def test_a_killed_keeper_is_replaced_and_its_sessions_go_on(sessions: Sessions) -> None:
    os.mkfifo(sessions.root / "gate")
    sessions.shell("a", "read go < gate; exit 6")
    first = sessions.keeper()
    kill(first.pid, signal.SIGKILL)
    sessions.shell("b", "exit 5")
    assert sessions.keeper().key != first.key
    assert sessions.ended("b").code == 5
    assert processes.outcome(sessions.folder("a")) is None
    (sessions.root / "gate").write_text("go\n")
    assert sessions.ended("a").code == 6


def test_what_outlives_keeper_and_shim_is_found_and_ended(sessions: Sessions) -> None:
    started = sessions.shell("a", DAEMON)
    other = sessions.shell("b", "exec sleep 1000")
    written(str(sessions.root / "ready"))
    kill(sessions.keeper().pid, signal.SIGKILL)
    kill(started.pid, signal.SIGKILL)
    assert sessions.ended("a").reason is EndReason.LOST
    found = processes.strays(sessions.marker, live={"b"})
    assert {stray.session for stray in found} == {"a"}
    assert len(found) == 2
    assert processes.strays(sessions.marker + "/other", live=()) == []
    assert processes.end(found) == 0
    assert sessions.alive() == {other.program_pid}


def test_a_stray_whose_pid_was_given_away_is_not_touched(sessions: Sessions) -> None:
    started = sessions.shell("a", "exec sleep 1000")
    (stray,) = processes.strays(sessions.marker, live=())
    other = processes.Stray(stray.pid, stray.start + 1, stray.session, stray.command)
    assert processes.end([other]) == 0
    assert sessions.alive() == {started.program_pid}


@pytest.mark.parametrize("change", [{"start": 1}, {"boot": "another"}, {"pid": 0}])
def test_a_recycled_pid_is_not_mistaken(sessions: Sessions, change: dict[str, object]) -> None:
    sessions.shell("a", "exec sleep 1000")
    record = sessions.record("a") | change | {"keeper_pid": 0}
    os.mkdir(sessions.folder("fake"))
    records.write_once(sessions.folder("fake"), records.PROCESS, record)
    assert not processes.alive(sessions.folder("fake"))
    assert not processes.ask_stop(sessions.folder("fake"))
    assert processes.usage([sessions.folder("fake")]) == {}
    end = processes.outcome(sessions.folder("fake"))
    assert end is not None
    assert end.reason is EndReason.LOST
    assert processes.alive(sessions.folder("a"))


def test_a_folder_without_records_was_never_started(sessions: Sessions) -> None:
    os.mkdir(sessions.folder("a"))
    end = processes.outcome(sessions.folder("a"))
    assert end is not None
    assert (end.reason, end.detail) == (EndReason.LOST, "it was never started")


def test_a_removed_folder_does_not_keep_the_session_alive(sessions: Sessions) -> None:
    started = sessions.shell("a", f"rm -r {sessions.folder('a')}; seq 100000")
    if table.look(started.pid) is not None:
        await_end(os.pidfd_open(started.pid))
    assert sessions.alive() == set()
    end = processes.outcome(sessions.folder("a"))
    assert end is not None
    assert end.reason is EndReason.LOST


def test_an_idle_keeper_exits(sessions: Sessions) -> None:
    sessions.shell("a", "exec sleep 1000")
    keeper = sessions.keeper()
    fd = os.pidfd_open(keeper.pid)
    processes.ask_stop(sessions.folder("a"))
    sessions.ended("a")
    await_end(fd, LINGER_S + 5)
    os.close(fd)
    assert not os.path.exists(f"{sessions.run}/{SOCKET}")
    sessions.shell("b", "exit 2")
    assert sessions.ended("b").code == 2

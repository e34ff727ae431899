"""Nothing that a session started is alive after its end, however it was started."""

import os
import signal
import socket
import time

import pytest

from corral.world import processes
from corral.world.processes import EndReason
from tests.world.processes.sessions import Sessions, await_end, kill, written

# Three that a process group does not catch, one of them deaf to SIGTERM and serving on a port.
DETACHED = """
import os, signal, socket, sys, time

def detach(work):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    work()
    os._exit(0)

def serve():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = socket.create_server(("127.0.0.1", 0))
    with open("port.new", "w") as file:
        print(server.getsockname()[1], file=file)
    os.rename("port.new", "port")
    while True:
        time.sleep(1000)

detach(lambda: time.sleep(1000))
detach(serve)
if not os.fork():
    os.setsid()
    time.sleep(1000)
while not os.path.exists("port"):
    time.sleep(0.005)
"""


def test_detached_processes_are_gone_after_a_normal_exit(sessions: Sessions) -> None:
    sessions.python("a", DETACHED)
    end = sessions.ended("a")
    assert sessions.alive() == set()
    assert (end.reason, end.code, end.killed, end.left) == (EndReason.EXITED, 0, 3, 0)


def test_detached_processes_are_gone_after_a_stop(sessions: Sessions) -> None:
    sessions.python("a", DETACHED + "time.sleep(1000)")
    port = int(written(str(sessions.root / "port")))
    assert len(sessions.alive()) == 4
    assert processes.ask_stop(sessions.folder("a"))
    end = sessions.ended("a")
    assert sessions.alive() == set()
    assert (end.reason, end.signal, end.killed) == (EndReason.STOPPED, signal.SIGTERM, 3)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert not processes.ask_stop(sessions.folder("a"))


def test_a_program_may_finish_its_work_when_asked_to_stop(sessions: Sessions) -> None:
    script = "trap 'echo saved; exit 5' TERM; touch ready; echo > ready; while :; do sleep 1; done"
    sessions.shell("a", script, grace_s=15)
    written(str(sessions.root / "ready"))
    processes.ask_stop(sessions.folder("a"))
    end = sessions.ended("a")
    assert (end.reason, end.code) == (EndReason.STOPPED, 5)
    assert processes.tail(sessions.folder("a"), 1) == ["saved"]


def test_a_program_that_ignores_the_request_is_killed_after_the_grace_period(
    sessions: Sessions,
) -> None:
    sessions.shell("a", "trap '' TERM; echo > ready; while :; do sleep 1000; done", grace_s=0.5)
    written(str(sessions.root / "ready"))
    begun = time.monotonic()
    processes.ask_stop(sessions.folder("a"))
    end = sessions.ended("a")
    assert (end.reason, end.signal) == (EndReason.STOPPED, signal.SIGKILL)
    assert time.monotonic() - begun >= 0.5
    assert sessions.alive() == set()


def test_a_frozen_program_can_be_stopped(sessions: Sessions) -> None:
    started = sessions.start("a", "sleep", "1000", grace_s=15)
    kill(started.program_pid, signal.SIGSTOP)
    processes.ask_stop(sessions.folder("a"))
    assert sessions.ended("a").signal == signal.SIGTERM


def test_the_wall_limit_ends_it(sessions: Sessions) -> None:
    sessions.shell("a", "sleep 1000 & sleep 1000", wall_s=0.3)
    end = sessions.ended("a")
    assert (end.reason, end.signal) == (EndReason.TIMED_OUT, signal.SIGTERM)
    assert sessions.alive() == set()


def test_a_fork_bomb_is_ended(sessions: Sessions) -> None:
    # Every process detaches, is deaf to SIGTERM and replaces itself; it stays at about a hundred.
    bomb = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(7):
    if os.fork() == 0:
        os.setsid()
open("ready", "a").write("on\\n")
while True:
    time.sleep(0.05)
    if os.fork():
        os._exit(0)
"""
    sessions.python("a", bomb, grace_s=0.1)
    written(str(sessions.root / "ready"))
    processes.ask_stop(sessions.folder("a"))
    end = sessions.ended("a")
    assert sessions.alive() == set()
    assert end.killed > 20
    assert end.left == 0


def test_a_stop_leaves_other_sessions_alone(sessions: Sessions) -> None:
    sessions.shell("a", "sleep 1000 & sleep 1000")
    other = sessions.shell("b", "exec sleep 1000")
    processes.ask_stop(sessions.folder("a"))
    sessions.ended("a")
    assert processes.alive(sessions.folder("b"))
    assert sessions.alive() == {other.program_pid}


def test_output_written_while_being_stopped_is_kept(sessions: Sessions) -> None:
    script = "trap 'seq 50000; exit 0' TERM; echo > ready; while :; do sleep 0.01; done"
    sessions.shell("a", script, grace_s=15)
    written(str(sessions.root / "ready"))
    processes.ask_stop(sessions.folder("a"))
    sessions.ended("a")
    assert processes.tail(sessions.folder("a"), 2) == ["49999", "50000"]


def test_what_it_uses_is_counted_for_the_whole_tree(sessions: Sessions) -> None:
    code = """
import os, time
if os.fork() == 0:
    hold = b"x" * 30_000_000
    while time.process_time() < 0.3:
        pass
    open("ready", "w").write("on\\n")
    time.sleep(1000)
time.sleep(1000)
"""
    sessions.python("a", code)
    sessions.start("b", "sleep", "1000")
    written(str(sessions.root / "ready"))
    used = processes.usage([sessions.folder(name) for name in ("a", "b", "missing")])
    assert set(used) == {sessions.folder("a"), sessions.folder("b")}
    busy, quiet = used[sessions.folder("a")], used[sessions.folder("b")]
    assert (busy.processes, quiet.processes) == (2, 1)
    assert 30_000_000 < busy.pss < 60_000_000
    assert quiet.pss < 5_000_000
    assert 0.25 < busy.cpu_s < 5
    processes.ask_stop(sessions.folder("a"))
    assert sessions.ended("a").cpu_s >= 0.25


def test_the_shim_of_an_ended_session_ends_too(sessions: Sessions) -> None:
    started = sessions.start("a", "sleep", "1000")
    fd = os.pidfd_open(started.pid)
    processes.ask_stop(sessions.folder("a"))
    sessions.ended("a")
    await_end(fd)
    os.close(fd)
    assert not processes.alive(sessions.folder("a"))

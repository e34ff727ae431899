"""A session's program starts with exactly what it was given, once, or not at all."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from corral.world import processes
from corral.world.processes import CouldNotStart, EndReason
from tests.world.processes.sessions import Sessions, kill


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_recorded(sessions: Sessions, code: int) -> None:
    sessions.shell("a", f"exit {code}")
    end = sessions.ended("a")
    assert (end.reason, end.code, end.signal, end.left) == (EndReason.EXITED, code, None, 0)
    assert end.at > 1_600_000_000_000
    assert not processes.alive(sessions.folder("a"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_is_recorded(sessions: Sessions, number: int) -> None:
    started = sessions.shell("a", "exec sleep 1000")
    kill(started.program_pid, number)
    end = sessions.ended("a")
    assert (end.reason, end.code, end.signal) == (EndReason.EXITED, None, number)


def test_the_environment_is_exactly_the_given_one(sessions: Sessions) -> None:
    env = {"ONLY": "this one", "ODD": 'line\nbreak "quoted" é \udcff'}
    # Not the shell: it adds variables of its own.
    sessions.start("a", "/usr/bin/env", "-0", env=env)
    assert sessions.ended("a").code == 0
    given = Path(sessions.folder("a"), "output").read_bytes().rstrip(b"\0").split(b"\0")
    assert sorted(given) == sorted(os.fsencode(f"{name}={value}") for name, value in env.items())


def test_the_program_gets_no_open_file_and_no_ignored_signal(sessions: Sessions) -> None:
    code = (
        "import os\n"
        "print(sorted(os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in (0, 1, 2)))\n"
        "print([n for n in os.listdir('/proc/self/fd') if int(n) > 2][1:])\n"
        "print(os.getsid(0) == os.getpid(), os.getcwd(), flush=True)\n"
        "os.execv('/bin/grep', ['grep', 'Sig[BI]', '/proc/self/status'])\n"
    )
    sessions.python("a", code)
    assert sessions.ended("a").code == 0
    lines = processes.tail(sessions.folder("a"), 10)
    assert lines[:3] == ["['/dev/null', 'pipe', 'pipe']", "[]", f"True {sessions.root}"]
    # Python itself ignores 13 and 25, and hands that on to grep; 32 and 33 belong to the C library,
    # which cannot be set, so they stay as the test runner had them.
    ours = ~(1 << 12 | 1 << 24 | 1 << 31 | 1 << 32)
    assert [int(line.split()[1], 16) & ours for line in lines[3:]] == [0, 0]


def test_standard_input_comes_from_the_file(sessions: Sessions) -> None:
    brief = sessions.root / "brief"
    brief.write_text("do this\n")
    sessions.start("a", "cat", stdin=str(brief))
    assert sessions.ended("a").code == 0
    assert processes.tail(sessions.folder("a"), 1) == ["do this"]


@pytest.mark.parametrize(
    ("argv", "changes", "reason"),
    [
        (["no-such-program"], {}, "no-such-program: No such file"),
        (["/etc/passwd"], {}, "/etc/passwd: Permission denied"),
        (["/"], {}, "/: Permission denied"),
        (["echo", "x" * 3_000_000], {}, "echo: Argument list too long"),
        (["true"], {"cwd": "/no/such/place"}, "/no/such/place: No such file"),
        (["true"], {"stdin": "/no/brief"}, "/no/brief: No such file"),
        (["true"], {"env": {"PATH": "/nowhere"}}, "true: No such file"),
    ],
)
def test_what_cannot_start_says_why(
    sessions: Sessions, argv: list[str], changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(CouldNotStart, match=reason):
        sessions.start("a", *argv, **changes)
    end = sessions.ended("a")
    assert end.reason is EndReason.COULD_NOT_START
    assert reason in end.detail
    assert sessions.alive() == set()


@pytest.mark.parametrize(
    ("argv", "changes"),
    [
        ([], {}),
        (["a\0b"], {}),
        (["true"], {"env": {"A=B": "c"}}),
        (["true"], {"folder": "/proc/nowhere"}),
        (["true"], {"folder": "/dev/null/below"}),
    ],
)
def test_what_makes_no_sense_is_refused(
    sessions: Sessions, argv: list[str], changes: dict[str, object]
) -> None:
    with pytest.raises(CouldNotStart):
        processes.start(sessions.run, sessions.launch("a", *argv, **changes))


def test_a_named_pipe_without_a_writer_does_not_hold_it_up(sessions: Sessions) -> None:
    os.mkfifo(sessions.root / "pipe")
    sessions.start("a", "cat", stdin=str(sessions.root / "pipe"))
    assert sessions.ended("a").code == 0


def test_a_script_without_its_interpreter_cannot_start(sessions: Sessions) -> None:
    script = sessions.root / "script"
    script.write_text("#!/no/interpreter\n")
    script.chmod(0o700)
    with pytest.raises(CouldNotStart, match="No such file"):
        sessions.start("a", str(script))


def test_a_folder_is_used_once(sessions: Sessions) -> None:
    sessions.shell("a", "echo first; exec sleep 1000")
    with pytest.raises(CouldNotStart, match="another session's"):
        sessions.shell("a", "echo second")
    assert processes.alive(sessions.folder("a"))
    assert processes.outcome(sessions.folder("a")) is None


def test_a_withdrawn_folder_starts_nothing(sessions: Sessions) -> None:
    os.mkdir(sessions.folder("a"))
    assert processes.withdraw(sessions.folder("a"))
    with pytest.raises(CouldNotStart):
        sessions.shell("a", "touch ran")
    assert sessions.ended("a").reason is EndReason.COULD_NOT_START
    assert not (sessions.root / "ran").exists()


def test_a_hung_keeper_blocks_no_caller_and_starts_nothing_later(sessions: Sessions) -> None:
    sessions.shell("first", "exec sleep 1000")
    keeper = sessions.keeper()
    os.kill(keeper.pid, signal.SIGSTOP)
    try:
        late = sessions.launch("late", "touch", "ran")
        with pytest.raises(CouldNotStart, match="no answer from the keeper within"):
            processes.start(sessions.run, late, limit_s=0.5)
    finally:
        os.kill(keeper.pid, signal.SIGCONT)
    # The keeper takes requests in order: after this one, the late one is decided.
    sessions.shell("next", "exit 0")
    assert sessions.ended("next").code == 0
    assert sessions.ended("late").reason is EndReason.COULD_NOT_START
    assert not (sessions.root / "ran").exists()


def test_a_long_path_is_no_obstacle(sessions: Sessions) -> None:
    sessions.run = str(sessions.root / ("d" * 100) / ("e" * 100))
    sessions.shell("a", "exit 4")
    assert sessions.ended("a").code == 4
    assert os.stat(sessions.run).st_mode & 0o777 == 0o700


def test_one_keeper_serves_many_concurrent_starts(sessions: Sessions) -> None:
    names = [f"s{number}" for number in range(24)]
    starting = [threading.Thread(target=sessions.shell, args=(name, "exit 7")) for name in names]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join()
    assert {sessions.ended(name).code for name in names} == {7}
    assert len({sessions.record(name)["keeper_pid"] for name in names}) == 1


def test_the_keeper_has_no_variables_and_no_heavy_imports(sessions: Sessions) -> None:
    sessions.start("a", sys.executable, "-c", "")
    keeper = sessions.keeper()
    assert Path(f"/proc/{keeper.pid}/environ").read_bytes() == b""
    maps = Path(f"/proc/{keeper.pid}/maps").read_text()
    assert "msgspec" not in maps
    assert "asyncio" not in maps

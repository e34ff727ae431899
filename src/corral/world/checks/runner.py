"""The program of a run: runs commands in order until one fails, and records how each ended.

It runs under a shim as a standalone file in a bare interpreter, so it imports nothing of ours; the
modules that set up the tree and judge or confine a command are loaded as files, too.
Space for the results is allocated before the first command, so that a command that fills the disk
cannot prevent them from being recorded.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

_LINE = 256
_DISK_FULL_BELOW = 1 << 20
_CANNOT, _ABSENT = 126, 127  # the exit codes of a shell that cannot run a command
_TOO_LATE = 124
_LEADS = f"{os.path.dirname(os.path.dirname(__file__))}/leads.py"


class Results:
    """Writes a line when a command starts, and one when it has ended."""

    def __init__(self, folder: str, commands: int) -> None:
        path = f"{folder}/results"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.posix_fallocate(self._file, 0, 2 * commands * _LINE)
        self._at = 0

    def add(self, **result: object) -> None:
        line = json.dumps(result).encode() + b"\n"
        self._at += os.pwrite(self._file, line, self._at)
        os.fsync(self._file)


def main(folder: str) -> int:
    with open(f"{folder}/run.json", encoding="utf-8") as file:
        run = json.load(file)
    commands = run["commands"]
    results = Results(folder, len(commands) + 1)
    if run["setup"]:
        if not _set_up(run["setup"], run, results):
            return 1
        signal.signal(signal.SIGALRM, _too_late)
        signal.setitimer(signal.ITIMER_REAL, run["deadline_s"])
    for number, command in enumerate(commands, 1):
        results.add(number=number)
        print(f"+ {command}", flush=True)
        began = time.monotonic()
        status, cpu_s = _carry_out(command, run)
        code = os.waitstatus_to_exitcode(status)
        results.add(
            number=number,
            code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            wall_s=round(time.monotonic() - began, 3),
            cpu_s=round(cpu_s, 3),
            disk_full=bool(status) and disk_full(run["tree"], run["temporary"], folder),
        )
        if status:
            return 1
    return 0


def _set_up(setup: dict[str, Any], run: dict[str, Any], results: Results) -> bool:
    """Give the tree what an earlier set-up made in it, or run the set-up; say if that worked."""
    setups, tree = _module(setup["module"]), run["tree"]
    results.add(number=0)
    began = time.monotonic()
    if not setups.give(setup["store"], setup["key"], tree):
        before = setups.listing(tree)
        for argv in setup["commands"]:
            code = _within(setup["limit_s"], argv, tree)
            if code:
                results.add(
                    number=0,
                    code=code,
                    wall_s=round(time.monotonic() - began, 3),
                    disk_full=disk_full(tree, run["temporary"]),
                )
                return False
        setups.keep(setup["store"], setup["key"], tree, before)
    results.add(number=0, code=0, wall_s=round(time.monotonic() - began, 3))
    return True


def _within(limit_s: float, argv: list[str], tree: str) -> int:
    print(f"+ {' '.join(argv)}", flush=True)
    try:
        with subprocess.Popen(argv, cwd=tree, start_new_session=True) as program:
            try:
                return program.wait(limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                print(f"it took longer than {limit_s:g} s", file=sys.stderr, flush=True)
                return _TOO_LATE
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return _ABSENT


def _too_late(*_: object) -> None:
    os._exit(_TOO_LATE)  # the shim ends everything that is left


def _carry_out(command: str, run: dict[str, Any]) -> tuple[int, float]:
    """Run one command to its end in its own session, because it may signal its whole group."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            # By name every time, because a command may have replaced the folder.
            os.chdir(run["tree"])
            if run["doubted"]:
                asked = run["tree"], command, os.environ, run["doubted"]
                if said := _module(_LEADS).leading(*asked):
                    print(said, file=sys.stderr, flush=True)
                    os._exit(_CANNOT)
            if run["confine"]:
                _module(run["confine"]).confine(None, run["hidden"], run["shown"])
            os.execve("/bin/sh", ["sh", "-c", command], os.environ)
        except OSError as error:
            print(f"{error.filename or 'confining'}: {error.strerror}", file=sys.stderr, flush=True)
        finally:
            os._exit(_CANNOT)
    _, status, used = os.wait4(pid, 0)
    return status, used.ru_utime + used.ru_stime


def _module(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("confinement", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def disk_full(*places: str) -> bool:
    """Say whether nothing more can be written in one of these places."""
    for place in places:
        try:
            room = os.statvfs(place)
        except OSError:
            continue  # the command removed it
        no_files = room.f_files > 0 and room.f_favail == 0
        if no_files or room.f_bavail * room.f_frsize < _DISK_FULL_BELOW:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

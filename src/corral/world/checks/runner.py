"""The program of a run: runs commands in order until one fails, and records how each ended.

It runs under a shim as a standalone file in a bare interpreter, so it imports nothing of ours; the
module that confines a command is loaded as a file, too.
Space for the results is allocated before the first command, so that a command that fills the disk
cannot prevent them from being recorded.
"""

import importlib.util
import json
import os
import sys
import time
from typing import Any

_LINE = 256
_DISK_FULL_BELOW = 1 << 20
_CANNOT = 126  # the exit code of a shell that cannot run a command


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
    results = Results(folder, len(commands))
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
            disk_full=bool(status) and _disk_full(run["tree"], run["temporary"], folder),
        )
        if status:
            return 1
    return 0


def _carry_out(command: str, run: dict[str, Any]) -> tuple[int, float]:
    """Run one command to its end in its own session, because it may signal its whole group."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            # By name every time, because a command may have replaced the folder.
            os.chdir(run["tree"])
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


def _disk_full(*places: str) -> bool:
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

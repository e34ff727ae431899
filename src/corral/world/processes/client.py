"""Starts the processes of a session through the keeper, and a keeper if there is none.

A launch happens at most once per folder, and whether it happened is never in doubt: the shim and a
caller that times out both try to create `process.json` there, and only one of them can. So `start`
returns in time even if the keeper hangs, and a request that a hung keeper reads later fails.
"""

import fcntl
import json
import math
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from corral.world.processes import records
from corral.world.processes.keeper import READY, SOCKET
from corral.world.processes.model import CouldNotStart, Launch, Started

LIMIT_S = 60.0  # a machine with too much to do is slow
_LOCK = "keeper.lock"
_LOG = "keeper.log"
_PAUSE_S = 0.005
_BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from corral.world.processes.keeper import main; main(sys.argv[2])"
)


class _NoKeeper(Exception):
    """No keeper is listening, or it went away without an answer."""


def start(run_folder: str, launch: Launch, *, limit_s: float = LIMIT_S) -> Started:
    """Start a session; CouldNotStart if its program does not run and never will."""
    deadline = time.monotonic() + limit_s
    _check(launch)
    if os.path.lexists(f"{launch.folder}/{records.PROCESS}"):
        raise _refused(f"{launch.folder} is another session's, or was withdrawn")
    try:
        os.makedirs(launch.folder, mode=0o700, exist_ok=True)
        os.makedirs(run_folder, mode=0o700, exist_ok=True)
        os.chmod(run_folder, 0o700)
        answer = _ask_until(run_folder, launch, deadline)
    except TimeoutError:
        return _given_up(launch.folder, f"no answer from the keeper within {limit_s:g} s")
    except OSError as error:
        return _given_up(launch.folder, f"{error.filename or launch.folder}: {error.strerror}")
    if "error" in answer:
        return _given_up(launch.folder, answer["error"])
    return msgspec.convert(answer, Started)


def withdraw(folder: str, detail: str = "withdrawn") -> bool:
    """Make sure that nothing can start in this folder any more; False if something has started."""
    try:
        records.write_once(folder, records.PROCESS, {"pid": 0})
    except FileExistsError:
        return False
    except OSError:
        # If we cannot write there, no shim can.
        return True
    end = {"reason": "could_not_start", "detail": detail, "at": time.time_ns() // 1_000_000}
    with suppress(OSError):
        # Without it, the session counts as lost, which is also an end.
        records.write_durably(folder, records.EXIT, end)
    return True


def _check(launch: Launch) -> None:
    if not launch.argv or not launch.argv[0]:
        raise _refused("no program was given")
    if any("=" in name or not name for name in launch.env):
        raise _refused("the name of a variable is empty or contains '='")
    texts = [*launch.argv, *launch.env, *launch.env.values(), launch.cwd, launch.stdin or ""]
    if any("\0" in text for text in texts):
        raise _refused("an argument, variable or path contains a null byte")


def _refused(reason: str) -> CouldNotStart:
    return CouldNotStart(f"the session could not start: {reason}; nothing was left running")


def _given_up(folder: str, detail: str) -> Started:
    if withdraw(folder, detail) or records.read(folder, records.EXIT) is not None:
        raise _refused(detail)
    # It started at the last moment or without an answer; its folder has the rest.
    record = records.read(folder, records.PROCESS)
    if record is None:
        raise _refused(detail)
    return msgspec.convert(record, Started)


def _ask_until(run_folder: str, launch: Launch, deadline: float) -> records.Record:
    request = os.memfd_create("launch")
    try:
        os.write(request, json.dumps(msgspec.structs.asdict(launch)).encode())
        while True:
            try:
                return _ask(run_folder, launch, request, deadline)
            except _NoKeeper:
                _raise_keeper(run_folder, deadline)
    finally:
        os.close(request)


def _ask(run_folder: str, launch: Launch, request: int, deadline: float) -> records.Record:
    wall_s = math.inf if launch.wall_s is None else launch.wall_s
    bounds = f"\0{wall_s}\0{launch.grace_s}\0{launch.output_bytes}\0{int(launch.split)}".encode()
    os.lseek(request, 0, os.SEEK_SET)
    ours, theirs = socket.socketpair()
    with ours, theirs, _connected(run_folder, deadline) as keeper:
        try:
            message = os.fsencode(launch.folder) + bounds
            socket.send_fds(keeper, [message], [request, theirs.fileno()])
        except (ConnectionError, FileNotFoundError) as error:
            raise _NoKeeper from error
        theirs.close()
        parts = []
        with suppress(ConnectionResetError):
            ours.settimeout(_left(deadline))
            while part := ours.recv(65_536):
                parts.append(part)
                ours.settimeout(_left(deadline))
    if not parts:
        raise _NoKeeper
    said = b"".join(parts).strip()
    # A shim took it and died. Another attempt could be a second launch.
    answer: records.Record = json.loads(said) if said else {"error": "its shim was killed"}
    return answer


@contextmanager
def _connected(run_folder: str, deadline: float) -> Iterator[socket.socket]:
    # A socket's path may have at most 108 bytes; via the open folder it is always short enough.
    folder = os.open(run_folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as keeper:
            keeper.settimeout(_left(deadline))
            try:
                keeper.connect(f"/proc/self/fd/{folder}/{SOCKET}")
            except (ConnectionError, FileNotFoundError) as error:
                raise _NoKeeper from error
            yield keeper
    finally:
        os.close(folder)


def _raise_keeper(run_folder: str, deadline: float) -> None:
    """Start a keeper unless one was just started; under a lock, so that there is only one."""
    lock = os.open(f"{run_folder}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(min(_PAUSE_S, _left(deadline)))
        with suppress(_NoKeeper), _connected(run_folder, deadline):
            return
        _spawn_keeper(run_folder, deadline)
    finally:
        os.close(lock)


def _spawn_keeper(run_folder: str, deadline: float) -> None:
    source = __file__.removesuffix("/corral/world/processes/client.py")
    log = os.open(f"{run_folder}/{_LOG}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        # Sessions must inherit nothing of ours: no variables, open files or terminal.
        command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOTSTRAP, source, run_folder]
        with subprocess.Popen(
            command,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        ) as parent:
            assert parent.stdout is not None
            if not select.select([parent.stdout], [], [], _left(deadline))[0]:
                parent.kill()
                raise TimeoutError
            said = os.read(parent.stdout.fileno(), 64)
    finally:
        os.close(log)
    if said != READY:
        raise OSError(0, f"the keeper did not start, see {run_folder}/{_LOG}", run_folder)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left

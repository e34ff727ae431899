"""The program of a session, between the fork and its first instruction.

The program's own process reads the launch, records itself and the shim, and only then becomes the
program, so a running program can always be found. The exec frees the memory that this touches,
which the shim has not. The program gets its own session, the given environment and nothing else: no
open files, and no ignored or blocked signals of the process that started the keeper.
"""

import json
import os
import signal
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from corral.world import clock
from corral.world.processes import landlock, records, system, table
from corral.world.processes.output import OutputFiles

CANNOT = 127


class Begun(NamedTuple):
    pid: int
    verdict: int  # a pipe that ends without a word when the program runs


def begin(folder: str, request: int, reply: int, outputs: tuple[OutputFiles, ...]) -> Begun:
    """Fork the process that records itself and becomes the program, or reports why not.

    The first output is for stdout, the last for stderr; there may be one for both.
    """
    verdict, report = os.pipe()
    shim = os.getpid()
    pid = os.fork()
    if pid == 0:
        refusal = _prepare(folder, request, outputs, shim)
        answer(reply, {"error": refusal})
        os.write(report, b"refused")
        os._exit(CANNOT)
    os.close(report)
    return Begun(pid, verdict)


def _prepare(folder: str, request: int, outputs: tuple[OutputFiles, ...], shim: int) -> str:
    system.die_with_parent(signal.SIGKILL)
    if os.getppid() != shim:
        os._exit(CANNOT)
    with os.fdopen(request) as file:
        launch = json.load(file)
    try:
        records.write_once(folder, records.PROCESS, _record(launch["session"]))
    except OSError as error:
        for output in outputs:
            output.vanish()
        return f"{folder}: {os.strerror(error.errno or 0)}"
    refusal = _become(folder, launch, outputs)
    end = {"reason": "could_not_start", "detail": refusal, "at": clock.now()}
    records.write_durably(folder, records.EXIT, end)
    return refusal


def _become(folder: str, launch: dict[str, Any], outputs: tuple[OutputFiles, ...]) -> str:
    """Become the program; return why that is impossible."""
    about = folder
    try:
        for output in outputs:
            output.appear()
        records.reserve(folder, records.EXIT)
        about = launch["stdin"] or os.devnull
        # Otherwise a named pipe without a writer would block us here.
        stdin = os.open(about, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(stdin, True)
        about = launch["cwd"]
        os.chdir(about)
        about = launch["argv"][0]
        os.setsid()
        for source, target in ((stdin, 0), (outputs[0].sink, 1), (outputs[-1].sink, 2)):
            os.dup2(source, target)
        _reset_signals()
        if launch["writable"] is not None or launch["hidden"]:
            about = "confining it"
            landlock.confine(launch["writable"], launch["hidden"], launch["shown"])
            about = launch["argv"][0]
        _execute(launch["argv"], launch["env"])
    except OSError as error:
        return f"{about}: {os.strerror(error.errno or 0)}"
    except ValueError as error:
        return f"{about}: {error}"


def _execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    if "/" in argv[0]:
        os.execve(argv[0], argv, env)
    refusal: OSError = FileNotFoundError(2, "")
    for folder in env.get("PATH", os.defpath).split(":"):
        try:
            os.execve(f"{folder or '.'}/{argv[0]}", argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            # A later folder may have an executable one.
            refusal = error
    raise refusal


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _record(session: str) -> records.Record:
    program, shim = table.look(os.getpid()), table.look(os.getppid())
    # The shim waits for our answer, so both are in the process table.
    assert program is not None
    assert shim is not None
    keeper = table.look(shim.parent)
    return {
        "session": session,
        "boot": table.boot_id(),
        "pid": shim.pid,
        "start": shim.start,
        "program_pid": program.pid,
        "program_start": program.start,
        "keeper_pid": keeper.pid if keeper else 0,
        "keeper_start": keeper.start if keeper else 0,
        "started_at": clock.now(),
    }


def answer(reply: int, said: records.Record) -> None:
    """Answer the caller; if it is gone, the files in the folder inform the next one."""
    with suppress(BrokenPipeError):
        os.write(reply, json.dumps(said).encode())

"""The outcome of a run, from its folder alone, so that any refinery can determine it."""

from contextlib import suppress
from os.path import exists, join

import msgspec

from corral.world import clock, processes
from corral.world.checks.model import ChecksRun, CommandResult, RunOutcome, RunResult
from corral.world.git.tree import read_plain
from corral.world.locks import is_held
from corral.world.processes import EndReason, Exit, records

ASKED, RESULTS = "run.json", "results"
LAST_LINES = 40
_TOO_LATE = 124  # the exit code of a runner that was past its deadline
_LATE_MS = 15_000  # beyond deadline and grace

_ENDED = {
    EndReason.STOPPED: RunResult.STOPPED,
    EndReason.TIMED_OUT: RunResult.TIMED_OUT,
    EndReason.LOST: RunResult.LOST,
    EndReason.COULD_NOT_START: RunResult.COULD_NOT_START,
}


def read_run(folder: str) -> ChecksRun | None:
    """Return the request of a run; None if the folder is not that of a run."""
    with suppress(msgspec.DecodeError):  # a check may have overwritten it
        return msgspec.json.decode(read_plain(join(folder, ASKED)) or b"", type=ChecksRun)
    return None


def outcome(folder: str) -> RunOutcome | None:
    """Return how a run ended; None while it is running or starting."""
    run = read_run(folder)
    launched = exists(join(folder, records.PROCESS))
    if run is not None and not launched and is_held(run.lock):
        return None
    # Only now, because a run that was starting has either started or failed.
    ended = processes.outcome(folder)
    if ended is None:
        return None
    if run is None:
        detail = "the file that describes the run is gone"
        return RunOutcome(RunResult.LOST, ended.at, detail=detail)
    return _told(run, ended, _lines(folder))


def step(folder: str) -> str:
    """Return what a run is doing: a command, or an empty text while its tree is set up."""
    run, lines = read_run(folder), _lines(folder)
    return run.commands[lines[-1].number - 1] if run and lines and lines[-1].number else ""


def is_overdue(folder: str) -> bool:
    """Say whether a run is past its deadline and must be stopped: a check froze its shim."""
    run = read_run(folder)
    record = records.read(folder, records.PROCESS) or {}
    if run is None or not processes.alive(folder):
        return False
    due: float = record["started_at"] + run.most_s * 1000
    return clock.now() > due + _LATE_MS


def _told(run: ChecksRun, ended: Exit, lines: list[CommandResult]) -> RunOutcome:
    prepared = next((line for line in lines if line.number == 0), None)
    lines = [line for line in lines if line is not prepared]
    done = tuple(line for line in lines if line.code is not None or line.signal is not None)
    failed = next((line for line in done if not line.passed), None)
    running = lines[-1] if lines and lines[-1] not in done else None
    wall_s = max(0.0, _wall_s(run.folder, ended) - (prepared.wall_s if prepared else 0))
    result, detail = _judged(run, ended, failed, done)
    if prepared is not None and ended.reason is EndReason.EXITED and not lines:
        result, detail = RunResult.NOT_SET_UP, _not_set_up(prepared, ended)
    elif ended.code == _TOO_LATE and run.setup and not failed:
        result, detail = RunResult.TIMED_OUT, ""
    if result is RunResult.STOPPED and wall_s >= run.deadline_s:
        result = RunResult.TIMED_OUT  # by us instead of its shim
    last = failed or running
    green = result is RunResult.GREEN
    return RunOutcome(
        result,
        ended.at,
        command=run.commands[last.number - 1] if last and not green else "",
        code=failed.code if failed else None,
        signal=failed.signal if failed else None,
        detail=detail,
        last_lines=() if green else tuple(processes.tail(run.folder, LAST_LINES)),
        commands=done,
        wall_s=wall_s,
        cpu_s=ended.cpu_s,
        killed=ended.killed,
        left=ended.left,
        disk_full=any(line is not None and line.disk_full for line in (failed, prepared)),
    )


def _judged(
    run: ChecksRun, ended: Exit, failed: CommandResult | None, done: tuple[CommandResult, ...]
) -> tuple[RunResult, str]:
    if ended.reason is not EndReason.EXITED:
        return _ENDED[ended.reason], ended.detail
    if failed is not None:
        return RunResult.RED, ""
    if ended.code == 0 and len(done) == len(run.commands):
        return RunResult.GREEN, ""
    if ended.signal or done:
        said = f"its runner ended with {_how(ended)}, so the result of a command is unknown"
        return RunResult.LOST, said
    return RunResult.COULD_NOT_START, f"its runner ended with {_how(ended)}"


def _not_set_up(prepared: CommandResult, ended: Exit) -> str:
    if prepared.code == _TOO_LATE:
        return "the set-up of its tree took too long"
    if prepared.code is None:
        return f"the set-up of its tree ended with {_how(ended)}"
    return f"the set-up of its tree failed with exit code {prepared.code}"


def _how(ended: Exit) -> str:
    return f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"


def _lines(folder: str) -> list[CommandResult]:
    """Return the start or end record of each command, in order."""
    content = (read_plain(join(folder, RESULTS)) or b"").partition(b"\0")[0]
    found: dict[int, CommandResult] = {}
    for text in content.splitlines():
        try:
            line = msgspec.json.decode(text, type=CommandResult)
        except msgspec.DecodeError:
            break  # a partial line: its writer was killed
        found[line.number] = line
    return list(found.values())


def _wall_s(folder: str, ended: Exit) -> float:
    started_at = (records.read(folder, records.PROCESS) or {}).get("started_at", 0)
    return (ended.at - started_at) / 1000 if started_at and ended.at else 0.0

"""The values that go into and come out of a run of checks."""

from enum import StrEnum

from msgspec import Struct


class ChecksRun(Struct, frozen=True):
    """One run of the checks on one commit, as it was asked for."""

    id: str
    slot: int
    commit: str
    commands: tuple[str, ...]
    deadline_s: float
    folder: str
    tree: str
    temporary: str  # the run's TMPDIR
    lock: str  # of the slot: who starts the run holds it
    marker: str  # with which its processes are found
    asked_at: int


class RunResult(StrEnum):
    GREEN = "green"
    RED = "red"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    LOST = "lost"
    COULD_NOT_START = "could_not_start"


class CommandResult(Struct, frozen=True):
    """How one command ended, and what it took."""

    number: int
    code: int | None = None
    signal: int | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of those that it waited for; a daemon counts for the run only
    disk_full: bool = False

    @property
    def passed(self) -> bool:
        return self.code == 0


class RunOutcome(Struct, frozen=True):
    """How a run ended. Nothing of it is alive, except for the `left` and, if lost, for strays.

    `command` is the one that failed, or that ran when the run was cut short. A red one with
    `disk_full` says more about the machine than about the commit.
    """

    result: RunResult
    at: int = 0
    command: str = ""
    code: int | None = None
    signal: int | None = None
    detail: str = ""
    last_lines: tuple[str, ...] = ()
    commands: tuple[CommandResult, ...] = ()
    wall_s: float = 0.0
    cpu_s: float = 0.0
    killed: int = 0  # processes that the commands had left behind
    left: int = 0  # of those, whom no signal of ours reaches
    disk_full: bool = False

    @property
    def green(self) -> bool:
        return self.result is RunResult.GREEN

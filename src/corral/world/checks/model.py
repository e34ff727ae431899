"""The inputs and results of a check run, and the key under which a result is valid."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

RESERVED_SLOTS = 9998  # those from here on are for the witness and the preflight
_FORM = 1  # of what is hashed for a key


def key(commands: Sequence[str], extra: Mapping[str, object] | None = None) -> str:
    """Return a hash of the commands in order, and of anything else that affects the result.

    `extra` holds JSON values: variables, the version of a tool, a platform. A result is valid only
    for the same tree and key.
    """
    asked = [_FORM, list(commands), dict(extra or {})]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class SetUp(Struct, frozen=True):
    """The set-up of a check tree: its commands, and where its result is kept."""

    commands: tuple[tuple[str, ...], ...]
    limit_s: float  # for each of them
    store: str
    key: str
    module: str  # the file that keeps the result and gives it again

    @property
    def most_s(self) -> float:
        return self.limit_s * len(self.commands)


class ChecksRun(Struct, frozen=True):
    """A request to run the checks on one commit."""

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
    setup: SetUp | None = None
    confine: str = ""  # the module that hides folders from the commands, if they are hidden
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()  # what commands must not use and could, as it is not hidden

    @property
    def most_s(self) -> float:
        """Return the longest time that a run takes, with its set-up."""
        return self.deadline_s + (self.setup.most_s if self.setup else 0)


class RunResult(StrEnum):
    GREEN = "green"
    RED = "red"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    LOST = "lost"
    NOT_SET_UP = "not_set_up"
    COULD_NOT_START = "could_not_start"


class CommandResult(Struct, frozen=True):
    """How one command ended, and the resources it used."""

    number: int
    code: int | None = None
    signal: int | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of processes it waited for; a daemon counts only for the run
    disk_full: bool = False

    @property
    def passed(self) -> bool:
        return self.code == 0


class RunOutcome(Struct, frozen=True):
    """How a run ended. None of its processes is alive except the `left` and, if lost, strays.

    `command` is the one that failed, or that was running when the run was cut short. A red run with
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
    left: int = 0  # of those, the ones that we cannot signal
    disk_full: bool = False

    @property
    def green(self) -> bool:
        return self.result is RunResult.GREEN

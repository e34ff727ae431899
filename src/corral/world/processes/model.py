"""The inputs and results of a session's processes."""

from enum import StrEnum

from msgspec import Struct

from corral.core.errors import Failed

RUN_VARIABLE = "CORRAL_RUN"
SESSION_VARIABLE = "CORRAL_SESSION"


class CouldNotStart(Failed, code="could_not_start"):
    """The program of a session never ran, and will not."""


class Launch(Struct, frozen=True, kw_only=True):
    """What to run, where, and within which limits.

    `env` is the complete environment. With `CORRAL_RUN` and `CORRAL_SESSION` in it, leftover
    processes can be found even after the keeper and the shim were both killed.
    """

    session: str
    argv: list[str]
    cwd: str
    env: dict[str, str]
    folder: str
    stdin: str | None = None
    wall_s: float | None = None
    grace_s: float = 10.0
    output_bytes: int = 64 << 20
    writable: list[str] | None = None  # where it can write; None: wherever we can
    hidden: tuple[str, ...] = ()  # folders whose files it cannot read
    shown: tuple[str, ...] = ()  # of those, what it can read all the same
    split: bool = False  # stderr goes to separate files, `errors`


class Started(Struct, frozen=True):
    pid: int
    program_pid: int


class EndReason(StrEnum):
    EXITED = "exited"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    COULD_NOT_START = "could_not_start"
    LOST = "lost"


class Exit(Struct, frozen=True):
    """How a session ended. None of its processes is alive except the `left`."""

    reason: EndReason
    at: int
    code: int | None = None
    signal: int | None = None
    detail: str = ""
    killed: int = 0
    left: int = 0
    cpu_s: float = 0.0
    output_bytes: int = 0
    output_dropped: int = 0


class Usage(Struct, frozen=True):
    pss: int
    cpu_s: float
    processes: int


class Stray(Struct, frozen=True):
    """A process of a session that no longer exists."""

    pid: int
    start: int
    session: str
    command: str

"""What a session came to, judged by facts alone. "Done" is never the agent's word.

`judge` takes what git, the operating system and the checks say, in the order in which it is asked:
a process that was killed proves nothing, and checks on a dirty tree prove nothing about a commit.
"""

from enum import StrEnum

from msgspec import Struct

from corral.core import paths


class Verdict(StrEnum):
    PROVED = "proved"
    NO_CHANGE = "no_change"
    DIRTY = "dirty"
    OFF_BRANCH = "off_branch"
    OUT_OF_SCOPE = "out_of_scope"
    CHECKS_FAILED = "checks_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    SILENT = "silent"
    STOPPED = "stopped"
    COULD_NOT_START = "could_not_start"


class Ended(Struct, frozen=True):
    """How the program ended: as asked, by itself, by a signal."""

    code: int | None = None
    signal: int | None = None
    stop: Verdict | None = None  # what it was asked to stop for
    never_ran: str = ""  # why, if it did not
    last_words: str = ""


class Work(Struct, frozen=True):
    """What the tree and the branch look like afterwards."""

    exists: bool = True
    on_branch: bool = True  # HEAD is where it was put, and the trunk is where the log says
    elsewhere: str = ""  # what was touched instead
    commits: int = 0
    dirty: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    commit: str = ""


class Check(Struct, frozen=True):
    """One acceptance command, run by the harness on the very commit."""

    command: str
    code: int | None
    seconds: float = 0.0
    tail: str = ""

    @property
    def passed(self) -> bool:
        return self.code == 0


class Judgement(Struct, frozen=True):
    verdict: Verdict
    detail: str = ""


def judge_end(ended: Ended) -> Judgement | None:
    """Judge the way the program ended; None if that alone decides nothing."""
    if ended.never_ran:
        return Judgement(Verdict.COULD_NOT_START, ended.never_ran)
    if ended.stop is not None:
        return Judgement(ended.stop)
    if ended.signal is not None:
        return Judgement(Verdict.CRASHED, f"signal {ended.signal}{_quoted(ended.last_words)}")
    if ended.code != 0:
        return Judgement(Verdict.CRASHED, f"exit code {ended.code}{_quoted(ended.last_words)}")
    return None


def judge_work(work: Work, owned: tuple[str, ...], *, observer: bool) -> Judgement | None:
    """Judge what is there; None if it is worth being checked."""
    if not work.on_branch:
        return Judgement(Verdict.OFF_BRANCH, work.elsewhere)
    if not work.exists:
        return Judgement(Verdict.DIRTY, "its working tree is gone")
    if work.dirty:
        return Judgement(Verdict.DIRTY, _some(work.dirty))
    if observer:
        return Judgement(Verdict.OUT_OF_SCOPE, _some(work.changed)) if work.changed else None
    if not work.commits or not work.changed:
        return Judgement(Verdict.NO_CHANGE)
    outside = tuple(path for path in work.changed if not _within(path, owned))
    if outside:
        return Judgement(Verdict.OUT_OF_SCOPE, _some(outside))
    return None


def judge_checks(checks: tuple[Check, ...]) -> Judgement:
    for check in checks:
        if not check.passed:
            how = "did not end" if check.code is None else f"exit code {check.code}"
            return Judgement(Verdict.CHECKS_FAILED, f"{check.command}: {how}{_quoted(check.tail)}")
    return Judgement(Verdict.PROVED)


def _within(path: str, owned: tuple[str, ...]) -> bool:
    return not owned or any(paths.matches(pattern, path) for pattern in owned)


def _some(names: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _quoted(words: str) -> str:
    return f"; its last words: {words}" if words else ""

"""What a session came to, judged by facts alone. "Done" is never the agent's word.

`judge` takes what git, the operating system and the checks say, in the order in which it is asked:
a process that was killed proves nothing, and checks on a dirty tree prove nothing about a commit.

Of an engine whose output is understood, the exit code proves nothing either way: engines exit 0
after a refused login and 1 after good work. Its last word decides whether the work is looked at:
with trouble in it the session is judged by that trouble, even if there are commits (they stay on
the branch, for the next session); with none, by git and the checks, whatever the exit code. No last
word at all means that it broke off.
"""

from enum import StrEnum

from msgspec import Struct

from corral.core import paths
from corral.core.engine.facts import Trouble


class Verdict(StrEnum):
    PROVED = "proved"
    NO_CHANGE = "no_change"
    DIRTY = "dirty"
    OFF_BRANCH = "off_branch"
    LEAKED = "leaked"
    OUT_OF_SCOPE = "out_of_scope"
    CHECKS_FAILED = "checks_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    SILENT = "silent"
    STOPPED = "stopped"
    COULD_NOT_START = "could_not_start"
    LIMITED = "limited"
    REFUSED = "refused"
    UPSTREAM = "upstream"
    HUNG = "hung"
    OVERFLOW = "overflow"
    HANDED_OVER = "handed_over"
    LOST_THREAD = "lost_thread"
    REJECTED = "rejected"
    LOOPING = "looping"
    NEEDS_ANSWER = "needs_answer"
    OVER_BUDGET = "over_budget"
    WRONG_MODEL = "wrong_model"
    INTERRUPTED = "interrupted"


RESULT = "result"  # in place of a verdict: it was ended because it is done, so its work decides


class Again(StrEnum):
    """When the task is tried again."""

    REST = "rest"  # after a rest that grows with each failure
    FREE = "free"  # once the account is free
    NOW = "now"
    NEVER = "never"  # not by itself: the task has failed
    BLOCKED = "blocked"  # once somebody has answered


class After(Struct, frozen=True):
    """What a verdict leads to."""

    counts: bool = True  # uses up one of the task's attempts
    again: Again = Again.REST
    person: bool = False  # somebody has to act
    # Within the session, its program is started once more so often for this cause, ...
    relaunches: int = 0
    fresh: bool = False  # ... with a new conversation instead of the old one
    goes_on: bool = False  # the next session goes on with the conversation, if the engine can
    most: int = 0  # without using up an attempt, so often in a row; then it does


AFTER: dict[Verdict, After] = {
    Verdict.PROVED: After(counts=False, again=Again.NEVER),
    Verdict.STOPPED: After(again=Again.NEVER, person=True),
    Verdict.CRASHED: After(relaunches=1, goes_on=True),
    Verdict.SILENT: After(goes_on=True),
    Verdict.TIMED_OUT: After(goes_on=True),
    Verdict.LIMITED: After(counts=False, again=Again.FREE, goes_on=True, most=200),
    Verdict.REFUSED: After(counts=False, again=Again.FREE, person=True, most=20),
    Verdict.UPSTREAM: After(counts=False, goes_on=True, most=5),
    Verdict.HUNG: After(relaunches=1, goes_on=True),
    Verdict.OVERFLOW: After(relaunches=1, fresh=True),
    Verdict.HANDED_OVER: After(counts=False, again=Again.NOW, relaunches=3, fresh=True, most=5),
    Verdict.LOST_THREAD: After(relaunches=1, fresh=True),
    Verdict.LOOPING: After(),
    Verdict.NEEDS_ANSWER: After(counts=False, again=Again.BLOCKED, person=True, relaunches=1),
    Verdict.OVER_BUDGET: After(again=Again.NEVER, person=True, goes_on=True),
    Verdict.WRONG_MODEL: After(again=Again.NEVER, person=True),
    Verdict.INTERRUPTED: After(counts=False, again=Again.NOW, goes_on=True, most=1000),
}
_ORDINARY = After()

BY_TROUBLE = {
    Trouble.RATE: Verdict.LIMITED,
    Trouble.OVERLOAD: Verdict.LIMITED,
    Trouble.QUOTA: Verdict.LIMITED,
    Trouble.AUTH: Verdict.REFUSED,
    Trouble.OVERFLOW: Verdict.OVERFLOW,
    Trouble.NETWORK: Verdict.UPSTREAM,
    Trouble.REQUEST: Verdict.REJECTED,
    Trouble.SESSION: Verdict.LOST_THREAD,
    Trouble.BUDGET: Verdict.OVER_BUDGET,
    Trouble.OTHER: Verdict.CRASHED,
}


def after(verdict: Verdict) -> After:
    """Say what a verdict leads to; most use up an attempt and are tried again after a rest."""
    return AFTER.get(verdict, _ORDINARY)


class LastWord(Struct, frozen=True):
    """How an engine says that it ended; nothing of it is believed about the work."""

    said: bool = True  # False: its output breaks off without one
    trouble: Trouble | None = None
    text: str = ""
    asked: str = ""  # a question that was never answered
    denied: int = 0  # tool calls that it was not permitted
    wrong_model: str = ""  # why it may not have used the model that it did


class ProgramEnd(Struct, frozen=True):
    """How the program ended: as asked, by itself, by a signal."""

    code: int | None = None
    signal: int | None = None
    stop: Verdict | None = None  # what it was asked to stop for
    never_ran: str = ""  # why, if it did not
    last_words: str = ""
    word: LastWord | None = None  # None: an engine whose output says nothing to us


class BranchWork(Struct, frozen=True):
    """What the tree and the branch look like afterwards."""

    exists: bool = True
    on_branch: bool = True  # HEAD is where it was put, and the trunk is where the log says
    elsewhere: str = ""  # what was touched instead
    commits: int = 0
    dirty: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    commit: str = ""
    leaked: str = ""  # the key that is in it, and where


class AcceptanceRun(Struct, frozen=True):
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


def judge_end(ended: ProgramEnd) -> Judgement | None:
    """Judge the way the program ended; None if that alone decides nothing."""
    if ended.never_ran:
        return Judgement(Verdict.COULD_NOT_START, ended.never_ran)
    if ended.stop is not None:
        return Judgement(ended.stop)
    if ended.word is not None:
        return _by_word(ended, ended.word)
    if ended.signal is not None:
        return Judgement(Verdict.CRASHED, f"signal {ended.signal}{_quoted(ended.last_words)}")
    if ended.code != 0:
        return Judgement(Verdict.CRASHED, f"exit code {ended.code}{_quoted(ended.last_words)}")
    return None


def _by_word(ended: ProgramEnd, word: LastWord) -> Judgement | None:
    if word.trouble is not None:
        return Judgement(BY_TROUBLE[word.trouble], word.text or str(word.trouble))
    if word.said:
        return Judgement(Verdict.WRONG_MODEL, word.wrong_model) if word.wrong_model else None
    how = f"signal {ended.signal}" if ended.signal is not None else f"exit code {ended.code}"
    return Judgement(Verdict.CRASHED, f"it broke off ({how}){_quoted(ended.last_words)}")


def judge_idle(judgement: Judgement | None, word: LastWord | None) -> Judgement | None:
    """Say why a session changed nothing, if its last word tells."""
    if judgement is None or judgement.verdict is not Verdict.NO_CHANGE or word is None:
        return judgement
    if word.asked:
        return Judgement(Verdict.NEEDS_ANSWER, word.asked)
    if word.denied:
        return Judgement(Verdict.NO_CHANGE, f"{word.denied} tool calls were not permitted")
    return judgement


def judge_work(work: BranchWork, owned: tuple[str, ...], *, observer: bool) -> Judgement | None:
    """Judge what is there; None if it is worth being checked."""
    if work.leaked:
        return Judgement(Verdict.LEAKED, work.leaked)
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


def judge_checks(checks: tuple[AcceptanceRun, ...]) -> Judgement:
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

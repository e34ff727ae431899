"""The verdict on a session, by facts alone. An agent's own "done" counts for nothing.

The evidence is taken in order: how the program ended, what git finds, what the checks say. A killed
process proves nothing, and checks on a dirty tree prove nothing about a commit.

For an engine whose output Corral parses, the exit code proves nothing either way: engines exit 0
after a refused login and 1 after good work. The last word in its output decides whether the work is
looked at. If it reports trouble, that is the verdict, even if there are commits (they stay on the
branch for the next session). If not, git and the checks decide, whatever the exit code. An engine
that ends without a last word has crashed.
"""

from enum import StrEnum

from msgspec import Struct

from corral.core import paths
from corral.core.engine.facts import Trouble
from corral.core.text import counted

PROGRESS = "progress.md"
RESULTS = "results.json"
REPORTS = frozenset({PROGRESS, RESULTS})  # of a session about itself: they are not its work

_SETTINGS = ".corral/"


class Verdict(StrEnum):
    """How a session ended. The reference page prints the text below each member."""

    PROVED = "proved"
    """it committed a change within its paths, left its tree clean, and every check passed"""
    NO_CHANGE = "no_change"
    """it ended well, but its branch has no change"""
    DIRTY = "dirty"
    """it left uncommitted changes, or a submodule at a commit that is nowhere else, or its working
    tree is gone"""
    OFF_BRANCH = "off_branch"
    """it left its branch, rewrote it, or moved the convoy's trunk"""
    LEAKED = "leaked"
    """it committed the value of a secret that a profile passes through; its branch is reset"""
    OUT_OF_SCOPE = "out_of_scope"
    """it changed paths that the task does not declare, Corral's settings (`.corral/`), or a script
    that an acceptance command runs"""
    CHECKS_FAILED = "checks_failed"
    """an acceptance command did not exit 0"""
    CRASHED = "crashed"
    """its program ended by a signal, with a nonzero exit code, or without a final message; only an
    engine whose output Corral understands is restarted"""
    TIMED_OUT = "timed_out"
    """it ran for longer than `watch.wall_s`"""
    SILENT = "silent"
    """it showed no sign of life for three beats"""
    STOPPED = "stopped"
    """a person stopped it"""
    COULD_NOT_START = "could_not_start"
    """its tree, inputs, set-up or program was not available"""
    UNFIT = "unfit"
    """this machine was not ready: the set-up of its tree failed, or an acceptance command cannot be
    run here, on the untouched base either; an alert says why, and no attempt is used up"""
    LIMITED = "limited"
    """its account hit a rate limit or quota (429, 529)"""
    REFUSED = "refused"
    """its API key or login was rejected; the account is held until the alert is cleared"""
    UPSTREAM = "upstream"
    """the network or the model's server failed"""
    HUNG = "hung"
    """its model or a tool was silent for too long (`turn_s`)"""
    OVERFLOW = "overflow"
    """the conversation no longer fits the model's context"""
    HANDED_OVER = "handed_over"
    """its context was nearly full (`watch.window`)"""
    LOST_THREAD = "lost_thread"
    """the conversation to resume no longer exists"""
    REJECTED = "rejected"
    """the model's server rejected its request (another 4xx)"""
    LOOPING = "looping"
    """it repeated the same tool call without changing anything (`watch.loop`)"""
    NEEDS_ANSWER = "needs_answer"
    """it asked a question, and changed nothing or waited for `watch.answer_s`; it is restarted only
    if its profile has `answers`"""
    OVER_BUDGET = "over_budget"
    """the budget of its task is used up; if it is that of its convoy or of the day, the task is
    parked instead"""
    WRONG_MODEL = "wrong_model"
    """its model is not one of `budget.require_model`"""
    INTERRUPTED = "interrupted"
    """`corral run` was interrupted; the next run continues it"""


RESULT = "result"  # in place of a verdict: it was stopped because it is done, so its work decides


class Again(StrEnum):
    """When the task is retried."""

    REST = "rest"  # after a delay that grows with each failure
    FREE = "free"  # once the account is free
    NOW = "now"
    NEVER = "never"  # not automatically: the task has failed
    BLOCKED = "blocked"  # once somebody has answered


class After(Struct, frozen=True):
    """What a verdict leads to."""

    counts: bool = True  # uses up one of the task's attempts
    again: Again = Again.REST
    person: bool = False  # somebody has to act
    relaunches: int = 0  # how many times the program is started again within the session
    fresh: bool = False  # a relaunch begins a new conversation instead of resuming the old one
    goes_on: bool = False  # the next session resumes the conversation, if the engine can
    most: int = 0  # how many times in a row this uses up no attempt


AFTER: dict[Verdict, After] = {
    Verdict.PROVED: After(counts=False, again=Again.NEVER),
    Verdict.STOPPED: After(again=Again.NEVER, person=True),
    Verdict.CRASHED: After(relaunches=1, goes_on=True),
    Verdict.SILENT: After(goes_on=True),
    Verdict.TIMED_OUT: After(goes_on=True),
    Verdict.UNFIT: After(counts=False, person=True, most=1000),
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
    """Say what a verdict leads to; most use up an attempt and are retried after a delay."""
    return AFTER.get(verdict, After())


class LastWord(Struct, frozen=True):
    """How an engine says that it ended; it is not believed about the work."""

    said: bool = True  # False: its output ends without one
    trouble: Trouble | None = None
    text: str = ""
    asked: str = ""  # a question that was not answered
    denied: int = 0  # tool calls that were not permitted
    wrong_model: str = ""  # why the model that it used is not allowed


class ProgramEnd(Struct, frozen=True):
    """How the program ended: as asked, on its own, or by a signal."""

    code: int | None = None
    signal: int | None = None
    stop: Verdict | None = None  # why it was asked to stop
    never_ran: str = ""  # why, if it never ran
    last_words: str = ""
    word: LastWord | None = None  # None: an engine whose output Corral does not parse

    @property
    def how(self) -> str:
        return f"signal {self.signal}" if self.signal is not None else f"exit code {self.code}"


class BranchWork(Struct, frozen=True):
    """The tree and the branch as the session left them."""

    exists: bool = True
    on_branch: bool = True  # HEAD is on the session's branch, and the trunk was not moved
    elsewhere: str = ""  # what the session did instead
    commits: int = 0
    dirty: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    commit: str = ""
    leaked: str = ""  # which key is in the work, and where
    lost_links: tuple[str, ...] = ()  # submodules at commits that are nowhere else
    judges: tuple[str, ...] = ()  # changed scripts that an acceptance command runs


class AcceptanceRun(Struct, frozen=True):
    """One acceptance command, which Corral ran on the commit itself."""

    command: str
    code: int | None
    tail: str = ""
    cause: str = ""  # why that is perhaps not the fault of the work
    unfit: bool = False  # it is not: the same happens on the untouched base

    @property
    def passed(self) -> bool:
        return self.code == 0


class Judgement(Struct, frozen=True):
    verdict: Verdict
    detail: str = ""


def judge_end(ended: ProgramEnd) -> Judgement | None:
    """Judge how the program ended; None if that alone decides nothing."""
    if ended.never_ran:
        return Judgement(Verdict.COULD_NOT_START, ended.never_ran)
    if ended.stop is not None:
        return Judgement(ended.stop)
    if ended.word is not None:
        return _by_word(ended, ended.word)
    if ended.signal is None and ended.code == 0:
        return None
    return Judgement(Verdict.CRASHED, f"{ended.how}{_quoted(ended.last_words)}")


def _by_word(ended: ProgramEnd, word: LastWord) -> Judgement | None:
    if word.trouble is not None:
        return Judgement(BY_TROUBLE[word.trouble], word.text or str(word.trouble))
    if word.said:
        return Judgement(Verdict.WRONG_MODEL, word.wrong_model) if word.wrong_model else None
    said = f"it ended without a final message ({ended.how}){_quoted(ended.last_words)}"
    return Judgement(Verdict.CRASHED, said)


def judge_idle(judgement: Judgement | None, word: LastWord | None) -> Judgement | None:
    """Say why a session changed nothing, if its last word tells why."""
    if judgement is None or judgement.verdict is not Verdict.NO_CHANGE or word is None:
        return judgement
    if word.asked:
        return Judgement(Verdict.NEEDS_ANSWER, word.asked)
    if word.denied:
        return Judgement(Verdict.NO_CHANGE, f"not permitted: {counted(word.denied, 'tool call')}")
    return judgement


def judge_work(work: BranchWork, owned: tuple[str, ...], *, observer: bool) -> Judgement | None:
    """Judge the work as git finds it; None if the checks have to decide."""
    if work.leaked:
        return Judgement(Verdict.LEAKED, work.leaked)
    if not work.on_branch:
        return Judgement(Verdict.OFF_BRANCH, work.elsewhere)
    if not work.exists:
        return Judgement(Verdict.DIRTY, "its working tree is gone")
    if work.dirty:
        return Judgement(Verdict.DIRTY, _some(work.dirty))
    if work.lost_links:
        said = f"{_some(work.lost_links)}: the submodule's new commit is on none of its remote"
        return Judgement(Verdict.DIRTY, f"{said} branches, so nobody else could get it")
    if observer:
        return Judgement(Verdict.OUT_OF_SCOPE, _some(work.changed)) if work.changed else None
    if not work.commits or not work.changed:
        return Judgement(Verdict.NO_CHANGE)
    if settings := settings_in(work.changed):
        said = f"{_some(settings)}: only a person changes Corral's settings"
        return Judgement(Verdict.OUT_OF_SCOPE, said)
    if work.judges:
        said = f"{_some(work.judges)}: an acceptance command of the task runs it; to let the task"
        return Judgement(Verdict.OUT_OF_SCOPE, f"{said} change it, name it with --path")
    outside = tuple(
        path for path in work.changed if not any(paths.matches(pattern, path) for pattern in owned)
    )
    return Judgement(Verdict.OUT_OF_SCOPE, _some(outside)) if owned and outside else None


def settings_in(changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changed paths that decide what Corral runs and what it asks for."""
    return tuple(path for path in changed if path.casefold().startswith(_SETTINGS))


def judge_checks(checks: tuple[AcceptanceRun, ...]) -> Judgement:
    for check in checks:
        if not check.passed:
            how = "did not end" if check.code is None else f"exit code {check.code}"
            how += f": {check.cause}" if check.cause else ""
            verdict = Verdict.UNFIT if check.unfit else Verdict.CHECKS_FAILED
            return Judgement(verdict, f"{check.command}: {how}{_quoted(check.tail)}")
    return Judgement(Verdict.PROVED)


def _some(names: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _quoted(words: str) -> str:
    return f"; its last words: {words}" if words else ""

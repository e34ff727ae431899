"""A session is judged by facts, and each kind of false claim gets its own verdict."""

import itertools
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core.engine.facts import Trouble
from corral.core.session.verdict import (
    AcceptanceRun,
    BranchWork,
    Judgement,
    LastWord,
    ProgramEnd,
    Verdict,
    judge_checks,
    judge_end,
    judge_idle,
    judge_work,
)

WELL = ProgramEnd(code=0)
GOOD = {"commits": 1, "changed": ("src/a.py",), "commit": "a" * 40}
OWNED = ("src/**",)
PASSED, FAILED = AcceptanceRun("make", 0), AcceptanceRun("make", 2, tail="1 failed")


class Case(NamedTuple):
    verdict: Verdict
    ended: ProgramEnd = WELL
    work: dict[str, Any] = {}  # noqa: RUF012 - never changed
    checks: tuple[AcceptanceRun, ...] = (PASSED,)
    observer: bool = False


def judged(case: Case) -> Judgement:
    """Judge in the order in which the witness asks."""
    found = judge_end(case.ended)
    work = BranchWork(**{**GOOD, **case.work})
    found = found or judge_idle(judge_work(work, OWNED, observer=case.observer), case.ended.word)
    return found or judge_checks(case.checks)


def told(trouble: Trouble | None, code: int = 1) -> ProgramEnd:
    return ProgramEnd(code=code, word=LastWord(trouble=trouble, text="why"))


CASES = {
    "does its work": Case(Verdict.PROVED),
    "has nothing that could be checked": Case(Verdict.PROVED, checks=()),
    "exits 0 with no commit": Case(Verdict.NO_CHANGE, work={"commits": 0, "changed": ()}),
    "commits nothing, in many commits": Case(Verdict.NO_CHANGE, work={"commits": 9, "changed": ()}),
    "commits on another branch": Case(
        Verdict.OFF_BRANCH, work={"on_branch": False, "commits": 0, "changed": ()}
    ),
    "checks out another branch": Case(
        Verdict.OFF_BRANCH, work={"on_branch": False, "elsewhere": "main"}
    ),
    "rewrites the convoy's branch": Case(
        Verdict.OFF_BRANCH, work={"on_branch": False, "elsewhere": "the trunk"}
    ),
    "writes its key down, and breaks other rules too": Case(
        Verdict.LEAKED, work={"leaked": "MY_KEY is in a.py", "dirty": ("x",)}
    ),
    "leaves the tree dirty": Case(Verdict.DIRTY, work={"dirty": ("src/a.py",)}),
    "passes its checks and then changes a file": Case(Verdict.DIRTY, work={"dirty": ("x.py",)}),
    "deletes its own worktree": Case(Verdict.DIRTY, work={"exists": False}),
    "touches undeclared paths": Case(
        Verdict.OUT_OF_SCOPE, work={"changed": ("src/a.py", "README.md")}
    ),
    "watches, and changes nothing": Case(
        Verdict.PROVED, work={"commits": 0, "changed": ()}, observer=True
    ),
    "was to watch, and changes what it owns": Case(Verdict.OUT_OF_SCOPE, observer=True),
    "was to watch, and leaves files about": Case(
        Verdict.DIRTY, work={"dirty": ("x",)}, observer=True
    ),
    "says that it is done, but the checks fail": Case(Verdict.CHECKS_FAILED, checks=(FAILED,)),
    "passes but one of its checks": Case(Verdict.CHECKS_FAILED, checks=(PASSED, FAILED, PASSED)),
    "has checks that never end": Case(Verdict.CHECKS_FAILED, checks=(AcceptanceRun("make", None),)),
    "is killed": Case(Verdict.CRASHED, ProgramEnd(signal=9)),
    "gives up": Case(Verdict.CRASHED, ProgramEnd(code=3)),
    "ends, and nobody knows how": Case(Verdict.CRASHED, ProgramEnd()),
    "runs for too long": Case(Verdict.TIMED_OUT, ProgramEnd(signal=9, stop=Verdict.TIMED_OUT)),
    "writes nothing for three beats": Case(
        Verdict.SILENT, ProgramEnd(signal=15, stop=Verdict.SILENT)
    ),
    "is stopped by hand": Case(Verdict.STOPPED, ProgramEnd(code=0, stop=Verdict.STOPPED)),
    "is refused its log-in, and exits 0": Case(Verdict.REFUSED, told(Trouble.AUTH, code=0)),
    "is told to slow down": Case(Verdict.LIMITED, told(Trouble.RATE)),
    "finds the other side too busy": Case(Verdict.LIMITED, told(Trouble.OVERLOAD)),
    "has nothing left until Monday": Case(Verdict.LIMITED, told(Trouble.QUOTA)),
    "is cut off": Case(Verdict.UPSTREAM, told(Trouble.NETWORK)),
    "talks for too long": Case(Verdict.OVERFLOW, told(Trouble.OVERFLOW)),
    "asks for what there is not": Case(Verdict.REJECTED, told(Trouble.REQUEST)),
    "goes on with what is gone": Case(Verdict.LOST_THREAD, told(Trouble.SESSION)),
    "keeps to its own budget": Case(Verdict.OVER_BUDGET, told(Trouble.BUDGET)),
    "has troubles nobody knows": Case(Verdict.CRASHED, told(Trouble.OTHER)),
    "does its work, and exits 1": Case(Verdict.PROVED, told(None, code=1)),
    "does its work, and is killed while it ends": Case(
        Verdict.PROVED, ProgramEnd(signal=15, word=LastWord())
    ),
    "exits 0 in the middle of a sentence": Case(
        Verdict.CRASHED, ProgramEnd(code=0, word=LastWord(said=False))
    ),
    "asks, and ends": Case(
        Verdict.NEEDS_ANSWER,
        ProgramEnd(code=0, word=LastWord(asked="Tabs?")),
        {"commits": 0, "changed": ()},
    ),
    "asks, and works all the same": Case(
        Verdict.PROVED, ProgramEnd(code=0, word=LastWord(asked="Tabs?"))
    ),
    "is ended for what it did": Case(Verdict.LOOPING, ProgramEnd(code=0, stop=Verdict.LOOPING)),
    "waits for a model that is silent": Case(Verdict.HUNG, ProgramEnd(code=0, stop=Verdict.HUNG)),
    "fills its context": Case(Verdict.HANDED_OVER, ProgramEnd(code=0, stop=Verdict.HANDED_OVER)),
    "is interrupted with the whole run": Case(
        Verdict.INTERRUPTED, ProgramEnd(code=None, signal=15, stop=Verdict.INTERRUPTED)
    ),
    "uses another model": Case(Verdict.WRONG_MODEL, ProgramEnd(code=0, stop=Verdict.WRONG_MODEL)),
    "has no program to check it with": Case(
        Verdict.UNFIT, checks=(AcceptanceRun("pytest", 127, unfit=True),)
    ),
    "has no program": Case(
        Verdict.COULD_NOT_START, ProgramEnd(code=127, never_ran="no such program")
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_session_gets_its_own_right_verdict(name: str) -> None:
    assert judged(CASES[name]).verdict is CASES[name].verdict


def test_every_verdict_there_is_can_be_come_to() -> None:
    assert {case.verdict for case in CASES.values()} == set(Verdict)


# From what counts most to what counts least: a session that is guilty of two of these is judged by
# the first.
ORDER: list[tuple[Verdict, dict[str, Any], dict[str, Any]]] = [
    (Verdict.COULD_NOT_START, {"never_ran": "why"}, {}),
    (Verdict.STOPPED, {"stop": Verdict.STOPPED}, {}),
    (Verdict.CRASHED, {"signal": 9, "code": None}, {}),
    (Verdict.OFF_BRANCH, {}, {"on_branch": False}),
    (Verdict.DIRTY, {}, {"dirty": ("x",)}),
    (Verdict.OUT_OF_SCOPE, {}, {"changed": ("README.md",)}),
]


@pytest.mark.parametrize(
    ("first", "second"),
    [(a, b) for a, b in itertools.combinations(range(len(ORDER)), 2)],
    ids=lambda index: ORDER[index][0].value,
)
def test_the_gravest_fact_gives_the_verdict(first: int, second: int) -> None:
    verdict, ended, work = ORDER[first]
    _, also_ended, also_work = ORDER[second]
    case = Case(verdict, ProgramEnd(**{"code": 0, **also_ended, **ended}), {**also_work, **work})
    assert judged(case._replace(checks=(FAILED,))).verdict is verdict


@given(st.booleans(), st.integers(0, 3), st.booleans(), st.sampled_from([0, 1, -9, None]))
def test_nothing_is_proved_but_clean_committed_work_of_a_program_that_ended_well(
    on_branch: bool, commits: int, clean: bool, code: int | None
) -> None:
    work = {"on_branch": on_branch, "commits": commits, "dirty": () if clean else ("x",)}
    proved = judged(Case(Verdict.PROVED, ProgramEnd(code=code), work)).verdict is Verdict.PROVED
    assert proved == (on_branch and commits > 0 and clean and code == 0)


@pytest.mark.parametrize(
    ("judgement", "words"),
    [
        (judge_end(ProgramEnd(never_ran="no such program")), "no such program"),
        (judge_end(ProgramEnd(signal=9, last_words="oh no")), "signal 9; its last words: oh no"),
        (judge_end(ProgramEnd(code=3)), "exit code 3"),
        (judge_checks((PASSED, FAILED)), "make: exit code 2; its last words: 1 failed"),
        (judge_checks((AcceptanceRun("make", None),)), "make: did not end"),
        (judge_work(BranchWork(exists=False), (), observer=False), "its working tree is gone"),
        (judge_work(BranchWork(on_branch=False, elsewhere="main"), (), observer=False), "main"),
        (
            judge_work(BranchWork(dirty=tuple("abcdefg")), (), observer=False),
            "a, b, c, d, e and 2 more",
        ),
        (
            judge_work(BranchWork(commits=1, changed=("a", "src/b")), ("src/**",), observer=False),
            "a",
        ),
    ],
)
def test_a_judgement_says_what_it_rests_on(judgement: Judgement | None, words: str) -> None:
    assert judgement is not None
    assert judgement.detail == words


def test_a_task_that_declares_no_paths_may_change_any() -> None:
    assert judge_work(BranchWork(commits=1, changed=("a", "b/c")), (), observer=False) is None


def test_a_path_counts_as_within_if_any_pattern_has_it() -> None:
    work = BranchWork(commits=1, changed=("src/a.py", "docs/b.md"))
    assert judge_work(work, ("src/**", "docs/*.md"), observer=False) is None
    found = judge_work(work, ("src/**",), observer=False)
    assert found == Judgement(Verdict.OUT_OF_SCOPE, "docs/b.md")

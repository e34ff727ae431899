"""Each rule of the watchdog has its limit, and the tree decides what counts as a loop."""

import pytest
from msgspec.structs import replace

from corral.core.engine import facts as f
from corral.core.engine.stream import Stream, take
from corral.core.engine.watchdog import Bounds, Loop, Seen, due_at, model_allowed, step, watch_loop
from corral.core.session.verdict import RESULT, Verdict

NOW = 1_700_000_000_000
BOUNDS = Bounds(turn_s=60, first_s=80, park_s=30, answer_s=90, window=90, loop=5, models=("big-*",))
FINE = Seen(now=NOW, fact_at=NOW, limited_at=NOW, asked_at=NOW)


def of(*facts: f.Fact) -> Stream:
    stream = Stream()
    for fact in facts:
        stream = take(stream, fact)
    return stream


RATE = f.Limited(trouble=f.Trouble.RATE, text="429")
CASES = {
    "works": (of(f.Said(text="x")), FINE, None),
    "is silent for a while": (of(), replace(FINE, fact_at=NOW - 59_999), None),
    "is silent for too long": (of(), replace(FINE, fact_at=NOW - 60_000), Verdict.HUNG),
    "waits for an answer": (of(), replace(FINE, fact_at=NOW - 90_000, waits=True), None),
    "has a slow tool": (of(f.Used(tool="x")), replace(FINE, fact_at=NOW - 60_000), None),
    "has a tool that hangs": (
        of(f.Used(tool="x")),
        replace(FINE, fact_at=NOW - 360_000),
        Verdict.HUNG,
    ),
    "waits for a limit": (of(RATE), replace(FINE, limited_at=NOW - 29_999), None),
    "waits for a limit for too long": (
        of(RATE),
        replace(FINE, limited_at=NOW - 30_000),
        Verdict.LIMITED,
    ),
    "is to come back in an hour": (of(replace(RATE, retry_s=3600.0)), FINE, Verdict.LIMITED),
    "is to come back on Monday": (
        of(replace(RATE, reset_at=NOW + 86_400_000)),
        FINE,
        Verdict.LIMITED,
    ),
    "is to come back soon": (of(replace(RATE, retry_s=5.0)), FINE, None),
    "is cut off for too long": (
        of(f.Limited(trouble=f.Trouble.NETWORK)),
        replace(FINE, limited_at=NOW - 30_000),
        Verdict.UPSTREAM,
    ),
    "asks": (of(f.Asked(text="?")), replace(FINE, fact_at=NOW - 80_000), None),
    "asks for too long": (
        of(f.Asked(text="?")),
        replace(FINE, asked_at=NOW - 90_000),
        Verdict.NEEDS_ANSWER,
    ),
    "has room": (of(f.Window(used=89, size=100)), FINE, None),
    "is full": (of(f.Window(used=90, size=100)), FINE, Verdict.HANDED_OVER),
    "nobody knows how full it is": (of(f.Window(used=10**9)), FINE, None),
    "made room itself": (of(f.Window(used=95, size=100), f.Compacted()), FINE, None),
    "has spent too much": (of(), replace(FINE, over="$1 of $1"), Verdict.OVER_BUDGET),
    "uses the required model": (of(f.Began(model="big-1")), FINE, None),
    "uses another model": (of(f.Began(model="small")), FINE, Verdict.WRONG_MODEL),
    "has finished": (
        of(f.Began(model="small"), f.Finished()),
        replace(FINE, fact_at=NOW - 59_999, over="$2 of $1"),
        None,
    ),
    "has finished and does not end": (
        of(f.Finished()),
        replace(FINE, fact_at=NOW - 60_000),
        RESULT,
    ),
    "has finished in trouble": (
        of(f.Finished(trouble=f.Trouble.OVERFLOW)),
        replace(FINE, finished_at=NOW - 29_999),
        None,
    ),
    "has finished in trouble and goes on and on": (
        of(f.Finished(trouble=f.Trouble.OVERFLOW)),
        replace(FINE, finished_at=NOW - 30_000),
        Verdict.OVERFLOW,
    ),
    "starts": (of(), replace(FINE, begun=False, fact_at=NOW - 79_999), None),
    "does not start": (of(), replace(FINE, begun=False, fact_at=NOW - 80_000), Verdict.HUNG),
    "waits for its model, as the relay sees": (
        of(f.Turn(model=False), f.Turn(model=True)),
        replace(FINE, fact_at=NOW - 60_000),
        Verdict.HUNG,
    ),
    "has its own turn, as the relay sees": (
        of(f.Turn(model=True), f.Turn(model=False)),
        replace(FINE, fact_at=NOW - 60_000),
        None,
    ),
    "is refused again and again": (
        of(f.Limited(trouble=f.Trouble.AUTH), f.Turn(model=True)),
        replace(FINE, limited_at=NOW - 30_000),
        Verdict.REFUSED,
    ),
    "is answered after all": (
        of(f.Limited(trouble=f.Trouble.AUTH), f.Turn(model=True, heard=True)),
        replace(FINE, limited_at=NOW - 30_000),
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_steps_in_at_the_bound_and_not_before(name: str) -> None:
    stream, seen, verdict = CASES[name]
    found = step(stream, seen, BOUNDS)
    assert (found.verdict if found else None) == verdict


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is None])
def test_it_is_due_only_when_something_may_have_to_be_done(name: str) -> None:
    """A due time in the past that leads to no action would keep the witness awake forever."""
    stream, seen, _ = CASES[name]
    at = due_at(stream, seen, BOUNDS)
    assert at > NOW
    if stream.finished is None and stream.limited is None and not seen.waits:
        assert step(stream, replace(seen, now=at), BOUNDS) is not None


def test_a_loop_is_alarmed_about_and_then_ended_if_the_tree_stays_the_same() -> None:
    loop, alarms = Loop(), []
    for repeats in range(40):
        found = watch_loop(loop, repeats, "tree", BOUNDS)
        loop = found.loop
        alarms += [repeats] if found.alarm else []
        if found.stop:
            break
    assert (alarms, repeats) == ([5], 10)


def test_a_tree_that_changes_is_no_loop_however_often_a_call_is_made() -> None:
    loop = Loop()
    for repeats in range(100):
        found = watch_loop(loop, repeats, f"tree {repeats // 4}", BOUNDS)
        assert not found.alarm
        assert not found.stop
        loop = found.loop


def test_the_count_starts_again_after_a_different_call() -> None:
    found = watch_loop(Loop("tree", since=9, alarmed=True), 1, "tree", BOUNDS)
    assert found.loop == Loop("tree", since=1)


def test_models_are_matched_by_pattern() -> None:
    assert model_allowed("anything", ())
    assert model_allowed("claude-opus-9", ("claude-opus-*", "gpt-6"))
    assert not model_allowed("claude-haiku", ("claude-opus-*", "gpt-6"))


def test_what_an_engine_said_in_several_lines_is_a_reason_in_one() -> None:
    limit = f.Limited(f.Trouble.RATE, text="Too many requests:\nplease slow down.\n")
    found = step(of(limit), replace(FINE, limited_at=NOW - 30_000), BOUNDS)
    assert found is not None
    assert found.text == "Too many requests: please slow down."

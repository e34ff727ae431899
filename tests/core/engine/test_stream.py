"""Facts add up to a summary of bounded size."""

from typing import get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from corral.core.engine import facts as f
from corral.core.engine.stream import CALLS, FILES, LONGEST, Stream, ToolCall, take

LONG = st.one_of(st.text(max_size=30), st.just("x" * 100_000), st.just("\x1b[31m" * 100))
ANY = st.one_of(
    st.builds(f.Began, session=LONG, model=LONG, version=LONG),
    st.builds(f.Said, text=LONG),
    st.builds(f.Used, tool=LONG, what=LONG, paths=st.lists(LONG, max_size=60).map(tuple)),
    st.builds(f.Answered, text=LONG, ok=st.booleans()),
    st.builds(f.Spent, fresh=st.integers(0, 99), model=LONG),
    st.builds(f.Window, used=st.integers(-5, 200), size=st.integers(-5, 200)),
    st.just(f.Compacted()),
    st.builds(f.Turn, model=st.booleans(), heard=st.booleans()),
    st.builds(f.Limited, trouble=st.sampled_from(f.Trouble), text=LONG),
    st.builds(f.Asked, text=LONG, options=st.lists(LONG, max_size=20).map(tuple)),
    st.builds(f.Told, text=LONG),
    st.just(f.Ready()),
    st.builds(f.Denied, tool=LONG),
    st.builds(f.Finished, text=LONG),
)


def of(*facts: f.Fact) -> Stream:
    stream = Stream()
    for fact in facts:
        stream = take(stream, fact)
    return stream


@given(st.lists(ANY, max_size=40))
def test_a_summary_is_bounded_whatever_is_said(facts: list[f.Fact]) -> None:
    stream = of(*facts)
    assert len(msgspec.json.encode(stream)) < 6 * (
        (CALLS + 2) * 1000 + FILES * 400 + 3 * LONGEST + 10 * 400
    )
    assert len(stream.calls) <= CALLS
    assert len(stream.files) <= FILES
    assert stream.full >= 0


def test_every_kind_of_fact_is_taken() -> None:
    kinds = {type(example) for example in EXAMPLES}
    assert kinds == set(get_args(f.AnyFact))
    of(*EXAMPLES)


EXAMPLES: list[f.Fact] = [
    f.Began(),
    f.Said(text="a"),
    f.Used(tool="t"),
    f.Answered(),
    f.Spent(),
    f.Window(used=1),
    f.Compacted(),
    f.Ready(),
    f.Turn(model=True, heard=True),
    f.Limited(trouble=f.Trouble.RATE),
    f.Asked(text="?"),
    f.Told(text="!"),
    f.Denied(tool="t"),
    f.Finished(),
]


def test_a_limit_is_over_once_the_engine_goes_on_but_it_is_remembered() -> None:
    limit = f.Limited(trouble=f.Trouble.RATE, retry_s=2)
    assert of(limit).limited == limit
    went_on = of(limit, f.Said(text="hello"))
    assert (went_on.limited, went_on.last_limit, went_on.limits) == (None, limit, 1)


def test_a_question_is_over_once_it_is_answered() -> None:
    asked = f.Asked(text="May I?")
    assert of(asked).asked is not None
    assert of(asked, f.Told(text="yes")).asked is None
    assert of(asked, f.Used(tool="bash")).asked is None
    assert of(asked, f.Finished()).asked is not None


def test_calls_in_a_row_are_counted_also_two_and_three_by_turns() -> None:
    one, two, three = (f.Used(tool="bash", what=what) for what in "abc")
    assert of(*[one] * 8).repeats == 7
    assert of(*[one, two] * 8).repeats == 7
    assert of(*[one, two, three] * 8).repeats == 7
    assert of(*[one] * 8, two).repeats == 0
    assert of(*(f.Used(tool="bash", what=str(n)) for n in range(50))).repeats == 0


def test_a_tool_is_busy_until_it_answers() -> None:
    call = f.Used(tool="bash", what="make")
    assert of(call).busy
    answered = of(call, f.Answered(ok=False))
    assert (answered.busy, answered.calls[-1]) == (False, ToolCall("bash", "make", ok=False))


def test_spending_is_of_the_model_that_began_unless_it_says_otherwise() -> None:
    stream = of(f.Began(model="m"), f.Spent(fresh=1), f.Spent(fresh=2, total=True))
    assert (stream.bill.fresh, stream.turns, stream.model) == (2, 1, "m")


def test_it_is_known_whether_an_engine_reacted_and_whether_it_is_between_turns() -> None:
    assert not of(f.Began(session="s"), f.Finished(trouble=f.Trouble.AUTH)).heard
    for fact in (f.Said(text="a"), f.Used(tool="t"), f.Spent(), f.Told(text="a"), f.Finished()):
        assert of(f.Began(session="s"), fact).heard
    assert of(f.Said(text="a"), f.Ready()).ready
    assert not of(f.Ready(), f.Told(text="a")).ready

"""When a session must stop and why; a silent one is questioned first, words are no output."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core.ids import SessionId, TaskId, Token
from corral.core.log.state import Session
from corral.core.session.pulse import (
    LOOK_BEATS,
    STOP_BEATS,
    Alerts,
    Note,
    Signs,
    Stop,
    pulse,
    read_note,
)

NOW = 1_700_000_000_000
BEAT_S = 10
FINE = Alerts()
LOOK = Alerts("silent for two beats; its last words: hm", None)
STOP = Stop("silent", "silent for 30 s; its last words: hm")
BARREN = Alerts("", "alive, but no output for 8 beats; it says: hm")
HUNG = Stop("hung", "no output from its model for 600 s")
LATE = Stop("timed_out", "it ran past its time limit")
HANDED_IN = Stop("result", "it wrote results.json")


def session(**more: Any) -> Session:
    values = {"wall_s": 0, "started_at": NOW - 60_000, **more}
    return Session(
        SessionId("AF-1.1"), TaskId("AF-1"), Token("3"), "default", "", "b", "a" * 40, **values
    )


def after(heard: float, made: float = 0, barren_beats: int = 8, **more: Any) -> Stop | Alerts:
    """Return the pulse of a session whose last words and output were this many beats ago."""
    signs = Signs(NOW, NOW - int(heard * BEAT_S * 1000), NOW - int(made * BEAT_S * 1000))
    return pulse(session(**more), signs, BEAT_S, barren_beats, lambda: "hm")


@pytest.mark.parametrize(
    ("heard", "made", "found"),
    [
        (0, 0, FINE),
        (1.999, 7.999, FINE),
        (2, 2, LOOK),
        (2.999, 2.999, LOOK),
        (3, 3, STOP),
        (3000, 3000, STOP),
        (0, 8, BARREN),
        (1.999, 800, BARREN),
        (2, 8, LOOK),
        (3, 8, STOP),
        (3, 0, FINE),
        (-5, -5, FINE),
    ],
)
def test_two_silent_beats_are_looked_at_three_end_it_and_many_barren_ones_are_an_alarm(
    heard: float, made: float, found: Stop | Alerts
) -> None:
    assert after(heard, made) == found


def test_the_alarm_about_outputs_can_be_turned_off_but_not_the_one_about_silence() -> None:
    assert after(0, made=10_000, barren_beats=0) == FINE
    assert after(2, made=10_000, barren_beats=0) == LOOK
    assert after(3, made=10_000, barren_beats=0) == STOP


def test_progress_and_the_end_of_a_wait_are_signs_of_life_and_outputs_are_not_silence() -> None:
    assert after(3, 8, progress_at=NOW, progress="at it") == Alerts(
        "", "alive, but no output for 8 beats; it says: at it"
    )
    assert after(3, 8, progress_at=NOW, outputs_at=NOW) == FINE
    assert after(3, 8, waited_at=NOW) == FINE


def test_a_session_that_waits_for_somebody_else_may_be_silent_but_not_run_too_long() -> None:
    asks = Signs(NOW, 0, 0, asks=True)
    assert pulse(session(), asks, BEAT_S, 8, str) == FINE
    assert after(3000, 3000, waits="m-7") == FINE
    assert pulse(session(wall_s=1), asks, BEAT_S, 8, str) == LATE


def test_the_shim_has_half_a_minute_to_enforce_the_time_limit_before_the_witness_does() -> None:
    assert after(0, wall_s=30) == FINE
    assert after(0, wall_s=29) == LATE


def test_a_result_counts_before_the_engine_and_that_before_the_clock() -> None:
    late = session(wall_s=1)

    def found(**more: Any) -> Stop | Alerts:
        return pulse(late, Signs(NOW, 0, 0, **more), BEAT_S, 8, str)

    assert found() == LATE
    assert found(engine=HUNG) == HUNG
    assert found(engine=HUNG, handed_in=True) == HANDED_IN


@given(st.integers(-100_000, 100_000), st.integers(0, 100_000), st.integers(1, 20))
def test_silence_is_only_ever_judged_more_severely(silent: int, more: int, barren: int) -> None:
    def severity(heard_at: int) -> int:
        found = pulse(session(), Signs(NOW, heard_at, 0), BEAT_S, barren, str)
        return 2 if isinstance(found, Stop) else bool(found.silent)

    assert severity(NOW - silent) <= severity(NOW - silent - more)


def test_no_session_is_stopped_without_an_earlier_alert() -> None:
    assert LOOK_BEATS < STOP_BEATS


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("12:30 - wrote the parser [outputs: 2]", Note("12:30 - wrote the parser", 2)),
        ("  12:30 - wrote it [outputs:2]  \n", Note("12:30 - wrote it", 2)),
        ("[outputs: 7]", Note("", 7)),
        ("still working", Note("still working", 0)),
        ("about [outputs: 1] and more [outputs: 3]", Note("about [outputs: 1] and more", 3)),
        ("many [outputs: -1]", Note("many [outputs: -1]", 0)),
        ("many [outputs: ٣]", Note("many [outputs: ٣]", 0)),
        ("many [outputs: 99999999999]", Note("many [outputs: 99999999999]", 0)),
        ("", None),
        (" \t\n", None),
    ],
)
def test_a_line_of_progress_has_a_sentence_and_a_number_of_outputs(
    line: str, note: Note | None
) -> None:
    assert read_note(line) == note


@given(st.text())
def test_whatever_a_session_writes_can_be_read(line: str) -> None:
    note = read_note(line)
    assert (note is None) == (not line.strip())
    assert note is None or 0 <= note.outputs < 10**9

"""A silent session is questioned, then ended; words without output raise their own alert."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core.session.beats import LOOK_BEATS, STOP_BEATS, Note, Pulse, Signs, pulse, read_note

NOW = 1_700_000_000_000
BEAT_S = 10


def after(heard: float, made: float = 0, barren_beats: int = 8) -> Pulse:
    """Return the pulse of a session whose last words and output were this many beats ago."""
    signs = Signs(NOW - int(heard * BEAT_S * 1000), NOW - int(made * BEAT_S * 1000))
    return pulse(signs, NOW, BEAT_S, barren_beats)


@pytest.mark.parametrize(
    ("heard", "made", "found"),
    [
        (0, 0, Pulse.FINE),
        (1.999, 7.999, Pulse.FINE),
        (2, 2, Pulse.LOOK),
        (2.999, 2.999, Pulse.LOOK),
        (3, 3, Pulse.STOP),
        (3000, 3000, Pulse.STOP),
        (0, 8, Pulse.BARREN),
        (1.999, 800, Pulse.BARREN),
        (2, 8, Pulse.LOOK),
        (3, 8, Pulse.STOP),
        (-5, -5, Pulse.FINE),
    ],
)
def test_two_silent_beats_are_looked_at_three_end_it_and_many_barren_ones_are_an_alarm(
    heard: float, made: float, found: Pulse
) -> None:
    assert after(heard, made) is found


def test_the_alarm_about_outputs_can_be_turned_off_but_not_the_one_about_silence() -> None:
    assert after(0, made=10_000, barren_beats=0) is Pulse.FINE
    assert after(2, made=10_000, barren_beats=0) is Pulse.LOOK
    assert after(3, made=10_000, barren_beats=0) is Pulse.STOP


@given(st.integers(-100_000, 100_000), st.integers(0, 100_000), st.integers(1, 20))
def test_silence_is_only_ever_judged_more_severely(silent: int, more: int, barren: int) -> None:
    order = {Pulse.FINE: 0, Pulse.BARREN: 0, Pulse.LOOK: 1, Pulse.STOP: 2}
    signs, later = Signs(NOW - silent, NOW), Signs(NOW - silent - more, NOW)
    assert order[pulse(signs, NOW, BEAT_S, barren)] <= order[pulse(later, NOW, BEAT_S, barren)]


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

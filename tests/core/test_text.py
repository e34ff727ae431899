"""Text from outside is bounded and safe to print, or refused in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core import text
from corral.core.errors import BadInput

CONTROL = ["\0", "\x07", "\x1b[31m", "\r", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ue000"]


@pytest.mark.parametrize("bad", CONTROL)
def test_a_line_with_a_control_or_invisible_character_is_refused(bad: str) -> None:
    with pytest.raises(BadInput, match=rf"^the title .*U\+{ord(bad[0]):04X} at character 5:"):
        text.line(f"safe{bad}", "the title")


@pytest.mark.parametrize("bad", [*CONTROL, "\v", "\f"])
def test_prose_keeps_newlines_and_tabs_but_nothing_else_that_is_invisible(bad: str) -> None:
    assert text.prose("a\n\tb", "the brief", 10) == "a\n\tb"
    with pytest.raises(BadInput):
        text.prose(f"a{bad}", "the brief", 100)


@pytest.mark.parametrize("bad", ["\n", "\t"])
def test_a_line_is_one_line(bad: str) -> None:
    with pytest.raises(BadInput):
        text.line(f"a{bad}b", "the title")


def test_a_lone_surrogate_is_called_what_it_is() -> None:
    with pytest.raises(BadInput, match="not valid UTF-8 at character 2"):
        text.line("a\udcff", "the title")


@pytest.mark.parametrize(
    "good", ["👩\u200d💻 works", "a\u00a0b", "naïve – × ’", "语言", "a\u3000b"]
)
def test_what_people_really_write_is_kept(good: str) -> None:
    assert text.line(good, "the title") == good


def test_a_line_loses_the_blanks_at_its_ends() -> None:
    assert text.line("  a b ", "the title") == "a b"


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
def test_an_empty_line_is_refused_unless_it_may_be_empty(blank: str) -> None:
    assert text.line(blank, "the reason", empty=True) == ""
    with pytest.raises(BadInput, match="the title is empty"):
        text.line(blank, "the title")


def test_a_megabyte_is_refused_with_its_length_and_not_repeated() -> None:
    with pytest.raises(BadInput, match="1,000,000 characters: at most 200") as caught:
        text.line("x" * 1_000_000, "the title", text.TITLE)
    assert len(caught.value.message) < 200


def test_the_longest_allowed_line_passes_and_one_more_does_not() -> None:
    assert text.line("x" * 200, "the title", text.TITLE) == "x" * 200
    with pytest.raises(BadInput):
        text.line("x" * 201, "the title", text.TITLE)


def test_a_list_keeps_its_order_and_drops_repetitions() -> None:
    assert text.lines(("b", "a ", "b", "a"), "a check") == ("b", "a")


def test_a_list_is_bounded() -> None:
    assert len(text.lines(tuple(map(str, range(text.ITEMS))), "a check")) == text.ITEMS
    with pytest.raises(BadInput, match="at most 200"):
        text.lines(("a",) * (text.ITEMS + 1), "a check")


@pytest.mark.parametrize("value", [-1, 11])
def test_a_number_out_of_bounds_is_refused_with_the_bounds(value: int) -> None:
    with pytest.raises(BadInput, match=f"the priority is {value}: it must be between 0 and 10"):
        text.number(value, "the priority", 0, 10)


@pytest.mark.parametrize("value", [0, 10])
def test_the_bounds_themselves_are_allowed(value: int) -> None:
    assert text.number(value, "the priority", 0, 10) == value


@given(st.text())
def test_a_message_never_carries_what_a_terminal_would_obey(value: str) -> None:
    shown = text.printable(value)
    assert shown.isprintable()
    assert len(shown) <= 80


@given(st.text(max_size=300))
def test_what_passes_is_unchanged_by_passing_again(value: str) -> None:
    try:
        once = text.line(value, "the title", text.TITLE)
    except BadInput:
        return
    assert text.line(once, "the title", text.TITLE) == once
    assert "\n" not in once
    assert once.encode()


def test_what_a_terminal_obeys_is_taken_out_of_words() -> None:
    said = "\x1b[1;31mno\x1b[0m \x1b]8;;javascript:x\x07link\x1b]8;;\x1b\\ \x1b(Bway\x1b"
    assert text.unstyled(said) == "no link way"
    assert text.cut(said, 10) == "no link w…"
    assert text.unstyled("[32m stays") == "[32m stays"

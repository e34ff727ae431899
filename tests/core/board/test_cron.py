"""Cron expressions, checked against an independent scan of every minute."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.board.cron import parse, shown
from corral.core.errors import BadInput

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def ms(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 1000  # type: ignore[arg-type,misc]  # a date


def suits(word: str, value: int, least: int, most: int) -> bool:
    """Say whether one field of a line has the value, by the words of the manual page."""
    for item in word.split(","):
        span, _, step = item.partition("/")
        low, _, high = (f"{least}-{most}" if span == "*" else span).partition("-")
        if value in range(int(low), int(high or low) + 1, int(step or 1)):
            return True
    return False


def is_date(line: str, when: datetime) -> bool:
    minute, hour, day, month, weekday = line.split()
    by_day = suits(day, when.day, 1, 31)
    sunday_is = [0, 7] if when.isoweekday() == 7 else [when.isoweekday()]
    by_weekday = any(suits(weekday, number, 0, 7) for number in sunday_is)
    both = day.startswith("*") or weekday.startswith("*")
    return (
        suits(minute, when.minute, 0, 59)
        and suits(hour, when.hour, 0, 23)
        and suits(month, when.month, 1, 12)
        and (by_day and by_weekday if both else by_day or by_weekday)
    )


@st.composite
def fields(draw: st.DrawFn, least: int, most: int) -> str:
    def item() -> str:
        low = draw(st.integers(least, most))
        high = draw(st.integers(low, most))
        step = draw(st.integers(1, most))
        forms = [str(low), f"{low}-{high}", f"{low}-{high}/{step}", "*", f"*/{step}"]
        return draw(st.sampled_from(forms))

    return ",".join(item() for _ in range(draw(st.integers(1, 3))))


LINES = st.builds(lambda *words: " ".join(words), *(fields(low, high) for low, high in BOUNDS))
MOMENTS = st.datetimes(datetime(2023, 12, 1), datetime(2028, 4, 1), timezones=st.just(UTC))


@settings(max_examples=200, deadline=None)
@given(LINES, MOMENTS, st.integers(1, 3 * 1440))
def test_the_dates_between_two_moments_are_those_of_a_scan(
    line: str, start: datetime, minutes: int
) -> None:
    try:
        cron = parse(line)
    except BadInput as error:
        assert "no such day exists" in error.message  # noqa: PT017 - only this refusal is right
        return
    whole = start.replace(second=0, microsecond=0)
    scanned = [
        int(when.timestamp()) * 1000
        for when in (whole + timedelta(minutes=n) for n in range(1, minutes + 1))
        if is_date(line, when)
    ]
    at, found = int(start.timestamp() * 1000), []
    end = int(whole.timestamp()) * 1000 + minutes * 60_000
    while (at := cron.after(at) or end + 1) <= end:
        found.append(at)
        assert cron.until(at) == at
        assert cron.until(at + 59_999) == at
    assert found == scanned
    back = end
    while (at_or_none := cron.until(back)) is not None and at_or_none > int(
        start.timestamp() * 1000
    ):
        assert at_or_none == found.pop()
        back = at_or_none - 1
    assert not found


@settings(max_examples=60, deadline=None)
@given(fields(1, 31), fields(1, 12), fields(0, 7), st.integers(1970, 2110))
def test_the_days_of_years_are_those_of_a_scan(
    day: str, month: str, weekday: str, year: int
) -> None:
    line = f"7 4 {day} {month} {weekday}"
    try:
        cron = parse(line)
    except BadInput:
        assert not suits(day, 1, 1, 31)
        return
    first = datetime(year, 1, 1, 4, 7, tzinfo=UTC)
    scanned = [
        int(when.timestamp()) * 1000
        for when in (first + timedelta(days=n) for n in range(9 * 366))
        if is_date(line, when)
    ]
    at, found = ms(year, 1, 1) - 1, []
    while (after := cron.after(at)) is not None and after <= ms(year, 1, 1) + 9 * 366 * 86_400_000:
        found.append(at := after)
    assert found == [date for date in scanned if date <= at]
    assert len(scanned) - len(found) <= 1


@pytest.mark.parametrize(
    ("line", "after", "expected"),
    [
        ("0 3 * * 1-5", (2026, 2, 28, 12, 0), (2026, 3, 2, 3, 0)),  # Saturday → Monday
        ("0 0 29 2 *", (2096, 3, 1), (2104, 2, 29)),  # 2100 is no leap year
        ("0 0 29 2 */7", (2088, 3, 1), (2128, 2, 29)),  # both day fields, 40 years later
        ("0 0 13 * 5", (2026, 2, 1), (2026, 2, 6)),  # the 13th or a Friday
        ("0 0 */13 * 5", (2026, 2, 1), (2026, 2, 27)),  # the 1st, 14th or 27th, if a Friday
        ("30 4 1,15 jan-MAR Sun", (2026, 1, 1, 4, 30), (2026, 1, 4, 4, 30)),
        ("0 0 * * fri-sun", (2026, 3, 2), (2026, 3, 6)),
        ("5-59/20 22-23 * * *", (2026, 1, 1, 22, 25), (2026, 1, 1, 22, 45)),
        ("@daily", (2026, 12, 31, 0, 0), (2027, 1, 1, 0, 0)),
        (" @HOURLY ", (2026, 1, 1, 0, 59), (2026, 1, 1, 1, 0)),
        ("@weekly", (2026, 3, 1), (2026, 3, 8)),
        ("@monthly", (2026, 1, 31), (2026, 2, 1)),
        ("@yearly", (2026, 1, 1), (2027, 1, 1)),
    ],
)
def test_the_next_date(line: str, after: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert parse(line).after(ms(*after)) == ms(*expected)


def test_names_are_numbers() -> None:
    for number, name in enumerate(MONTHS, 1):
        assert parse(f"0 0 1 {name} *") == parse(f"0 0 1 {number} *")
    for number, name in enumerate(DAYS):
        assert parse(f"0 0 * * {name}") == parse(f"0 0 * * {number}")
    assert parse("0 0 * * 7") == parse("0 0 * * 0")


def test_the_calendar_ends_quietly() -> None:
    assert parse("0 0 1 1 *").after(ms(9999, 6, 1)) is None
    assert parse("0 0 1 1 *").until(-62_135_596_800_000 - 1) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "has 0 fields instead of 5"),
        ("0 3 * *", "has 4 fields instead of 5"),
        ("0 3 * * * *", "has 6 fields instead of 5"),
        ("60 * * * *", "the minute '60' of the cron line is not a number from 0 to 59"),
        ("* 24 * * *", "the hour '24'"),
        ("* * 0 * *", "the day '0'"),
        ("* * * 13 *", "the month '13'"),
        ("* * * foo *", "or a name like feb"),
        ("* * * * 8", "the weekday '8'"),
        ("mon * * * *", "the minute 'mon'"),
        ("5-3 * * * *", "is reversed"),
        ("*/0 * * * *", "the step '0'"),
        ("*/60 * * * *", "the step '60'"),
        ("5/10 * * * *", "has a step but no range"),
        ("*/ * * * *", "the step ''"),
        ("1,,2 * * * *", "the minute ''"),
        ("-1 * * * *", "the minute ''"),
        ("*-5 * * * *", "the minute '*'"),
        ("1-2-3 * * * *", "the minute '2-3'"),
        ("٣ * * * *", "the minute '٣'"),
        ("0 0 30 2 *", "no such day exists"),
        ("0 0 31 4,6,9,11 *", "no such day exists"),
        ("@reboot", "the cron line @reboot is not known"),
    ],
)
def test_a_bad_line_gets_one_clear_sentence(line: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(line)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


@given(st.text(max_size=40))
def test_no_text_does_anything_else_than_parse_or_be_refused(line: str) -> None:
    try:
        assert parse(line).after(0) is not None
    except BadInput as error:
        assert error.message.isprintable()  # noqa: PT017 - either way is right


def test_a_date_is_shown_to_the_minute() -> None:
    assert shown(ms(2026, 3, 2, 3, 0)) == "2026-03-02 03:00 UTC"

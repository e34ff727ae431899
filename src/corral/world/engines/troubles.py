"""Classifies errors by HTTP status or by words.

Wording comes last: others own it and may change it. A text that matches nothing is `OTHER`, never
success.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from corral.core.engine.facts import Trouble

_WORDS = {
    trouble: re.compile(words, re.IGNORECASE)
    for trouble, words in {
        Trouble.OVERFLOW: (
            r"context.?(length|window|limit)|prompt is too long|prompt_too_long|maximum context"
            r"|exceeds the maximum number of tokens|too many tokens|token limit|ContextOverflow"
        ),
        Trouble.QUOTA: (
            r"quota|usage limit|credit balance|billing|out of credits|session limit"
            r"|weekly limit|insufficient.?(funds|balance)|hit your (\w+ )?limit"
            r"|(?<!rate )(?<!rate-)limit reached"
        ),
        Trouble.SESSION: (
            r"no conversation found|session .{0,60}not found|no (such |saved )?session"
            r"|no rollout found|thread .{0,60}not found|invalid session|error resuming"
        ),
        Trouble.RATE: r"rate.?limit|too many requests|\b429\b|resource.?exhausted|RateLimit",
        Trouble.OVERLOAD: r"overloaded|\b529\b|at capacity|server is busy",
        Trouble.AUTH: (
            r"\b401\b|unauthori[sz]ed|authentication|api key|api_key|not logged in|/login\b"
            r"|credentials|\b403\b|forbidden"
        ),
        Trouble.NETWORK: (
            r"ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|timed? ?out|timeout|fetch failed|socket"
            r"|error decoding|unexpected EOF"
            r"|connection (error|refused|reset|closed)|APIConnection|disconnected|premature close"
            r"|terminated|unable to connect|stream (error|ended|closed)|\b50[0-9]\b|network"
            r"|internal server|bad gateway|InternalServerError|ServiceUnavailable"
            # Codex says this for any 5xx, whatever the server said.
            r"|experiencing high demand"
        ),
        Trouble.BUDGET: r"max.?turns|max.?budget|budget.?exhausted",
        Trouble.REQUEST: r"\b4\d\d\b|invalid.?request|bad request",
    }.items()
}
_STATUSES = {
    **dict.fromkeys((401, 403), Trouble.AUTH),
    402: Trouble.QUOTA,
    408: Trouble.NETWORK,
    413: Trouble.OVERFLOW,
    429: Trouble.RATE,
    **dict.fromkeys((503, 529), Trouble.OVERLOAD),
}

_UNITS = {"ms": 0.001, "d": 86_400, "h": 3600, "m": 60, "s": 1}
_AMOUNT = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_DURATION = re.compile(rf"(?:{_AMOUNT.pattern}[\s,]*(?:and\s+)?)+", re.IGNORECASE)
_RETRY = re.compile(
    rf"(?:retry|try again|retrying|wait|resets?)[^.\n]{{0,40}}?({_DURATION.pattern})", re.IGNORECASE
)
_EPOCH = re.compile(r"(?:limit|reset)\D{0,40}?\b(1\d{9})(\d{3})?\b", re.IGNORECASE)
_DATE = re.compile(
    r"(?:limit|resets?|again|until)\D{0,40}?"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)?)"
)
# "resets 3pm (Europe/Berlin)", "try again at Nov 20th, 2026 3:14 PM"
_CLOCK = re.compile(
    r"(?:resets?|again)(?: at| on)? (?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:st|nd|rd|th)?,?"
    r"(?: (?P<year>\d{4}),?)?(?: at)? )?(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap])m\b"
    r"(?: \((?P<zone>[\w/+-]+)\))?",
    re.IGNORECASE,
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def trouble_of(status: int | None, text: str) -> Trouble:
    """Classify an error: by its words where they are more precise than the status."""
    by_words = next((trouble for trouble, words in _WORDS.items() if words.search(text)), None)
    if status is None or status < 400:
        return by_words or Trouble.OTHER
    if by_words in (Trouble.OVERFLOW, Trouble.QUOTA) and status in (400, 402, 403, 413, 429):
        return by_words
    return _STATUSES.get(status, Trouble.NETWORK if status >= 500 else Trouble.REQUEST)


def retry_of(text: str) -> float | None:
    """Return the retry delay in a text, in seconds: "in 2 days 3 hours", "after 17h7m47s"."""
    found = _RETRY.search(text)
    return duration_of(found.group(1)) if found else None


def duration_of(text: str) -> float | None:
    """Return the seconds of a text that is only a duration: "6m0s", "1 hour and 2 minutes"."""
    if not _DURATION.fullmatch(text):
        return None
    parts = ((number, unit.lower()) for number, unit in _AMOUNT.findall(text))
    milli = ("ms", "milli")
    return sum(float(n) * _UNITS["ms" if u.startswith(milli) else u[0]] for n, u in parts)


def reset_of(text: str, now: datetime | None = None) -> int | None:
    """Return when a limit ends, in milliseconds since the epoch, if a text says so.

    A time of day means its next occurrence; without a zone, in the local one.
    """
    if found := _EPOCH.search(text):
        return int(found.group(1) + (found.group(2) or "000"))
    try:
        if found := _DATE.search(text):
            return ms_of(datetime.fromisoformat(found.group(1)))
        return ms_of(_next(found, now)) if (found := _CLOCK.search(text)) else None
    except (ValueError, KeyError):
        return None  # no such day, hour or zone


def _next(said: re.Match[str], now: datetime | None) -> datetime:
    zone: tzinfo | None = ZoneInfo(said["zone"]) if said["zone"] else None
    now = (now or datetime.now(UTC)).astimezone(zone)
    hour = int(said["hour"]) % 12 + (12 if said["half"].lower() == "p" else 0)
    at = now.replace(hour=hour, minute=int(said["minute"] or 0), second=0, microsecond=0)
    if not said["month"]:
        return at if at > now else at + timedelta(days=1)
    month = _MONTHS.index(said["month"].lower()) + 1
    at = at.replace(int(said["year"] or now.year), month, int(said["day"]))
    return at if at > now or said["year"] else at.replace(at.year + 1)


def ms_of(date: datetime) -> int:
    """Return a date in milliseconds since the epoch; without a zone, it is in UTC."""
    return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() * 1000)


def status_in(text: str) -> int | None:
    """Return the HTTP status that a text mentions, if any."""
    found = re.search(
        r"(?:status(?: ?code)?|HTTP(?:/\d(?:\.\d)?)?|error(?: code)?|\bcode)\W{0,3}([45]\d\d)\b"
        r"|^\W*([45]\d\d)\b",
        text,
        re.IGNORECASE,
    )
    return int(found.group(1) or found.group(2)) if found else None

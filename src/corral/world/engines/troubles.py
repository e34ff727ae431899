"""What went wrong, from a status of HTTP or from words.

Words come last: they are other people's, and change. A text that fits nothing is `OTHER`, never
silently fine.
"""

import re

from corral.core.facts import Trouble

_WORDS: tuple[tuple[Trouble, re.Pattern[str]], ...] = tuple(
    (trouble, re.compile(words, re.IGNORECASE))
    for trouble, words in (
        (
            Trouble.OVERFLOW,
            r"context.?(length|window|limit)|prompt is too long|prompt_too_long|maximum context"
            r"|exceeds the maximum number of tokens|too many tokens|token limit|ContextOverflow",
        ),
        (
            Trouble.QUOTA,
            r"quota|usage limit|credit balance|billing|out of credits|session limit"
            r"|weekly limit|insufficient.?(funds|balance)",
        ),
        (
            Trouble.SESSION,
            r"no conversation found|session .{0,60}not found|no (such |saved )?session"
            r"|no rollout found|thread .{0,60}not found|invalid session|error resuming",
        ),
        (Trouble.RATE, r"rate.?limit|too many requests|\b429\b|resource.?exhausted|RateLimit"),
        (Trouble.OVERLOAD, r"overloaded|\b529\b|at capacity|server is busy"),
        (
            Trouble.AUTH,
            r"\b401\b|unauthori[sz]ed|authentication|api key|api_key|not logged in|/login\b"
            r"|credentials|\b403\b|forbidden",
        ),
        (
            Trouble.NETWORK,
            r"ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|timed? ?out|timeout|fetch failed|socket"
            r"|error decoding|unexpected EOF"
            r"|connection (error|refused|reset|closed)|APIConnection|disconnected|premature close"
            r"|terminated|unable to connect|stream (error|ended|closed)|\b50[0-9]\b|network"
            r"|internal server|bad gateway|InternalServerError|ServiceUnavailable"
            # Codex says so of any 5xx, whether the other side spoke of demand or not.
            r"|experiencing high demand",
        ),
        (Trouble.BUDGET, r"max.?turns|max.?budget|budget.?exhausted"),
        (Trouble.REQUEST, r"\b4\d\d\b|invalid.?request|bad request"),
    )
)

_RETRY = re.compile(
    r"(?:retry|try again|retrying|wait)[^.\n]{0,40}?(\d+(?:\.\d+)?)\s*"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "mi": 60, "m": 60, "h": 3600, "s": 1}


def trouble_of(status: int | None, text: str) -> Trouble:
    """Return what kind of trouble this is: by its words where they say more than the status."""
    by_words = next((trouble for trouble, words in _WORDS if words.search(text)), None)
    if status is None or status < 400:
        return by_words or Trouble.OTHER
    if by_words in (Trouble.OVERFLOW, Trouble.QUOTA) and status in (400, 402, 403, 413, 429):
        return by_words
    match status:
        case 401 | 403:
            return Trouble.AUTH
        case 402:
            return Trouble.QUOTA
        case 413:
            return Trouble.OVERFLOW
        case 429:
            return Trouble.RATE
        case 503 | 529:
            return Trouble.OVERLOAD
        case 408:
            return Trouble.NETWORK
    return Trouble.NETWORK if status >= 500 else Trouble.REQUEST


def retry_of(text: str) -> float | None:
    """Return the wait that a text asks for, in seconds."""
    found = _RETRY.search(text)
    if not found:
        return None
    unit = found.group(2).lower()
    if unit.startswith("milli"):
        unit = "ms"
    scale = _UNITS.get(unit[:2]) or _UNITS[unit[0]]
    return float(found.group(1)) * scale


def reset_of(text: str) -> int | None:
    """Return when a limit ends, in milliseconds since the epoch, if a text has that number."""
    found = re.search(r"(?:limit|reset)\D{0,40}?\b(1\d{9})(\d{3})?\b", text, re.IGNORECASE)
    return int(found.group(1) + (found.group(2) or "000")) if found else None


def status_in(text: str) -> int | None:
    """Return the status of HTTP that a text names, if it names one."""
    found = re.search(
        r"(?:status(?: ?code)?|HTTP(?:/\d(?:\.\d)?)?|error(?: code)?|\bcode)\W{0,3}([45]\d\d)\b"
        r"|^\W*([45]\d\d)\b",
        text,
        re.IGNORECASE,
    )
    return int(found.group(1) or found.group(2)) if found else None

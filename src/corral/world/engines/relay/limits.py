"""How long a rate limit lasts, according to the response that refused a request. Pure.

A delay meant for this request comes first. The reset time of a limit counts only if that limit is
exhausted. Times found in words come last.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

from corral.world.engines.troubles import duration_of, ms_of, reset_of, retry_of

_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')  # of Google's RetryInfo
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # larger numbers are dates, not delays
_TOO_MANY = 429


class Wait(Struct, frozen=True):
    """A delay in seconds, or a time in milliseconds since the epoch; None if not given."""

    retry_s: float | None = None
    reset_at: int | None = None


def wait_of(status: int, headers: Mapping[str, str], said: str) -> Wait:
    """Return how long to wait, from a response's headers (with lower-case names) and body."""
    return (
        _asked(headers)
        or (Wait(float(found.group(1))) if (found := _DELAY.search(said)) else None)
        or (_renewed(headers) if status == _TOO_MANY else None)
        or Wait(retry_of(said), reset_of(said))
    )


def _asked(headers: Mapping[str, str]) -> Wait | None:
    exact, after = (headers.get(name, "").strip() for name in ("retry-after-ms", "retry-after"))
    if _NUMBER.fullmatch(exact):
        return Wait(float(exact) / 1000)
    if _NUMBER.fullmatch(after):
        return Wait(float(after))
    try:
        return Wait(reset_at=ms_of(parsedate_to_datetime(after))) if after else None
    except ValueError:
        return None  # neither a number nor a date


def _renewed(headers: Mapping[str, str]) -> Wait | None:
    """Return when the last of the exhausted limits is reset."""
    found = [
        _time(value)
        for name, value in headers.items()
        if "ratelimit" in name and "reset" in name and _used_up(headers, name)
    ]
    dates = [one.reset_at for one in found if one.reset_at is not None]
    waits = [one.retry_s for one in found if one.retry_s is not None]
    if not dates and not waits:
        return None
    return Wait(max(waits, default=None), max(dates, default=None))


def _used_up(headers: Mapping[str, str], name: str) -> bool:
    left = headers.get(name.replace("reset", "remaining"))
    state = headers.get(name.replace("reset", "status"), "rejected")
    return (left is None or left.strip() in ("0", "0.0")) and state.strip() == "rejected"


def _time(value: str) -> Wait:
    value = value.strip()
    if _NUMBER.fullmatch(value):
        number = float(value)
        if number < _EPOCH_S:
            return Wait(number)
        return Wait(reset_at=int(number if number >= _EPOCH_MS else number * 1000))
    if (seconds := duration_of(value)) is not None:
        return Wait(seconds)
    try:
        return Wait(reset_at=ms_of(datetime.fromisoformat(value)))
    except ValueError:
        return Wait()

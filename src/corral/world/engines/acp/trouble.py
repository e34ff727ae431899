"""What an agent's errors mean. Agents agree on the protocol, but not on how to fail.

Some answer with a JSON-RPC error that holds an HTTP status, some with one that does not, some end
the turn as if all were well and say the error in words.
"""

import re
from typing import Any

from corral.core.facts import Finished, Trouble
from corral.world.engines.telling import shortened

_AUTH_REQUIRED, _NO_SUCH_RESOURCE = -32000, -32002

_BY_STATUS = {
    401: Trouble.AUTH,
    402: Trouble.QUOTA,
    403: Trouble.AUTH,
    408: Trouble.NETWORK,
    413: Trouble.OVERFLOW,
    429: Trouble.RATE,
    503: Trouble.OVERLOAD,
    529: Trouble.OVERLOAD,
}

# The first that fits. Overflow comes before what its HTTP status (400) would say.
_BY_WORDS = tuple(
    (re.compile(pattern, re.IGNORECASE), trouble)
    for pattern, trouble in (
        (
            r"context.{0,20}(window|length|limit)|prompt is too long|maximum context"
            r"|too many tokens|ran out of room|input is too long|exceeds the (model|maximum)",
            Trouble.OVERFLOW,
        ),
        (r"quota|usage limit|credit balance|billing|insufficient[_ ]funds", Trouble.QUOTA),
        (r"rate.?limit|too many requests|resource.?exhausted|\b429\b", Trouble.RATE),
        (r"overloaded|over capacity|\b529\b|\b503\b|service unavailable", Trouble.OVERLOAD),
        (
            r"authenticat|unauthori[sz]ed|invalid.{0,12}(api.?)?key|api.?key.{0,20}(invalid|missing)"
            r"|log ?in|permission_error|\b401\b|\b403\b",
            Trouble.AUTH,
        ),
        (r"max(imum)?[ _-]?(turns|budget)|budget (is )?exhausted", Trouble.BUDGET),
        (r"session.{0,40}(not found|unknown|does not exist)|no such session", Trouble.SESSION),
        (
            r"time.?d? ?out|ECONN|ENOTFOUND|EAI_AGAIN|socket hang up|fetch failed|connection"
            r"|network|disconnected|\b5\d\d\b|server.?error",
            Trouble.NETWORK,
        ),
        (r"\b4\d\d\b|bad request|invalid_request", Trouble.REQUEST),
    )
)
_BY_KIND = {  # of claude-agent-acp: data.errorKind
    "authentication_failed": Trouble.AUTH,
    "billing_error": Trouble.QUOTA,
    "rate_limit": Trouble.RATE,
    "overloaded": Trouble.OVERLOAD,
    "server_error": Trouble.NETWORK,
    "invalid_request": Trouble.REQUEST,
    "max_output_tokens": Trouble.BUDGET,
}
_STATUS = re.compile(
    r"(?:status|code|http|error)\D{0,12}\b([45]\d\d)\b|^\D{0,20}\b([45]\d\d)\b", re.I
)
_RETRY = re.compile(
    r"(?:retry|try again|reset)\w*\s*(?:after|in)?\D{0,6}(\d+(?:\.\d+)?)\s*(ms|s|m|h)?", re.I
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
# A turn that failed, told as if the model had said it: short, and it begins like an error.
_SAID_AS_ERROR = re.compile(
    r"\s*(?:[^\w\s]+\s*)?(?:(?:info|warning)\s*:\s*)?"
    r"(?:api |stream |request |execution |internal |model )*"
    r"(?:error|failed|failure|unexpected status|exceeded retry limit|codex ran out of room"
    r"|you.ve hit your|prompt is too long|unable to connect|sorry, )",
    re.IGNORECASE,
)
_LONGEST_ERROR = 1500


def of_error(code: int, message: str, data: Any) -> Finished:
    """Return what an error of the protocol means."""
    words = _words(message, data)
    status = _status_in(data) or (code if 400 <= code < 600 else None) or _status_of(words)
    kind = data.get("errorKind") if isinstance(data, dict) else None
    if isinstance(kind, str) and kind in _BY_KIND:
        trouble = _BY_KIND[kind]
    elif code == _AUTH_REQUIRED:
        trouble = Trouble.AUTH
    elif code == _NO_SUCH_RESOURCE:
        trouble = Trouble.SESSION
    else:
        trouble = _trouble(words, status)
    return _finished(trouble, words, status)


def of_text(text: str) -> Finished | None:
    """Return what the last words of a turn mean, if they are an error and not an answer."""
    if len(text) > _LONGEST_ERROR or not _SAID_AS_ERROR.match(text):
        return None
    status = _status_of(text)
    trouble = _trouble(text, status)
    # Words alone prove little: a model may well begin a sentence with "Error".
    return None if trouble is Trouble.OTHER else _finished(trouble, text, status)


def of_stop(reason: str) -> Finished:
    """Return what a turn's reason to stop means."""
    troubles = {
        "max_tokens": Trouble.BUDGET,
        "max_turn_requests": Trouble.BUDGET,
        "refusal": Trouble.REQUEST,
        "cancelled": Trouble.OTHER,
    }
    return Finished(trouble=troubles.get(reason), text=reason)


def of_crash(how: str, last_words: str) -> Finished:
    """Return what it means that an agent went away in the middle of something."""
    status = _status_of(last_words)
    words = f"{how}: {last_words}" if last_words else how
    kind = _trouble(last_words, status) if last_words else Trouble.OTHER
    # Only what the credentials or the quota explain; the rest of a stack trace proves nothing.
    known = kind in (Trouble.AUTH, Trouble.QUOTA, Trouble.RATE, Trouble.OVERLOAD)
    return _finished(kind if known else Trouble.OTHER, words, status if known else None)


def _finished(trouble: Trouble, words: str, status: int | None) -> Finished:
    return Finished(
        trouble=trouble, text=shortened(words, 500), status=status, retry_s=_retry_of(words)
    )


def _trouble(words: str, status: int | None) -> Trouble:
    overflow, kind = _BY_WORDS[0]
    if overflow.search(words):
        return kind
    if status in _BY_STATUS:
        named = _BY_STATUS[status]
        # A spent quota is told with the status of a rate limit.
        return Trouble.QUOTA if named is Trouble.RATE and _BY_WORDS[1][0].search(words) else named
    if status is not None:
        return Trouble.NETWORK if status >= 500 else Trouble.REQUEST
    return next((kind for pattern, kind in _BY_WORDS if pattern.search(words)), Trouble.OTHER)


def _words(message: str, data: Any) -> str:
    parts = [message]
    if isinstance(data, str):
        parts.append(data)
    elif isinstance(data, dict):
        parts += [str(data[key]) for key in ("message", "details", "error") if data.get(key)]
    return ": ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _status_in(data: Any) -> int | None:
    if isinstance(data, dict):
        for key in ("status", "statusCode", "code", "httpStatus"):
            value = data.get(key)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _status_of(words: str) -> int | None:
    found = _STATUS.search(words)
    return int(found[1] or found[2]) if found else None


def _retry_of(words: str) -> float | None:
    found = _RETRY.search(words)
    return float(found[1]) * _UNITS[(found[2] or "").lower()] if found else None

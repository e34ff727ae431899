"""Classifies an agent's errors. Agents agree on the protocol, but not on how to fail.

Some return a JSON-RPC error with an HTTP status, some one without, and some end the turn normally
and report the error as text.
"""

import re
from typing import Any

from corral.core.engine.facts import Finished, Trouble
from corral.world.engines.runners.emit import shortened
from corral.world.engines.troubles import retry_of, status_in, trouble_of

_AUTH_REQUIRED, _NO_SUCH_RESOURCE = -32000, -32002

_BY_KIND = {  # of claude-agent-acp: data.errorKind
    "authentication_failed": Trouble.AUTH,
    "billing_error": Trouble.QUOTA,
    "rate_limit": Trouble.RATE,
    "overloaded": Trouble.OVERLOAD,
    "server_error": Trouble.NETWORK,
    "invalid_request": Trouble.REQUEST,
    "max_output_tokens": Trouble.BUDGET,
}
# A failed turn, reported as if the model had said it: short, and it begins like an error.
_SAID_AS_ERROR = re.compile(
    r"\s*(?:[^\w\s]+\s*)?(?:(?:info|warning)\s*:\s*)?"
    r"(?:api |stream |request |execution |internal |model )*"
    r"(?:(?:error|failed|failure)\s*(?:[:(\[]|[45]\d\d\b)|unexpected status [45]"
    r"|exceeded retry limit|codex ran out of room|you.ve hit your|prompt is too long"
    r"|\{\"error\": ?\{|we.re currently experiencing high demand)",
    re.IGNORECASE,
)
_LONGEST_ERROR = 1500


def of_error(code: int, message: str, data: Any) -> Finished:
    """Classify an error of the protocol."""
    words = _words(message, data)
    status = _status(data) or (code if 400 <= code < 600 else None) or status_in(words)
    kind = data.get("errorKind") if isinstance(data, dict) else None
    trouble = trouble_of(status, words)
    if trouble in (Trouble.OVERFLOW, Trouble.QUOTA):
        pass  # here the words are more precise than any kind or code
    elif isinstance(kind, str) and kind in _BY_KIND:
        trouble = _BY_KIND[kind]
    elif code == _AUTH_REQUIRED:
        trouble = Trouble.AUTH
    elif code == _NO_SUCH_RESOURCE:
        trouble = Trouble.SESSION
    return _finished(trouble, words, status)


def of_text(text: str) -> Finished | None:
    """Classify the last words of a turn, if they are an error and not an answer."""
    if len(text) > _LONGEST_ERROR or not _SAID_AS_ERROR.match(text):
        return None
    status = status_in(text)
    trouble = Trouble.OVERLOAD if "high demand" in text else trouble_of(status, text)
    # Words alone prove little: a model may begin a sentence with "Error".
    return None if trouble is Trouble.OTHER else _finished(trouble, text, status)


def of_stop(reason: str) -> Finished:
    """Classify a turn's stop reason."""
    troubles = {
        "max_tokens": Trouble.BUDGET,
        "max_turn_requests": Trouble.BUDGET,
        "refusal": Trouble.REQUEST,
        "cancelled": Trouble.OTHER,
    }
    return Finished(trouble=troubles.get(reason), text=reason)


def of_crash(how: str, last_words: str) -> Finished:
    """Classify the unexpected end of an agent."""
    status = status_in(last_words)
    words = f"{how}: {last_words}" if last_words else how
    kind = trouble_of(status, last_words) if last_words else Trouble.OTHER
    # Believe only what credentials or a quota explain; the rest of a stack trace proves nothing.
    known = kind in (Trouble.AUTH, Trouble.QUOTA, Trouble.RATE, Trouble.OVERLOAD)
    return _finished(kind if known else Trouble.OTHER, words, status if known else None)


def _finished(trouble: Trouble, words: str, status: int | None) -> Finished:
    return Finished(
        trouble=trouble, text=shortened(words, 500), status=status, retry_s=retry_of(words)
    )


def _words(message: str, data: Any) -> str:
    parts = [message]
    if isinstance(data, str):
        parts.append(data)
    elif isinstance(data, dict):
        parts += [str(data[key]) for key in ("message", "details", "error") if data.get(key)]
    return ": ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _status(data: Any) -> int | None:
    if isinstance(data, dict):
        for key in ("status", "statusCode", "code", "httpStatus"):
            value = data.get(key)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None

"""Remove API keys and the like from text before it is logged, because a log is forever.

Only secrets with a recognisable shape are found; a password that is an ordinary word is not.
Commands are cleaned before the rules see them, so that nothing derived from a text (an id, a
digest) contains a secret, and every event again before it is stored (`store/port`). The marks are
looked for first, because most texts have none, and loading `re` would slow down every command.
"""

import sys
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)

SHOWN = "[secret removed]"

_MARKS = (
    *("AKIA", "ASIA", "AIza", "ya29.", "GOCSPX-", "eyJ", "xox", "sk-", "sk_", "rk_live_"),
    *("pk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_"),
    *("pypi-", "hf_", "gsk_", "xai-", "pplx-", "SG.", "dop_v1_", "dckr_pat_", "hvs.", "lin_api_"),
    *("AGE-SECRET-KEY-1", "hooks.slack.com/", "corral_p_", "corral_s_", "PRIVATE KEY-----", "://"),
)
_MARKS_IN_JSON = tuple(mark.encode() for mark in _MARKS)
_ANY_MARK = b"|".join(mark.replace(b".", rb"\.") for mark in _MARKS_IN_JSON)
_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\bya29\.[0-9A-Za-z_-]{20,}",
    r"\bGOCSPX-[0-9A-Za-z_-]{20,}",
    r"\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}",
    r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}",
    r"\bsk-(?:ant-|proj-|or-)?[0-9A-Za-z_-]{20,}",
    r"\b(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}",
    r"\bgh[pousr]_[0-9A-Za-z]{30,}",
    r"\bgithub_pat_[0-9A-Za-z_]{30,}",
    r"\bglpat-[0-9A-Za-z_-]{20,}",
    r"\bnpm_[0-9A-Za-z]{30,}",
    r"\bpypi-[0-9A-Za-z_-]{30,}",
    r"\bhf_[0-9A-Za-z]{30,}",
    r"\bgsk_[0-9A-Za-z]{40,}",
    r"\bxai-[0-9A-Za-z]{40,}",
    r"\bpplx-[0-9A-Za-z]{40,}",
    r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}",
    r"\bdop_v1_[0-9a-f]{40,}",
    r"\bdckr_pat_[0-9A-Za-z_-]{20,}",
    r"\bhvs\.[0-9A-Za-z_-]{24,}",
    r"\blin_api_[0-9A-Za-z]{32,}",
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}",
    r"(?<=hooks\.slack\.com/)services/[0-9A-Za-z/]{20,}",
    r"\bcorral_p_[0-9A-Za-z_-]{20,}",
    r"\bcorral_s_[0-9A-Za-z.-]+_[0-9a-f]{40}",
    r"(?<=://)[^\s/:@\"'<>]+:[^\s/@\"'<>]+(?=@)",  # the user name and password in a URL
)


def redacted(text: str) -> str:
    """Return the text without anything that looks like a secret."""
    if not any(mark in text for mark in _MARKS):
        return text
    import re

    return re.sub("|".join(_SHAPES), SHOWN, text, flags=re.DOTALL)


def suspicious(line: bytes) -> bool:
    """Say whether a line of JSON may contain a secret. It is called for every event."""
    if "re" not in sys.modules:
        return any(mark in line for mark in _MARKS_IN_JSON)
    import re  # already loaded, and three times as fast

    return re.search(_ANY_MARK, line) is not None


def without_secrets(value: S) -> S:
    """Return a command or an event without secrets, however deeply nested its texts are."""
    try:
        line = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return value  # it cannot be stored anyway: the rules refuse it, and say why
    if not suspicious(line):
        return value
    plain = msgspec.to_builtins(value)
    clean = _cleaned(plain)
    return value if clean == plain else msgspec.convert(clean, type(value))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(part) for part in value]
    return value

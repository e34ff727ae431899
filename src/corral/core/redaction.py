"""Secrets that look like keys are taken out of text before it is logged: a log is for ever.

Only what has the shape of a key is known here: a password that is a word is not. The marks are
looked for first, because most texts have none, and loading `re` would cost every command.
"""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

S = TypeVar("S", bound=Struct)

SHOWN = "[secret removed]"

_MARKS = (
    *("AKIA", "ASIA", "AIza", "ya29.", "eyJ", "xox", "sk-", "sk_", "rk_live_", "pk_live_"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-", "hf_"),
    *("SG.", "dop_v1_", "corral_p_", "corral_s_", "PRIVATE KEY-----"),
)
_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\bya29\.[0-9A-Za-z_-]{20,}",
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
    r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}",
    r"\bdop_v1_[0-9a-f]{40,}",
    r"\bcorral_p_[0-9A-Za-z_-]{20,}",
    r"\bcorral_s_[0-9A-Za-z.-]+_[0-9a-f]{40}",
)


def redacted(text: str) -> str:
    """Return the text without what looks like a key."""
    if not any(mark in text for mark in _MARKS):
        return text
    import re

    return re.sub("|".join(_SHAPES), SHOWN, text, flags=re.DOTALL)


def without_secrets(command: S) -> S:
    """Return a command whose texts have no secrets in them."""
    changed = {}
    for name in command.__struct_fields__:
        value = getattr(command, name)
        if isinstance(value, str) and (clean := redacted(value)) != value:
            changed[name] = clean
    return replace(command, **changed) if changed else command

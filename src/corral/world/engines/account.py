"""Whether a provider accepts the key of a profile: asks for its list of models, which is free.

The request goes where the engine's own requests would go, with the same kind of header. A reply
that proves nothing (a gateway without such a list, a key that may not read it) is no fault.
"""

import re
import ssl
import urllib.request
from collections.abc import Mapping
from enum import StrEnum
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from msgspec import Struct

from corral.core.config import EngineSettings
from corral.core.redaction import redacted
from corral.core.text import cut

_WAIT_S = 10.0
_MOST_BYTES = 1 << 16
_ANTHROPIC, _OPENAI, _GEMINI = "anthropic", "openai", "gemini"
_ADDRESS = {
    _ANTHROPIC: "https://api.anthropic.com",
    _OPENAI: "https://api.openai.com",
    _GEMINI: "https://generativelanguage.googleapis.com",
}
_LIST = {_ANTHROPIC: "/v1/models", _OPENAI: "/v1/models", _GEMINI: "/v1beta/models"}
_ENGINES = {"claude-code": _ANTHROPIC, "codex": _OPENAI, "gemini": _GEMINI}
_OF_OPENAI = ("opencode", "copilot", "continue", "aider")  # behind a base_url
_VERSION = re.compile(r"/v\d+\w*$")
_INVALID = re.compile(
    r"api.?key.{0,20}(?:not valid|invalid)|API_KEY_INVALID|invalid.{0,20}key", re.I
)
_RIGHTS = re.compile(r"scope|permission", re.I)  # the key is known, but may not read the list
# With one of these, the engine talks to another cloud, with other keys.
_ELSEWHERE = re.compile(r"CLAUDE_CODE_USE_|GOOGLE_GENAI_USE_|GOOGLE_CLOUD|^AWS_|OAUTH|AUTH_TOKEN")


class KeyState(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class KeyCheck(Struct, frozen=True):
    state: KeyState
    address: str = ""
    said: str = ""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key is for this address alone."""

    def redirect_request(self, *_: object) -> None:
        return None


def check_key(profile: EngineSettings, environ: Mapping[str, str]) -> KeyCheck:
    """Ask the provider of a profile for its models with the profile's key."""
    name = profile.env[0] if profile.env else ""
    kind = _kind(profile, name)
    key = environ.get(name, "")
    if not kind or not key or any(_ELSEWHERE.search(one) for one in profile.env):
        return KeyCheck(KeyState.UNKNOWN)
    base = profile.base_url.rstrip("/") or _ADDRESS[kind]
    if urlsplit(base).scheme not in ("http", "https"):
        return KeyCheck(KeyState.UNKNOWN)
    shown = redacted(base)
    path = "/models" if _VERSION.search(base) else _LIST[kind]
    try:
        request = urllib.request.Request(base + path, headers=_headers(kind, key))
        with urllib.request.build_opener(_Stay).open(request, timeout=_WAIT_S):
            return KeyCheck(KeyState.ACCEPTED, shown)
    except HTTPError as error:
        with error:
            said = error.read(_MOST_BYTES).decode("utf-8", "replace")
        return KeyCheck(_state(error.code, said), shown, f"HTTP {error.code}")
    except URLError as error:
        if isinstance(error.reason, ssl.SSLError):
            return KeyCheck(KeyState.UNKNOWN)  # the engine may trust other certificates
        reason = getattr(error.reason, "strerror", None) or str(error.reason)
        return KeyCheck(KeyState.UNREACHABLE, shown, cut(reason, 200))
    except TimeoutError:
        return KeyCheck(KeyState.UNREACHABLE, shown, f"no answer within {_WAIT_S:g} s")
    except (OSError, ValueError):
        return KeyCheck(KeyState.UNKNOWN)  # not HTTP, or a key that no header can hold


def _kind(profile: EngineSettings, variable: str) -> str:
    """Return the API that an engine uses; empty if only the engine knows."""
    if profile.type in _ENGINES:
        return _ENGINES[profile.type]
    if profile.type not in _OF_OPENAI:
        return ""
    if profile.base_url:
        return _OPENAI
    # It finds the provider by the name of the variable.
    found = (kind for kind in _ADDRESS if variable == f"{kind.upper()}_API_KEY")
    return next(found, "")


def _headers(kind: str, key: str) -> dict[str, str]:
    name, value = "Authorization", f"Bearer {key}"
    if kind != _OPENAI:
        name, value = "x-api-key" if kind == _ANTHROPIC else "x-goog-api-key", key
    version = {"anthropic-version": "2023-06-01"} if kind == _ANTHROPIC else {}
    return {name: value, "User-Agent": "corral", **version}


def _state(status: int, said: str) -> KeyState:
    if status == 401 and not _RIGHTS.search(said):
        return KeyState.REFUSED
    if status in (400, 403) and _INVALID.search(said):
        return KeyState.REFUSED
    return KeyState.UNKNOWN

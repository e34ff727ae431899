"""The key of a check configuration: a result holds for the same tree and the same key only."""

import hashlib
import json
from collections.abc import Mapping, Sequence

_FORM = 1  # of what is hashed


def key(commands: Sequence[str], extra: Mapping[str, object] | None = None) -> str:
    """Return a hash of the commands in their order, and of whatever else decides the result.

    `extra` is for what can be written as JSON: variables, the version of a tool, a platform.
    """
    asked = [_FORM, list(commands), dict(extra or {})]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

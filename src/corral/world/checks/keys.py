"""The key of a check configuration: a result is valid only for the same tree and key."""

import hashlib
import json
from collections.abc import Mapping, Sequence

_FORM = 1  # of what is hashed


def key(commands: Sequence[str], extra: Mapping[str, object] | None = None) -> str:
    """Return a hash of the commands in order, and of anything else that affects the result.

    `extra` holds JSON values: variables, the version of a tool, a platform.
    """
    asked = [_FORM, list(commands), dict(extra or {})]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

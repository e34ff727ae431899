"""An engine's own record of a conversation, in the private home of its session.

Every engine has its own format, but all of them write text verbatim. So a search for a unique mark
shows whether a conversation contains it.
"""

import os
from os.path import join

_PART = 1 << 20


def has(home: str, mark: str) -> bool:
    """Say whether any file below a home contains a mark."""
    wanted = mark.encode()
    return any(
        _holds(join(folder, name), wanted)
        for folder, _, names in os.walk(home)
        for name in names
        if not os.path.islink(join(folder, name)) and os.path.isfile(join(folder, name))
    )


def _holds(path: str, wanted: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            before = b""
            while part := file.read(_PART):
                if wanted in before + part:
                    return True
                before = part[-len(wanted) :]
    except FileNotFoundError:
        return False  # removed meanwhile: some engines clean up
    return False

"""An engine's own record of a conversation: whatever it keeps in the private home of its session.

Every engine writes its conversation down in a format of its own, and all of them write text as it
is. So whether a conversation has something that can be told from everything else is a matter of
looking for it.
"""

import os
from os.path import join

_PART = 1 << 20


def has(home: str, mark: str) -> bool:
    """Say whether a mark stands anywhere below a home."""
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
        return False  # it was there a moment ago: some engines tidy up
    return False

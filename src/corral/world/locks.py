"""Lock files: a lock ends with its holder, however that ends."""

import fcntl
from contextlib import suppress


def is_held(path: str) -> bool:
    """Say whether some process holds the lock of a file."""
    with suppress(FileNotFoundError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

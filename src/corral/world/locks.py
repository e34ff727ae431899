"""Lock files: a lock ends with its holder, however that ends."""

import fcntl
import os


def is_held(path: str) -> bool:
    """Say whether some process holds the lock of a file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False

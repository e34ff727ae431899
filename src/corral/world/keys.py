"""Secrets in files that only their owner can read: the users' token and the key material.

    corral/token      the token with which people log in to the server
    corral/secret     derives the keys of sessions and the cookies of browsers

A file that others could read is refused, with a hint how to fix it.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from corral.core.errors import Failed

TOKEN, SECRET = "token", "secret"


def token(folder: str) -> str:
    """Return the users' token of a repository; create it on first use."""
    from corral.core.access import PERSON_PREFIX

    return _kept(f"{folder}/{TOKEN}", lambda: PERSON_PREFIX + os.urandom(24).hex())


def secret(folder: str) -> bytes:
    """Return the secret that keys are derived from; create it on first use."""
    return bytes.fromhex(_kept(f"{folder}/{SECRET}", lambda: os.urandom(32).hex()))


def read(path: str) -> str:
    """Return an existing secret, or an empty string."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Failed(f"{path} cannot be read: {error.strerror}") from error
    with open(file, "rb", buffering=0) as opened:
        found = os.fstat(file)
        if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid != os.geteuid():
            raise Failed(f"others can read {path}, so it is not used", f"chmod 600 {path}")
        return opened.read(4096).decode("ascii", "replace").strip()


def write(path: str, text: str) -> None:
    """Create a file that only its owner can read, atomically."""
    scratch = f"{path}.{os.urandom(6).hex()}"
    file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(file, "wb", buffering=0) as opened:
        opened.write(text.encode())
        os.fsync(file)
    os.replace(scratch, path)


def _kept(path: str, make: Callable[[], str]) -> str:
    found = read(path)
    if found:
        return found
    scratch = f"{path}.{os.urandom(6).hex()}.new"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(scratch, make())
    try:
        # Unlike a rename, a link does not replace a file that another process has just created.
        with suppress(FileExistsError):
            os.link(scratch, path)
    finally:
        os.unlink(scratch)
    return read(path)

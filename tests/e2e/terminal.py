"""A pseudo-terminal with a program on it, read until something appears."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.patience import PATIENCE_S


class Terminal:
    def __init__(
        self, words: list[str], cwd: Path, env: dict[str, str], *, columns: int = 80
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            words, cwd=cwd, env=env | {"TERM": "xterm"}, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        self.seen = ""

    def press(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read_until(self, text: str) -> str:
        """Return all that was shown since the last call, up to and with the chunk with `text`."""
        start = len(self.seen)
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.seen[start:]:
            assert self._more(deadline), f"{text!r} did not appear:\n{self.seen[start:]}"
        return self.seen[start:]

    def read_all(self) -> str:
        """Return everything that the program has shown until it ended."""
        deadline = time.monotonic() + PATIENCE_S
        while self._more(deadline):
            pass
        self.process.wait(PATIENCE_S)
        return self.seen

    def _more(self, deadline: float) -> bool:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([self._master], [], [], max(0, left))
        if not ready:
            return False
        try:
            content = os.read(self._master, 65_536)
        except OSError:  # how Linux reports that the other end is closed
            return False
        self.seen += content.decode("utf-8", "replace")
        return bool(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

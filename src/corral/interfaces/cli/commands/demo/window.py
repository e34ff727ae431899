"""`corral demo --with-ui`: the dashboard, while the demo runs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from corral.core.errors import Failed
from corral.interfaces.cli.commands.serve import ticket
from corral.interfaces.cli.context import Context

_READY_S = 60.0
_END_S = 10.0
_LOOK_S = 0.05


@contextmanager
def window(context: Context) -> Iterator[str]:
    """Serve the repository; yield a link that works once."""
    words = ["corral.interfaces.supervised", str(os.getpid()), "serve", "--repo"]
    server = subprocess.Popen(
        [sys.executable, "-m", *words, context.repository.worktree],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _link(context, server)
    finally:
        server.terminate()
        try:
            server.wait(_END_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _link(context: Context, server: "subprocess.Popen[bytes]") -> str:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until and server.poll() is None:
        if found := ticket(context):
            return str(found["url"])
        time.sleep(_LOOK_S)
    raise Failed("the dashboard did not start", "corral demo, without --with-ui")

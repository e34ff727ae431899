"""`python -m tests.standin [PORT]`: serves until it is interrupted; prints its base URL."""

import signal
import sys
import threading

from tests.standin.server import serving

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
signal.signal(signal.SIGINT, lambda *_: stop.set())
with serving(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as standin:
    print(standin.url(), flush=True)
    stop.wait()

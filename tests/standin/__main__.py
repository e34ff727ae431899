"""`python -m tests.standin [PORT]`: serves until it is interrupted; prints its base URL."""

import signal
import sys
import threading

from tests.standin.server import serving

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
signal.signal(signal.SIGINT, lambda *_: stop.set())
given = sys.argv[1] if len(sys.argv) > 1 else "0"
if given in ("-h", "--help"):
    print(__doc__)
    sys.exit()
if not (given.isascii() and given.isdigit()):
    sys.exit(f"{given!r} is not a port. Usage: {__doc__}")
with serving(int(given)) as standin:
    print(standin.url(), flush=True)
    stop.wait()

"""Run a command of Corral that ends with its parent, the process PID:

    python -m corral.interfaces.supervised PID serve …

For the supervisor of `corral up`. If that is killed, what it started is asked to end by the system.
"""

import os
import signal
import sys


def main() -> None:
    from corral.world.processes.system import die_with_parent

    parent = int(sys.argv.pop(1))
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:  # it has ended before we asked
        sys.exit(1)
    from corral.interfaces.cli.main import main as corral

    corral()


if __name__ == "__main__":
    main()

"""`python -m …runners.tmux`: the program of one session. See `orders.TmuxOrder`."""

import sys
from shutil import which

from corral.core.engine.facts import Finished, Trouble
from corral.core.errors import BadInput, CorralError, NotFound
from corral.world.engines.runners.emit import tell
from corral.world.engines.runners.inbox import Inbox
from corral.world.engines.runners.orders import TmuxOrder, received
from corral.world.engines.runners.tmux.runner import NO_START, TmuxRunner


def main() -> int:
    try:
        order = received()
        if not isinstance(order, TmuxOrder) or not order.argv:
            raise BadInput("this is not an order for an interactive program")
        if which(order.argv[0]) is None:
            raise NotFound(f"{order.argv[0]}: there is no such program")
        inbox = Inbox(order.room, "tmux")
        try:
            return TmuxRunner(order, inbox).run(sys.stdin.read())
        finally:
            inbox.close()
    except CorralError as error:
        tell(Finished(trouble=Trouble.OTHER, text=str(error)))
        return NO_START


if __name__ == "__main__":
    sys.exit(main())

"""`python -m …runners.acp`: the program of one session. See `orders.AcpOrder`."""

import logging
import signal
import sys

from corral.core.engine.facts import Finished, Trouble
from corral.core.errors import BadInput
from corral.world.engines.runners.emit import remark, tell
from corral.world.engines.runners.inbox import Inbox
from corral.world.engines.runners.orders import AcpOrder, received

_NO_START = 2


def main() -> int:
    try:
        order = received()
        if not isinstance(order, AcpOrder) or not order.argv:
            raise BadInput("this is not an order for an agent")
    except BadInput as error:
        return _refuse(str(error))
    early: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: early.append(number))
    first = sys.stdin.read()
    # Open the inbox first, so that text can be sent: the imports that follow take a second.
    inbox = Inbox(order.room, "acp")
    try:
        return _run(order, inbox, first, early)
    finally:
        inbox.close()


def _run(order: AcpOrder, inbox: Inbox, first: str, early: list[int]) -> int:
    import asyncio

    try:
        from corral.world.engines.runners.acp.runner import AcpRunner
    except ModuleNotFoundError as error:
        if error.name not in ("acp", "pydantic"):
            raise
        return _refuse(
            "the Agent Client Protocol needs a package that is not installed:"
            " pip install 'corral[acp]'"
        )
    logging.basicConfig(handlers=[_Remarks()], level=logging.WARNING)
    return asyncio.run(AcpRunner(order, inbox).run(first, early))


def _refuse(words: str) -> int:
    tell(Finished(trouble=Trouble.OTHER, text=words))
    return _NO_START


class _Remarks(logging.Handler):
    """Shortens the SDK's log messages, which are whole stack traces, to one line."""

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        remark(f"{record.getMessage()}{f': {cause}' if cause else ''}")


if __name__ == "__main__":
    sys.exit(main())

"""The order that a runner gets, and how to start one.

A runner is the program of a session: the witness starts it through the shim like any other, with
the first text on its standard input, and reads facts from its output. The order is passed in the
environment, because it may hold a token and command lines are public; the runner removes the
variable before it starts the agent.
"""

import os
import sys
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from corral.core.errors import BadInput

VARIABLE = "CORRAL_RUNNER"


class PermissionPolicy(StrEnum):
    """How the agent's permission requests are answered."""

    ALLOW = "allow"
    ALLOW_EDITS = "allow-edits"  # reading, changing files of the working tree, and `allow`
    DENY = "deny"
    ASK = "ask"  # a person, through the inbox; denied after a timeout


class McpServer(Struct, frozen=True):
    """An MCP server for the agent; `$NAME` in a header refers to a variable of the runner."""

    name: str
    url: str
    headers: dict[str, str]


class AcpOrder(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="acp"):
    """A session with an agent that speaks the Agent Client Protocol.

    Exit codes: 0 the last turn ended well; 1 the agent reported an error; 2 it could not be
    started; 3 it crashed or broke the protocol; 4 a timeout; 143 stopped.
    """

    room: str
    argv: tuple[str, ...]
    resume: str = ""  # the agent's own id of the session to resume
    mode: str = ""
    model: str = ""
    policy: PermissionPolicy = PermissionPolicy.ASK
    allow: tuple[str, ...] = ()  # programs that may run without asking, with `allow-edits`
    mcp: tuple[McpServer, ...] = ()
    meta: dict[str, Any] = {}  # for the agent, when the conversation begins
    start_s: float = 60  # for each call before the first turn
    turn_s: float = 900  # of silence within a turn
    answer_s: float = 600  # for a person's answer
    stop_s: float = 5  # between cancelling, closing, terminating and killing
    linger_s: float = 0  # how long to wait for further text after a turn; 0 ends the session


class TmuxOrder(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tmux"):
    """A session with an interactive program, on a terminal that people can attach to.

    The exit code is the program's own (128 + its signal); 2 if it could not be started; 143 if it
    was stopped.
    """

    room: str
    argv: tuple[str, ...]
    columns: int = 200
    rows: int = 50
    history: int = 20_000  # lines
    ready_s: float = 60  # until the program's first screen stops changing
    proof_s: float = 20  # until it is proved that a text arrived
    clear: str = ""  # a key that clears the program's input line, like C-u
    # Whose transcript proves delivery: `claude`, in its CLAUDE_CONFIG_DIR; empty: the screen.
    record: str = ""


Order = AcpOrder | TmuxOrder


def runner_argv(order: Order) -> tuple[list[str], dict[str, str]]:
    """Return the command of a runner, and the variables it needs beyond the agent's own.

    Use them as `Launch.argv` and as part of `Launch.env`, with the session's tree as `cwd` and the
    first text (the brief) as `stdin`. The rest of `env` reaches the agent unchanged.
    """
    kind = "acp" if isinstance(order, AcpOrder) else "tmux"
    # Isolated: neither the session's tree nor its variables can inject a module.
    argv = [sys.executable, "-I", "-X", "utf8", "-m", f"corral.world.engines.runners.{kind}"]
    return argv, {VARIABLE: msgspec.json.encode(order).decode()}


def received() -> Order:
    """Return this runner's order, and remove it from the environment that the agent sees."""
    try:
        order: Order = msgspec.json.decode(os.environ.pop(VARIABLE, ""), type=Order)
        return order
    except msgspec.DecodeError as error:
        raise BadInput(f"{VARIABLE} does not hold an order: {error}") from error

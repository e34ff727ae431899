"""How an engine is started, and how its output is read: data and two functions.

Neither function starts a process or looks at the machine. There are no secret values here:
`Prepared.keys` maps variables of the engine to variables of ours, and their values are looked up
only when the program is started.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from corral.core.engine.facts import Fact, Spent

ENGINE_KEY = "CORRAL_ENGINE_KEY"  # for engines that can be told which variable holds their key
Stream = Literal["out", "err"]


class Permission(StrEnum):
    """What an engine may do without asking.

    This guards against accidents. It is not a sandbox: an agent that may run git can run anything.
    """

    READ = "read"  # look, change nothing
    EDIT = "edit"  # change files of its tree, run git and what the profile allows
    ALL = "all"  # anything: for trees in a sandbox of their own


class Mcp(Struct, frozen=True, kw_only=True):
    """An MCP server: an HTTP address, or a command that speaks over its pipes."""

    name: str = "corral"
    url: str = ""
    command: tuple[str, ...] = ()
    token: str = ""  # the name of the variable that holds the bearer token

    @property
    def program(self) -> dict[str, Any]:
        return {"command": self.command[0], "args": list(self.command[1:])}

    def headers(self, variable: str) -> dict[str, str]:
        """Return the HTTP headers; `variable` is the engine's syntax for the variable NAME."""
        token = variable.replace("NAME", self.token)
        return {"Authorization": f"Bearer {token}"} if self.token else {}


class EngineJob(Struct, frozen=True, kw_only=True):
    """One run of an engine on a brief."""

    session: str
    program: tuple[str, ...]
    tree: str
    home: str  # private to the session; exists
    prompt_file: str
    model: str = ""
    resume: str = ""  # the engine's own id of the conversation to resume
    new_id: str = ""  # a UUID for a new conversation, where the engine accepts one
    mcp: Mcp | None = None
    base_url: str = ""  # of the model's API; empty: the engine's default
    key: str = ""  # the name of our variable that holds the API key
    args: tuple[str, ...] = ()
    allow: tuple[str, ...] = ("git", "corral")  # programs it may run with Permission.EDIT
    permission: Permission = Permission.EDIT
    as_root: bool = False
    confined: bool = False  # by us: the engine cannot set up its own sandbox inside of ours
    idle_s: int = 300  # how long the model may be silent
    unpacked: str = ""  # where an engine may unpack itself once for all sessions
    files: tuple[str, ...] = ()  # that the task is about, for engines that must be told
    # What earlier runs of a resumed conversation reported, added up: some engines report totals
    # for the whole conversation.
    before: Spent | None = None
    budget_usd: float | None = None  # for engines that report their cost only at the end
    longest: int = 8_000  # characters kept of one message of the model

    @property
    def env(self) -> dict[str, str]:
        """Return the variables that keep an engine away from the user's own folders."""
        return {
            "HOME": self.home,
            "XDG_CONFIG_HOME": f"{self.home}/.config",
            "XDG_DATA_HOME": f"{self.home}/.local/share",
            "XDG_STATE_HOME": f"{self.home}/.local/state",
            "XDG_CACHE_HOME": f"{self.home}/.cache",
            "TMPDIR": f"{self.home}/tmp",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }

    def keys(self, theirs: str = "") -> dict[str, str]:
        """Return which of the engine's variables get our key and the token of our tools."""
        keys = {theirs: self.key} if theirs and self.key else {}
        if self.mcp and self.mcp.token:
            keys[self.mcp.token] = self.mcp.token
        return keys

    @property
    def openai_url(self) -> str:
        """Return the base URL as OpenAI-style clients expect it: ending in the API version."""
        url = self.base_url.rstrip("/")
        return url if not url or re.search(r"/v\d+\w*$", url) else f"{url}/v1"

    @property
    def model_args(self) -> list[str]:
        return ["--model", self.model] if self.model else []

    @property
    def conversation_args(self) -> list[str]:
        """Return the options that resume a conversation, or give a new one its id."""
        if self.resume:
            return ["--resume", self.resume]
        return ["--session-id", self.new_id] if self.new_id else []


class Prepared(Struct, frozen=True, kw_only=True):
    """What to run. `env` is added to what every session gets; `keys` are looked up at the start."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path -> text, readable by us only
    folders: tuple[str, ...] = ()
    # Glob -> new name of the first file that matches, unless a file has that name already.
    names: dict[str, str] = field(default_factory=dict)
    stdin: str | None = None


class OutputReader(Protocol):
    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        """Return the facts in one line; a line without any is not an error."""

    def finish(self) -> list[Fact]:
        """Return what is known only at the end: from files, or because no final event came."""


class Recipe(Struct, frozen=True, kw_only=True):
    type: str
    program: str
    prepare: Callable[[EngineJob], Prepared]
    reader: Callable[[EngineJob], OutputReader]
    install: str  # how to install it
    key: str = ""  # the variable in which the engine expects its key
    native: str = ""  # below node_modules: the program itself, in place of npm's wrapper
    commits: bool = False
    resumes: bool = True
    resumes_killed: bool = True  # also after its process was killed
    # The files in its home hold what it was told, verbatim, before it is asked to resume.
    records: bool = False
    mcp: bool = True
    counts: bool = False  # reports exact usage after each turn
    # The address of its model, if requests can go through the relay; empty if they cannot.
    upstream: Callable[[EngineJob], str] = lambda job: job.base_url
    cost: bool = False
    first_output_s: int = 120  # on a busy machine


def environment(prepared: Prepared, ours: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program, secrets included. Never write this down."""
    found = {theirs: ours[name] for theirs, name in prepared.keys.items() if name in ours}
    return {**prepared.env, **found}

"""What an engine needs to be started, and what reads its output.

A recipe is data with two functions: `prepare` turns a job into a command line, an environment and
files; `reader` makes what turns its lines into facts. Neither starts anything or looks around.

Secrets are never values here: `Prepared.keys` says which variable of the engine gets which
variable of ours, and only whoever starts the program looks them up.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct, field

from corral.core.engine.facts import Fact, Spent

ENGINE_KEY = "CORRAL_ENGINE_KEY"  # for engines that can be told where their key is
Stream = Literal["out", "err"]


class Permission(StrEnum):
    """What an engine may do without being asked.

    This guards against accidents. It is no sandbox: who may run git can run anything by it.
    """

    READ = "read"  # look, change nothing
    EDIT = "edit"  # change files of its tree, run git and what the profile allows
    ALL = "all"  # anything: for trees in a sandbox of their own


class Mcp(Struct, frozen=True, kw_only=True):
    """A server of tools: over HTTP by its address, else a command that speaks over its pipes."""

    name: str = "corral"
    url: str = ""
    command: tuple[str, ...] = ()
    token: str = ""  # the name of the variable that holds the token to show


class EngineJob(Struct, frozen=True, kw_only=True):
    """One run of an engine on a brief."""

    session: str
    program: tuple[str, ...]
    tree: str
    home: str  # private to the session; exists
    prompt_file: str
    model: str = ""
    resume: str = ""  # the engine's own name of the conversation to go on with
    new_id: str = ""  # a UUID to name a new conversation by, where the engine allows it
    mcp: Mcp | None = None
    base_url: str = ""  # of the model's server; empty: the engine's own
    key: str = ""  # the name of our variable that holds the API key
    args: tuple[str, ...] = ()
    allow: tuple[str, ...] = (
        "git",
        "corral",
    )  # programs that the engine may run, with Permission.EDIT
    permission: Permission = Permission.EDIT
    as_root: bool = False
    confined: bool = False  # by us: a sandbox of its own cannot be set up inside of that
    idle_s: int = 300  # how long the model may be silent
    unpacked: str = ""  # where an engine may unpack itself once for all sessions
    files: tuple[str, ...] = ()  # that the task is about, for engines which must be told
    # What the earlier runs of the conversation to be resumed were said to have used, added up:
    # some engines count the whole conversation.
    before: Spent | None = None
    budget_usd: float | None = None  # what it may cost, for engines that tell the cost at the end
    longest: int = 8_000  # characters of one thing that the model says


class Prepared(Struct, frozen=True, kw_only=True):
    """What to run. `env` comes on top of what every session gets; `keys` are looked up late."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path -> text, readable by us only
    folders: tuple[str, ...] = ()
    # Pattern of a path -> the name that the first file which fits it gets, unless one has it.
    names: dict[str, str] = field(default_factory=dict)
    stdin: str | None = None


class OutputReader(Protocol):
    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        """Return what one line says; lines that say nothing are no error."""

    def finish(self) -> list[Fact]:
        """Return what is known only after the end: from files, or because no last word came."""


def nowhere(job: EngineJob) -> str:
    return ""


def given_url(job: EngineJob) -> str:
    return job.base_url


class Recipe(Struct, frozen=True, kw_only=True):
    type: str
    program: str
    prepare: Callable[[EngineJob], Prepared]
    reader: Callable[[EngineJob], OutputReader]
    install: str  # what to do when it is not there
    key: str = ""  # the variable in which the engine expects its key
    version: tuple[str, ...] = ("--version",)
    native: str = ""  # below node_modules: the program itself, in place of npm's wrapper
    stop: str = "TERM"
    commits: bool = False
    resumes: bool = True
    resumes_killed: bool = True  # also after its process was killed
    # What it was told is in files of its home, as it was told, before it is asked to resume.
    records: bool = False
    mcp: bool = True
    tokens: bool = True
    counts: bool = False  # tells after each turn, and exactly, what was used
    # Where its model is, if its requests can go through the relay; empty: they cannot.
    upstream: Callable[[EngineJob], str] = nowhere
    cost: bool = False
    read_only: bool = True
    first_output_s: int = 120  # on a busy machine


def environment(prepared: Prepared, ours: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program, secrets included. Never write this down."""
    found = {theirs: ours[name] for theirs, name in prepared.keys.items() if name in ours}
    return {**prepared.env, **found}


def keys_for(job: EngineJob, theirs: str) -> dict[str, str]:
    """Return which variables of the engine get our key, and the token of our tools."""
    keys = {theirs: job.key} if job.key else {}
    if job.mcp and job.mcp.token:
        keys[job.mcp.token] = job.mcp.token
    return keys


def private_home(job: EngineJob) -> dict[str, str]:
    """Return the variables that keep an engine away from the user's own folders."""
    return {
        "HOME": job.home,
        "XDG_CONFIG_HOME": f"{job.home}/.config",
        "XDG_DATA_HOME": f"{job.home}/.local/share",
        "XDG_STATE_HOME": f"{job.home}/.local/state",
        "XDG_CACHE_HOME": f"{job.home}/.cache",
        "TMPDIR": f"{job.home}/tmp",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def versioned(url: str) -> str:
    """Return the address of an API in OpenAI's style, which ends in its version."""
    url = url.rstrip("/")
    return url if re.search(r"/v\d+\w*$", url) else f"{url}/v1"


def dumped(value: Any) -> str:
    return msgspec.json.encode(value).decode()

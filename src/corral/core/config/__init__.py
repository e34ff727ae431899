"""The configuration file, `.corral/config.toml`: every setting with its bounds and its default.

Each setting is written here once. The text below a field is its description; the reference page and
the file that `corral init` writes are made from fields and texts (`interfaces/settings_text.py`).
Python drops these texts when it compiles the module, so they cost nothing when a command starts.
`reader` reads and checks a file.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from corral.core.engine.bill import Dollars, Price
from corral.core.text import CLAIM_TTL_S, TTL_S

Seconds = Annotated[int, Meta(ge=1, le=TTL_S)]
SecondsOrZero = Annotated[int, Meta(ge=0, le=TTL_S)]
Count = Annotated[int, Meta(ge=0, le=10_000)]
Number = Annotated[int, Meta(ge=1, le=10_000)]
Thousand = Annotated[int, Meta(ge=0, le=1000)]
Hundred = Annotated[int, Meta(ge=0, le=100)]
Tries = Annotated[int, Meta(ge=1, le=100)]
Words = tuple[str, ...]


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file."""


class BoardSettings(Section, frozen=True):
    """Claims on tasks"""

    claim_ttl_s: Seconds = CLAIM_TTL_S
    """seconds after which a claim or lease that is not renewed lapses"""


class LineSettings(Section, frozen=True):
    """The meaning of some lines of JSON that an engine prints"""

    fact: str
    """the fact that the line reports: `began`, `said`, `spent`, … or `failed`"""
    when: dict[str, str] = field(default_factory=dict)
    """which lines to match: a path in the JSON object, and the value expected there"""
    take: dict[str, str] = field(default_factory=dict)
    """the fact's fields, each with the path in the JSON object of its value"""


class EngineSettings(Section, frozen=True):
    """An engine profile: a coding agent and how to run it"""

    type: str
    """the agent: one that `corral engine list` names, or `shell` or `command` for any program"""
    model: str = ""
    """the model to use; empty: the agent's own default"""
    command: Words = ()
    """the program and its arguments; empty: the agent's usual command"""
    pool: str = ""
    """the pool whose slots its sessions take, in addition to the overall limit"""
    args: Words = ()
    """arguments to add to the agent's usual ones"""
    env: Words = ()
    """environment variables passed through to the engine; the only way to give it an API key"""
    base_url: str = ""
    """the address of the model's API, if it is not the usual one"""
    permission: Literal["", "read", "edit", "all", "ask"] = ""
    """what it may do without asking: `read`, `edit` (the default), `all`; with ACP also `ask`"""
    transport: Literal["cli", "acp", "tmux"] = "cli"
    """how Corral drives it: `cli`, `acp` (Agent Client Protocol) or `tmux` (a terminal)"""
    account: str = ""
    """the account whose rate limits it shares; empty: its type and the first name in `env`"""
    fallback: str = ""
    """the profile to use while that account is rate-limited"""
    answers: str = ""
    """the reply to any question that it asks; empty: ask a person"""
    output: Literal["", "facts", "claude-code", "codex", "opencode", "gemini", "copilot"] = ""
    """for type `command`: the engine whose output format it prints, or `facts`"""
    lines: tuple[LineSettings, ...] = ()
    """for type `command`: what the lines of JSON that it prints mean"""
    key: str = ""
    """for type `command`: the variable in which it expects the value of the first name in `env`"""
    set: dict[str, str] = field(default_factory=dict)
    """for type `command`: variables to set, in which `{home}`, `{model}`, … are filled in"""
    fresh: Words = ()
    """for type `command`: arguments that start a new conversation, with `{id}`"""
    resume: Words = ()
    """for type `command`: arguments that resume a conversation, with `{resume}`"""
    mcp: Words = ()
    """for type `command`: arguments that give it Corral's tools, with `{mcp}` and `{mcp_key}`"""
    commit: bool | None = None
    """whether Corral commits what it leaves behind; unset: unless the agent does so itself"""
    turn_s: Seconds = 600
    """seconds of silence after which it counts as hung and is restarted"""
    context: Annotated[int, Meta(ge=0)] = 0
    """the size of its model's context in tokens; 0: as the engine reports it"""
    budget_usd: Dollars = 0.0
    """dollars that one task may cost with this profile (0 = no limit)"""
    good_for: str = ""
    """what the mayor is told that this profile is good at"""


class RegenerateSettings(Section, frozen=True):
    """Generated files that a command rebuilds, so that they never conflict"""

    paths: Words
    """patterns of generated files, which a command rebuilds when they conflict"""
    command: str
    """the command that rebuilds them, starting from the trunk's version of the files"""


class RefinerySettings(Section, frozen=True):
    """Landing: how finished work is checked and merged"""

    strategy: Literal["rebase", "squash", "merge"] = "squash"
    """how work lands: `rebase`, `squash` or `merge`; a convoy can override it"""
    require_ci: bool = True
    """land only work that passes the checks; false lands it unchecked, and the log says so"""
    checks: Words = ()
    """commands that must exit 0 on the merged result; a convoy can have its own"""
    external: bool = False
    """another CI runs the checks and reports each result with `corral queue report`"""
    mode: Literal["lanes", "serial"] = "lanes"
    """`lanes` (batches and speculative merges) or `serial` (one change at a time)"""
    slots: Thousand = 0
    """check runs at once, also of another CI; 0: as many as are useful, and 4 of another CI"""
    deadline_s: SecondsOrZero = 0
    """timeout of a check run in seconds; 0: learned from runs that passed"""
    returns: Tries = 3
    """how many times work is sent back before a person is needed"""
    caches: Words = ()
    """ignored paths that stay in the check trees from run to run, like `node_modules`"""
    union: Words = ()
    """patterns of files in which a conflict keeps both sides, like `CHANGELOG.md`"""
    regenerate: tuple[RegenerateSettings, ...] = ()
    """generated files to rebuild instead of merging, like
    `{ paths = ["*.lock"], command = "make lock" }`"""
    finish: Literal["leave", "merge", "fast-forward", "pull-request"] = "leave"
    """what happens to a landed convoy: `leave`, `merge`, `fast-forward` or `pull-request`"""


class SlotSettings(Section, frozen=True):
    """Limits on parallel sessions"""

    total: Number = 12
    """how many sessions run at once"""
    reserve: Count = 2
    """how many of them are kept free for urgent tasks"""
    pools: dict[str, int] = field(default_factory=dict)
    """sessions at once in each pool, like `{ slow = 4 }`; other pools have no limit"""


class WatchSettings(Section, frozen=True):
    """Watching sessions, and retrying those that fail"""

    beat_s: Seconds = 900
    """length of a beat in seconds: two silent beats raise an alert, three stop the session"""
    barren_beats: Count = 8
    """beats without a new output before an alert (0 = off)"""
    wall_s: Seconds = 14_400
    """seconds that a session may run"""
    grace_s: Annotated[int, Meta(ge=0, le=3600)] = 10
    """seconds between asking a session to stop and killing it"""
    output_mb: Number = 64
    """megabytes to keep from the start of a session's output, and as many from its end"""
    attempts: Tries = 3
    """failed sessions in a row after which the task has failed"""
    backoff_s: SecondsOrZero = 30
    """retry after a delay that starts at this many seconds and doubles up to `backoff_most_s`, with
    up to 50 % jitter"""
    backoff_most_s: SecondsOrZero = 3600
    """the longest retry delay in seconds"""
    commit_dirty: bool = False
    """commit what a session leaves uncommitted, instead of judging it `dirty`"""
    park_s: Seconds = 60
    """seconds that an engine may wait for a rate limit before its task is parked"""
    answer_s: SecondsOrZero = 900
    """seconds that a session waits for the answer to its question"""
    window: Hundred = 90
    """per cent of the context in use at which a fresh conversation takes over (0 = off)"""
    loop: Count = 20
    """identical tool calls with no change to the tree: alert after this many, stop after twice
    as many (0 = off)"""


class BudgetSettings(Section, frozen=True):
    """Spending limits in dollars, prices, and the models that may be used"""

    task_usd: Dollars = 0.0
    """dollars that one task may cost, over all of its sessions (0 = no limit)"""
    convoy_usd: Dollars = 0.0
    """dollars that one convoy may cost (0 = no limit)"""
    day_usd: Dollars = 0.0
    """dollars that may be spent per day, in UTC (0 = no limit)"""
    require_model: Words = ()
    """patterns like `claude-*`: a session whose model matches none of them is stopped"""
    prices: dict[str, Price] = field(default_factory=dict)
    """prices of models, like `{ "some-model" = { input = 3.0, output = 15.0 } }`"""


class TreeSettings(Section, frozen=True):
    """The working trees of sessions"""

    folder: str = ""
    """where to put working trees; empty: `.NAME-corral` beside the repository"""
    kind: Literal["worktree", "clone"] = "clone"
    """`clone`: a tree has a git directory of its own that borrows the repository's objects;
    `worktree`: it shares your refs, stash, settings and locks"""
    pool: Thousand = 4
    """working trees to keep for reuse"""
    free_mb: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 1000
    """megabytes that must be free on their disk before `corral run` or `up` starts anything"""
    copy: Words = ()
    """files that git does not track to copy into each tree, like `.env`"""
    seed: Words = ()
    """folders that git does not track to copy into each tree if your checkout has them, links
    included, like `node_modules`; a set-up can then bring them up to date"""
    setup: tuple[Words, ...] = ()
    """commands to run in each tree before its session or checks, each a list, like `["npm", "ci"]`;
    what they make is kept for the next use of the tree"""
    locks: Words = ()
    """patterns of the files that alone decide what the set-up makes, like `uv.lock`; empty: lock
    files and the like if it only installs dependencies, else every file"""
    setup_s: Annotated[int, Meta(ge=1, le=86_400)] = 600
    """timeout of a set-up command in seconds"""
    fresh: bool = False
    """a retry starts from the trunk, not from the commits of the previous attempt"""
    keep_days: Annotated[int, Meta(ge=1, le=3650)] = 30
    """keep the work of sessions for at least this many days"""
    ports: Hundred = 0
    """ports to lease for each session, in `CORRAL_PORT_1`, `CORRAL_PORT_2`, …"""
    port_range: tuple[int, int] = (20_000, 29_999)
    """the first and the last port that may be leased"""


class EnvironmentSettings(Section, frozen=True):
    """The environment of set-up, sessions, acceptance commands and checks"""

    set: dict[str, str] = field(default_factory=dict)
    """variables to set, like `{ CI = "1" }`; secrets are passed through by name instead"""
    pass_: Words = field(default=(), name="pass")
    """more variables to pass through, like `PGHOST` or `AWS_*`; most settings of proxies,
    certificates and package indexes are passed through anyway"""
    path: Words = ()
    """folders that come first on PATH after the tree's `.venv/bin` and `node_modules/.bin`; one
    that is not absolute is in the tree"""
    read: Words = ()
    """files and folders of your checkout that checks may read, like `node_modules`; `.`: all of it,
    and a check may then pass because of a file that is not in the work"""


class ConfineSettings(Section, frozen=True):
    """A sandbox for sessions (Landlock: Linux 5.13 or newer)"""

    enabled: bool = False
    """let sessions write only to their own working trees"""
    also: Words = ()
    """other files and folders that they may write to, like `~/.cache/pip`"""


class RadarSettings(Section, frozen=True):
    """Predicting conflicts while sessions work"""

    enabled: bool = True
    """look for conflicts between running sessions"""
    hold: bool = False
    """hold back a task that would conflict with a running session"""
    every_s: Annotated[int, Meta(ge=1, le=3600)] = 5
    """seconds between two looks at a session's files, at least"""


class ServerSettings(Section, frozen=True):
    """The server and its dashboard"""

    port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    """the port; 0: 5173, or another one if that is taken"""
    bind: str = "127.0.0.1"
    """the address to listen on; any other than loopback needs TLS"""
    hosts: Words = ()
    """other host names under which the server is reached, like `build.example`"""
    tls_cert: str = ""
    """the certificate file"""
    tls_key: str = ""
    """the file of the certificate's key"""


class TelemetrySettings(Section, frozen=True):
    """OpenTelemetry traces"""

    endpoint: str = ""
    """a collector that takes OTLP over HTTP, like `http://127.0.0.1:4318`; needs `corral[otel]`;
    credentials go into the variable `OTEL_EXPORTER_OTLP_HEADERS`"""


class MayorSettings(Section, frozen=True):
    """The mayor, who makes plans"""

    engine: str = ""
    """the engine profile that makes plans; empty: `default`, or the only one"""
    attempts: Annotated[int, Meta(ge=1, le=20)] = 3
    """unusable answers after which the mayor gives up"""
    replans: Hundred = 3
    """with `--replan on_failure`: failures per convoy for which the mayor makes a new plan"""
    wait_s: SecondsOrZero = 900
    """seconds to wait for a rate-limited account before the conversation is parked"""


class Config(Section, frozen=True):
    """The whole file."""

    board: BoardSettings = BoardSettings()
    engine: dict[str, EngineSettings] = field(default_factory=dict)
    refinery: RefinerySettings = RefinerySettings()
    slots: SlotSettings = SlotSettings()
    watch: WatchSettings = WatchSettings()
    trees: TreeSettings = TreeSettings()
    budget: BudgetSettings = BudgetSettings()
    mayor: MayorSettings = MayorSettings()
    server: ServerSettings = ServerSettings()
    environment: EnvironmentSettings = EnvironmentSettings()
    confine: ConfineSettings = ConfineSettings()
    radar: RadarSettings = RadarSettings()
    telemetry: TelemetrySettings = TelemetrySettings()


def parse(text: str, name: str) -> Config:
    """Read a configuration; `name` is what errors call the file."""
    from corral.core.config.reader import read  # rarely: what was read is remembered

    return read(text, name)

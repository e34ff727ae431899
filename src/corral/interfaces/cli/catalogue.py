"""Every command of the command line: where its code is and which options it takes.

Commands that change the state take their options from the Struct in `core/board/commands.py`; the
others name theirs here. Help, completion and the reference page are made from this table.
"""

from typing import Any

from msgspec import Struct


class Option(Struct, frozen=True):
    """One argument: positional if its flag has no dashes."""

    flag: str
    help: str
    kind: str = "text"  # text, number, flag, list
    default: Any = None
    choices: tuple[str, ...] = ()
    optional: bool = False  # for a positional one


class CommandEntry(Struct, frozen=True):
    name: str
    summary: str
    code: str  # module:function; a command of the core goes to `board`
    options: tuple[Option, ...]
    group: str


_BOARD = "board:operate"
_Row = tuple[str, str, *tuple[Option, ...]]  # the code, the summary and the options


def _board(*names: str) -> dict[str, _Row]:
    """Return commands of the core, which describe themselves."""
    return dict.fromkeys(names, (_BOARD, ""))


_STATES = ("backlog", "todo", "doing", "blocked", "review", "done", "failed", "cancelled")
_FORMATS = ("toml", "markdown", "json")
_MOVES = (
    *("renew", "submit", "fail", "block", "unblock"),
    *("cancel", "hand-off", "land", "comment"),
)
_SESSION = Option("session", "the session, like AF-1.1")
_PORT = Option("--port", "the port (default: 5173, or another if taken)", "number", 0)
_ON_RED = Option(
    "--on-red",
    "if the base fails its checks: have an agent mend it first, or ignore it",
    choices=("mend", "ignore"),
)
_REMOTE = Option("remote", "the remote, like origin")
_KEPT = Option("kept", "the saved work, like AF-1.1/1; for a session or task, its newest")
_PLAN = (
    Option("file", "the plan: TOML, a Markdown checklist or JSON; - for standard input"),
    Option("--format", "the format of the file, if its name does not show it", choices=_FORMATS),
)

_PLANNER = (
    Option("--engine", "the engine profile that writes the plan"),
    Option(
        "--replan", "ask for a new plan after a task has failed for good", choices=("on_failure",)
    ),
)

# What the rules of the log do not cover, and no session may do.
FOR_PEOPLE = frozenset({"uninstall", "up", "down", "run", "serve", "link", "log fetch", "rebuild"})

_GROUPS: dict[str, dict[str, _Row]] = {
    "Start": {
        "init": (
            "setup:init",
            "set up Corral in this repository: write .corral/config.toml",
            Option("--print", "print the file instead of writing it", "flag"),
            Option("--templates", "write role templates to .corral/roles", "flag"),
        ),
        "doctor": ("setup:doctor", "check that everything Corral needs is present and working"),
        "uninstall": (
            "uninstall:uninstall",
            "list everything that Corral has left in this repository, and remove it",
            Option("--yes", "remove it without asking", "flag"),
            Option("--keep-branches", "keep the branches of convoys", "flag"),
            Option("--stop", "end running sessions first; their work is kept", "flag"),
            Option("--to", "the folder for what is kept (default: beside the repository)"),
        ),
        "check": (
            "preflight:check",
            "check that work can be done and landed here: engines, set-up, and checks of the base",
        ),
        "demo": (
            "demo.command:demo",
            "watch 12 agents fix a sample project while everything goes wrong",
            Option("--engine", "use a real engine of this type instead of scripted agents"),
            Option("--keep", "keep the repository and print its path", "flag"),
            Option("--with-ui", "serve the dashboard meanwhile and print its link", "flag"),
        ),
    },
    "Server": {
        "up": (
            "up:up",
            "run the server, the witness, the refinery and the deacon",
            Option("-d", "run in the background; return when the server answers", "flag"),
            Option("--systemd", "print a systemd unit instead", "flag"),
            _ON_RED,
            _PORT,
        ),
        "down": ("up:down", "stop everything that corral up runs"),
        "serve": ("serve:serve", "run the server alone", _PORT),
        "mcp": ("mcp:bridge", "offer the agents' tools (MCP) over standard input and output"),
        "link": ("serve:link", "print a one-time link to the dashboard"),
    },
    "Looking": {
        "status": (
            "status:status",
            "show which tasks are ready, in progress, blocked, in review and landed",
            Option("--watch", "keep running and show each change as it happens", "flag"),
        ),
        "cost": ("cost:cost", "show what was spent: tokens and money, by task and model"),
        "why": (
            "look:why",
            "explain why a task, session or other thing is in its current state",
            Option("thing", "a task, session, convoy, check run, lease, message or alert"),
        ),
        "log": (
            "history:log",
            "list the events, oldest first",
            Option("--follow", "keep running and show new events as they come", "flag"),
            Option("--after", "only events after this number", "number", 0),
            Option("--task", "only events about this task"),
            Option("--last", "only the newest N", "number"),
        ),
    },
    "Convoys and tasks": {
        **_board("convoy create", "pause", "resume"),
        "convoy list": ("look:convoy_list", "list the convoys"),
        "convoy show": ("look:convoy_show", "show one convoy", Option("convoy", "the convoy's id")),
        **_board("task add", "task edit"),
        "task list": (
            "look:task_list",
            "list the tasks",
            Option("--state", "only tasks in this column", choices=_STATES),
            Option("--convoy", "only tasks of this convoy"),
            Option("--ready", "only tasks that could be claimed now", "flag"),
        ),
        "task show": (
            "look:task_show",
            "show one task, with its brief and comments",
            Option("task", "the task, like AF-1"),
        ),
        "task claim": (_BOARD, "", Option("--next", "claim the next task that is ready", "flag")),
        **_board(*(f"task {move}" for move in _MOVES)),
        "task retry": (
            "going_on:retry",
            "put tasks back on the board for another attempt",
            Option("tasks", "the tasks, like AF-1 AF-2", "list", optional=True),
            Option("--failed", "all tasks that have failed", "flag"),
            Option("--convoy", "with --failed: only tasks of this convoy"),
            Option("--reason", "why"),
        ),
    },
    "Plans": {
        "plan check": (
            "plans:check",
            "check a plan: show its waves, critical path and overlaps, or every error in it",
            *_PLAN,
        ),
        "plan show": (
            "plans:show",
            "show the tasks of a plan, wave by wave",
            *_PLAN,
            Option("--graph", "draw the graph of dependencies", "flag"),
        ),
        "plan apply": (
            "plans:apply",
            "create or update the convoy and tasks of a plan, all or nothing",
            *_PLAN,
        ),
    },
    "Sessions": {
        "witness run": (
            "sessions:witness",
            "start a session for each ready task, watch it, and judge its result",
            Option("--once", "exit when nothing runs and nothing can start", "flag"),
        ),
        "session list": ("sessions:listed", "list the sessions and what each is doing"),
        "session show": ("sessions:show", "show one session and its outcome", _SESSION),
        "session tail": (
            "sessions:tail",
            "show the last lines of a session's output",
            _SESSION,
            Option("--lines", "the number of lines", "number", 20),
            Option("--raw", "show the engine's raw output", "flag"),
        ),
        "session send": (
            "send:send",
            "send text to a running session: an instruction or an answer",
            _SESSION,
            Option("text", "the text; - for standard input"),
            Option("--answers", "the question that this answers, if several are open"),
            Option("--wait", "wait at most N seconds for proof of delivery", "number", 5),
        ),
        "session stop": (
            "sessions:stop",
            "stop a session and every process it started",
            _SESSION,
            Option("--reason", "the reason, in one line", default="stopped by hand"),
        ),
        **_board("session report"),
        "session attach": (
            "attach:attach",
            "follow a session's output until it ends, or take over its terminal",
            _SESSION,
            Option("--lines", "start with the last N lines", "number", 20),
        ),
    },
    "The mayor": {
        "mayor start": (
            "mayor:start",
            "have an engine read the code and write a plan, or continue that conversation",
            Option(
                "--task", "the goal (- for standard input); without it, the conversation continues"
            ),
            *_PLANNER,
            Option("--yes", "put the plan on the board without asking", "flag"),
            Option("--headless", "the same as --yes, for scripts", "flag"),
        ),
        "mayor ask": (
            "mayor:ask",
            "ask the mayor a question; the answer may change tasks that have not started",
            Option("text", "the question or the change; - for standard input"),
            Option("--yes", "put the changed plan on the board without asking", "flag"),
        ),
        "mayor status": ("mayor:status", "show the conversation: its state, plan and cost"),
        "mayor tail": (
            "mayor:tail",
            "show what was said",
            Option("--turns", "the last N questions and answers", "number", 3),
        ),
        "mayor approve": ("mayor:approve", "put the proposed plan on the board"),
        "mayor reject": (
            "mayor:reject",
            "reject the proposed plan",
            Option("--reason", "the reason, in one line", default=""),
        ),
        "mayor stop": (
            "mayor:stop",
            "end the conversation and stop its engine",
            Option("--reason", "the reason, in one line", default="stopped by hand"),
        ),
        "mayor replan": (
            "mayor:replan",
            "ask the mayor once about each task of a convoy that has failed for good",
            Option("convoy", "the convoy"),
            Option("--yes", "put the changed plan on the board without asking", "flag"),
        ),
    },
    "Engines": {
        "engine list": ("engines:listed", "list the coding agents and which of them are installed"),
        "engine check": (
            "engines:check",
            "start the engine of each profile and ask it a short question",
            Option("profile", "only this profile", optional=True),
            Option("--quick", "only start the engines; ask no model", "flag"),
        ),
    },
    "Runs": {
        "run": (
            "run:run",
            "carry out a goal or a plan until everything has landed, failed or needs a person",
            Option("plan", "a goal in words, a plan's file (- for standard input) or a convoy"),
            Option("--yes", "start without asking", "flag"),
            Option("--headless", "print one line for each step, and ask nothing", "flag"),
            _ON_RED,
            Option("--summary", "write the report to this file as JSON"),
            Option("--junit", "write the report to this file as JUnit XML"),
            *_PLANNER,
            Option("--format", "the format of the plan's file", choices=_FORMATS),
        )
    },
    "Landing": {
        "refinery run": (
            "queue:refinery",
            "check submitted work and land it on the trunk of its convoy",
            Option("--once", "exit when nothing more can land", "flag"),
        ),
        "queue list": (
            "queue:listed",
            "list the changes that wait to land and the checks that run",
        ),
        "queue show": (
            "queue:show",
            "show one change in the queue, or one check run and its output",
            Option("what", "the task, like AF-1, or the check run, like R42"),
            Option("--lines", "the last N lines of the output", "number", 40),
        ),
        "finish": (
            "going_on:finish",
            "bring a landed convoy to its base branch, after the refinery could not",
            Option("convoy", "the convoy"),
            Option(
                "--how",
                "as in refinery.finish (default: that setting, or merge)",
                choices=("merge", "fast-forward", "pull-request"),
            ),
        ),
        "queue recheck": (
            "going_on:recheck",
            "hand in proved work that came back again, without a new agent",
            Option("tasks", "the tasks, like AF-1 AF-2", "list"),
        ),
        **_board("queue eject", "queue prioritise", "queue report"),
    },
    "Tidying and rescue": {
        "deacon run": (
            "deacon:run",
            "end lapsed claims and leases, and clean up what sessions have left behind",
            Option("--once", "do every job once and report the findings", "flag"),
        ),
        "deacon status": ("deacon:status", "show when each of the deacon's jobs last ran"),
        "rescue list": (
            "rescue:listed",
            "list the work that was saved before worktrees were cleaned or removed",
            Option("--session", "only the work of this session or task"),
            Option("--last", "only the newest N", "number", 50),
        ),
        "rescue show": (
            "rescue:show",
            "show what was saved: commits, staged, changed and untracked files",
            _KEPT,
        ),
        "rescue restore": (
            "rescue:restore",
            "restore saved work to a new folder, exactly as it was",
            _KEPT,
            Option("--to", "the folder; it must be empty or not exist"),
            Option("--branch", "a new branch for HEAD", default=""),
        ),
    },
    "Leases and alerts": {
        **_board("lease acquire", "lease renew", "lease release"),
        "lease list": ("look:lease_list", "list the leases, their holders and when they expire"),
        **_board("alert raise", "alert acknowledge", "alert clear"),
        "alert list": ("look:alert_list", "list what needs a person's attention"),
    },
    "Messages": {
        **_board("message send", "message read", "message ack"),
        "message list": ("look:message_list", "list the messages that are still open"),
    },
    "The log": {
        "log verify": ("history:verify", "check every event against its hash"),
        "log push": (
            "mirror:push",
            "push the log to a remote, without overwriting anything",
            _REMOTE,
        ),
        "log fetch": (
            "mirror:fetch",
            "fetch the log from a remote, without overwriting anything",
            _REMOTE,
        ),
        "rebuild": (
            "mirror:rebuild",
            "rebuild everything that is derived from the log",
            Option(
                "--from-mirror",
                "import the log from refs/corral/log, or restore it from there",
                "flag",
            ),
        ),
    },
    "Shell": {
        "completion": (
            "completion:script",
            "print the completion script for a shell",
            Option("shell", "your shell", choices=("bash", "zsh", "fish")),
        )
    },
}

ENTRIES = {
    name: CommandEntry(name, summary, code, tuple(options), group)
    for group, rows in _GROUPS.items()
    for name, (code, summary, *options) in rows.items()
}

# What a newcomer needs first, in this order; `corral help all` lists the others.
FIRST = (
    "demo",
    "init",
    "doctor",
    "check",
    "run",
    "up",
    "link",
    "status",
    "why",
    "log",
    "task retry",
)

COMMON = (
    Option("--json", "print JSON, for programs", "flag"),
    Option("--repo", "the repository, if not the one of the current folder"),
    Option("--as", "your name: a person, an agent or a session"),
)


def summary(entry: CommandEntry) -> str:
    """Return what a command does, in one line."""
    if entry.summary:
        return entry.summary
    from corral.core.board.commands import COMMANDS

    text = (COMMANDS[entry.name].__doc__ or "").split("\n", maxsplit=1)[0].rstrip(".")
    return text[:1].lower() + text[1:]


def options_of(entry: CommandEntry) -> tuple[Option, ...]:
    """Return all options of a command, those of its Struct first."""
    own = entry.options
    if entry.code == _BOARD:
        from corral.interfaces.cli.fields import options

        own = (*options(entry.name), *own)
    return (*own, *COMMON)

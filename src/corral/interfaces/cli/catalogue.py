"""Every command of the command line: where its code is and which options it takes.

Commands that change the state take their options from the Struct in `core/board/commands.py`; the
others name theirs here. Help, completion and the reference page are made from this table.
"""

from collections.abc import Sequence
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
    options: tuple[Option, ...] = ()
    group: str = ""

    @property
    def words(self) -> Sequence[str]:
        return self.name.split()


_STATES = ("backlog", "todo", "doing", "blocked", "review", "done", "failed", "cancelled")
_FORMATS = ("toml", "markdown", "json")
_MOVES = (
    *("renew", "submit", "fail", "block", "unblock"),
    *("retry", "cancel", "hand-off", "land", "comment"),
)
_BOARD = "board:operate"
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

_GROUPS: dict[str, tuple[CommandEntry, ...]] = {
    "Start": (
        CommandEntry(
            "init",
            "set up Corral in this repository: write .corral/config.toml",
            "setup:init",
            (
                Option("--print", "print the file instead of writing it", "flag"),
                Option("--templates", "write templates of role files to .corral/roles", "flag"),
            ),
        ),
        CommandEntry(
            "doctor", "check that everything Corral needs is present and working", "setup:doctor"
        ),
        CommandEntry(
            "demo",
            "watch 12 agents fix a sample project while everything goes wrong",
            "demo.command:demo",
            (
                Option("--engine", "use a real engine of this type instead of scripted agents"),
                Option("--keep", "keep the repository and print its path", "flag"),
                Option("--with-ui", "serve the dashboard meanwhile and print its link", "flag"),
            ),
        ),
    ),
    "Server": (
        CommandEntry(
            "up",
            "run the server, the witness, the refinery and the deacon",
            "up:up",
            (
                Option("-d", "run in the background; return when the server answers", "flag"),
                Option("--systemd", "print a systemd unit instead", "flag"),
                Option("--port", "the port (default: 5173, or another if taken)", "number", 0),
            ),
        ),
        CommandEntry("down", "stop everything that corral up runs", "up:down"),
        CommandEntry(
            "serve",
            "run the server alone",
            "serve:serve",
            (Option("--port", "the port (default: 5173, or another if taken)", "number", 0),),
        ),
        CommandEntry(
            "mcp", "offer the agents' tools (MCP) over standard input and output", "mcp:bridge"
        ),
        CommandEntry("link", "print a one-time link to the dashboard", "serve:link"),
    ),
    "Looking": (
        CommandEntry(
            "status",
            "show which tasks are ready, in progress, blocked, in review and landed",
            "status:status",
            (Option("--watch", "keep running and show each change as it happens", "flag"),),
        ),
        CommandEntry(
            "cost", "show what was spent: tokens and money, by task and model", "cost:cost"
        ),
        CommandEntry(
            "why",
            "explain why a task, session or other thing is in its current state",
            "look:why",
            (Option("thing", "a task, session, convoy, check run, lease, message or alert"),),
        ),
        CommandEntry(
            "log",
            "list the events, oldest first",
            "history:log",
            (
                Option("--follow", "keep running and show new events as they come", "flag"),
                Option("--after", "only events after this number", "number", 0),
                Option("--task", "only events about this task"),
                Option("--last", "only the newest N", "number"),
            ),
        ),
    ),
    "Convoys and tasks": (
        CommandEntry("convoy create", "", _BOARD),
        CommandEntry("pause", "", _BOARD),
        CommandEntry("resume", "", _BOARD),
        CommandEntry("convoy list", "list the convoys", "look:convoy_list"),
        CommandEntry(
            "convoy show",
            "show one convoy",
            "look:convoy_show",
            (Option("convoy", "the convoy's id"),),
        ),
        CommandEntry("task add", "", _BOARD),
        CommandEntry("task edit", "", _BOARD),
        CommandEntry(
            "task list",
            "list the tasks",
            "look:task_list",
            (
                Option("--state", "only tasks in this column", choices=_STATES),
                Option("--convoy", "only tasks of this convoy"),
                Option("--ready", "only tasks that could be claimed now", "flag"),
            ),
        ),
        CommandEntry(
            "task show",
            "show one task, with its brief and comments",
            "look:task_show",
            (Option("task", "the task, like AF-1"),),
        ),
        CommandEntry(
            "task claim",
            "",
            _BOARD,
            (Option("--next", "claim the next task that is ready", "flag"),),
        ),
        *(CommandEntry(f"task {move}", "", _BOARD) for move in _MOVES),
    ),
    "Plans": (
        CommandEntry(
            "plan check",
            "check a plan: show its waves, critical path and overlaps, or every error in it",
            "plans:check",
            _PLAN,
        ),
        CommandEntry(
            "plan show",
            "show the tasks of a plan, wave by wave",
            "plans:show",
            (*_PLAN, Option("--graph", "draw the graph of dependencies", "flag")),
        ),
        CommandEntry(
            "plan apply",
            "create or update the convoy and tasks of a plan, all or nothing",
            "plans:apply",
            _PLAN,
        ),
    ),
    "Sessions": (
        CommandEntry(
            "witness run",
            "start a session for each ready task, watch it, and judge its result",
            "sessions:witness",
            (Option("--once", "exit when nothing runs and nothing can start", "flag"),),
        ),
        CommandEntry("session list", "list the sessions and what each is doing", "sessions:listed"),
        CommandEntry(
            "session show",
            "show one session and its outcome",
            "sessions:show",
            (Option("session", "the session, like AF-1.1"),),
        ),
        CommandEntry(
            "session tail",
            "show the last lines of a session's output",
            "sessions:tail",
            (
                Option("session", "the session, like AF-1.1"),
                Option("--lines", "the number of lines", "number", 20),
                Option("--raw", "show the engine's raw output", "flag"),
            ),
        ),
        CommandEntry(
            "session send",
            "send text to a running session: an instruction or an answer",
            "send:send",
            (
                Option("session", "the session, like AF-1.1"),
                Option("text", "the text; - for standard input"),
                Option("--answers", "the question that this answers, if several are open"),
                Option("--wait", "wait at most N seconds for proof of delivery", "number", 5),
            ),
        ),
        CommandEntry(
            "session stop",
            "stop a session and every process it started",
            "sessions:stop",
            (
                Option("session", "the session, like AF-1.1"),
                Option("--reason", "the reason, in one line", default="stopped by hand"),
            ),
        ),
        CommandEntry("session report", "", _BOARD),
        CommandEntry(
            "session attach",
            "follow a session's output until it ends, or take over its terminal",
            "attach:attach",
            (
                Option("session", "the session, like AF-1.1"),
                Option("--lines", "start with the last N lines", "number", 20),
            ),
        ),
    ),
    "The mayor": (
        CommandEntry(
            "mayor start",
            "have an engine read the code and write a plan, or continue that conversation",
            "mayor:start",
            (
                Option(
                    "--task",
                    "the goal (- for standard input); without it, the conversation continues",
                ),
                *_PLANNER,
                Option("--yes", "put the plan on the board without asking", "flag"),
                Option("--headless", "the same as --yes, for scripts", "flag"),
            ),
        ),
        CommandEntry(
            "mayor ask",
            "ask the mayor a question; the answer may change tasks that have not started",
            "mayor:ask",
            (
                Option("text", "the question or the change; - for standard input"),
                Option("--yes", "put the changed plan on the board without asking", "flag"),
            ),
        ),
        CommandEntry(
            "mayor status", "show the conversation: its state, plan and cost", "mayor:status"
        ),
        CommandEntry(
            "mayor tail",
            "show what was said",
            "mayor:tail",
            (Option("--turns", "the last N questions and answers", "number", 3),),
        ),
        CommandEntry("mayor approve", "put the proposed plan on the board", "mayor:approve"),
        CommandEntry(
            "mayor reject",
            "reject the proposed plan",
            "mayor:reject",
            (Option("--reason", "the reason, in one line", default=""),),
        ),
        CommandEntry(
            "mayor stop",
            "end the conversation and stop its engine",
            "mayor:stop",
            (Option("--reason", "the reason, in one line", default="stopped by hand"),),
        ),
        CommandEntry(
            "mayor replan",
            "ask the mayor once about each task of a convoy that has failed for good",
            "mayor:replan",
            (
                Option("convoy", "the convoy"),
                Option("--yes", "put the changed plan on the board without asking", "flag"),
            ),
        ),
    ),
    "Engines": (
        CommandEntry(
            "engine list",
            "list the coding agents and which of them are installed",
            "engines:listed",
        ),
        CommandEntry(
            "engine check",
            "start the engine of each profile and ask it a short question",
            "engines:check",
            (
                Option("profile", "only this profile", optional=True),
                Option("--quick", "only start the engines; ask no model", "flag"),
            ),
        ),
    ),
    "Runs": (
        CommandEntry(
            "run",
            "carry out a goal or a plan until everything has landed, failed or needs a person",
            "run:run",
            (
                Option("plan", "a goal in words, a plan's file (- for standard input) or a convoy"),
                Option("--yes", "start without asking", "flag"),
                Option("--headless", "print one line for each step, and ask nothing", "flag"),
                Option("--summary", "write the report to this file as JSON"),
                Option("--junit", "write the report to this file as JUnit XML"),
                *_PLANNER,
                Option("--format", "the format of the plan's file", choices=_FORMATS),
            ),
        ),
    ),
    "Landing": (
        CommandEntry(
            "refinery run",
            "check submitted work and land it on the trunk of its convoy",
            "queue:refinery",
            (Option("--once", "exit when nothing more can land", "flag"),),
        ),
        CommandEntry(
            "queue list",
            "list the changes that wait to land and the checks that run",
            "queue:listed",
        ),
        CommandEntry(
            "queue show",
            "show one change in the queue, or one check run and its output",
            "queue:show",
            (
                Option("what", "the task, like AF-1, or the check run, like R42"),
                Option("--lines", "the last N lines of the output", "number", 40),
            ),
        ),
        CommandEntry("queue eject", "", _BOARD),
        CommandEntry("queue prioritise", "", _BOARD),
        CommandEntry("queue report", "", _BOARD),
    ),
    "Tidying and rescue": (
        CommandEntry(
            "deacon run",
            "end lapsed claims and leases, and clean up what sessions have left behind",
            "deacon:run",
            (Option("--once", "do every job once and report the findings", "flag"),),
        ),
        CommandEntry(
            "deacon status", "show when each of the deacon's jobs last ran", "deacon:status"
        ),
        CommandEntry(
            "rescue list",
            "list the work that was saved before worktrees were cleaned or removed",
            "rescue:listed",
            (
                Option("--session", "only the work of this session or task"),
                Option("--last", "only the newest N", "number", 50),
            ),
        ),
        CommandEntry(
            "rescue show",
            "show what was saved: commits, staged, changed and untracked files",
            "rescue:show",
            (Option("kept", "the saved work, like AF-1.1/1; for a session or task, its newest"),),
        ),
        CommandEntry(
            "rescue restore",
            "restore saved work to a new folder, exactly as it was",
            "rescue:restore",
            (
                Option("kept", "the saved work, like AF-1.1/1; for a session or task, its newest"),
                Option("--to", "the folder; it must be empty or not exist"),
                Option("--branch", "a new branch for HEAD", default=""),
            ),
        ),
    ),
    "Leases and alerts": (
        CommandEntry("lease acquire", "", _BOARD),
        CommandEntry("lease renew", "", _BOARD),
        CommandEntry("lease release", "", _BOARD),
        CommandEntry(
            "lease list", "list the leases, their holders and when they expire", "look:lease_list"
        ),
        CommandEntry("alert raise", "", _BOARD),
        CommandEntry("alert acknowledge", "", _BOARD),
        CommandEntry("alert clear", "", _BOARD),
        CommandEntry("alert list", "list what needs a person's attention", "look:alert_list"),
    ),
    "Messages": (
        CommandEntry("message send", "", _BOARD),
        CommandEntry("message read", "", _BOARD),
        CommandEntry("message ack", "", _BOARD),
        CommandEntry("message list", "list the messages that are still open", "look:message_list"),
    ),
    "The log": (
        CommandEntry("log verify", "check every event against its hash", "history:verify"),
        CommandEntry(
            "log push",
            "push the log to a remote, without overwriting anything",
            "mirror:push",
            (Option("remote", "the remote, like origin"),),
        ),
        CommandEntry(
            "log fetch",
            "fetch the log from a remote, without overwriting anything",
            "mirror:fetch",
            (Option("remote", "the remote, like origin"),),
        ),
        CommandEntry(
            "rebuild",
            "rebuild everything that is derived from the log",
            "mirror:rebuild",
            (
                Option(
                    "--from-mirror",
                    "import the log from refs/corral/log, or restore it from there",
                    "flag",
                ),
            ),
        ),
    ),
    "Shell": (
        CommandEntry(
            "completion",
            "print the completion script for a shell",
            "completion:script",
            (Option("shell", "your shell", choices=("bash", "zsh", "fish")),),
        ),
    ),
}

ENTRIES: dict[str, CommandEntry] = {
    entry.name: CommandEntry(entry.name, entry.summary, entry.code, entry.options, group)
    for group, entries in _GROUPS.items()
    for entry in entries
}

# What a newcomer needs first, in this order; `corral help all` lists the others.
FIRST = ("demo", "init", "doctor", "run", "up", "link", "status", "why", "log", "task retry")

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

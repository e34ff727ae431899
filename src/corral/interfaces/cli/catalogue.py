"""Every command of the command line: where its code is and what it takes.

Commands that change the state take their fields from the Struct in `core/board/commands.py`; the
rest name their options here. Help, completion and the reference page are made from this table.
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
    Option("file", "the plan: TOML, a Markdown check list, or JSON; - is standard input"),
    Option("--format", "what the file is, if its name does not say it", choices=_FORMATS),
)

_PLANNER = (
    Option("--engine", "the engine profile that makes the plan"),
    Option("--replan", "ask it again after a task has failed for good", choices=("on_failure",)),
)

_GROUPS: dict[str, tuple[CommandEntry, ...]] = {
    "Start": (
        CommandEntry(
            "init",
            "set Corral up in this repository: write .corral/config.toml",
            "setup:init",
            (
                Option("--print", "show the file instead of writing it", "flag"),
                Option("--templates", "write role files to start from, in .corral/roles", "flag"),
            ),
        ),
        CommandEntry(
            "doctor", "check that everything Corral needs is there and sound", "setup:doctor"
        ),
        CommandEntry(
            "demo",
            "watch 12 agents mend a sample project while everything goes wrong",
            "demo.command:demo",
            (
                Option("--engine", "the type of a real engine, in place of scripted agents"),
                Option("--keep", "keep the repository, and say where it is", "flag"),
                Option("--with-ui", "serve the dashboard beside it, and print its link", "flag"),
            ),
        ),
    ),
    "Server": (
        CommandEntry(
            "up",
            "run the server, the witness, the refinery and the deacon together",
            "up:up",
            (
                Option("-d", "in the background: answer once the server does", "flag"),
                Option("--systemd", "print a unit for systemd instead", "flag"),
                Option("--port", "the port (default: 5173, or another if taken)", "number", 0),
            ),
        ),
        CommandEntry("down", "stop what corral up runs", "up:down"),
        CommandEntry(
            "serve",
            "run the server alone",
            "serve:serve",
            (Option("--port", "the port (default: 5173, or another if taken)", "number", 0),),
        ),
        CommandEntry(
            "mcp", "the tools for agents over a pipe, for engines that want that", "mcp:bridge"
        ),
        CommandEntry("link", "a link that opens the browser, once", "serve:link"),
    ),
    "See": (
        CommandEntry(
            "status",
            "what is queued, being done, blocked, in review, landed",
            "status:status",
            (Option("--watch", "stay, and show each change as it happens", "flag"),),
        ),
        CommandEntry("cost", "what was spent: tokens and money, on what", "cost:cost"),
        CommandEntry(
            "why",
            "why something is as it is",
            "look:why",
            (Option("thing", "a task, session, convoy, check run, lease, message or alert"),),
        ),
        CommandEntry(
            "log",
            "the events, oldest first",
            "history:log",
            (
                Option("--follow", "stay, and show new events as they come", "flag"),
                Option("--after", "only events after this number", "number", 0),
                Option("--task", "only events about this task"),
                Option("--last", "only this many of the newest", "number"),
            ),
        ),
    ),
    "Convoys and tasks": (
        CommandEntry("convoy create", "", _BOARD),
        CommandEntry("pause", "", _BOARD),
        CommandEntry("resume", "", _BOARD),
        CommandEntry("convoy list", "the convoys", "look:convoy_list"),
        CommandEntry(
            "convoy show", "one convoy", "look:convoy_show", (Option("convoy", "the convoy's id"),)
        ),
        CommandEntry("task add", "", _BOARD),
        CommandEntry("task edit", "", _BOARD),
        CommandEntry(
            "task list",
            "the tasks",
            "look:task_list",
            (
                Option("--state", "only tasks in this column", choices=_STATES),
                Option("--convoy", "only tasks of this convoy"),
                Option("--ready", "only tasks that could be claimed now", "flag"),
            ),
        ),
        CommandEntry(
            "task show",
            "one task, with its brief and comments",
            "look:task_show",
            (Option("task", "the task"),),
        ),
        CommandEntry(
            "task claim", "", _BOARD, (Option("--next", "the next task that is ready", "flag"),)
        ),
        *(CommandEntry(f"task {move}", "", _BOARD) for move in _MOVES),
    ),
    "Plans": (
        CommandEntry(
            "plan check",
            "what a plan comes to (waves, critical path, overlaps), or all that is wrong with it",
            "plans:check",
            _PLAN,
        ),
        CommandEntry(
            "plan show",
            "the tasks of a plan, by waves",
            "plans:show",
            (*_PLAN, Option("--graph", "draw who waits for whom", "flag")),
        ),
        CommandEntry(
            "plan apply",
            "make a plan's convoy and tasks, or bring them up to date: all of it or nothing",
            "plans:apply",
            _PLAN,
        ),
    ),
    "Sessions": (
        CommandEntry(
            "witness run",
            "give tasks to sessions, start, watch, stop and judge them",
            "sessions:witness",
            (Option("--once", "end when nothing runs and nothing can start", "flag"),),
        ),
        CommandEntry("session list", "the sessions, and what each is doing", "sessions:listed"),
        CommandEntry(
            "session show",
            "one session, and what it came to",
            "sessions:show",
            (Option("session", "the session, like AF-1.1"),),
        ),
        CommandEntry(
            "session tail",
            "the last lines of a session's output",
            "sessions:tail",
            (
                Option("session", "the session"),
                Option("--lines", "how many", "number", 20),
                Option("--raw", "as the engine wrote it, not in words", "flag"),
            ),
        ),
        CommandEntry(
            "session send",
            "say something to a session that runs: what to do next, or its answer",
            "send:send",
            (
                Option("session", "the session"),
                Option("text", "what to say; - reads it from standard input"),
                Option("--answers", "the question that it answers, if several are open"),
                Option("--wait", "how many seconds to wait for proof that it arrived", "number", 5),
            ),
        ),
        CommandEntry(
            "session stop",
            "end a session and all that it started",
            "sessions:stop",
            (
                Option("session", "the session"),
                Option("--reason", "why, in one line", default="stopped by hand"),
            ),
        ),
        CommandEntry("session report", "", _BOARD),
        CommandEntry(
            "session attach",
            "see what a session prints, live, until it ends; or sit down at its terminal",
            "attach:attach",
            (
                Option("session", "the session"),
                Option("--lines", "how many of the lines so far", "number", 20),
            ),
        ),
    ),
    "The mayor": (
        CommandEntry(
            "mayor start",
            "have an engine look at the code and make a plan; again: go on where it was",
            "mayor:start",
            (
                Option("--task", "the goal; - reads it; left out: go on with what there is"),
                *_PLANNER,
                Option("--yes", "put the plan on the board without asking", "flag"),
                Option("--headless", "the same: nobody is there to be asked", "flag"),
            ),
        ),
        CommandEntry(
            "mayor ask",
            "ask the mayor something; its answer may change what has not started",
            "mayor:ask",
            (
                Option("text", "the question, or what is to change; - reads it"),
                Option("--yes", "put the changed plan on the board without asking", "flag"),
            ),
        ),
        CommandEntry("mayor status", "the conversation: its state, plan and cost", "mayor:status"),
        CommandEntry(
            "mayor tail",
            "what was said",
            "mayor:tail",
            (Option("--turns", "how many questions and answers", "number", 3),),
        ),
        CommandEntry("mayor approve", "put the proposed plan on the board", "mayor:approve"),
        CommandEntry(
            "mayor reject",
            "do not take the proposed plan",
            "mayor:reject",
            (Option("--reason", "why, in one line", default=""),),
        ),
        CommandEntry(
            "mayor stop",
            "end the conversation and its engine",
            "mayor:stop",
            (Option("--reason", "why, in one line", default="stopped by hand"),),
        ),
        CommandEntry(
            "mayor replan",
            "ask about tasks of a convoy that have failed for good, each once",
            "mayor:replan",
            (
                Option("convoy", "the convoy"),
                Option("--yes", "put the changed plan on the board without asking", "flag"),
            ),
        ),
    ),
    "Engines": (
        CommandEntry(
            "engine list", "the coding agents, and which of them are here", "engines:listed"
        ),
        CommandEntry(
            "engine check",
            "start the engines of the profiles, and ask each a short question",
            "engines:check",
            (
                Option("profile", "only this one", optional=True),
                Option("--quick", "start them only; ask no model", "flag"),
            ),
        ),
    ),
    "Whole runs": (
        CommandEntry(
            "run",
            "run a plan, or make one for a goal, until all has landed, failed or needs a person",
            "run:run",
            (
                Option("plan", "a plan's file (- reads it), a convoy, or a goal in words"),
                Option("--yes", "do not ask", "flag"),
                Option("--headless", "no screen and no questions: a line for each step", "flag"),
                Option("--summary", "write the report to this file, as JSON"),
                Option("--junit", "write it to this file, as JUnit XML"),
                *_PLANNER,
                Option("--format", "what the file is", choices=("toml", "markdown", "json")),
            ),
        ),
    ),
    "Landing": (
        CommandEntry(
            "refinery run",
            "check work that was handed in, and land it on the trunk of its convoy",
            "queue:refinery",
            (Option("--once", "end when nothing waits that could land", "flag"),),
        ),
        CommandEntry("queue list", "what waits to land, and what is being checked", "queue:listed"),
        CommandEntry(
            "queue show",
            "one task on its way, or one check run with its output",
            "queue:show",
            (
                Option("what", "the task, or the check run, like R42"),
                Option("--lines", "how much of the output", "number", 40),
            ),
        ),
        CommandEntry("queue eject", "", _BOARD),
        CommandEntry("queue prioritise", "", _BOARD),
        CommandEntry("queue report", "", _BOARD),
    ),
    "Tidying and rescue": (
        CommandEntry(
            "deacon run",
            "take back what ran out, end and tidy up what belongs to nobody any more",
            "deacon:run",
            (Option("--once", "go over everything once, and say what was found", "flag"),),
        ),
        CommandEntry("deacon status", "when each of the deacon's chores last ran", "deacon:status"),
        CommandEntry(
            "rescue list",
            "the work that was kept before trees were cleaned or removed",
            "rescue:listed",
            (
                Option("--session", "only that of this session or task"),
                Option("--last", "only this many of the newest", "number", 50),
            ),
        ),
        CommandEntry(
            "rescue show",
            "what kept work holds: commits, staged, changed and untracked files",
            "rescue:show",
            (Option("kept", "like AF-1.1/1; a session or task means the newest of it"),),
        ),
        CommandEntry(
            "rescue restore",
            "bring kept work back into a new folder, exactly as it was",
            "rescue:restore",
            (
                Option("kept", "like AF-1.1/1; a session or task means the newest of it"),
                Option("--to", "the folder; it must not exist, or be empty"),
                Option("--branch", "a new branch to put HEAD on", default=""),
            ),
        ),
    ),
    "Leases and alerts": (
        CommandEntry("lease acquire", "", _BOARD),
        CommandEntry("lease renew", "", _BOARD),
        CommandEntry("lease release", "", _BOARD),
        CommandEntry("lease list", "who holds what, and until when", "look:lease_list"),
        CommandEntry("alert raise", "", _BOARD),
        CommandEntry("alert acknowledge", "", _BOARD),
        CommandEntry("alert clear", "", _BOARD),
        CommandEntry("alert list", "what needs a person's eye", "look:alert_list"),
    ),
    "Messages": (
        CommandEntry("message send", "", _BOARD),
        CommandEntry("message read", "", _BOARD),
        CommandEntry("message ack", "", _BOARD),
        CommandEntry("message list", "the messages that are not over", "look:message_list"),
    ),
    "The log": (
        CommandEntry("log verify", "check every event against its hash", "history:verify"),
        CommandEntry(
            "log push",
            "send the log to a remote, without overwriting anything",
            "mirror:push",
            (Option("remote", "like origin"),),
        ),
        CommandEntry(
            "log fetch",
            "take in the log of a remote, without overwriting anything",
            "mirror:fetch",
            (Option("remote", "like origin"),),
        ),
        CommandEntry(
            "rebuild",
            "derive everything again from the log",
            "mirror:rebuild",
            (Option("--from-mirror", "take in, or restore from, refs/corral/log", "flag"),),
        ),
    ),
    "Shell": (
        CommandEntry(
            "completion",
            "print the completion script of a shell",
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

COMMON = (
    Option("--json", "answer in JSON, for programs", "flag"),
    Option("--repo", "the repository, if it is not the current folder"),
    Option("--as", "who is asking: a person, an agent, a session"),
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

"""The throw-away repository and the tasks on its board.

What a person would do by hand is done like that here: `git` and `corral` are called by their words.
"""

import io
import os
import subprocess
from contextlib import redirect_stdout
from random import Random

from msgspec import Struct

from corral.core.board import commands as c
from corral.core.board.rules import decide
from corral.core.errors import CorralError, Failed, Refused
from corral.core.ids import TaskId, task_id
from corral.core.log.state import State
from corral.interfaces.cli.board_demo.claimer import taken
from corral.interfaces.cli.board_demo.screen import Screen
from corral.store.port import Request, Store, perform
from corral.world.git import GitFailed, version

CONVOY = "Night drive"
ACTOR = "demo"
_VERBS = ("Add", "Fix", "Test", "Document", "Speed up", "Tidy", "Translate")
_PARTS = (
    *("login", "search", "billing", "mail", "export", "import", "upload", "profile", "report"),
    *("cache", "queue", "audit", "backup", "theme", "map", "chat", "calendar", "invoice"),
)
_LAYERS = 8
_TROUBLES = 5
_URGENT = 9


class Plan(Struct, frozen=True):
    """The tasks, in layers each of which needs the one before, and those that bring trouble."""

    layers: list[list[c.AddTask]]
    tasks: list[TaskId]
    stopped: TaskId | None  # its first claimer is stopped
    killed: tuple[TaskId, ...]  # their first claimers are killed

    @property
    def hard(self) -> list[TaskId]:
        return [*([self.stopped] if self.stopped else ()), *self.killed]


def git(*words: str, cwd: str) -> None:
    """Run git as somebody without any settings of their own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Corral", f"GIT_{role}_EMAIL": "corral@localhost"}
    done = subprocess.run(["git", *words], cwd=cwd, env=env, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {words[0]} failed: {said[-1] if said else 'no reason given'}")


def corral(*words: str, repo: str) -> bytes:
    """Run a command of Corral and return what it prints."""
    from corral.interfaces.cli.main import run

    content = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(content, "utf-8", write_through=True)) as out:
        code = run([*words, "--repo", repo])
        out.flush()
        printed = content.getvalue()
    if code:
        raise Failed(f"corral {' '.join(words)} ended with exit code {code}")
    return printed


def make_repository(folder: str) -> str:
    version()  # the one sentence that says that git is missing
    repo = f"{folder}/project"
    os.mkdir(repo)
    git("init", "--quiet", "--initial-branch=main", cwd=repo)
    corral("init", repo=repo)
    git("add", ".", cwd=repo)
    git("commit", "--quiet", "--message=Begin", cwd=repo)
    return repo


def plan(size: int, claimers: int, prefix: str) -> Plan:
    """Draw the tasks: the same ones for the same size."""
    chance = Random(size)
    tasks = [task_id(prefix, number) for number in range(1, size + 1)]
    # Somebody must be left to take over, and the first task is for the double claim.
    number = min(_TROUBLES, claimers - 1, -(-(size - 1) // 20))
    hard = [tasks[1 + (size - 1) * trouble // number] for trouble in range(number)]
    height = -(-size // min(_LAYERS, max(1, size // 4)))
    layers: list[list[c.AddTask]] = []
    for start in range(0, size, height):
        before = tasks[max(0, start - height) : start]
        layer = tasks[start : start + height]
        layers.append([_drawn(task, before, chance, urgent=task in hard) for task in layer])
    stopped = hard[0] if hard else None
    return Plan(layers, tasks, stopped, tuple(hard[1:]))


def _drawn(task: TaskId, before: list[TaskId], chance: Random, *, urgent: bool) -> c.AddTask:
    part = chance.choice(_PARTS)
    return c.AddTask(
        title=f"{chance.choice(_VERBS)} {part}",
        priority=_URGENT if urgent else chance.randrange(4),
        needs=tuple(chance.sample(before, min(len(before), chance.randint(1, 3)))),
        paths=(f"src/{part}/**",),
    )


def fill(store: Store, tasks: int, claimers: int) -> Plan:
    """Put the tasks on the board, one transaction for each layer."""
    convoy = perform(store, c.CreateConvoy(title=CONVOY), ACTOR, lambda state, stored: state)
    (prefix,) = (found.prefix for found in convoy.convoys.values())
    made = plan(tasks, claimers, prefix)
    for layer in made.layers:
        for answer in store.batch([_request(command) for command in layer]):
            if isinstance(answer, CorralError):
                raise answer
    return made


def _request(command: c.Command) -> Request[None]:
    return Request(
        ACTOR,
        lambda state, now: decide(state, command, ACTOR, now),
        lambda state, stored: None,
    )


def try_what_is_refused(store: Store, made: Plan, screen: Screen) -> None:
    """Ask for a cycle, and for a task that somebody has: neither may be granted."""
    first = made.tasks[0]
    circle = c.EditTask(task=first, needs=(_far_from(store.state(), first),))
    screen.note("refused", _refusal(store, circle, ACTOR))
    _, token = perform(store, c.ClaimTask(task=first), "ana", taken)
    screen.note("refused", _refusal(store, c.ClaimTask(task=first), "ben"))
    perform(store, c.HandOffTask(task=first, token=token), "ana", lambda state, stored: None)


def _far_from(state: State, task: TaskId) -> TaskId:
    """Return a task that needs this one through others, if any does."""
    found = task
    for other in state.tasks.values():
        if found in other.needs:
            found = other.id
    return found


def _refusal(store: Store, command: c.Command, actor: str) -> str:
    try:
        perform(store, command, actor, lambda state, stored: None)
    except Refused as refusal:
        return refusal.message
    raise Failed(f"{command.name} was granted, though it must be refused")

"""`corral demo`: what Corral absorbs, seen in half a minute, on a board that is thrown away.

board      the repository and its tasks
claimer    one claimer, from its own point of view
crew       the claimers' processes
story      what happens to them, told from the log
screen     what is shown
proof      whether every promise was kept
"""

import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from corral.core.text import number
from corral.interfaces.cli.board_demo.board import (
    ACTOR,
    Plan,
    fill,
    make_repository,
    try_what_is_refused,
)
from corral.interfaces.cli.board_demo.crew import ENDING, Crew, undisturbed
from corral.interfaces.cli.board_demo.proof import Check, prove
from corral.interfaces.cli.board_demo.screen import Screen, for_people
from corral.interfaces.cli.board_demo.story import Story
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, say, say_json
from corral.interfaces.cli.parser import Options

_NEXT = (
    ("corral init", "set Corral up"),
    ('corral convoy create "First goal"', "open a convoy"),
    ('corral task add "First task"', "then: corral status"),
)


def demo(context: Context, options: Options) -> int:
    """Run the demo; 0 only if every promise was kept."""
    tasks = number(options.tasks, "--tasks", 1, 2_000)
    claimers = number(options.claimers, "--claimers", 1, 200)
    screen = Screen() if context.as_json else for_people()
    with _ended_by_signals(), _scratch_folder(keep=options.keep) as folder, closing(screen):
        repo = make_repository(folder)
        outcome = _play(repo, tasks, claimers, screen)
    kept = repo if options.keep else ""
    if context.as_json:
        say_json(_summary(outcome, screen) | {"repository": kept})
    else:
        _say_last_words(outcome.failed, kept)
    return 1 if outcome.failed else 0


class Outcome(Struct, frozen=True):
    tasks: int
    claimers: int
    killed: list[str]
    events: int
    elapsed_s: float
    checks: list[Check]

    @property
    def failed(self) -> int:
        return sum(not check.ok for check in self.checks)


def _play(repo: str, tasks: int, claimers: int, screen: Screen) -> Outcome:
    context = Context(repo, ACTOR, as_json=False)
    with closing(context):
        plan = fill(context.writable, tasks, claimers)
        _say_first_words(plan, claimers, screen)
        try_what_is_refused(context.writable, plan, screen)
        begin = context.store.state().seq
    with Crew(context.repository.folder, claimers, plan.hard) as crew, closing(context):
        story = Story(context.store, crew, plan, screen, begin)
        story.tell()
        events, elapsed_s = context.store.known_seq, story.elapsed_s
    screen.close()
    checks = list(_shown(prove(repo, plan, crew), screen))
    return Outcome(tasks, claimers, crew.killed, events, round(elapsed_s, 3), checks)


def _summary(outcome: Outcome, screen: Screen) -> dict[str, Any]:
    checks = [{"name": c.name, "ok": c.ok, "fault": c.fault} for c in outcome.checks]
    found = {"failed": outcome.failed, "checks": checks, "notes": screen.notes}
    return asdict(outcome) | found


def _shown(checks: Iterator[Check], screen: Screen) -> Iterator[Check]:
    for check in checks:
        screen.tick(check.name, check.fault)
        yield check


def _say_first_words(plan: Plan, claimers: int, screen: Screen) -> None:
    tasks, layers = len(plan.tasks), len(plan.layers)
    screen.say(f"tasks: {tasks}, in layers of needs: {layers}, claimers: {claimers}", "bold")
    screen.say(
        "Each claimer is a process of its own, the log is all that they share. They record their"
        " work as landed themselves: the refinery, which proves and merges it, comes in a later"
        " version.",
        "dim",
    )


def _say_last_words(failed: int, repo: str) -> None:
    if failed:
        say(paint(f"\n{failed} of these did not hold: this is a defect of Corral.", "red"))
    else:
        say(paint("\nEverything held.", "green", "bold") + " On a repository of yours:")
        say("\n".join(f"  {paint(command.ljust(34), 'bold')} {what}" for command, what in _NEXT))
    if repo:
        say(f"The demo's repository is kept: {repo}")


@contextmanager
def _scratch_folder(*, keep: bool) -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="corral-demo-")
    try:
        yield folder
    finally:
        if not keep:
            with undisturbed():
                shutil.rmtree(folder)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Clean up before dying of a signal that would end us without a word."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    deadly = [each for each in ENDING if signal.getsignal(each) is signal.SIG_DFL]
    for each in deadly:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in deadly:
            signal.signal(each, signal.SIG_DFL)

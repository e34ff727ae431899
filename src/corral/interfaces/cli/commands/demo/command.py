"""`corral demo`: run it, report how every failure was absorbed, prove that the branch is green."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from os.path import join
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from corral.core.errors import BadInput
from corral.core.ids import TaskId
from corral.core.log.codec import decode
from corral.core.session.rules import WITNESS
from corral.core.session.verdict import Verdict
from corral.core.show.outlook import RunReport, Standing
from corral.interfaces.cli.commands.demo import cleanup, sample_repo
from corral.interfaces.cli.commands.demo.account import LEFT, DemoAccount, DemoTrouble
from corral.interfaces.cli.commands.demo.bugs import BUGS
from corral.interfaces.cli.commands.demo.project import FILES
from corral.interfaces.cli.commands.demo.window import window
from corral.interfaces.cli.commands.run import ROLE_ENDED, ConvoyRun, apply
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import columns, fancy, paint, say, say_json
from corral.interfaces.cli.parser import Options
from corral.interfaces.cli.progress import Progress
from corral.roles.convoy_run import Roles
from corral.store.sqlite import SqliteStore
from corral.world.engines.locate import program
from corral.world.engines.registry import ENGINES
from corral.world.trees import trash

ACTOR = "demo"
_TESTS_S = 120
_WIDEST = 110

# What goes wrong with the scripted agents, in the log's own words.
EXPECTED = {
    Verdict.CRASHED: "an agent crashes",
    Verdict.HUNG: "one hangs",
    Verdict.DIRTY: "one claims to be done without having committed",
    Verdict.OUT_OF_SCOPE: "one changes a file outside its scope",
    Verdict.LIMITED: "one hits a rate limit",
    LEFT: "one leaves a daemon behind",
    "conflict": "two change the same line",
    "red": "two merge cleanly but break the program together",
    ROLE_ENDED: "the witness, which watches over all of them, is killed with kill -9",
}


def demo(context: Context, options: Options) -> int:
    """Run the demo; return 0 only if the project's tests pass on the branch that landed."""
    engine = options.engine or sample_repo.SCRIPTED
    if engine != sample_repo.SCRIPTED:
        _must_be_there(engine)
    with _folder(keep=options.keep) as folder:
        repo = sample_repo.make(folder, engine)
        if not context.as_json:
            _say_first_words(engine)
        plan, quiet = join(folder, "plan.toml"), context.as_json
        outcome = _played(repo, plan, engine, quiet=quiet, watched=options.with_ui)
        kept = repo if options.keep else ""
        if context.as_json:
            say_json(_data(outcome) | {"repository": kept})
        else:
            _say_last_words(outcome, kept)
    return outcome.exit_code


def _must_be_there(engine: str) -> None:
    """Refuse an engine that is not installed or has no key."""
    known = [name for name in ENGINES if name != "command"]
    if engine not in known:
        raise BadInput(f"there is no engine {engine!r}", f"one of {', '.join(known)}")
    recipe = ENGINES[engine]
    program(recipe, (), os.environ)
    if recipe.key and recipe.key not in os.environ:
        raise BadInput(f"{engine} needs a key in {recipe.key}", f"export {recipe.key}=…")


class DemoOutcome(Struct, frozen=True):
    report: RunReport
    troubles: list[DemoTrouble]
    unseen: list[str]  # what should have gone wrong but did not
    tests: str  # the failure of the tests on a fresh clone of the branch; empty if they pass
    left: list[str]  # processes

    @property
    def exit_code(self) -> int:
        if self.report.standing is Standing.INTERRUPTED:
            return self.report.exit_code
        return 1 if self.tests or self.left or self.unseen or self.report.exit_code else 0


def _played(repo: str, plan: str, engine: str, *, quiet: bool, watched: bool) -> DemoOutcome:
    context = Context(repo, ACTOR, as_json=False)
    with closing(context):
        convoy = apply(context, plan)
        screen = Progress(convoy) if fancy() and not quiet else None
        after, kill = context.store.state().seq, _witness_killer(context.store)
        one = ConvoyRun(context, convoy, after, screen, quiet=quiet, beside=kill)
        try:
            with _shown(context, quiet=quiet) if watched else nullcontext():
                report = one.follow()
        finally:
            left = cleanup.end_all(repo)
        account = DemoAccount(decode(stored.line) for stored in context.store.read(0))
    expected = EXPECTED if engine == sample_repo.SCRIPTED else {ROLE_ENDED: EXPECTED[ROLE_ENDED]}
    unseen = [words for kind, words in expected.items() if kind not in account.kinds()]
    tests = _tested(repo) if report.standing is not Standing.INTERRUPTED else "not run"
    return DemoOutcome(report, account.troubles, unseen, tests, left)


@contextmanager
def _shown(context: Context, *, quiet: bool) -> Iterator[None]:
    with window(context) as link:
        if not quiet:
            say(f"Watch it in a browser; the link works once: {paint(link, 'bold')}")
            say("")
            sys.stdout.flush()
        yield
        if not quiet and sys.stdin.isatty() and sys.stdout.isatty():
            # The dashboard ends with the demo.
            with suppress(KeyboardInterrupt, EOFError):
                input("\nThe demo is over. Look around in the browser; Enter stops the server. ")


def _witness_killer(store: SqliteStore) -> Callable[[Roles], None]:
    """Return a function that kills the witness once, while the agents are working."""
    killed: list[int] = []

    def look(roles: Roles) -> None:
        live = [session.live for session in store.state().sessions.values()]
        pid = roles.pid(WITNESS)
        # Once the first has ended, the others are at various stages of their work.
        if not killed and pid is not None and len(live) >= len(BUGS) and not all(live):
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    return look


def _tested(repo: str) -> str:
    """Run the tests on a fresh clone: first as they landed, then the originals without marks."""
    fresh = join(repo, os.pardir, "fresh")
    sample_repo.git(
        "clone", "--quiet", "--no-local", f"--branch={sample_repo.BRANCH}", repo, fresh, cwd=repo
    )
    said = _failure(fresh, strict=False)
    for path, content in FILES.items():
        if path.startswith("tests/"):
            with open(join(fresh, path), "w", encoding="utf-8") as file:
                file.write(content)
    return said or _failure(fresh, strict=True)


def _failure(folder: str, *, strict: bool) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", sample_repo.command(strict=strict)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TESTS_S,
        check=False,
    )
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def _data(outcome: DemoOutcome) -> dict[str, Any]:
    return {
        "exit_code": outcome.exit_code,
        "landed": outcome.report.landed,
        "tasks": len(outcome.report.tasks),
        "seconds": outcome.report.seconds,
        "troubles": [asdict(trouble) for trouble in outcome.troubles],
        "unseen": outcome.unseen,
        "tests": outcome.tests,
        "left": outcome.left,
    }


def _say_first_words(engine: str) -> None:
    _wrapped(
        f"A shop with {len(BUGS)} known bugs and a failing test for each; {len(BUGS)} agents fix"
        " them at once, each in its own worktree and on its own branch.",
        "bold",
    )
    if engine == sample_repo.SCRIPTED:
        things = "; ".join(EXPECTED.values())
        _wrapped(f"The agents are scripted and need no key and no model. Along the way, {things}.")
    say("")
    sys.stdout.flush()


def _say_last_words(outcome: DemoOutcome, kept: str) -> None:
    report = outcome.report
    say("")
    if report.standing is Standing.INTERRUPTED:
        say("stopped; nothing is left behind" + (f" except {kept}" if kept else ""))
        return
    say(paint("What went wrong and how it was absorbed, from the log:", "bold"))
    landed = {TaskId(task.id) for task in report.tasks if task.commit}
    for trouble in outcome.troubles:
        _say_trouble(trouble, landed)
    say("")
    for problem in _problems(outcome):
        _wrapped(f"✗ {problem}", "red")
    if not outcome.exit_code:
        _wrapped(
            f"✓ {report.landed} of {len(report.tasks)} tasks landed on {sample_repo.BRANCH} in"
            f" {report.seconds:.0f} s; all tests pass on a fresh clone; no process is left.",
            "green",
        )
    where = kept or "the demo's folder; keep it with corral demo --keep"
    _wrapped(f"For details, run these commands in {where}.")


def _problems(outcome: DemoOutcome) -> Iterator[str]:
    report = outcome.report
    if report.exit_code:
        yield f"{report.landed} of {len(report.tasks)} landed: {report.standing}"
        yield from (
            f"{task.id} {task.state}: {task.reason}" for task in report.tasks if task.reason
        )
    if outcome.tests:
        yield f"the tests fail on a fresh clone of {sample_repo.BRANCH}: {outcome.tests}"
    yield from (f"this should have gone wrong but did not: {one}" for one in outcome.unseen)
    yield from (f"still running: {one}" for one in outcome.left)


def _say_trouble(trouble: DemoTrouble, landed: set[TaskId]) -> None:
    fate = "landed" if trouble.task in landed else "did not land"
    end = f"; {trouble.task} {fate}" if trouble.task is not None else ""
    kind = trouble.kind.replace("_", " ")
    style = "yellow" if trouble.absorbed else "red"
    _wrapped(f"{kind.ljust(12)} {trouble.subject}: {trouble.happened or '-'}", style, hang=13)
    _wrapped(f"{' ' * 12} → {trouble.absorbed or 'not absorbed'}{end}", hang=15)
    _wrapped(f"{' ' * 15}{trouble.look}", "dim", hang=17)


def _wrapped(text: str, *styles: str, hang: int = 0) -> None:
    """Print a paragraph that fits the terminal; in a pipe, lines stay readable as well."""
    wide = max(30, min(columns() - 1, _WIDEST))
    lines = textwrap.wrap(
        text, wide, subsequent_indent=" " * hang, break_on_hyphens=False, replace_whitespace=False
    )
    say("\n".join(paint(line, *styles) if styles else line for line in lines))


@contextmanager
def _folder(*, keep: bool) -> Iterator[str]:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="corral-demo-"))
    try:
        yield folder
    finally:
        if not keep:
            trash.erase(folder)

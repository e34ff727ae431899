"""What is found about a branch: a tree of it is set up and checked, exactly as the refinery will.

What passes is remembered by tree, commands and environment.
"""

import os
import secrets
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from os.path import basename, join

from corral.core.config import Config
from corral.core.errors import CorralError, Refused
from corral.core.faults import FULL, missing_module
from corral.core.refs import branch_ref, is_ours
from corral.core.symptoms import symptom
from corral.core.text import counted, cut
from corral.roles.locks import only_one
from corral.roles.preflight.canary import Canary
from corral.roles.preflight.content import Content, content
from corral.roles.preflight.finding import BAD, NOTE, OK, Finding
from corral.roles.preflight.first_look import NO_COMMITS
from corral.roles.preflight.gate import Say
from corral.roles.preflight.left_behind import left_behind
from corral.roles.preflight.machine import MAKE_ROOM, room, size
from corral.roles.preflight.memory import Memory, key_of
from corral.roles.trunks import start_of
from corral.world import checks
from corral.world.checks import (
    RESERVED_SLOTS,
    ChecksRun,
    Pool,
    RunOutcome,
    RunResult,
    Runs,
)
from corral.world.git.view import View
from corral.world.repository import Repository

_SLOT, _NAME = RESERVED_SLOTS + 1, "preflight-"
_DEADLINE_S = 3600
_PAUSE_S = 0.05
_SILENT_S = 1.0  # a step that takes longer is announced
_LINES, _SAID = 200, 3
_QUOTED = 300
_CANNOT, _ABSENT, _TOO_LATE = 126, 127, 124
_BUILTIN = frozenset(("test", "[", "true", "false", "cd", "set", "export", "exit", "exec", "!"))


class BaseCheck:
    def __init__(self, repository: Repository, config: Config, say: Say) -> None:
        """`say` is told what is being done, since that may take a while."""
        self._repository = repository
        self._config = config
        self._say = say
        self._memory = Memory(repository.folder)
        self._view = View(os.path.realpath(repository.git_dir))
        self._pool = Pool(repository, place=config.trees.folder or None)
        self._runs = Runs(self._pool, environment=config.environment)

    def start(self, base: str) -> tuple[str, list[Finding]]:
        """Return the commit that a convoy on this base starts from, and what is odd about it."""
        try:
            commit = start_of(self._view, base)
        except CorralError as error:
            return "", [self._nowhere(base, error)]
        if base and is_ours(branch_ref(base)):
            said = f"{base!r} is a branch of Corral's own: work would land on other work"
            return commit, [Finding("branch", BAD, said, self._switch())]
        if not base:
            said = "HEAD is detached, so landed work has no branch to return to"
            return commit, [Finding("branch", NOTE, said, f"{self._switch()}, or --base BRANCH")]
        return commit, [Finding("branch", OK, f"new convoys start from {base} at {commit[:12]}")]

    def tried(
        self, base: str, commit: str, commands: Sequence[str], accepts: Sequence[str] = ()
    ) -> list[Finding]:
        """Return the findings about a commit: what its trees lack, its set-up and its checks."""
        more = content(self._view, commit)
        asked = [*commands, *_lookups(accepts)]
        if not asked and not more and not self._config.trees.setup:
            return []
        key = self._key(commit, asked)
        # Another preflight that uses the tree is about to know.
        with only_one(self._repository.folder, "preflight", wait_s=inf):
            known = self._memory.recall(key)
            if known is None:
                known = self._tried(base or "HEAD", commit, asked, more, checks=len(commands))
                if not any(one.state == BAD for one in known):
                    self._memory.keep(key, *known)
        return list(known)

    def proved(self, base: str, commit: str, commands: Sequence[str]) -> list[Finding]:
        """Return whether checks that pass on a commit notice broken code.

        That is tried once for each definition of the checks and of their environment, not for each
        commit, and again while it is a fault.
        """
        if not commands:
            return []
        key = key_of("proof", *self._definition(commands))
        with only_one(self._repository.folder, "preflight", wait_s=inf):
            known = self._memory.recall(key)
            if known is None:
                canary = Canary(self._view, self._run, self._config.trees)
                try:
                    known = canary.tried(base or "HEAD", commit, commands)
                    if known:
                        self._pool.checkout(_SLOT, commit)  # nothing broken remains
                except (CorralError, OSError) as error:
                    known = (self._cannot(base, 0, error),)
            if known and known[0].state != BAD:
                self._memory.keep(key, *known)
        return list(known)

    def _tried(
        self, base: str, commit: str, asked: Sequence[str], more: Content, *, checks: int
    ) -> tuple[Finding, ...]:
        # A tree that exists already has most of its files.
        full = None if _SLOT in self._pool.slots() else self._too_big(base, more.size)
        if full is not None:
            return (full,)
        try:
            run, ended = self._run(base, commit, asked or ["true"])
        except (CorralError, OSError) as error:
            return (self._cannot(base, more.size, error),)
        lacking = more.lacking(base, run.tree, self._config.trees.setup)
        if not ended.green and not lacking:
            return (self._failed(base, commit, asked, run, ended),)
        # A branch whose checks pass without them does not need them.
        state = NOTE if ended.green and checks else BAD
        found = [Finding(one.name, state, one.said, one.remedy) for one in lacking]
        passed = _passed(checks, setup=bool(self._config.trees.setup))
        if ended.green and passed:
            said = f"{passed} on {base} at {commit[:12]} ({ended.wall_s:.1f} s)"
            found.append(Finding("base", OK, said))
        if ended.green and self._config.trees.setup:
            found += left_behind(*self._pool.left(_SLOT, commit, self._config.trees))
        return tuple(found)

    def _too_big(self, base: str, needed: int) -> Finding | None:
        folder, free = room(self._pool.place)
        if needed < free:
            return None
        said = f"a tree of {base} needs {size(needed)}, but {size(free)} are free in {folder}"
        return Finding("disk", BAD, said, MAKE_ROOM)

    def _cannot(self, base: str, needed: int, error: CorralError | OSError) -> Finding:
        said = error.message if isinstance(error, CorralError) else str(error)
        if full := self._too_big(base, needed):
            return full
        if any(word in said for word in FULL):
            return Finding("disk", BAD, f"the disk is full: {said}", MAKE_ROOM)
        hint = error.hint if isinstance(error, CorralError) else ""
        said = f"a tree of {base} cannot be checked out: {said}"
        return Finding("base", BAD, said, hint or "corral doctor")

    def _nowhere(self, base: str, error: CorralError) -> Finding:
        here = self._repository.branch()
        if not self._view.run("for-each-ref", "--count=1", "refs/heads").strip():
            return NO_COMMITS
        if base == here:
            said = f"the branch {base!r}, which is checked out, has no commits"
            return Finding("branch", BAD, said, self._switch())
        return Finding("branch", BAD, error.message, error.hint)

    def _switch(self) -> str:
        refs = self._view.run("for-each-ref", "--format=%(refname:short)", "refs/heads").decode()
        mine = [name for name in refs.split() if not is_ours(branch_ref(name))]
        named = next((name for name in ("main", "master", "develop") if name in mine), "")
        return f"git switch {named or (mine[0] if len(mine) == 1 else 'BRANCH')}"

    def _failed(
        self, base: str, commit: str, asked: Sequence[str], run: ChecksRun, ended: RunOutcome
    ) -> Finding:
        found = self._judged(base, run, ended)
        if found is None and ended.result is RunResult.RED:
            with suppress(CorralError, OSError):
                if self._run(base, commit, asked)[1].green:
                    said = f"{ended.command!r} is flaky: on {base} it failed and then passed"
                    return Finding("base", BAD, said + _words(run), "make it reliable")
        return found or _red(base, commit, run, ended)

    def _judged(self, base: str, run: ChecksRun, ended: RunOutcome) -> Finding | None:
        """Return whose fault a run is, if it is not that of the base."""
        lines = checks.tail(run.folder, _LINES)
        if ended.disk_full or (ended.code and any(word in line for line in lines for word in FULL)):
            said = f"the disk is full: {self._pool.place}{_words(run)}"
            return Finding("disk", BAD, said, MAKE_ROOM)
        if ended.result is RunResult.NOT_SET_UP:
            return self._not_set_up(base, run, lines)
        if ended.result is RunResult.TIMED_OUT:
            said = f"{ended.command!r} did not end within {run.deadline_s:g} s on {base}"
            return Finding("checks", BAD, said + _words(run), "raise refinery.deadline_s")
        if ended.result is not RunResult.RED:
            said = f"a tree of {base} cannot be checked: {ended.detail or ended.result}"
            return Finding("base", BAD, said, "corral doctor")
        if (script := _script(base, run, ended)) is not None:
            return script
        fault = self._runs.fault(run.folder, ended)
        if fault is None:
            return None
        return Finding("checks", BAD, f"{ended.command!r} cannot run: {fault.text}", fault.remedy)

    def _not_set_up(self, base: str, run: ChecksRun, lines: Sequence[str]) -> Finding:
        begun = [number for number, line in enumerate(lines) if line.startswith("+ ")]
        command = cut(lines[begun[-1]][2:], _QUOTED) if begun else "trees.setup"
        lines = lines[begun[-1] + 1 :] if begun else lines
        limit_s = self._config.trees.setup_s
        if any(line.endswith(f"it took longer than {limit_s:g} s") for line in lines):
            said = f"{command!r} did not end within {limit_s} s when it set up {base}"
            return Finding(
                "set-up", BAD, said, "fix that command, or give it more time with trees.setup_s"
            )
        program = command.partition(" ")[0]
        if any(line.startswith(f"{program}: No such file") for line in lines):
            said = f"{program} is not installed, and trees.setup runs it"
            return Finding("set-up", BAD, said, f"install {program}, or change trees.setup")
        if (known := symptom(lines)) is not None:
            said = f"{command!r} failed when it set up {base}: {known.said} ({known.line})"
            return Finding("set-up", BAD, said, known.remedy)
        said = f"{command!r} failed when it set up {base}{_words(run)}"
        return Finding("set-up", BAD, said, "fix that command in trees.setup")

    def _run(self, base: str, commit: str, commands: Sequence[str]) -> tuple[ChecksRun, RunOutcome]:
        while (run := self._started(commit, commands)) is None:
            for other in self._runs.all():
                # Of a preflight that was killed: it no longer holds the lock.
                if other.id.startswith(_NAME) and checks.outcome(other.folder) is None:
                    checks.stop(other.folder)
            time.sleep(_PAUSE_S)
        try:
            ended = self._outcome(base, run)
        except BaseException:
            checks.stop(run.folder)
            raise
        with suppress(Refused):
            self._pool.release(_SLOT)
        return run, ended

    def _started(self, commit: str, commands: Sequence[str]) -> ChecksRun | None:
        """Start a run; None if another one is still ending in the tree."""
        name = f"{_NAME}{secrets.token_hex(6)}"
        deadline_s, trees = self._config.refinery.deadline_s or _DEADLINE_S, self._config.trees
        try:
            return self._runs.start(
                _SLOT, name, commit, commands, deadline_s=deadline_s, prepare=trees
            )
        except Refused as refusal:
            if refusal.code != "slot_busy":
                raise
        return None

    def _outcome(self, base: str, run: ChecksRun) -> RunOutcome:
        step, since, said = "", time.monotonic(), False
        while (ended := checks.outcome(run.folder)) is None:
            time.sleep(_PAUSE_S)
            if (now := checks.step(run.folder)) != step:
                step, since, said = now, time.monotonic(), False
            if not said and time.monotonic() - since > _SILENT_S:
                said = True
                first = step.partition("\n")[0]
                self._say(f"running {first!r} on {base}" if step else f"setting up {base}")
        return ended

    def _key(self, commit: str, commands: Sequence[str]) -> str:
        tree = self._view.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
        return key_of("base", tree, *self._definition(commands))

    def _definition(self, commands: Sequence[str]) -> list[object]:
        """Return what decides a result besides the commit."""
        project, config = self._runs.environment, self._config
        variables = sorted(project.of(join(project.place, "tree")).variables.items())
        return [list(commands), config.trees, config.environment, variables]


def _lookups(accepts: Sequence[str]) -> list[str]:
    """Return commands that look for the programs of acceptance commands."""
    words = dict.fromkeys(command.split()[0] for command in accepts if command.split())
    plain = [
        w for w in words if w not in _BUILTIN and w.replace("-", "").replace(".", "").isalnum()
    ]
    return [f"command -v {w} >/dev/null || {{ echo {w}: not found; exit 127; }}" for w in plain]


def _script(base: str, run: ChecksRun, ended: RunOutcome) -> Finding | None:
    """Return why a script of the project cannot be run: it is not there, or not executable."""
    word = next(iter(ended.command.split()), "")
    path = join(run.tree, word)
    if ended.code not in (_CANNOT, _ABSENT) or "/" not in word or os.path.isabs(word):
        return None
    quoted = shlex.quote(word)
    if not os.path.exists(path):
        said = f"{word} is not in {base}, and a check runs it"
        return Finding(
            "checks", BAD, said, f"git add {quoted} && git commit -m 'Add {basename(word)}'"
        )
    if not os.access(path, os.X_OK):
        mend = f"git update-index --chmod=+x {quoted} && git commit -m 'Make it executable'"
        return Finding("checks", BAD, f"{word} is not executable, and a check runs it", mend)
    with open(path, "rb") as file:
        line = file.readline(200)
    if line.endswith(b"\r\n"):
        said = f"{word} has the line ends of Windows, so it cannot be run"
        mend = f"sed -i 's/\\r$//' {quoted} && git commit -m 'Use line ends of Unix' {quoted}"
        return Finding("checks", BAD, said, mend)
    first = line.decode("utf-8", "replace").split()
    if first and first[0].startswith("#!"):
        named = [part for part in (first[0][2:], *first[1:]) if part and not part.startswith("-")]
        program = named[1] if len(named) > 1 and named[0].endswith("/env") else (*named, "")[0]
        said = f"{word} needs {program}, which is not installed"
        return Finding("checks", BAD, said, f"install it, or change the first line of {word}")
    return None


def _passed(number: int, *, setup: bool) -> str:
    if number:
        return f"{counted(number, 'check')} passed"
    return "the set-up works" if setup else ""


def _red(base: str, commit: str, run: ChecksRun, ended: RunOutcome) -> Finding:
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"
    said = f"{base} at {commit[:12]} is red before any change: {ended.command!r} fails ({how})"
    mend = f"fix {base}, or start with --on-red mend (an agent fixes it first) or --on-red ignore"
    if name := missing_module(checks.tail(run.folder, _LINES)):
        said += f", because {name} is missing"
        mend = f"have trees.setup install it in each tree; else {mend}"
    return Finding("base", BAD, said + _words(run), mend)


def _words(run: ChecksRun) -> str:
    lines = [line.strip() for line in checks.tail(run.folder, _LINES)]
    said = [line for line in lines if line and not line.startswith("+ ")]
    return f"; its last words: {cut(' / '.join(said[-_SAID:]), _QUOTED)}" if said else ""

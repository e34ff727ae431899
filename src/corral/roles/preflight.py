"""The preflight: can sessions and checks run here at all, before anything is spent on them?

It checks out the base into a check tree, sets it up and runs the checks there, exactly as the
refinery will. What is green is remembered by tree and definition of the checks. Nothing is written
to the log, no model is asked, and each fault is one finding with a remedy.
"""

import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os.path import join

import msgspec
from msgspec import Struct

from corral.core.config import Config
from corral.core.errors import CorralError, Refused
from corral.roles.trunks import start_of
from corral.world import checks
from corral.world.checks import ChecksRun, Pool, RunOutcome, RunResult, Runs
from corral.world.engines.probe import probe
from corral.world.git.view import View
from corral.world.repository import Repository

OK, BAD, NOTE = "ok", "bad", "note"
_SLOT = 9999
_DEADLINE_S = 3600
_PAUSE_S = 0.05
_REMEMBERED = 20
_SPACE = 1 << 30
_SAID = 6
_BUILTIN = frozenset(("test", "[", "true", "false", "cd", "set", "export", "exit", "exec", "!"))
_NAME = re.compile(r"[\w.+-]+")


class Finding(Struct, frozen=True):
    name: str
    state: str
    text: str
    remedy: str = ""


class Preflight:
    def __init__(self, repository: Repository, config: Config) -> None:
        self._repository = repository
        self._config = config
        self._memory = join(repository.folder, "derived", "preflight")
        self._view = View(os.path.realpath(repository.git_dir))
        self._pool = Pool(repository, place=config.trees.folder or None)
        self._runs = Runs(self._pool, environment=config.environment)

    def all(self, accepts: Sequence[str] = ()) -> Iterator[Finding]:
        """Yield the findings about this machine and the branch that is checked out."""
        yield from self._disk()
        yield from self._environment()
        yield from self._engines()
        yield from self._landing()
        yield from self.base(self._repository.branch(), self._config.refinery.checks, accepts)

    def base(self, base: str, commands: Sequence[str], accepts: Sequence[str]) -> Iterator[Finding]:
        """Yield the findings about a branch, or any commit: its set-up and its checks."""
        try:
            commit = start_of(self._view, base)
        except CorralError as error:
            other = self._view.run("for-each-ref", "--count=1", "refs/heads").strip()
            said = f"the branch {base!r} has no commits" if other and base else error.message
            yield Finding("branch", BAD, said, "git switch BRANCH" if other else error.hint)
            return
        if not base:
            said = "HEAD is detached, so landed work has no branch to return to"
            yield Finding("branch", NOTE, said, "git switch BRANCH, or convoy create --base")
        yield from self._content(commit)
        if not commands:
            said = "no checks are set, so each task is checked by its own acceptance commands"
            yield Finding("checks", NOTE, said, 'checks = ["…"] in [refinery]')
        asked = [*commands, *_lookups(accepts)]
        if asked or self._config.trees.setup:
            yield self._tried(base or "HEAD", commit, asked or ["true"])

    def checked(self, name: str, commit: str, commands: Sequence[str]) -> Finding | None:
        """Run the checks on a commit; None if there are none."""
        return self._tried(name, commit, commands) if commands else None

    def _disk(self) -> Iterator[Finding]:
        place = os.path.dirname(self._pool.place)
        free = shutil.disk_usage(place).free
        said = f"{free / 1e9:.1f} GB free in {place}"
        few = free < _SPACE
        yield Finding("disk", BAD if few else OK, said, "make room, or set trees.folder" * few)

    def _environment(self) -> Iterator[Finding]:
        project = self._runs.environment
        found = project.of(join(self._pool.place, "tree"))
        for one in found.removed:
            said = f"{one.value} is not passed on in {one.name}: it points into your checkout"
            yield Finding("environment", NOTE, said, "give each tree its own tools: trees.setup")
        for name in found.withheld:
            said = f"{name} is withheld, because it looks like a secret"
            yield Finding("environment", NOTE, said, f'pass = ["{name}"] in [environment]')
        why = project.unproven()
        said = "checks cannot read your checkout, so what passes has not used it"
        if why:
            said = f"a check may read your checkout and pass because of it: {why}"
        yield Finding("proof", NOTE if why else OK, said)

    def _engines(self) -> Iterator[Finding]:
        profiles = self._config.engine
        if not profiles:
            said = "no engine is configured, so only tasks with a program of their own can run"
            yield Finding("engine", NOTE, said, "[engine.default] in .corral/config.toml")
        for name, profile in profiles.items():
            if profile.type in ("shell", "command") and not profile.command:
                continue
            found = probe(profile)
            bad = not found.installed or found.starts is False or found.lacking
            said = f"{name}: {found.advice or found.version or found.path}"
            yield Finding("engine", BAD if bad else OK, said, "corral engine check" if bad else "")
        budget = self._config.budget
        if profiles and not (budget.task_usd or budget.convoy_usd or budget.day_usd):
            said = "no budget is set, so a session may cost any amount"
            yield Finding("budget", NOTE, said, "day_usd in [budget]")

    def _landing(self) -> Iterator[Finding]:
        if self._config.refinery.finish == "pull-request" and shutil.which("gh") is None:
            said = "refinery.finish is pull-request, but gh is not installed"
            yield Finding("remote", BAD, said, "install gh, or choose another refinery.finish")

    def _content(self, commit: str) -> Iterator[Finding]:
        """Yield what a tree of this commit lacks, as git alone checks it out."""
        listed = os.fsdecode(self._view.run("ls-tree", "-r", "-z", commit)).split("\0")
        setup = " ".join(word for argv in self._config.trees.setup for word in argv)
        if any(line.startswith("160000 ") for line in listed) and "submodule" not in setup:
            said = "it has submodules, which are empty in every tree"
            mend = 'setup = [["git", "submodule", "update", "--init"]] in [trees]'
            yield Finding("submodules", BAD, said, mend)
        names = [line.partition("\t")[2] for line in listed]
        blobs = [f"{commit}:{name}" for name in names if name.endswith(".gitattributes")]
        ready = shutil.which("git-lfs") is not None and "lfs" in setup
        texts = (self._view.run("cat-file", "blob", blob) for blob in blobs)
        if not ready and any(b"filter=lfs" in text for text in texts):
            said = "it has files in Git LFS, which are pointers in every tree"
            mend = 'install git-lfs, and setup = [["git", "lfs", "pull"]] in [trees]'
            yield Finding("lfs", BAD, said, mend)

    def _tried(self, base: str, commit: str, commands: Sequence[str]) -> Finding:
        while (found := self._tried_now(base, commit, commands)) is None:
            time.sleep(_PAUSE_S)  # another preflight is about to know
        return found

    def _tried_now(self, base: str, commit: str, commands: Sequence[str]) -> Finding | None:
        """Set up a tree of the base, and run the checks in it; green results are remembered."""
        key = self._key(commit, commands)
        known = self._remembered()
        if key in known:
            return Finding("base", OK, known[key])
        try:
            run, ended = self._run(commit, commands)
            if ended.result is RunResult.RED and not self._judged(run, ended, commands):
                again = self._run(commit, commands)[1]
                if again.green:
                    said = f"{ended.command!r} failed and then passed on {base}: it is flaky"
                    return Finding("base", BAD, said, "make it reliable")
        except (CorralError, OSError) as error:
            if isinstance(error, Refused) and error.code == "slot_busy":
                return None
            said = error.message if isinstance(error, CorralError) else str(error)
            return Finding("base", BAD, f"a tree of {base} cannot be checked: {said}")
        if not ended.green:
            return self._judged(run, ended, commands) or _red(base, commit, ended)
        said = f"{base} at {commit[:12]} is green: {len(commands)} checks in {ended.wall_s:.1f} s"
        said = said.replace(" 1 checks", " 1 check")
        os.makedirs(os.path.dirname(self._memory), exist_ok=True)
        with open(f"{self._memory}.{os.getpid()}", "wb") as file:
            file.write(msgspec.json.encode(dict([*known.items(), (key, said)][-_REMEMBERED:])))
        os.replace(f"{self._memory}.{os.getpid()}", self._memory)
        return Finding("base", OK, said)

    def _remembered(self) -> dict[str, str]:
        """Return what was green, by its key."""
        with suppress(OSError, msgspec.MsgspecError), open(self._memory, "rb") as file:
            return msgspec.json.decode(file.read(), type=dict[str, str])
        return {}

    def _judged(self, run: ChecksRun, ended: RunOutcome, commands: Sequence[str]) -> Finding | None:
        """Return whose fault a run is, if it is not that of the base."""
        last = _words(ended)
        if ended.disk_full:
            return Finding("disk", BAD, f"the disk is full{last}", "make room")
        if ended.result is RunResult.NOT_SET_UP:
            return Finding("set-up", BAD, f"{ended.detail}{last}", "fix trees.setup")
        if ended.result is RunResult.TIMED_OUT:
            return Finding("checks", BAD, f"{ended.command!r} did not end{last}", "see deadline_s")
        fault = self._runs.fault(run.folder, ended)
        if fault is not None:
            return Finding("checks", BAD, f"{ended.command!r}: {fault.text}", fault.remedy)
        said = f"{ended.command!r} cannot be run{last}"
        return Finding("checks", BAD, said, "chmod +x") if ended.code == 126 else None

    def _run(self, commit: str, commands: Sequence[str]) -> tuple[ChecksRun, RunOutcome]:
        name = f"preflight-{secrets.token_hex(6)}"
        deadline_s = self._config.refinery.deadline_s or _DEADLINE_S
        trees = self._config.trees
        run = self._runs.start(_SLOT, name, commit, commands, deadline_s=deadline_s, prepare=trees)
        try:
            while (ended := checks.outcome(run.folder)) is None:
                time.sleep(_PAUSE_S)
        except BaseException:
            checks.stop(run.folder)
            raise
        with suppress(Refused):
            self._pool.release(_SLOT)
        return run, ended

    def _key(self, commit: str, commands: Sequence[str]) -> str:
        tree = self._view.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
        path = self._runs.environment.of(join(self._pool.place, "tree")).variables
        settings = msgspec.json.encode([self._config.trees, self._config.environment])
        asked = msgspec.json.encode([tree, list(commands), sorted(path.items())])
        return hashlib.sha256(asked + settings).hexdigest()


def _lookups(accepts: Sequence[str]) -> list[str]:
    """Return commands that look for the programs of acceptance commands."""
    words = dict.fromkeys(command.split()[0] for command in accepts if command.split())
    plain = [
        w for w in words if w not in _BUILTIN and w.replace("-", "").replace(".", "").isalnum()
    ]
    return [f"command -v {w} >/dev/null || {{ echo {w}: not found; exit 127; }}" for w in plain]


def _red(base: str, commit: str, ended: RunOutcome) -> Finding:
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"
    said = f"{base} at {commit[:12]} is red without any change: {ended.command!r} fails, {how}"
    return Finding("base", BAD, said + _words(ended), "fix it, or use --on-red mend or ignore")


def _words(ended: RunOutcome) -> str:
    words = " / ".join(line.strip() for line in ended.last_lines[-_SAID:] if line.strip())
    return f"; its last words: {words}" if words else ""

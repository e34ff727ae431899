"""Whether an engine is installed, starts, and answers: for `corral engine list` and `check`."""

import os
import re
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from threading import Event

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import EngineSettings
from corral.core.engine.facts import Finished, Trouble
from corral.core.errors import NotFound
from corral.core.redaction import redacted
from corral.world.engines.agents.command import COMMAND
from corral.world.engines.agents.described import recipe_of
from corral.world.engines.files import lay
from corral.world.engines.locate import need_transport, program
from corral.world.engines.recipe import EngineJob, Permission, Recipe, environment
from corral.world.engines.relay import reader as relayed

_START_S = 60.0
_ANSWER_S = 180.0
_LOOK_S = 0.2
_QUOTED = 200
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[\w.+-]*\w)?")
_ADVICE = {
    Trouble.AUTH: "its key was rejected: check the key that the profile names",
    Trouble.QUOTA: "its quota is used up: wait, or use another key",
    Trouble.RATE: "its account is rate-limited: try again later",
    Trouble.OVERLOAD: "the model's server is overloaded: try again later",
    Trouble.NETWORK: "the model's server cannot be reached: check the network and its address",
}


class Probe(Struct, frozen=True, kw_only=True):
    """What was found; None means that it was not tested."""

    type: str
    installed: bool
    path: str = ""
    version: str = ""
    starts: bool | None = None
    answers: bool | None = None
    lacking: str = ""  # a variable that the profile passes through and that is not set
    advice: str = ""


def probe(
    profile: EngineSettings,
    environ: Mapping[str, str] = os.environ,
    *,
    ask: bool = False,
    stop: Event | None = None,
) -> Probe:
    """Find a profile's engine and run it for its version; with `ask`, query its model.

    That is one short question, which may cost a little. Once `stop` is set, the engine is killed.
    """
    try:
        recipe = COMMAND if profile.type == "shell" else recipe_of(profile)
        argv = program(recipe, profile.command, environ)
        need_transport(profile, environ)
    except NotFound as missing:
        return Probe(
            type=profile.type, installed=False, advice=f"{missing.message}: {missing.hint}"
        )
    there = Probe(type=profile.type, installed=True, path=argv[0])
    unset = [name for name in profile.env if name not in environ]
    if unset:
        # It would be rejected or, worse, find a key of its own.
        advice = f"{unset[0]} is not set: export it, then try again"
        ask, there = False, replace(there, lacking=unset[0], advice=advice)
    if recipe is COMMAND or (recipe.type == "command" and profile.transport == "acp"):
        return there
    with tempfile.TemporaryDirectory(prefix="corral-probe-") as place:
        job = _job(place, argv, profile, ask=ask)
        stop = stop or Event()
        starts = there
        if recipe.type != "command":
            starts = _started(there, recipe, job, environ, stop)
        if not ask or starts.starts is False:
            return starts
        ended, run = _asked(recipe, job, environ, stop)
    if ended is not None and ended.trouble is None:
        return replace(starts, answers=True)
    advice = f"its output was not understood ({run.how}): is it too old? {recipe.install}"
    if ended and ended.trouble:
        advice = _ADVICE.get(ended.trouble, ended.text)
    return replace(starts, answers=False, advice=advice)


def _started(
    there: Probe, recipe: Recipe, job: EngineJob, environ: Mapping[str, str], stop: Event
) -> Probe:
    lay(recipe.prepare(job), job.home)
    env = {"PATH": environ.get("PATH", os.defpath), **job.env}
    run = _run([*job.program, "--version"], job.tree, env, limit_s=_START_S, stop=stop)
    version = _VERSION.search(run.output.decode(errors="replace"))
    if version is None:
        advice = f"it does not start ({run.how}): {recipe.install}"
        return replace(there, starts=False, advice=advice)
    return replace(there, starts=True, version=version.group())


def _job(place: str, argv: tuple[str, ...], profile: EngineSettings, *, ask: bool) -> EngineJob:
    tree, prompt = f"{place}/tree", f"{place}/prompt"
    os.mkdir(tree)
    with open(prompt, "w", encoding="utf-8") as file:
        file.write("Answer with the one word OK. Use no tools.\n")
    return EngineJob(
        session="probe",
        program=argv,
        tree=tree,
        home=f"{place}/home",
        prompt_file=prompt,
        model=profile.model,
        new_id=str(uuid.uuid4()),
        base_url=profile.base_url if ask else "",
        key=profile.env[0] if ask and profile.env else "",
        permission=Permission.READ,
        as_root=os.getuid() == 0,
        idle_s=60,
    )


def _asked(
    recipe: Recipe, job: EngineJob, environ: Mapping[str, str], stop: Event
) -> tuple[Finished | None, "_Run"]:
    prepared = relayed.prepared(recipe, job)
    env = {"PATH": environ.get("PATH", os.defpath), **environment(prepared, environ)}
    stdin = prepared.stdin
    run = _run(prepared.argv, job.tree, env, stdin=stdin, limit_s=_ANSWER_S, stop=stop)
    reader = relayed.reader(recipe, job)
    facts = [fact for line in run.output.splitlines() for fact in reader.feed(line, "out")]
    facts += [fact for line in run.errors.splitlines() for fact in reader.feed(line, "err")]
    ends = [fact for fact in (*facts, *reader.finish()) if isinstance(fact, Finished)]
    return ends[0] if ends else None, run


class _Run(Struct, frozen=True):
    """A program's output, and how it ended."""

    output: bytes
    errors: bytes
    end: str

    @property
    def how(self) -> str:
        lines = [*self.output.splitlines(), *self.errors.splitlines()]
        lines = [line for line in lines if not line.startswith(relayed.MARK)]
        words = (" ".join(line.decode(errors="replace").split()) for line in reversed(lines))
        last = next((line for line in words if line), "")
        return f"{self.end}: {redacted(last)[:_QUOTED]}" if last else self.end


def _run(
    argv: list[str],
    cwd: str,
    env: dict[str, str],
    *,
    stdin: str | None = None,
    limit_s: float,
    stop: Event,
) -> _Run:
    """Run a program until it ends or its timeout; kill whatever it leaves behind."""
    with open(stdin or os.devnull, "rb") as given:
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return _Run(b"", b"", str(error))
    end = time.monotonic() + limit_s
    said = None
    while said is None and time.monotonic() < end and not stop.is_set():
        with suppress(subprocess.TimeoutExpired):
            said = process.communicate(timeout=_LOOK_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if said is None:
        return _Run(*process.communicate(), f"it did not end within {limit_s:g} s")
    code = process.returncode
    return _Run(*said, f"exit code {code}" if code >= 0 else f"signal {-code}")

"""Whether an engine is there, starts, and answers: for `corral engine list` and `check`."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Engine
from corral.core.errors import NotFound
from corral.core.facts import Fact, Finished, Trouble
from corral.world.engines import acp_agents, relayed
from corral.world.engines.command import COMMAND
from corral.world.engines.described import recipe_of
from corral.world.engines.finding import program
from corral.world.engines.laying import lay
from corral.world.engines.recipe import Job, Permission, Recipe, environment, private_home

_START_S = 60.0
_ANSWER_S = 180.0
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?[\w.+-]*")
_ADVICE = {
    Trouble.AUTH: "it is refused: check the key that the profile names",
    Trouble.QUOTA: "its quota is used up: wait, or use another key",
    Trouble.RATE: "it is limited right now: try again later",
    Trouble.OVERLOAD: "the model's server is overloaded: try again later",
    Trouble.NETWORK: "the model's server cannot be reached: check the network and its address",
}


class Probe(Struct, frozen=True, kw_only=True):
    """What was found; None means that it was not asked."""

    type: str
    installed: bool
    path: str = ""
    version: str = ""
    starts: bool | None = None
    answers: bool | None = None
    lacking: str = ""  # a variable that the profile passes on, and that is not set
    advice: str = ""


class Asking(Struct, frozen=True, kw_only=True):
    """How to reach the model, to ask it one short question. That may cost a little."""

    base_url: str = ""
    key: str = ""  # the name of the variable that holds the key


def probe(
    profile: Engine, environ: Mapping[str, str] = os.environ, *, ask: Asking | None = None
) -> Probe:
    """Look for a profile's engine and start it for its version; with `ask`, talk to its model."""
    try:
        recipe = COMMAND if profile.type == "shell" else recipe_of(profile)
        argv = program(recipe, profile.command, environ)
        _need_transport(profile, environ)
    except NotFound as missing:
        return Probe(
            type=profile.type, installed=False, advice=f"{missing.message}: {missing.hint}"
        )
    there = Probe(type=profile.type, installed=True, path=argv[0])
    unset = [name for name in profile.env if name not in environ]
    if unset:
        # It would be refused, or worse, find a key of its own.
        advice = f"{unset[0]} is not set: export it, then try again"
        ask, there = None, replace(there, lacking=unset[0], advice=advice)
    if recipe is COMMAND or (recipe.type == "command" and profile.transport == "acp"):
        return there
    with tempfile.TemporaryDirectory(prefix="corral-probe-") as place:
        job = _job(place, argv, profile, ask or Asking())
        starts = _started(there, recipe, job, environ) if recipe.type != "command" else there
        if ask is None or starts.starts is False:
            return starts
        ended = _asked(recipe, job, environ)
    if ended is not None and ended.trouble is None:
        return replace(starts, answers=True)
    advice = "it says nothing: run it by hand"
    if ended and ended.trouble:
        advice = _ADVICE.get(ended.trouble, ended.text)
    return replace(starts, answers=False, advice=advice)


def _need_transport(profile: Engine, environ: Mapping[str, str]) -> None:
    """Look for what another transport than the command line needs."""
    path = environ.get("PATH", os.defpath)
    if profile.transport == "tmux" and shutil.which("tmux", path=path) is None:
        raise NotFound("there is no tmux", "install it, say with: apt-get install tmux")
    if profile.transport != "acp":
        return
    if importlib.util.find_spec("acp") is None:
        raise NotFound("the SDK for transport acp is missing", "pip install 'corral[acp]'")
    agent = acp_agents.find(profile.type)
    if agent.adapter and shutil.which(agent.adapter, path=path) is None:
        raise NotFound(f"there is no program {agent.adapter!r} for acp", agent.install)


def _started(there: Probe, recipe: Recipe, job: Job, environ: Mapping[str, str]) -> Probe:
    version = _VERSION.search(_version(recipe, job, environ))
    if version is None:
        return replace(there, starts=False, advice=f"it does not start: {recipe.install}")
    return replace(there, starts=True, version=version.group())


def _job(place: str, argv: tuple[str, ...], profile: Engine, ask: Asking) -> Job:
    tree, prompt = f"{place}/tree", f"{place}/prompt"
    os.mkdir(tree)
    with open(prompt, "w", encoding="utf-8") as file:
        file.write("Answer with the one word OK. Use no tools.\n")
    return Job(
        session="probe",
        program=argv,
        tree=tree,
        home=f"{place}/home",
        prompt_file=prompt,
        model=profile.model,
        new_id=str(uuid.uuid4()),
        base_url=ask.base_url,
        key=ask.key,
        permission=Permission.READ,
        as_root=os.getuid() == 0,
        idle_s=60,
    )


def _version(recipe: Recipe, job: Job, environ: Mapping[str, str]) -> str:
    lay(recipe.prepare(job), job.home)
    env = {"PATH": environ.get("PATH", os.defpath), **private_home(job)}
    output, _ = _run([*job.program, *recipe.version], job.tree, env, None, _START_S)
    return output.decode(errors="replace")


def _asked(recipe: Recipe, job: Job, environ: Mapping[str, str]) -> Finished | None:
    prepared = relayed.prepared(recipe, job)
    env = {"PATH": environ.get("PATH", os.defpath), **environment(prepared, environ)}
    output, errors = _run(prepared.argv, job.tree, env, prepared.stdin, _ANSWER_S)
    reader = relayed.reader(recipe, job)
    facts: list[Fact] = [fact for line in output.splitlines() for fact in reader.feed(line, "out")]
    facts += [fact for line in errors.splitlines() for fact in reader.feed(line, "err")]
    facts += reader.finish()
    return next((fact for fact in facts if isinstance(fact, Finished)), None)


def _run(
    argv: list[str], cwd: str, env: dict[str, str], stdin: str | None, limit_s: float
) -> tuple[bytes, bytes]:
    """Return what a program said until its end, or until its limit."""
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
            return b"", str(error).encode()
    try:
        return process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()

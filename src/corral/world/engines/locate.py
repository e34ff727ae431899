"""Finds an engine's program and what else it needs."""

import importlib.util
import os
import platform
import shlex
import shutil
from collections.abc import Mapping
from os.path import dirname, isfile, join, realpath

from corral.core.config import EngineSettings
from corral.core.errors import NotFound
from corral.world.engines.agents import acp as acp_agents
from corral.world.engines.recipe import Recipe

_CPU = {"x86_64": "x64", "aarch64": "arm64"}


def program(
    recipe: Recipe, command: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return how to start an engine: the profile's command, else the program on PATH.

    npm's wrapper starts the real program as a child that outlives it, so the real one is used if
    it is installed next to the wrapper.
    """
    name = command[0] if command else recipe.program
    found = shutil.which(name, path=environ.get("PATH", os.defpath)) if name else None
    if found is None and isfile(name):
        raise NotFound(f"{name!r} cannot be run", f"chmod +x {shlex.quote(name)}")
    if found is None:
        raise NotFound(f"the program {name!r} for {recipe.type} is not installed", recipe.install)
    return (_native(recipe, found) or found, *command[1:])


def need_transport(profile: EngineSettings, environ: Mapping[str, str]) -> None:
    """Check that the profile's transport has what it needs."""
    path = environ.get("PATH", os.defpath)
    if profile.transport == "tmux" and shutil.which("tmux", path=path) is None:
        raise NotFound(
            "tmux is not installed", "install it, for example with: apt-get install tmux"
        )
    if profile.transport != "acp":
        return
    if importlib.util.find_spec("acp") is None:
        raise NotFound("the SDK for transport acp is missing", "pip install 'corral[acp]'")
    agent = acp_agents.find(profile.type)
    if agent.adapter and shutil.which(agent.adapter, path=path) is None:
        raise NotFound(f"the program {agent.adapter!r} for acp is not installed", agent.install)


def _native(recipe: Recipe, found: str) -> str | None:
    if not recipe.native:
        return None
    machine = platform.machine()
    below = recipe.native.format(
        system=platform.system().lower(), cpu=_CPU.get(machine, machine), machine=machine
    )
    folder = dirname(realpath(found))
    while folder != dirname(folder):
        beside = join(folder, "node_modules", below)
        if isfile(beside) and os.access(beside, os.X_OK):
            return beside
        folder = dirname(folder)
    return None

"""`probe` on the real programs."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corral.core.config import EngineSettings
from corral.world.engines.probe import probe
from tests.engines.engine_tree import ENGINES, KEY, MODELS
from tests.standin.faults import Fault
from tests.standin.server import StandIn


def test_all_are_there_and_start(programs: Path) -> None:
    environ = {"PATH": f"{programs}:{os.environ['PATH']}"}
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda engine: probe(EngineSettings(type=engine), environ), ENGINES))
    assert all(one.installed and one.starts and one.version for one in found), found


@pytest.mark.parametrize("engine", ["claude-code", "codex"])
def test_it_answers_or_says_why_not(engine: str, standin: StandIn, programs: Path) -> None:
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "MY_KEY": KEY}
    url = standin.url(f"probe-{engine}")
    profile = EngineSettings(type=engine, model=MODELS[engine], base_url=url, env=("MY_KEY",))
    assert probe(profile, environ, ask=True).answers is True
    standin.scenario(f"probe-{engine}").fail(Fault("401", times=None))
    refused = probe(profile, environ, ask=True)
    assert refused.answers is False
    assert "check the key" in refused.advice

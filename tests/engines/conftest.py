"""What the real agents of this folder's tests talk to, and where they work."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.engine_tree import TOKEN, EngineTree
from tests.engines.toolbox import Toolbox, toolbox
from tests.standin.server import StandIn, serving

MakeYard = Callable[[str, str], EngineTree]


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def tools() -> Iterator[Toolbox]:
    with toolbox(TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def make_refinery_repo(
    tmp_path_factory: pytest.TempPathFactory, standin: StandIn, programs: Path
) -> MakeYard:
    """Make a place for an engine and a scenario of that name."""
    place = tmp_path_factory.mktemp("projects")

    def make(engine: str, scenario: str) -> EngineTree:
        return EngineTree(place / scenario, engine, standin.url(scenario), programs)

    return make

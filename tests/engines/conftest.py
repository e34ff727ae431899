"""The real agents for the tests of this folder: `make engines` installs them.

Where they are missing these tests are skipped, but with CORRAL_NEED_ENGINES=1 they fail instead.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines import install
from tests.engines.running import TOKEN, Yard
from tests.engines.toolbox import Toolbox, toolbox
from tests.standin.server import StandIn, serving

MakeYard = Callable[[str, str], Yard]


@pytest.fixture(scope="session")
def programs() -> Path:
    found = install.programs()
    if found is None:
        if os.environ.get("CORRAL_NEED_ENGINES") == "1":
            pytest.fail("the coding agents are not installed: make engines")
        pytest.skip("the coding agents are not installed: make engines")
    return found


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def tools() -> Iterator[Toolbox]:
    with toolbox(TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def make_yard(
    tmp_path_factory: pytest.TempPathFactory, standin: StandIn, programs: Path
) -> MakeYard:
    """Make a place for an engine and a scenario of that name."""
    place = tmp_path_factory.mktemp("yards")

    def make(engine: str, scenario: str) -> Yard:
        return Yard(place / scenario, engine, standin.url(scenario), programs)

    return make

"""For all tests: how long things take says nothing on a machine that is busy with others.

`make test` runs several at a time. A test that means something only while nothing else runs has the
mark `alone`; tests that share what is costly to set up stay together, in one worker.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.engines import install

settings.register_profile("corral", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("corral")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, for tests that wait; each costs the time to collect all."""
    return min(8, 1 + (os.cpu_count() or 1))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
    items.sort(key=_needs_agents)  # `make test` installs them meanwhile


def _shares(item: pytest.Item) -> bool:
    """Say whether a test has something in common with others of its file."""
    return isinstance(item, pytest.Function) and any(
        found[-1].scope == "module" for found in item._fixtureinfo.name2fixturedefs.values()
    )


def _needs_agents(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "programs" in item.fixturenames


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the real coding agents, which `make engines` installs.

    Without them tests are skipped, but with CORRAL_NEED_ENGINES=1 they fail.
    """
    found = install.programs() or install.awaited()
    if found is None:
        if os.environ.get("CORRAL_NEED_ENGINES") == "1":
            pytest.fail("the coding agents are not installed: make engines")
        pytest.skip("the coding agents are not installed: make engines")
    return found

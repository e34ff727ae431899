"""For all tests: how long things take says nothing on a machine that is busy with others.

`make test` runs several files at a time. A test that means something only while nothing else runs
has the mark `alone`.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.engines import install

# The same examples each time, so that what fails is what was changed; others are tried on demand.
settings.register_profile(
    "corral",
    deadline=None,
    derandomize=os.environ.get("CORRAL_EXPLORE") != "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("corral")

LONGEST = "test_matrix.py"

# A shell that runs us in the background has us ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, for tests that wait; each costs the time to collect all."""
    return min(8, 1 + (os.cpu_count() or 1))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that need the coding agents last: `make test` installs those meanwhile.

    The longest of them is the first, so that all others are done beside it, and none after it.
    """
    needing = {item.path for item in items if "programs" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path in needing, item.path.name != LONGEST))


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

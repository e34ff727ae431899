from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.checks.check_runs import Bench


@pytest.fixture
def bench(repo: Path) -> Iterator[Bench]:
    made = Bench(repo)
    yield made
    made.close()

"""The fixture of tests about check runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.checks.check_runs import CheckRuns


@pytest.fixture
def checks(repo: Path) -> Iterator[CheckRuns]:
    made = CheckRuns(repo)
    yield made
    made.close()

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.processes.sessions import Sessions


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    started = Sessions(tmp_path)
    yield started
    started.close()

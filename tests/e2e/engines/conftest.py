from pathlib import Path

import pytest

from tests.e2e.engines.ranch import Ranch, make_ranch


@pytest.fixture
def ranch(tmp_path: Path) -> Ranch:
    """A repository with a convoy whose tasks are worked on by engines that print facts."""
    return make_ranch(tmp_path / "project")

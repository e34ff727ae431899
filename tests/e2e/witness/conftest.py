from pathlib import Path

import pytest

from tests.e2e.witness.farm import Farm, make_farm


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    """A repository with a convoy, whose tasks are FAR-1, FAR-2, …"""
    return make_farm(tmp_path / "project")

from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import WitnessRepo, make_witness_repo


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    """A repository with a convoy, whose tasks are FAR-1, FAR-2, …"""
    return make_witness_repo(tmp_path / "project")

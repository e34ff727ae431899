"""The fixture of tests about the witness."""

from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import WitnessRepo, make_witness_repo


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    """A repository with a convoy, whose tasks are PRO-1, PRO-2, …"""
    return make_witness_repo(tmp_path / "project")

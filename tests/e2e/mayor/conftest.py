"""The fixture of tests about the mayor."""

from pathlib import Path

import pytest

from tests.e2e.mayor.mayor_repo import MayorRepo, make_mayor_repo


@pytest.fixture
def project(tmp_path: Path) -> MayorRepo:
    """A repository with a scripted mayor."""
    return make_mayor_repo(tmp_path / "project")

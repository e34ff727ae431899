"""The fixture of tests in which engines work on tasks."""

from pathlib import Path

import pytest

from tests.e2e.engines.engine_repo import EngineRepo, make_engine_repo


@pytest.fixture
def project(tmp_path: Path) -> EngineRepo:
    """A repository with a convoy whose tasks are worked on by engines that print facts."""
    return make_engine_repo(tmp_path / "project")

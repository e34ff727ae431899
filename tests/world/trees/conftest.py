"""A repository and the door to its trees."""

from pathlib import Path

import pytest

from corral.world.trees import Trees
from tests.world.trees.ground import opened, repository


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own git configuration out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def trees(repo: Path) -> Trees:
    return opened(repo)

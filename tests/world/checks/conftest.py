from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.checks.bench import Bench
from tests.world.trees.ground import repository


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own git configuration out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def bench(repo: Path) -> Iterator[Bench]:
    made = Bench(repo)
    yield made
    made.close()

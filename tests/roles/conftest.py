import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.roles import locks
from tests.roles.deacon_repo import Yard
from tests.world.trees.tree_repo import repository


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own git configuration out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(repository(tmp_path / "project"))
    yield made
    made.close()


@pytest.fixture
def witness(yard: Yard) -> Iterator[None]:
    """Have the lock of a witness taken."""
    lock = locks.only_one(yard.repository.folder, "witness")
    yield
    os.close(lock)

"""Fixtures of tests about single roles, run inside of the test's own process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.roles import locks
from tests.roles.deacon_repo import DeaconRepo
from tests.world.trees.tree_repo import repository


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own git configuration out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[DeaconRepo]:
    made = DeaconRepo(repository(tmp_path / "project"))
    yield made
    made.close()


@pytest.fixture
def witness(project: DeaconRepo) -> Iterator[None]:
    """Have the lock of a witness taken."""
    with locks.only_one(project.repository.folder, "witness"):
        yield

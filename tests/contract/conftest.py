"""One store of every kind; its log is verified again after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.core.log.state import State
from corral.store.port import Store
from corral.store.replay import extend
from corral.store.sqlite import SqliteStore
from tests.contract.stores import KINDS, Clock, Open, encoded, opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    store = opened(request.param, tmp_path / "corral", clock)
    try:
        yield store
        # Whatever the test did: the log is sound, and the state is its fold.
        folded = encoded(extend(State(), store.read()))
        assert encoded(store.verify()) == folded
        assert encoded(store.state()) == folded
    finally:
        store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corral"


@pytest.fixture
def fresh(folder: Path) -> Iterator[Open]:
    """Open the log as a new process would; all are closed at the end."""
    opened: list[SqliteStore] = []

    def fresh() -> SqliteStore:
        opened.append(SqliteStore(folder, Clock()))
        return opened[-1]

    yield fresh
    for store in opened:
        store.close()

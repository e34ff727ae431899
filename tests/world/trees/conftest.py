"""The fixture of tests about working trees."""

from pathlib import Path

import pytest

from corral.world.trees import Trees
from tests.world.trees.tree_repo import opened


@pytest.fixture
def trees(repo: Path) -> Trees:
    """The door to the trees of a repository."""
    return opened(repo)

from pathlib import Path

import pytest

from tests.e2e.mayor.hall import Hall, make_hall


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    """A repository with a scripted mayor."""
    return make_hall(tmp_path / "project")

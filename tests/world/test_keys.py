"""Secrets are created once, under any race, and refused if others can read them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corral.core.errors import Failed
from corral.world import keys


def test_concurrent_callers_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = set(pool.map(lambda _: keys.secret(str(tmp_path / "corral")), range(200)))
    assert len(found) == 1
    assert [path.name for path in (tmp_path / "corral").iterdir()] == ["secret"]


def test_a_secret_that_others_could_read_is_not_used(tmp_path: Path) -> None:
    keys.token(str(tmp_path))
    path = tmp_path / "token"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(Failed, match="others can read"):
        keys.token(str(tmp_path))


def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x" * 40)
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Failed):
        keys.token(str(tmp_path))

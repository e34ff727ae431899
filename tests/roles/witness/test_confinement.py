"""Sessions that cannot be confined do not start, and say so."""

from pathlib import Path

import pytest

from corral.core.config import ConfineSettings
from corral.core.errors import Failed
from corral.roles.records.rooms import Room
from corral.roles.witness.confinement import Confinement
from corral.world.processes import landlock
from corral.world.repository import find
from tests.e2e.corral_command import make_repository


def test_a_system_without_landlock_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = find(str(make_repository(tmp_path / "project").path))
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(Failed, match="no Landlock"):
        Confinement(ConfineSettings(enabled=True), repository).check()
    with pytest.raises(OSError, match="no Landlock"):
        landlock.confine([])
    off = Confinement(ConfineSettings(), repository)
    off.check()
    assert off.variables(Room(str(tmp_path), "FAR-1.1")) == {}  # type: ignore[arg-type]  # a name

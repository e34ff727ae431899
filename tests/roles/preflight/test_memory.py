"""What was fine stays fine while nothing that it depends on has changed."""

import os
from pathlib import Path

from corral.core.config import Config, EngineSettings, EnvironmentSettings
from corral.roles.preflight.finding import OK, Finding
from corral.roles.preflight.memory import Memory, key_of, surroundings

DAY_MS = 86_400_000
FINE = Finding("base", OK, "1 check passed")


def program(folder: Path) -> Path:
    path = folder / "agent"
    path.write_text("1")
    return path


def test_it_is_remembered_until_a_program_changes(tmp_path: Path) -> None:
    agent, memory = program(tmp_path), Memory(str(tmp_path))
    assert not memory.is_clear("k", 0)
    memory.clear("k", str(tmp_path), [str(agent)])
    assert memory.is_clear("k", 0)
    assert Memory(str(tmp_path)).is_clear("k", 0)
    assert not memory.is_clear("other", 0)
    agent.write_text("22")
    assert not memory.is_clear("k", 0)
    agent.unlink()
    assert not memory.is_clear("k", 0)


def test_a_disk_that_has_filled_up_is_noticed(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path))
    memory.clear("k", str(tmp_path), [])
    assert memory.is_clear("k", 0)
    assert not memory.is_clear("k", 1 << 60)


def test_after_a_day_everything_is_looked_at_again(tmp_path: Path) -> None:
    Memory(str(tmp_path), lambda: 1000).clear("k", str(tmp_path), [])
    assert Memory(str(tmp_path), lambda: 1000 + DAY_MS - 1).is_clear("k", 0)
    assert not Memory(str(tmp_path), lambda: 1000 + DAY_MS).is_clear("k", 0)


def test_findings_are_kept_with_clearances_and_the_oldest_are_dropped(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path))
    memory.clear("k", str(tmp_path), [])
    for number in range(30):
        memory.keep(f"{number}", FINE)
    assert memory.recall("29") == (FINE,)
    assert memory.recall("0") is None
    assert memory.is_clear("k", 0)


def test_a_damaged_file_is_like_none(tmp_path: Path) -> None:
    memory, path = Memory(str(tmp_path)), tmp_path / "derived" / "preflight"
    memory.keep("k", FINE)
    path.write_bytes(b'{"k": "from an earlier version"')
    assert memory.recall("k") is None
    memory.keep("k", FINE)
    assert memory.recall("k") == (FINE,)
    assert os.listdir(path.parent) == ["preflight"]


def test_the_key_depends_on_settings_and_on_variables_that_count() -> None:
    config = Config(engine={"default": EngineSettings(type="codex", env=("THE_KEY",))})
    environ = {"PATH": "/bin", "THE_KEY": "secret-1", "EDITOR": "vi"}
    before = key_of(*surroundings(config, environ))
    assert key_of(*surroundings(config, environ | {"EDITOR": "ed"})) == before
    for changed in ({"PATH": "/usr/bin"}, {"THE_KEY": "secret-2"}, {"HTTPS_PROXY": "p"}):
        assert key_of(*surroundings(config, environ | changed)) != before
    passing = Config(engine=config.engine, environment=EnvironmentSettings(pass_=("EDITOR",)))
    assert key_of(*surroundings(passing, environ)) != before
    assert "secret-1" not in repr(surroundings(config, environ))

"""The key of a set-up's result: the same while what it depends on is the same."""

import pytest

from corral.core.setups import key

FILES = {"uv.lock": "1", "package-lock.json": "2", "src/a.py": "3", "web/package.json": "4"}


def of(*setup: str, locks: tuple[str, ...] = (), read: str = "{}", **changed: str) -> str:
    files = FILES | {name.replace("__", "."): blob for name, blob in changed.items()}
    commands = [command.split() for command in setup]
    return key(commands, locks, str(sorted(files.items())), files, lambda path: read)


@pytest.mark.parametrize(
    "command",
    [
        *("npm ci", "uv sync", "poetry install", "python3 -m venv .venv", "go mod download"),
        *(".venv/bin/pip install -e .", "pip3 install -r requirements.txt", "pip install -e ./lib"),
        *(".venv/bin/python3.12 -m pip install pytest", "uv pip install -e .[test]"),
    ],
)
def test_dependencies_depend_on_lock_files(command: str) -> None:
    before = of(command)
    assert of(command, source="9") == before
    assert of(command, uv__lock="9") != before
    assert of(command, requirements__txt="9") != before
    assert of(command, "npm install") != before


@pytest.mark.parametrize(
    "command",
    [
        *("make env", "npm run build", "sh setup.sh", "pip install .", "pip install ./lib"),
        *("uv sync --no-editable", "uv pip install .", "cargo build", "npm-ci", "python3 setup.py"),
    ],
)
def test_what_may_be_built_from_sources_depends_on_every_file(command: str) -> None:
    assert of("npm ci", command, source="9") != of("npm ci", command)


def test_scripts_and_compiled_code_are_builds() -> None:
    prepare = '{"scripts": {"prepare": "tsc"}}'
    assert of("npm ci", read=prepare, source="9") != of("npm ci", read=prepare)
    assert of("npm ci", read="odd", source="9") != of("npm ci", read="odd")
    plain = '{"scripts": {"test": "jest"}}'
    assert of("npm ci", read=plain, source="9") == of("npm ci", read=plain)
    ignored = "npm ci --ignore-scripts"
    assert of(ignored, read=prepare, source="9") == of(ignored, read=prepare)
    assert of("uv sync", fast__c="1", source="9") != of("uv sync", fast__c="1")


def test_a_person_can_say_what_it_depends_on() -> None:
    assert of("make env", locks=("*.lock",), source="9") == of("make env", locks=("*.lock",))
    assert of("make env", locks=("*.lock",), uv__lock="9") != of("make env", locks=("*.lock",))
    assert of("make env", locks=("gone",), source="9") != of("make env", locks=("gone",))

"""The key of a set-up's result: the same while what it depends on is the same."""

import pytest

from corral.core.setups import key

FILES = {
    "uv.lock": 'source = { editable = "." }\nsource = { virtual = "docs" }',
    "package-lock.json": "{}",
    "requirements.txt": "requests>=2\nuvicorn[standard] == 0.3 ; python_version > '3'  # why",
    "src/a.py": "",
    "web/package.json": '{"dependencies": {"left-pad": "~1.0"}, "scripts": {"test": "jest"}}',
    "libs/core/core.py": "",
    "pyproject.toml": """
        [project]
        name = "thing"
        license = { file = "LICENSE" }
        scripts.thing = "thing:main"
        [tool.hatch.version]
        path = "src/a.py"
        [tool.uv.sources]
        core = { path = "libs/core", editable = true }
        member = { workspace = true }
        [tool.poetry.dependencies]
        core = { path = "libs/core", develop = true }
        """,
}


def of(
    *setup: str,
    locks: tuple[str, ...] = (),
    more: dict[str, str] | None = None,
    **changed: str,
) -> str:
    texts = FILES | (more or {})
    texts |= {name.replace("__", "."): text for name, text in changed.items()}
    commands = [command.split() for command in setup]
    blobs = {path: str(hash(text)) for path, text in texts.items()}
    return key(commands, locks, str(sorted(blobs.items())), blobs, texts.__getitem__)


def is_kept(*setup: str, **more: str) -> bool:
    """Say whether the result is given to a tree in which only sources are different."""
    files = {name.replace("__", "."): text for name, text in more.items()}
    return of(*setup, more=files, source="9") == of(*setup, more=files)


@pytest.mark.parametrize(
    "command",
    [
        *("npm ci", "uv sync", "poetry install", "python3 -m venv .venv", "go mod download"),
        *(".venv/bin/pip install -e .", "pip3 install -r requirements.txt", "pip install -e ./lib"),
        *(".venv/bin/python3.12 -m pip install pytest", "uv pip install -e .[test]"),
        *("pip install -q --no-deps -e libs/core requests==2.1", "uv sync --all-extras --frozen"),
        *("pip install --requirement=requirements.txt", "uv pip sync requirements.txt"),
        *("pip install git+https://example.org/core.git", "npm install --prefix web left-pad@1.2"),
        *("pip install --index-url https://example.org/simple black", "bundle install"),
        *("pdm install", "pipenv sync", "composer install", "pnpm install --frozen-lockfile"),
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
        *("pip install libs/core", "pip install --quiet .", "python -m pip install .[dev]"),
        *("pip install ./libs/core -e .", "pip install --no-deps libs/core/", "pip install ..."),
        *("python3 -m pip install -U libs/core[all]", "uv pip install libs/core"),
        *("pip install core@file:libs/core", "pip install vendor.whl", "pip install /opt/core"),
        *("pip install -r deps.txt", "pip install -f wheels core", "pip install --target x core"),
        *("pip install -r libs/missing-requirements.txt", "uv pip sync libs/core"),
        *("pdm install --no-editable", "npm install ./libs/core", "npm install core.tgz"),
        *("npm install --install-links", "composer install -o", "uv sync --find-links wheels"),
        *("pip install libs", "uv sync --config-setting editable_mode=strict", "pipenv install ."),
    ],
)
def test_what_may_be_copied_or_built_from_sources_depends_on_every_file(command: str) -> None:
    assert of("npm ci", command, source="9") != of("npm ci", command)


@pytest.mark.parametrize(
    ("command", "path", "text"),
    [
        ("uv sync", "pyproject.toml", '[tool.uv.sources]\ncore = { path = "libs/core" }'),
        ("uv sync", "pyproject.toml", '[tool.uv.sources]\ncore = [{ path = "c" }, { git = "x" }]'),
        ("uv sync", "pyproject.toml", "[tool.uv.sources]\na = {workspace=true, editable=false}"),
        ("uv sync", "pyproject.toml", '[[tool.uv.index]]\nname = "x"\nurl = "./wheels"'),
        ("uv sync", "uv.lock", 'name = "core"\nsource = { directory = "libs/core" }'),
        ("uv sync", "uv.lock", 'name = "core"\nsource = { path = "core.whl" }'),
        ("uv sync", "pyproject.toml", "not toml"),
        ("poetry install", "pyproject.toml", '[tool.poetry.dependencies]\nc = {path = "libs/c"}'),
        ("poetry install", "p/pyproject.toml", '[tool.poetry.group.x.dependencies]\nc.path="c"'),
        ("pdm install", "pyproject.toml", '[project]\ndependencies = ["c @ file:///${R}/libs/c"]'),
        ("pdm sync", "pdm_build.py", ""),
        ("pipenv install", "Pipfile", '[packages]\ncore = { path = "libs/core" }'),
        ("pip install -e .", "pyproject.toml", '[build-system]\nbackend-path = ["."]'),
        ("pip install -e .", "pyproject.toml", '[tool.hatch.build.hooks.custom]\npath = "b.py"'),
        ("pip install -e .", "setup.py", "setup(cmdclass={'build_py': Generate})"),
        ("pip install -e .", "setup.py", "setup(scripts=['bin/tool'])"),
        ("pip install -e .", "libs/fast.c", ""),
        ("pip install -r requirements.txt", "requirements.txt", "libs/core"),
        ("pip install -r requirements.txt", "requirements.txt", "./libs/core"),
        ("pip install -r requirements.txt", "requirements.txt", "requests\n.[dev]\n"),
        ("pip install -r requirements.txt", "requirements.txt", "core @ file:libs/core"),
        ("pip install -r requirements.txt", "requirements.txt", "wheels/core-1.whl"),
        ("pip install -r requirements.txt", "requirements.txt", "--find-links wheels\ncore"),
        ("pip install -r requirements.txt", "requirements.txt", "-r more.txt"),
        ("npm ci", "package.json", '{"dependencies": {"core": "file:core.tgz"}}'),
        ("npm ci", "package.json", '{"scripts": {"prepare": "tsc"}}'),
        ("npm ci", "package.json", "odd"),
        ("npm ci", ".npmrc", "install-links=true"),
        ("npm ci", "native/binding.gyp", "{}"),
        ("yarn install", "package.json", '{"dependencies": {"core": "file:libs/core"}}'),
        ("yarn install", "package.json", '{"dependencies": {"core": "./libs/core"}}'),
        ("yarn install", "package.json", '{"resolutions": {"a": "patch:a@1#./a.patch"}}'),
        ("pnpm install", "package.json", '{"devDependencies": {"core": "file:libs/core"}}'),
        ("pnpm install", "package.json", '{"dependenciesMeta": {"core": {"injected": true}}}'),
        ("pnpm install", "pnpm-workspace.yaml", "injectWorkspacePackages: true"),
        ("composer install", "composer.json", '{"scripts": {"post-install-cmd": "make"}}'),
        ("composer install", "composer.json", '{"autoload": {"classmap": ["src/"]}}'),
        ("bin/pip install requests", "bin/pip", "#!/bin/sh"),
    ],
)
def test_a_manifest_can_ask_for_a_copy(command: str, path: str, text: str) -> None:
    assert is_kept(command)
    assert not is_kept(command, **{path: text})


@pytest.mark.parametrize(
    ("command", "path", "text"),
    [
        ("npm ci --ignore-scripts", "package.json", '{"scripts": {"prepare": "tsc"}}'),
        ("npm ci", "package.json", '{"dependencies": {"core": "file:libs/core"}}'),
        ("yarn install", "package.json", '{"dependencies": {"a": "link:libs/a", "b": "^1"}}'),
        ("pnpm install", "package.json", '{"dependencies": {"core": "workspace:*"}}'),
        ("pip install -r requirements.txt", "requirements.txt", "-e ./libs/core\n--pre\nflask"),
        ("pip install -r requirements/dev.txt", "requirements/dev.txt", "-r ../requirements.txt"),
        ("pip install -r requirements.txt", "requirements.txt", "a==1 \\\n  --hash=sha256:0a"),
        ("pip install -e .", "setup.py", "setup(entry_points={'console_scripts': []})"),
    ],
)
def test_a_manifest_with_links_is_kept(command: str, path: str, text: str) -> None:
    assert is_kept(command, **{path: text})


def test_a_person_can_say_what_it_depends_on() -> None:
    assert of("make env", locks=("*.lock",), source="9") == of("make env", locks=("*.lock",))
    assert of("make env", locks=("*.lock",), uv__lock="9") != of("make env", locks=("*.lock",))
    assert of("make env", locks=("gone",), source="9") != of("make env", locks=("gone",))

"""The built page: fresh, small, and checked by its own tools."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from corral.interfaces.http.assets import FOLDER
from tests.web.browsed_repo import BrowsedRepo, Window

WEB = Path(__file__).parents[2] / "web"
FIRST_LOAD = 150_000


def run(*words: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(words, cwd=WEB, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def modules() -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    if not (WEB / "node_modules").exists():
        run("npm", "ci", "--silent")


def test_what_is_built_is_what_is_written(tmp_path: Path) -> None:
    run("npx", "vite", "build", "--outDir", str(tmp_path / "built"), "--logLevel", "warn")
    new = {str(p.relative_to(tmp_path / "built")): p for p in (tmp_path / "built").rglob("*.*")}
    old = {str(p.relative_to(FOLDER)): p for p in FOLDER.rglob("*.*")}
    assert sorted(new) == sorted(old), "run `make web`"
    for name, path in new.items():
        assert path.read_bytes() == old[name].read_bytes(), f"{name}: run `make web`"


def test_its_types_are_those_of_the_server(tmp_path: Path) -> None:
    document = run(sys.executable, "-m", "corral.interfaces.http.openapi")
    run("node", "types.mjs", str(tmp_path / "schema.ts"), stdin=document)
    fresh = (tmp_path / "schema.ts").read_text()
    assert fresh == (WEB / "src" / "api" / "schema.ts").read_text(), "run `make web`"


def test_its_own_checks_pass() -> None:
    run("npm", "run", "--silent", "check")
    run("npm", "test", "--silent")


def test_nothing_in_it_names_another_host() -> None:
    for path in FOLDER.rglob("*.*"):
        hosts = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", path.read_text()))
        assert hosts <= {"http://www.w3.org"}, (path.name, hosts)  # the name of SVG


def test_the_first_load_is_small(
    project: BrowsedRepo, view: Window, capsys: pytest.CaptureFixture[str]
) -> None:
    page = view.look(project, "board")
    expect(page.get_by_role("heading", level=1)).to_have_text("Board")
    sizes: dict[str, int] = page.evaluate(
        """() => Object.fromEntries(performance.getEntriesByType('resource')
          .filter(e => e.name.includes('/assets/')).map(e => [e.name, e.encodedBodySize]))"""
    )
    total = sum(sizes.values())
    with capsys.disabled():
        print(f"\nfirst load: {total:,} bytes gzip in {len(sizes)} files")
    assert len(sizes) >= 3
    assert total < FIRST_LOAD

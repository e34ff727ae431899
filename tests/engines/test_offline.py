"""No engine needs, or reaches, anything beyond loopback and its own folders."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engines.engine_tree import ENGINES

ROOT = Path(__file__).resolve().parents[2]
# It looks up its own server regardless of its settings; the answer makes no difference.
KNOWN = {"api.continue.dev"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> dict[str, Any]:
    if os.getuid() != 0 or shutil.which("unshare") is None:
        if os.environ.get("CORRAL_NEED_ENGINES") == "1":
            pytest.fail("a network of one's own needs root and unshare")
        pytest.skip("a network of one's own needs root and unshare")
    place = tmp_path_factory.mktemp("alone") / "projects"
    place.mkdir()
    home = place.parent / "user"
    home.mkdir()
    done = subprocess.run(
        [
            *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *(sys.executable, "-m", "tests.engines.offline", str(place), str(programs)),
        ],
        cwd=ROOT,
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("engine", ENGINES)
def test_it_works_without_a_network(engine: str, report: dict[str, Any]) -> None:
    assert report["engines"][engine]["wrote"]
    assert report["engines"][engine]["code"] == 0


def test_there_was_no_network(report: dict[str, Any]) -> None:
    assert report["interfaces"] == ["lo"]


def test_no_host_is_looked_up(report: dict[str, Any]) -> None:
    assert set(report["names"]) == KNOWN


@pytest.mark.parametrize("engine", ENGINES)
def test_it_writes_into_its_own_folders_only(engine: str, report: dict[str, Any]) -> None:
    assert report["engines"][engine]["beside"] == ["brief.md", "home", "tree"]


def test_nothing_appears_anywhere_else(report: dict[str, Any]) -> None:
    assert report["new"] == []

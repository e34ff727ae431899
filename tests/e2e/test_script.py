"""The installed command starts its own Python, wherever it was installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = (str(ROOT / "src"), sysconfig.get_path("purelib"))
PYTHON = f"python3.{sys.version_info.minor}"


def installed(prefix: Path) -> Path:
    """Install the script as pip does; the package itself stays where it is."""
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(ROOT / "bin" / "corral", prefix / "bin" / "corral"))


def run(script: Path | str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, "--version"], capture_output=True, text=True, check=False, env=os.environ | env
    )


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A virtual environment whose path has spaces, with the script and what it needs."""
    place = tmp_path / "a house" / "of my own"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    (packages,) = place.glob("lib/python3.*/site-packages")
    (packages / "corral.pth").write_text("\n".join(LIBRARIES) + "\n")
    installed(place)
    return place


def test_it_runs_in_a_virtual_environment_whose_path_has_spaces(venv: Path) -> None:
    answer = run(venv / "bin" / "corral")
    assert answer.stdout.startswith("corral "), answer


def test_it_runs_by_a_link_from_another_folder_as_pipx_makes_one(venv: Path) -> None:
    link = venv.parent / "corral"
    link.symlink_to("of my own/bin/corral")
    answer = run("corral", PATH=f"{venv.parent}:{os.environ['PATH']}")
    assert answer.stdout.startswith("corral "), answer


def test_outside_of_a_virtual_environment_it_runs_the_python_of_its_library(
    tmp_path: Path,
) -> None:
    prefix = tmp_path / "local"
    script = installed(prefix)
    (prefix / "lib" / PYTHON / "site-packages" / "corral-0.1.0.dist-info").mkdir(parents=True)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    answer = run(script, PATH=path, PYTHONPATH=os.pathsep.join(LIBRARIES))
    assert answer.stdout.startswith("corral "), answer


def test_without_its_python_it_says_what_to_do(tmp_path: Path) -> None:
    answer = run(installed(tmp_path))
    assert answer.returncode == 127
    assert "python3 -m corral" in answer.stderr

"""What is built from the repository: wheels hold the dashboard, with npm and without it."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from corral.interfaces.http.assets import FOLDER

pytest.importorskip("hatchling", reason="hatchling is not installed: see requirements/build.txt")

ROOT = Path(__file__).parents[2]
COMMITTED = "Packaging the committed build of the dashboard: "


def made(kind: str, into: Path, root: Path = ROOT, path: str = "") -> tuple[Path, str]:
    """Build a distribution, with `path` as PATH; return it and what the build printed."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)],
        cwd=root,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (built,) = into.iterdir()
    return built, done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel, said = made("wheel", tmp_path_factory.mktemp("plain"))
    assert f"{COMMITTED}npm is not installed." in said
    return wheel


def npm_that(script: str, folder: Path) -> str:
    folder.mkdir()
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod(0o755)
    return str(folder)


def test_a_wheel_made_without_npm_holds_the_committed_dashboard(plain: Path) -> None:
    with zipfile.ZipFile(plain) as wheel:
        held = {
            name.removeprefix("corral/web/"): wheel.read(name)
            for name in wheel.namelist()
            if name.startswith("corral/web/")
        }
    committed = {
        str(path.relative_to(FOLDER)): path.read_bytes()
        for path in FOLDER.rglob("*")
        if path.is_file()
    }
    assert "index.html" in held
    assert held == committed


def test_a_wheel_made_with_npm_is_the_same(plain: Path, tmp_path: Path) -> None:
    if shutil.which("npm") is None or not (ROOT / "web" / "node_modules").exists():
        pytest.skip("the dashboard's packages are not installed: run make web")
    wheel, said = made("wheel", tmp_path, path=os.environ["PATH"])
    assert COMMITTED not in said
    assert wheel.read_bytes() == plain.read_bytes(), "run `make web`"


def test_a_source_distribution_makes_the_same_wheel_though_npm_fails(
    plain: Path, tmp_path: Path
) -> None:
    archive, _ = made("sdist", tmp_path / "sdist")
    with tarfile.open(archive) as packed:
        # Before 3.11.4 there are no filters, and an argument for one is refused.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path)
    root = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (root / "web" / "src" / "main.tsx").exists()
    assert (root / "src" / "corral" / "web" / "index.html").exists()
    wheel, said = made("wheel", tmp_path / "wheel", root, npm_that("exit 7", tmp_path / "bin"))
    assert f"{COMMITTED}npm ci failed with exit code 7." in said
    assert wheel.read_bytes() == plain.read_bytes()


def test_an_editable_install_builds_no_dashboard(tmp_path: Path) -> None:
    path = npm_that(f"touch '{tmp_path}/called'", tmp_path / "bin")
    (tmp_path / "wheel").mkdir()
    code = (
        f"from hatchling.build import build_editable; build_editable({str(tmp_path / 'wheel')!r})"
    )
    environment = {**os.environ, "PATH": f"{path}:/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    (wheel,) = (tmp_path / "wheel").iterdir()
    with zipfile.ZipFile(wheel) as built:
        assert not [name for name in built.namelist() if "web" in name]
    assert not (tmp_path / "called").exists()

"""What is built from the repository: wheels with the dashboard inside, which run without npm."""

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
import zipfile
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from urllib.parse import urljoin

import pytest

from corral import __version__, version
from corral.interfaces.http.assets import FOLDER
from tests.patience import PATIENCE_S

pytest.importorskip("hatchling", reason="hatchling is not installed: see requirements/build.txt")

ROOT = Path(__file__).parents[2]
COMMITTED = "Packaging the committed build of the dashboard: "


def made(
    kind: str, into: Path, root: Path = ROOT, path: str = "", more: Mapping[str, str] = {}
) -> tuple[Path, str]:
    """Build a distribution, with `path` as PATH; return it and what the build printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)],
        cwd=root,
        env={**kept, "PATH": path, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (built,) = into.iterdir()
    return built, done.stdout


@pytest.fixture(scope="module")
def only_git(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for PATH that has git and no npm."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "git").symlink_to(shutil.which("git") or "")
    return str(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, only_git: str) -> Path:
    wheel, said = made("wheel", tmp_path_factory.mktemp("plain"), path=only_git)
    assert f"{COMMITTED}npm is not installed." in said
    return wheel


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(opened.read(name))


def version_of(wheel: Path) -> str:
    """Ask a wheel for its version; Python can import from it as it is."""
    code = f"import sys; sys.path.insert(0, {str(wheel)!r}); sys.argv[1:] = ['--version'];"
    code += "from corral.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    ).stdout.removesuffix("\n")


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


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


def test_a_wheel_made_twice_is_the_same(plain: Path, only_git: str, tmp_path: Path) -> None:
    wheel, _ = made("wheel", tmp_path, path=only_git)
    assert wheel.read_bytes() == plain.read_bytes()


def test_a_source_distribution_makes_the_same_wheel_though_npm_fails(
    plain: Path, only_git: str, tmp_path: Path
) -> None:
    archive, _ = made("sdist", tmp_path / "sdist", path=only_git)
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


def test_the_version_names_the_commit_that_it_was_built_from(only_git: str, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(ROOT), str(clone))
    head = git(clone, "rev-parse", "--short=12", "HEAD")
    clean, _ = made("wheel", tmp_path / "clean", clone, only_git)
    assert version_of(clean) == f"corral {__version__} ({head})"
    with (clone / "README.md").open("a") as file:
        file.write("More.\n")
    changed, _ = made("wheel", tmp_path / "changed", clone, only_git)
    assert version_of(changed) == f"corral {__version__} ({head}, modified)"
    shutil.rmtree(clone / ".git")
    git(tmp_path, "init", "--quiet")  # the repository around it is another project's
    unknown, _ = made("wheel", tmp_path / "unknown", clone, only_git)
    assert version_of(unknown) == f"corral {__version__}"


def test_a_checkout_names_its_commit_however_git_stores_it(tmp_path: Path) -> None:
    source = tmp_path / "one" / "src" / "corral"
    source.mkdir(parents=True)
    for name in ("__init__.py", "version.py"):
        shutil.copy(Path(version.__file__).with_name(name), source / name)
    root = tmp_path / "one"

    def said(folder: Path) -> str:
        code = f"import sys; sys.path.insert(0, {str(folder / 'src')!r});"
        code += "from corral.version import text; print(text())"
        done = subprocess.run(
            [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert said(root) == __version__
    git(root, "init", "--quiet", "--initial-branch=main")
    assert said(root) == __version__, "there is no commit yet"
    git(root, "add", ".")
    git(root, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "Begin")
    expected = f"{__version__} (checkout at {git(root, 'rev-parse', '--short=12', 'HEAD')})"
    assert said(root) == expected
    git(root, "pack-refs", "--all")
    assert said(root) == expected
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "two"))
    assert said(tmp_path / "two") == expected
    git(root, "checkout", "--quiet", "--detach")
    assert said(root) == expected


def test_the_metadata_are_complete_and_name_the_repository_that_releases_it(
    plain: Path, tmp_path: Path
) -> None:
    found = metadata(plain)
    assert found["License-Expression"] == "MIT"
    assert found["Requires-Python"] == ">=3.11"
    assert set(found.get_all("Provides-Extra", [])) == {"acp", "otel"}
    assert "Typing :: Typed" in found.get_all("Classifier", [])
    assert found.get_all("Project-URL") is None, "no address is known here"
    with zipfile.ZipFile(plain) as opened:
        names = set(opened.namelist())
    assert {"corral/py.typed", f"corral-{__version__}.data/scripts/corral"} <= names
    place = {"GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "herd/corral"}
    released, _ = made("wheel", tmp_path, more=place)
    assert "Repository, https://git.example/herd/corral" in (
        metadata(released).get_all("Project-URL") or []
    )


def test_installed_in_an_empty_environment_it_runs_the_demo_and_serves_the_dashboard(
    plain: Path, tmp_path: Path
) -> None:
    """The dependencies are lent by the environment of the tests: nothing is downloaded."""
    home = tmp_path / "environment"
    venv.create(home, symlinks=True)
    python = str(home / "bin" / "python")
    installing = ["--python", python, "install", "-qq", "--no-deps", "--no-index", str(plain)]
    subprocess.run([sys.executable, "-m", "pip", *installing], check=True)
    (packages,) = home.glob("lib/*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib"))
    with subprocess.Popen(
        [str(home / "bin" / "corral"), "demo", "--with-ui"],
        env={"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as demo:
        assert demo.stdout is not None
        said, shown = [], b""
        for line in demo.stdout:
            said.append(line)
            if link := re.search(r"the link works once: (http://\S+)$", line):
                shown = dashboard(link[1])
    assert demo.wait(PATIENCE_S) == 0, said
    assert "12 of 12 tasks landed" in "".join(said)
    assert shown == next(FOLDER.glob("assets/index-*.js")).read_bytes()


def dashboard(link: str) -> bytes:
    """Open the page as a browser does, and return the program that it loads."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link, timeout=PATIENCE_S) as page:
        (script,) = re.findall(r'src="(/assets/index-[^"]+\.js)"', page.read().decode())
    with opener.open(urljoin(link, script), timeout=PATIENCE_S) as program:
        found: bytes = program.read()
    return found

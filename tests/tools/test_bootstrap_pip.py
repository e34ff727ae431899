"""pip is fetched where pip's own settings say, and only the pinned file is accepted."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import bootstrap_pip

NAME = "pip-1.5-py3-none-any.whl"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment without pip; what a test puts there, it takes away."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    return place


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder like an index: simple/pip/ links to a wheel that holds one module."""
    page = tmp_path / "index" / "simple" / "pip"
    page.mkdir(parents=True)
    (page / "index.html").write_text(f'<a href="../../files/{NAME}#sha256=0">{NAME}</a>')
    (tmp_path / "index" / "files").mkdir()
    wheel = tmp_path / "index" / "files" / NAME
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("pip/__main__.py", "print('the pinned pip')")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "pin.txt").write_text(f"pip==1.5 \\\n    --hash=sha256:{digest}\n")
    return tmp_path / "index"


class Listener(SimpleHTTPRequestHandler):
    """Serves a folder, to those who log in if the folder holds a file `login`."""

    def do_GET(self) -> None:
        login = Path(self.directory, "login")
        if login.exists():
            wanted = f"Basic {b64encode(login.read_bytes()).decode()}"
            if self.headers["Authorization"] != wanted:
                return self.send_error(401)
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def served(folder: Path, login: str = "") -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Listener, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{login}127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()


def bootstrap(empty: Path, home: Path, **settings: str) -> str:
    """Run it; return what the pip that it left says, or else what it said itself."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    env |= {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, **settings}
    python = str(empty / "bin" / "python")
    pin = str(home / "pin.txt")
    done = subprocess.run(
        [python, bootstrap_pip.__file__, pin], env=env, capture_output=True, text=True, check=False
    )
    made = list(empty.glob("lib/python*/site-packages/pip"))
    assert len(made) == (done.returncode == 0)
    if not made:
        return done.stdout
    said = subprocess.run([python, "-m", "pip"], capture_output=True, text=True, check=True)
    shutil.rmtree(made[0])
    return said.stdout.strip()


def test_the_index_of_the_environment_is_used(empty: Path, index: Path) -> None:
    with served(index) as url:
        said = bootstrap(empty, index.parent, PIP_INDEX_URL=url)
    assert said == "the pinned pip"


def test_the_index_of_a_configuration_file_is_used(empty: Path, index: Path) -> None:
    config = index.parent / "pip.conf"
    with served(index) as url:
        config.write_text(
            f"[global]\nindex-url = http://127.0.0.1:1/\n[install]\nindex-url = {url}"
        )
        said = bootstrap(empty, index.parent, PIP_CONFIG_FILE=str(config))
    assert said == "the pinned pip"


def test_an_index_may_want_a_password_which_is_not_printed(empty: Path, index: Path) -> None:
    (index / "login").write_text("me:s ecret")
    with served(index, "me:s%20ecret@") as url:
        assert bootstrap(empty, index.parent, PIP_INDEX_URL=url) == "the pinned pip"
        (index / "simple" / "pip" / "index.html").write_text("")
        said = bootstrap(empty, index.parent, PIP_INDEX_URL=url)
    assert f"no {NAME}" in said
    assert "ecret" not in said


@pytest.mark.parametrize("where", ["extra-index-url", "find-links"])
def test_folders_are_looked_into(empty: Path, index: Path, where: str) -> None:
    config = index.parent / "pip.conf"
    folder = (index / "simple").as_uri() if where == "extra-index-url" else index / "files"
    config.write_text(f"[global]\nindex-url = http://127.0.0.1:1/\n{where} = {folder}")
    assert bootstrap(empty, index.parent, PIP_CONFIG_FILE=str(config)) == "the pinned pip"


def test_another_file_of_that_name_is_refused(empty: Path, index: Path) -> None:
    with zipfile.ZipFile(index / "files" / NAME, "a") as packed:
        packed.writestr("pip/more.py", "")
    with served(index) as url:
        said = bootstrap(empty, index.parent, PIP_INDEX_URL=url)
    assert f"{NAME} is not the pinned file" in said
    assert "python3-venv" in said


def test_what_is_pinned_here_can_be_read() -> None:
    version, hashes = bootstrap_pip.pinned(bootstrap_pip.PIN)
    assert version
    assert len(hashes) == 2

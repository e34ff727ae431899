"""The real `corral` command on a real repository, as the tests of this folder use it."""

import functools
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S

BIN = Path(sys.executable).parent
CORRAL = str(BIN / "corral")


class Answer:
    """What a command said and how it ended."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    @property
    def data(self) -> Any:
        envelope = json.loads(self.out)
        assert envelope["ok"] is True, self
        assert set(envelope) == {"ok", "data"}, self
        return envelope["data"]

    @property
    def error(self) -> dict[str, str]:
        envelope = json.loads(self.out)
        assert envelope["ok"] is False, self
        assert set(envelope) == {"ok", "error"}, self
        assert set(envelope["error"]) == {"code", "message", "hint"}, self
        found: dict[str, str] = envelope["error"]
        return found


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment that holds nothing of the machine that the tests run on."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "USER": "tester",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONWARNINGS": "error",
        **{
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Tester"), ("EMAIL", "tester@example.org"))
        },
        **more,
    }


class Board:
    """A repository, and the commands that are run in it."""

    def __init__(self, path: Path, cwd: Path | None = None, **more: str) -> None:
        self.path = path
        self.cwd = cwd or path
        self.env = environment(path.parent, **more)

    @property
    def folder(self) -> Path:
        return self.path / ".git" / "corral"

    def at(self, cwd: Path, **more: str) -> "Board":
        """Return the same repository, used from another folder or with more environment."""
        return Board(self.path, cwd, **more)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.cwd, env=self.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def corral(
        self,
        *words: str | bytes,
        code: int | None = 0,
        stdin: bytes = b"",
        before: tuple[str, ...] = (),
    ) -> Answer:
        """Run the command; `before` are words in front of it, like those of `prlimit`."""
        done = subprocess.run(
            [*before, CORRAL, *words],
            cwd=self.cwd,
            env=self.env,
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        answer = Answer(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in answer.err, answer
        assert code is None or answer.code == code, answer
        return answer

    def data(self, *words: str) -> Any:
        answer = self.here(*words, "--json", code=0)
        assert answer.err == "", answer
        return answer.data

    def refused(self, *words: str, code: int) -> dict[str, str]:
        answer = self.here(*words, "--json", code=code)
        assert answer.err == "", answer
        return answer.error

    def started(self, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([CORRAL, *words], cwd=self.cwd, env=self.env, **options)

    def add(self, title: str, *words: str) -> str:
        return str(self.here("task", "add", title, *words, "--json", code=0).data["id"])

    def claim(self, task: str, name: str, *words: str) -> str:
        words = ("task", "claim", task, "--as", name, *words, "--json")
        return str(self.here(*words, code=0).data["token"])

    def land(self, task: str) -> None:
        token = self.claim(task, "lander")
        self.here("task", "submit", task, "--token", token, code=0)
        self.here("task", "land", task, code=0)

    def status(self) -> str:
        """Return the exact bytes of `status --json`."""
        return self.here("status", "--json", code=0).out

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.here("log", "--json", code=0).out.splitlines()]

    def here(self, *words: str, code: int | None = None) -> Answer:
        """Run the command in this process: the same without the start of Python."""
        from corral.interfaces.cli.main import run

        out, err = _captured(), _captured()
        with _as_in(self.cwd, self.env), redirect_stdout(out), redirect_stderr(err):
            ended = run([*words])
            out.flush()
            err.flush()
        answer = Answer(ended, out.buffer.getvalue(), err.buffer.getvalue())
        assert "Traceback" not in answer.err, answer
        assert code is None or answer.code == code, answer
        return answer

    def fingerprint(self) -> dict[str, str]:
        """Return a digest of every file, but for locks and SQLite's shared memory."""
        return fingerprint(self.path)


_one_at_a_time = threading.RLock()


@contextmanager
def _as_in(cwd: Path, env: dict[str, str]) -> Iterator[None]:
    """Have the folder and the environment of another process."""
    with _one_at_a_time:
        before, known = os.getcwd(), dict(os.environ)
        try:
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(env)
            yield
        finally:
            os.environ.clear()
            os.environ.update(known)
            os.chdir(before)


class _Captured(io.TextIOWrapper):
    buffer: io.BytesIO


def _captured() -> _Captured:
    return _Captured(io.BytesIO(), "utf-8", write_through=True)


def fingerprint(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name.endswith((".lock", "-shm")) or path.name == "lock":
            continue
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Fail if anything in the folder is another after the block than before it."""
    before = fingerprint(folder)
    yield
    after = fingerprint(folder)
    differing = {
        name: (before.get(name), after.get(name))
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    assert not differing, differing


def assert_one_sentence(answer: Answer) -> None:
    """A refusal is one sentence on stderr, and at most one line that says what helps."""
    assert answer.out == "", answer
    first, *rest = answer.err.splitlines()
    assert first.startswith("corral: "), answer
    assert len(first) > len("corral: ") + 10, answer
    assert len(answer.err) < 1200, answer
    assert len(rest) <= 1, answer
    assert all(line.startswith("  try: ") for line in rest), answer
    assert answer.err.replace("\n", "").isprintable(), answer


def make_repository(path: Path) -> Board:
    """Make a repository with one commit on the branch main."""
    return _copied("plain", path)


def make_board(path: Path, convoy: str = "") -> Board:
    """Make a repository after `corral init`, with a convoy if one is named."""
    return _copied(f"board {convoy}", path)


def _copied(kind: str, path: Path) -> Board:
    """Copy the template of this kind: making one takes ten times as long."""
    ignored = shutil.ignore_patterns("*.sample", "*-shm")
    shutil.copytree(_template(kind), path, symlinks=True, dirs_exist_ok=True, ignore=ignored)
    board = Board(path)
    board.git("update-index", "--refresh")  # it names the inodes of the files
    return board


@functools.cache
def _templates() -> Path:
    """Return the folder of the templates of this process, which conftest.py deletes."""
    return Path(tempfile.mkdtemp(prefix="corral-templates-"))


def delete_templates() -> None:
    if _templates.cache_info().currsize:
        shutil.rmtree(_templates(), ignore_errors=True)


@functools.cache
def _template(kind: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="template-", dir=_templates()))
    name, _, convoy = kind.partition(" ")
    board = Board(folder / "project")
    board.path.mkdir()
    board.git("init", "--quiet", "--initial-branch=main")
    (board.path / "README.md").write_text("A project.\n")
    board.git("add", ".")
    board.git("commit", "--quiet", "-m", "Begin")
    if name == "board":
        board.here("init", code=0)
    if convoy:
        board.here("--as", "tester", "convoy", "create", convoy, code=0)
    return board.path

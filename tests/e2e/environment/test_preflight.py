"""`corral check` names each fault in one sentence with a remedy, and spends nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.corral_command import Board, make_repository


class Fault(NamedTuple):
    config: str = ""
    prepare: Callable[[Board], object] = lambda board: None
    name: str = "set-up"
    said: str = ""


def script(text: str, more: str = "") -> str:
    return f"[trees]\nsetup = [{json.dumps(['sh', '-c', text])}]\n{more}"


def checked(command: str) -> str:
    return f"[refinery]\nchecks = [{json.dumps(command)}]\n"


def write(name: str, content: str) -> Callable[[Board], object]:
    def change(board: Board) -> None:
        (board.path / name).write_text(content)
        board.git("add", "--all")
        board.git("commit", "-qm", name)

    return change


def add_submodule(board: Board) -> None:
    head = board.git("rev-parse", "HEAD")
    board.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    board.git("commit", "-qm", "submodule")


def fake_engine(board: Board) -> None:
    program = board.path.parent / "agent"
    program.write_text("#!/bin/sh\necho 2.0.0\n")
    program.chmod(0o755)


FAULTS = {
    "no runner": Fault(checked("no-such-runner -q"), name="checks", said="no-such-runner is not"),
    "no module": Fault(
        checked("python3 -m no_such_module"), name="checks", said="no_such_module is not installed"
    ),
    "wrong interpreter": Fault(
        '[trees]\nsetup = [["python9.9", "-m", "venv", ".venv"]]\n', said="python9.9"
    ),
    "no network in set-up": Fault(script("echo no route to host; exit 6"), said="no route to host"),
    "set-up hangs": Fault(script("sleep 1000", "setup_s = 1\n"), said="longer than 1 s"),
    "lock file out of date": Fault(
        script("cmp lock manifest || { echo lock is out of date; exit 1; }"),
        write("manifest", "x"),
        said="lock is out of date",
    ),
    "base red": Fault(checked("echo it is broken; exit 3"), name="base", said="it is broken"),
    "base flaky": Fault(
        checked("test -e ../../seen || { touch ../../seen; exit 1; }"), name="base", said="flaky"
    ),
    "check not executable": Fault(
        checked("./check.sh"), write("check.sh", "true"), name="checks", said="cannot be run"
    ),
    "submodule missing": Fault("", add_submodule, "submodules", "submodules"),
    "LFS missing": Fault(
        "", write(".gitattributes", "*.bin filter=lfs diff=lfs\n"), "lfs", "Git LFS"
    ),
    "wrong branch": Fault(
        "",
        lambda board: board.git("symbolic-ref", "HEAD", "refs/heads/nowhere"),
        "branch",
        "the branch 'nowhere' has no commits",
    ),
    "no commits": Fault("", lambda board: None, "branch", "no commit to start from"),
    "missing engine": Fault(
        '[engine.default]\ntype = "claude-code"\ncommand = ["/no/such/agent"]\n',
        name="engine",
        said="/no/such/agent",
    ),
    "missing key": Fault(
        '[engine.default]\ntype = "claude-code"\ncommand = ["AGENT"]\nenv = ["NO_SUCH_KEY"]\n',
        fake_engine,
        "engine",
        "NO_SUCH_KEY is not set",
    ),
    "no pull requests": Fault(
        '[refinery]\nfinish = "pull-request"\n', name="remote", said="gh is not installed"
    ),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_named_before_anything_is_spent(kind: str, tmp_path: Path) -> None:
    fault, path = FAULTS[kind], tmp_path / "project"
    if kind == "no commits":
        path.mkdir()
        board = Board(path)
        board.git("init", "-q")
    else:
        make_repository(path)
        board = Board(path)
    board.corral("init")
    config = fault.config.replace("AGENT", str(tmp_path / "agent"))
    (path / ".corral" / "config.toml").write_text(config)
    fault.prepare(board)
    if kind == "no pull requests":
        board.env["PATH"] = f"{Path(board.env['PATH'].split(':')[0])}:/bin"
    answer = board.corral("check", "--json", code=1)
    (bad,) = [one for one in answer.data["findings"] if one["state"] == "bad"]
    assert bad["name"] == fault.name, bad
    assert fault.said in bad["text"], bad
    assert bad["remedy"] or "trees.setup" in bad["text"], bad
    assert not list((board.folder / "sessions").glob("*"))


def test_a_sound_repository_has_no_problem_and_is_checked_once(tmp_path: Path) -> None:
    path = tmp_path / "project"
    make_repository(path)
    board = Board(path)
    board.corral("init")
    count = tmp_path / "count"
    (path / ".corral" / "config.toml").write_text(checked(f"echo x >> {count}"))
    for _ in range(2):
        answer = board.corral("check", code=0)
        assert "no problems found" in answer.out
        assert "is green: 1 check" in answer.out
    assert count.read_text() == "x\n"
    proof = [one for one in board.data("check")["findings"] if one["name"] == "proof"]
    assert len(proof) == 1

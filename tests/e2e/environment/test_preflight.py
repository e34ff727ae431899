"""`corral check` names each fault in one sentence with a remedy, and spends nothing.

The same faults keep `corral up` from starting anything.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corral.roles.locks import taken
from tests.e2e.corral_command import Board, make_repository
from tests.patience import PATIENCE_S, until
from tests.standin.server import StandIn, serving


class Fault(NamedTuple):
    config: str = ""
    prepare: Callable[[Board], object] = lambda board: None
    name: str = "set-up"
    said: str = ""
    remedy: str = ""


def script(text: str, more: str = "") -> str:
    return f"[trees]\nsetup = [{json.dumps(['sh', '-c', text])}]\n{more}"


def checked(command: str) -> str:
    return f"[refinery]\nchecks = [{json.dumps(command)}]\n"


def engine(more: str) -> str:
    return f'[engine.default]\ntype = "claude-code"\ncommand = ["AGENT"]\n{more}\n'


def write(name: str, content: str, *, mode: int = 0o644) -> Callable[[Board], object]:
    def change(board: Board) -> None:
        (board.path / name).write_text(content)
        (board.path / name).chmod(mode)
        board.git("add", "--all")
        board.git("commit", "-qm", name)

    return change


def add_submodule(board: Board) -> None:
    head = board.git("rev-parse", "HEAD")
    board.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    board.git("commit", "-qm", "submodule")


def without(program: str) -> Callable[[Board], object]:
    """Take a program from PATH, by a PATH of links to all others."""

    def change(board: Board) -> None:
        folder = board.path.parent / "bin"
        folder.mkdir()
        for place in board.env["PATH"].split(":"):
            for name in os.listdir(place) if os.path.isdir(place) else ():
                if name != program and not (folder / name).is_symlink():
                    (folder / name).symlink_to(f"{place}/{name}")
        board.env["PATH"] = str(folder)

    return change


def all_of(*steps: Callable[[Board], object]) -> Callable[[Board], object]:
    return lambda board: [step(board) for step in steps]


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
FLAKY = "n=$(cat ../../tries || echo 0); echo $((n + 1)) > ../../tries; test $((n % 2)) = 1"

# The fifteen environments that were found broken, under the names that they got then.
FAULTS = {
    "no runner": Fault(
        checked("no-such-runner -q"),
        name="checks",
        said="'no-such-runner -q' cannot run: no-such-runner is not installed",
        remedy="install it",
    ),
    "wrong interpreter": Fault(
        '[trees]\nsetup = [["python9.9", "-m", "venv", ".venv"]]\n',
        said="python9.9 is not installed, and trees.setup runs it",
        remedy="install python9.9",
    ),
    "missing key": Fault(
        engine('env = ["NO_SUCH_KEY"]'),
        name="key",
        said="default: the variable NO_SUCH_KEY is not set",
        remedy="export NO_SUCH_KEY=…",
    ),
    "refused key": Fault(
        engine('env = ["BAD_KEY"]\nbase_url = "STANDIN"'),
        name="key",
        said="does not accept the key in BAD_KEY (HTTP 401)",
        remedy="export a valid BAD_KEY",
    ),
    "no disk": Fault(
        "[trees]\nfree_mb = 1000000000\n",
        name="disk",
        said="less than the 1,000,000.0 GB of trees.free_mb",
        remedy="make room",
    ),
    "no network in set-up": Fault(
        script("echo 'curl: (7) Failed to connect to 192.0.2.1'; exit 7"),
        said="a server could not be reached (curl: (7) Failed to connect to 192.0.2.1)",
        remedy="check the network",
    ),
    "base red": Fault(
        checked("echo it is broken; exit 3"),
        name="base",
        said="is red before any change: 'echo it is broken; exit 3' fails (exit code 3);"
        " its last words: it is broken",
        remedy="fix main, or start with --on-red mend",
    ),
    "base flaky": Fault(
        checked(FLAKY), name="base", said="is flaky: on main it failed", remedy="make it reliable"
    ),
    "check script not executable": Fault(
        checked("./check.sh"),
        write("check.sh", "true"),
        name="checks",
        said="./check.sh is not executable, and a check runs it",
        remedy="git update-index --chmod=+x ./check.sh && git commit",
    ),
    "set-up hangs": Fault(
        '[trees]\nsetup = [["sleep", "1000"]]\nsetup_s = 1\n',
        said="'sleep 1000' did not end within 1 s when it set up main",
        remedy="fix that command",
    ),
    "lock file out of date": Fault(
        script("cmp lock manifest || { echo lock is out of date; exit 1; }"),
        write("manifest", "x"),
        said="a lock file is out of date (lock is out of date)",
        remedy="update it, then commit it",
    ),
    "submodule missing": Fault(
        "",
        add_submodule,
        "submodules",
        "the submodules of main are empty in every tree: inner",
        'setup = [["git", "submodule", "update", "--init", "--recursive"]]',
    ),
    "LFS missing": Fault(
        "",
        all_of(
            write(".gitattributes", "*.bin filter=lfs diff=lfs\n"),
            write("big.bin", LFS),
            without("git-lfs"),
        ),
        "lfs",
        "main keeps files in Git LFS, and git-lfs is not installed: big.bin",
        "install git-lfs",
    ),
    "wrong branch": Fault(
        "",
        lambda board: board.git("symbolic-ref", "HEAD", "refs/heads/nowhere"),
        "branch",
        "the branch 'nowhere', which is checked out, has no commits",
        "git switch main",
    ),
    "no commits": Fault(
        "",
        lambda board: board.git("update-ref", "-d", "HEAD"),
        "branch",
        "the repository has no commits to start from",
        "git add . && git commit",
    ),
}

QUICK = ("no runner", "missing key", "base red")  # the others are in `make test-long`

MORE = {
    "no module": Fault(
        checked("python3 -m no_such_module"),
        name="checks",
        said="no_such_module is not installed",
        remedy="install it",
    ),
    "no package": Fault(
        checked("echo \"Error: Cannot find module 'lib'\"; exit 1"),
        name="base",
        said="fails (exit code 1), because lib is missing",
        remedy="have trees.setup install it in each tree",
    ),
    "line ends": Fault(
        checked("./check.sh"),
        write("check.sh", "#!/bin/sh\r\ntrue\r\n", mode=0o755),
        name="checks",
        said="./check.sh has the line ends of Windows",
        remedy="sed -i 's/\\r$//' ./check.sh && git commit",
    ),
    "another version": Fault(
        script("echo \"requires a different Python: 3.9 not in '>=3.12'\"; exit 1"),
        said="the project requires another version of a tool",
        remedy="install the version",
    ),
    "no interpreter for a script": Fault(
        checked("./check"),
        write("check", "#!/no/such/python2.7\n", mode=0o755),
        name="checks",
        said="./check needs /no/such/python2.7, which is not installed",
        remedy="install it, or change the first line of ./check",
    ),
    "script not committed": Fault(
        checked("./check.sh"),
        lambda board: (board.path / "check.sh").write_text("true"),
        name="checks",
        said="./check.sh is not in main, and a check runs it",
        remedy="git add ./check.sh && git commit",
    ),
    "set-up fails": Fault(
        script("echo what a pity; exit 9"), said="its last words: what a pity", remedy="fix that"
    ),
    "submodule and red": Fault(
        checked("test -e inner/file"),
        add_submodule,
        "submodules",
        "empty in every tree: inner",
        "in",
    ),
    "submodule out of reach": Fault(
        '[trees]\nsetup = [["git", "submodule", "update", "--init"]]\n',
        add_submodule,
        said="'git submodule update --init' failed when it set up main",
        remedy="fix that command in trees.setup",
    ),
    "missing engine": Fault(
        '[engine.default]\ntype = "claude-code"\ncommand = ["/no/such/agent"]\n',
        name="engine",
        said="the program '/no/such/agent' for claude-code is not installed",
        remedy="npm install",
    ),
    "unreachable provider": Fault(
        engine('env = ["BAD_KEY"]\nbase_url = "http://127.0.0.1:1"'),
        name="engine",
        said="default: http://127.0.0.1:1 cannot be reached: Connection refused",
        remedy="check the network",
    ),
    "branch of ours": Fault(
        "",
        lambda board: board.git("switch", "-qc", "convoy/af/trunk"),
        "branch",
        "'convoy/af/trunk' is a branch of Corral's own",
        "git switch main",
    ),
}
# They are needed only when work is finished or paid for, so they stop nothing.
LATER = {
    "no pull requests": Fault(
        '[refinery]\nfinish = "pull-request"\n',
        all_of(without("gh"), lambda board: board.git("remote", "add", "origin", ".")),
        "remote",
        "refinery.finish is pull-request, but gh is not installed",
        "install gh",
    ),
    "no remote": Fault(
        '[refinery]\nfinish = "pull-request"\n',
        lambda board: put_program(board, "gh"),
        "remote",
        "there is no remote 'origin' to push to",
        "git remote add origin URL",
    ),
    "remote not reachable": Fault(
        '[refinery]\nfinish = "pull-request"\n',
        all_of(
            lambda board: put_program(board, "gh"),
            lambda board: board.git("remote", "add", "origin", "/no/such/repository.git"),
        ),
        "remote",
        "the remote 'origin' cannot be reached: '/no/such/repository.git' does not appear",
        "git ls-remote origin",
    ),
    "budget that cannot hold": Fault(
        engine('[engine.other]\ntype = "codex"\ncommand = ["AGENT"]\n[budget]\nday_usd = 5'),
        name="budget",
        said="other: the price of its model is not known, so no budget can stop it",
        remedy="in .corral/config.toml, under [budget.prices]",
    ),
}


def put_program(board: Board, name: str) -> None:
    folder = board.path.parent / "programs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\necho 2.0.0\n")
    (folder / name).chmod(0o755)
    board.env["PATH"] = f"{folder}:{board.env['PATH']}"


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as found:
        found.scenario("refused").limits.key = "the right one"
        yield found


@pytest.fixture
def board(tmp_path: Path) -> Board:
    found = make_repository(tmp_path / "project")
    found.env["BAD_KEY"] = "the wrong one"
    found.corral("init")
    return found


def broken(board: Board, fault: Fault, standin: StandIn) -> None:
    """Break the environment; there is a convoy with a task for the engine, if there is one."""
    put_program(board, "agent")
    agent = str(board.path.parent / "programs" / "agent")
    config = fault.config.replace("AGENT", agent).replace("STANDIN", standin.url("refused"))
    (board.path / ".corral" / "config.toml").write_text(config)
    if "engine" in config:
        board.here("convoy", "create", "Auth fix", code=0)
        board.add("work", "--accept", "true")
    fault.prepare(board)


def bad(board: Board) -> list[dict[str, Any]]:
    answer = board.corral("check", "--json", code=1)
    assert answer.err == "", answer
    return [one for one in answer.data["findings"] if one["state"] == "bad"]


@pytest.mark.parametrize("kind", FAULTS | MORE | LATER)
def test_each_fault_is_named_before_anything_is_spent(
    kind: str, board: Board, standin: StandIn
) -> None:
    fault = (FAULTS | MORE | LATER)[kind]
    broken(board, fault, standin)
    (found,) = bad(board)
    assert found["name"] == fault.name, found
    assert fault.said in found["text"], found
    assert found["remedy"].startswith(fault.remedy) or fault.remedy in found["remedy"], found
    assert "\n" not in found["text"] + found["remedy"]
    assert not list((board.folder / "sessions").glob("*"))
    assert not any(one.protocol for one in standin.scenario("refused").seen().requests)


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.long)
        for kind in FAULTS | MORE
    ],
)
def test_up_starts_nothing_and_uses_no_attempt(kind: str, board: Board, standin: StandIn) -> None:
    fault = (FAULTS | MORE)[kind]
    broken(board, fault, standin)
    refusal = board.corral("up", "-d", "--json", code=3).error
    assert refusal["code"] == "unfit", refusal
    assert fault.said in refusal["message"], refusal
    assert refusal["message"].endswith("; nothing was started")
    assert not taken(str(board.folder), "supervisor")
    assert not [task for task in board.data("task", "list") if task["attempts"]]
    assert not any(one.protocol for one in standin.scenario("refused").seen().requests)


def test_a_sound_repository_has_no_problem_and_is_checked_once(
    board: Board, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    (board.path / ".corral" / "config.toml").write_text(checked(f"echo x >> {count}"))
    for _ in range(2):
        answer = board.corral("check", code=0)
        assert "no problems found" in answer.out
        assert "1 check passed on main" in answer.out
    assert count.read_text() == "x\n"
    (board.path / "new").write_text("x")
    board.git("add", "new")
    board.git("commit", "-qm", "new")
    board.corral("check", code=0)
    assert count.read_text() == "x\nx\n"


def test_a_submodule_that_the_set_up_fills_or_no_check_needs_is_no_fault(board: Board) -> None:
    add_submodule(board)
    config = board.path / ".corral" / "config.toml"
    config.write_text(script("echo x > inner/file") + checked("test -e inner/file"))
    assert board.corral("check", code=0).out.count("submodules") == 0
    config.write_text(checked("true"))
    for _ in range(2):
        found = board.data("check")["findings"]
        (note,) = [one for one in found if one["name"] == "submodules"]
        assert note["state"] == "note"


def test_a_long_step_is_announced_and_a_remedy_follows_its_fault(board: Board) -> None:
    (board.path / ".corral" / "config.toml").write_text(checked("sleep 2; exit 1"))
    answer = board.corral("check", code=1)
    assert "running 'sleep 2; exit 1' on main …" in answer.err
    lines = answer.out.splitlines()
    (fault,) = [number for number, line in enumerate(lines) if line.startswith("bad   base")]
    assert lines[fault + 1].strip().startswith("try: fix main")
    assert lines[-1] == "1 problem found"


def test_a_check_that_was_killed_does_not_hold_up_the_next_one(board: Board) -> None:
    config = board.path / ".corral" / "config.toml"
    config.write_text(checked("touch $TMPDIR/../../begun; sleep 1000"))
    begun = board.path.parent / "begun"
    process = board.started("check", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(begun.exists, lambda: "the check has not begun")
    process.kill()
    process.wait()
    config.write_text(checked("true"))
    board.corral("check", code=0)


def test_checks_at_the_same_time_share_one_result(board: Board, tmp_path: Path) -> None:
    count = tmp_path / "count"
    (board.path / ".corral" / "config.toml").write_text(checked(f"echo x >> {count}"))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [board.started("check", **quiet) for _ in range(3)]
    assert [process.wait(PATIENCE_S) for process in running] == [0, 0, 0]
    assert count.read_text() == "x\n"


def test_a_refinery_that_starts_leaves_a_check_alone(board: Board) -> None:
    folder = board.path.parent
    command = f"touch {folder}/begun; until test -e {folder}/go; do sleep 0.1; done"
    (board.path / ".corral" / "config.toml").write_text(checked(command))
    process = board.started("check", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until((folder / "begun").exists, lambda: "the check has not begun")
    board.corral("refinery", "run", "--once")
    (folder / "go").write_text("")
    assert process.wait(PATIENCE_S) == 0


def test_an_unknown_identity_is_named(board: Board) -> None:
    for name in [one for one in board.env if one.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        del board.env[name]
    board.env["EMAIL"] = ""
    board.git("config", "user.useConfigOnly", "true")
    (note,) = [one for one in board.data("check")["findings"] if one["name"] == "identity"]
    assert (note["state"], note["remedy"][:17]) == ("note", "git config --glob")


def test_two_profiles_with_the_same_fault_are_one_finding(board: Board) -> None:
    put_program(board, "agent")
    profiles = (
        f'[engine.{name}]\ntype = "claude-code"\ncommand = ["agent"]\nenv = ["NO_SUCH_KEY"]\n'
        for name in ("default", "fast")
    )
    (board.path / ".corral" / "config.toml").write_text("".join(profiles))
    (found,) = bad(board)
    assert found["text"] == "default, fast: the variable NO_SUCH_KEY is not set"


def test_the_base_of_a_convoy_that_waits_is_checked_too(board: Board) -> None:
    board.git("branch", "red")
    board.here("convoy", "create", "Auth fix", "--base", "red", "--check", "exit 7", code=0)
    board.add("work", "--accept", "true")
    (found,) = bad(board)
    assert "red at" in found["text"], found
    assert "exit code 7" in found["text"], found


def test_init_names_what_can_be_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "project"
    path.mkdir()
    fresh = Board(path)
    fresh.git("init", "-q", "-b", "main")
    (path / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = x\n')
    answer = fresh.corral("init", code=0)
    assert "branch: the repository has no commits to start from\n  try: git add" in answer.out
    assert "submodules: the submodules of main are empty in every tree: inner" in answer.out
    assert "run corral check" in answer.out

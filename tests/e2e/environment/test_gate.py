"""Nothing starts on a red base or a broken machine until a person has decided."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corral.roles.locks import taken
from tests.e2e.corral_command import Board, make_board
from tests.e2e.whole.ci import CONFIG, make_ci
from tests.patience import PATIENCE_S, until


def checks(*commands: str) -> str:
    return f"[refinery]\nchecks = {json.dumps(commands)}\n"


def configure(board: Board, text: str) -> None:
    (board.path / ".corral" / "config.toml").write_text(text)


def is_up(board: Board) -> bool:
    return taken(str(board.folder), "supervisor")


@contextmanager
def up(board: Board, *words: str) -> Iterator[None]:
    board.data("up", "-d", *words)
    try:
        assert is_up(board)
        yield
    finally:
        board.corral("down")


@contextmanager
def saying(board: Board, folder: Path, *words: str) -> Iterator[Path]:
    """Run a command that keeps running; yield the file with what it says."""
    said = folder / "said"
    with said.open("wb") as file:
        process = board.started(*words, stdout=file, stderr=file)
    try:
        yield said
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def test_up_refuses_a_red_base_until_a_person_ignores_it(tmp_path: Path) -> None:
    board = make_board(tmp_path / "project")
    configure(board, checks("exit 3"))
    refusal = board.corral("up", "-d", code=3)
    assert "main at" in refusal.err
    assert "is red before any change" in refusal.err
    assert "--on-red mend" in refusal.err
    assert not is_up(board)
    with up(board, "--on-red", "ignore"):
        pass


def test_up_checks_a_base_once(tmp_path: Path) -> None:
    board, count = make_board(tmp_path / "project"), tmp_path / "count"
    configure(board, checks(f"echo x >> {count}"))
    for _ in range(3):
        with up(board):
            pass
    assert count.read_text() == "x\n"
    (board.folder / "derived" / "preflight").unlink()
    with up(board):
        pass
    assert count.read_text() == "x\nx\n"


def test_up_looks_again_after_the_branch_or_the_settings_changed(tmp_path: Path) -> None:
    board = make_board(tmp_path / "project")
    configure(board, checks("test ! -e broken"))
    with up(board):
        pass
    (board.path / "broken").write_text("")
    board.git("add", "broken")
    board.git("commit", "-qm", "break it")
    assert "is red before any change" in board.corral("up", "-d", code=3).err
    configure(board, checks("true"))
    with up(board):
        pass
    configure(board, "[trees]\nfree_mb = 1000000000\n")
    assert "trees.free_mb" in board.corral("up", "-d", code=3).err


def test_up_in_the_foreground_goes_on_when_the_base_is_fixed(tmp_path: Path) -> None:
    board = make_board(tmp_path / "project")
    configure(board, checks("test -e mended"))
    with saying(board, tmp_path, "up") as said:
        until(lambda: "continues once that is fixed" in said.read_text(), said.read_text)
        assert not is_up(board)
        (board.path / "mended").write_text("")
        board.git("add", "mended")
        board.git("commit", "-qm", "mend it")
        until(lambda: is_up(board), said.read_text)


def test_up_after_work_has_begun_is_not_held_up(tmp_path: Path) -> None:
    ci = make_ci(tmp_path, CONFIG + checks("true"))
    plan = ci.plan(ci.script("first", ci.work()), ci.script("second", "exit 1"))
    ci.run(plan)
    assert ci.count("task.landed") == 1
    configure(ci, CONFIG + checks("exit 1"))
    ci.corral("task", "retry", "N-2")
    assert "is red" in ci.corral("check", code=1).out
    with up(ci):
        ci.until(lambda: ci.count("session.started") > 2)


def test_an_agent_mends_the_base_of_a_waiting_convoy_first(tmp_path: Path) -> None:
    ci = make_ci(tmp_path)
    mend = json.dumps(["sh", "-c", "touch mended; git add -A; git commit -qm mended"])
    engine = f'[engine.default]\ntype = "shell"\ncommand = {mend}\n'
    configure(ci, CONFIG + checks("test -e mended") + engine)
    plan = Path(ci.plan(ci.script("first", ci.work())))
    plan.write_text(plan.read_text().replace('checks = ["true"]\n', ""))
    ci.corral("plan", "apply", str(plan))
    assert "is red before any change" in ci.corral("up", "-d", code=3).err
    with up(ci, "--on-red", "mend"):
        first, second = ci.data("task", "list")
        assert (first["needs"], second["title"]) == ([second["id"]], "Make the checks pass")
        ci.until(lambda: ci.count("task.landed") == 2)


def test_a_run_without_the_key_of_its_engine_ends_at_once(tmp_path: Path) -> None:
    ci = make_ci(tmp_path)
    profile = '[engine.default]\ntype = "claude-code"\ncommand = ["true"]\nenv = ["NO_SUCH_KEY"]\n'
    configure(ci, CONFIG + profile)
    answer = ci.run(ci.plan({"key": "first"}))
    assert answer.code == 5, answer
    assert "key: default: the variable NO_SUCH_KEY is not set" in answer.err
    assert "continues" not in answer.err
    assert ci.count("session.started") == 0


def test_a_profile_that_no_task_uses_holds_nothing_up(tmp_path: Path) -> None:
    ci = make_ci(tmp_path)
    configure(ci, CONFIG + '[engine.other]\ntype = "codex"\ncommand = ["/no/such/codex"]\n')
    answer = ci.run(ci.plan(ci.script("first", ci.work())))
    assert answer.code == 0, answer


def test_no_plan_is_made_for_a_goal_on_a_red_base(tmp_path: Path) -> None:
    ci, asked = make_ci(tmp_path), tmp_path / "asked"
    program = json.dumps(["sh", "-c", f"touch {asked}"])
    engine = f'[engine.default]\ntype = "command"\noutput = "facts"\ncommand = {program}\n'
    configure(ci, CONFIG + checks("exit 3") + engine)
    with saying(ci, tmp_path, "run", "Make all tests pass", "--headless") as said:
        until(lambda: "is red before any change" in said.read_text(), said.read_text)
    assert not asked.exists()
    assert ci.count("mayor.started") == 0

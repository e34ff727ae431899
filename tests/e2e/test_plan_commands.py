"""`corral plan` as people and scripts use it."""

import json
import random
from pathlib import Path

import pytest

from corral.core.plan.schema import MOST_BYTES
from tests.e2e.corral_command import CORRAL, Board, assert_one_sentence
from tests.e2e.terminal import Terminal

EXAMPLE = Path(__file__).parents[2] / "examples" / "jwt.toml"
PROFILES = "".join(
    f'[engine.{name}]\ntype = "shell"\ncommand = ["true"]\n'
    for name in ("default", "tests", "docs")
)
PLAN = """# Auth fix

- [ ] Move tokens
  path: src/auth/**
  accept: true
- [ ] Refuse expired tokens
  path: src/auth/tokens.py
  unproved: yes
"""


@pytest.fixture
def with_profiles(empty_board: Board) -> Board:
    (empty_board.path / ".corral" / "config.toml").write_text(PROFILES)
    return empty_board


def test_the_example_is_six_tasks_three_in_order_then_three_at_once(with_profiles: Board) -> None:
    data = with_profiles.data("plan", "check", str(EXAMPLE))
    assert data["valid"]
    assert data["problems"] == []
    assert data["waves"] == [
        ["tokens"],
        ["middleware"],
        ["login"],
        ["token-tests", "login-tests", "docs"],
    ]
    assert {task.get("engine") for task in data["plan"]["task"]} == {"default", "tests", "docs"}
    assert data["critical"] == {
        "keys": ["tokens", "middleware", "login", "login-tests"],
        "length": 65,
        "unit": "minutes",
    }
    done = with_profiles.data("plan", "apply", str(EXAMPLE))
    assert [named["task"] for named in done["added"]] == [f"RATJ-{n}" for n in range(1, 7)]
    for first in range(1, 4):
        ready = with_profiles.data("task", "list", "--ready")
        assert [task["id"] for task in ready] == [f"RATJ-{first}"]
        with_profiles.land(f"RATJ-{first}")
    ready = with_profiles.data("task", "list", "--ready")
    assert [task["id"] for task in ready] == ["RATJ-4", "RATJ-5", "RATJ-6"]


def test_what_is_wrong_is_listed_and_the_exit_code_says_so(with_profiles: Board) -> None:
    text = PLAN.replace("accept: true", "needs: nothing").encode()
    answer = with_profiles.corral("plan", "check", "-", stdin=text, code=2)
    assert answer.out.splitlines() == [
        "error: line 3: task.move-tokens.accept: nothing proves that it is done: give commands, or"
        ' set "unproved" if there are none',
        'error: line 5: task.move-tokens.needs: there is no task "nothing"',
        "-: 2 problems",
    ]
    answer = with_profiles.corral("plan", "check", "-", "--json", stdin=text, code=2)
    assert answer.data["valid"] is False
    assert [problem["line"] for problem in answer.data["problems"]] == [3, 5]
    refused = with_profiles.corral("plan", "apply", "-", stdin=text, code=2)
    assert_one_sentence(refused)
    assert with_profiles.data("convoy", "list") == []
    assert with_profiles.corral("plan", "show", "-", "--json", stdin=text, code=2).error[
        "code"
    ] == ("bad_plan")


def test_a_plan_is_applied_in_one_go_and_again_without_an_event(empty_board: Board) -> None:
    file = empty_board.path / "plan.md"
    file.write_text(PLAN)
    first = empty_board.corral("plan", "apply", "plan.md")
    assert first.out.splitlines() == [
        "auth-fix was created",
        "2 tasks added: AF-1 (move-tokens), AF-2 (refuse-expired-tokens)",
    ]
    assert empty_board.data("convoy", "show", "auth-fix")["convoy"]["base"] == "main"
    events = empty_board.events()
    again = empty_board.corral("plan", "apply", "plan.md")
    assert again.out == "auth-fix already matches the plan; nothing was changed\n"
    assert empty_board.events() == events
    shown = empty_board.corral("task", "show", "AF-2").out
    reason = "src/auth/** and src/auth/tokens.py overlap"
    assert f"  AF-1 was inferred: {reason}\n" in shown
    assert f"; inferred: {reason}" in empty_board.corral("why", "AF-2").out
    empty_board.corral("task", "edit", "AF-2", "--drop-need", "AF-1")
    assert empty_board.data("task", "show", "AF-2")["reasons"] == {}
    file.write_text(PLAN.replace("Move tokens", "[x] Move").replace("[ ] [x]", "[x]"))
    last = empty_board.corral("plan", "apply", "plan.md").out
    assert last.splitlines()[-1].startswith("unchanged: AF-1: move-tokens is no longer in the plan")
    empty_board.corral("log", "verify")


def test_a_plan_that_cannot_be_written_leaves_nothing(empty_board: Board) -> None:
    """The events of a plan are one transaction: a full disk takes all of them or none."""
    many = PLAN + "".join(f"- [ ] Task {n}\n  unproved: yes\n" for n in range(300))
    empty_board.corral("convoy", "create", "Other")
    before = empty_board.events()
    limit = (empty_board.folder / "log.db-wal").stat().st_size + 40_000
    answer = empty_board.corral(
        *("plan", "apply", "-"), stdin=many.encode(), code=1, before=("prlimit", f"--fsize={limit}")
    )
    assert answer.err
    assert empty_board.events() == before
    empty_board.corral("plan", "apply", "-", stdin=many.encode())
    assert len(empty_board.data("task", "list")) == 302


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x" * 10_000_000, "the limit is 1 MiB"),
        (b"# T\n- [ ] \xff\n", "line 2: not UTF-8 text"),
        (b"", "the plan is empty"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(
    empty_board: Board, content: bytes, said: str
) -> None:
    file = empty_board.path / "plan.md"
    file.write_bytes(content)
    answer = empty_board.corral("plan", "apply", "plan.md", code=2)
    assert_one_sentence(answer)
    assert said in answer.err
    assert len(content) < MOST_BYTES or f"{MOST_BYTES + 1:,}" in answer.err


def test_a_missing_file_is_named(empty_board: Board) -> None:
    for name in ("none.toml", "."):
        answer = empty_board.corral("plan", "check", name, code=2)
        assert_one_sentence(answer)
        assert repr(name) in answer.err


def test_a_plan_can_be_checked_outside_of_a_repository(tmp_path: Path) -> None:
    outside = Board(tmp_path)
    (tmp_path / "p.md").write_text(PLAN)
    assert outside.corral("plan", "check", "p.md").out.startswith("Auth fix: 2 tasks in 2 waves")


def graph_of(tasks: int, chance: float) -> str:
    dice = random.Random(7)
    lines = ["# A large plan", ""]
    for number in range(tasks):
        lines += [f"- [ ] Title of the task with the number {number}", "  unproved: yes"]
        lines += [f"  key: task-{number}"]
        near = range(max(0, number - 9), number)
        needs = [f"task-{need}" for need in near if dice.random() < chance]
        lines += [f"  needs: {', '.join(needs)}"] if needs else []
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("tasks", "chance"), [(6, 0.3), (200, 0.15)])
def test_the_graph_fits_a_narrow_terminal_and_is_plain_in_a_pipe(
    empty_board: Board, tasks: int, chance: float
) -> None:
    (empty_board.path / "p.md").write_text(graph_of(tasks, chance))
    words = ["plan", "show", "p.md", "--graph"]
    plain = empty_board.corral(*words).out
    assert "\x1b" not in plain
    assert all(f"  Title of the task with the number {n}\n" in plain for n in range(tasks))
    screen = Terminal([CORRAL, *words], empty_board.path, empty_board.env, columns=60)
    with screen:
        seen = screen.read_all().replace("\x1b[1m", "").replace("\x1b[0m", "")
    rows = seen.splitlines()
    assert all(len(row) <= 60 for row in rows)
    assert len(rows) >= tasks
    assert sum("task-" in row for row in rows) == tasks


def test_standard_input_can_be_of_any_format(empty_board: Board) -> None:
    text = json.dumps({"convoy": {"title": "T"}, "task": [{"key": "a", "title": "A"}]})
    answer = empty_board.corral(
        *("plan", "check", "-", "--format", "json", "--json"), stdin=text.encode(), code=2
    )
    assert [problem["where"] for problem in answer.data["problems"]] == ["task.a.accept"]

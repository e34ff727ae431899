"""The life of tasks on the board, through the command line."""

from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, unchanged


def column(board: Board, task: str) -> str:
    return str(board.here("task", "show", task, "--json", code=0).data["column"])


def test_a_task_goes_from_the_board_to_done(board: Board) -> None:
    task = board.add("Fix login")
    assert (task, column(board, task)) == ("AF-1", "todo")
    token = board.claim(task, "ana")
    assert column(board, task) == "doing"
    board.corral("task", "submit", task, "--token", token, "--commit", "abcdef1")
    assert column(board, task) == "review"
    assert board.data("status")["queue"] == ["AF-1"]
    board.corral("task", "land", task, "--commit", "abcdef2")
    assert column(board, task) == "done"
    assert [event["type"] for event in board.events()] == [
        "log.created",
        "convoy.created",
        "task.added",
        "task.claimed",
        "task.submitted",
        "task.landed",
    ]
    for verb in ("claim", "submit", "land", "block", "retry", "cancel", "unblock"):
        assert board.refused("task", verb, task, code=3)["code"] == "wrong_state"


def test_block_and_unblock_fail_retry_and_cancel_move_a_task_as_they_say(board: Board) -> None:
    task = board.add("Fix login")
    token = board.claim(task, "ana")
    board.corral("task", "block", task, "--token", token, "--reason", "no database")
    assert column(board, task) == "blocked"
    assert "no database" in board.corral("why", task).out
    assert board.refused("task", "claim", "--next", code=4)["code"] == "nothing_ready"
    board.corral("task", "unblock", task)
    assert column(board, task) == "todo"
    board.corral("task", "fail", task, "--token", board.claim(task, "ben"), "--reason", "no idea")
    assert column(board, task) == "failed"
    board.corral("task", "retry", task)
    assert column(board, task) == "todo"
    shown = board.data("task", "claim", task, "--as", "cy")
    assert shown["attempts"] == 3
    board.corral("task", "cancel", task, "--token", shown["token"], "--reason", "not wanted")
    assert column(board, task) == "cancelled"
    board.corral("task", "retry", task)
    board.corral("task", "block", task, "--reason", "anybody may say so")
    assert column(board, task) == "blocked"


def test_a_held_task_can_be_taken_away_with_force(board: Board) -> None:
    task = board.add("Fix login")
    token = board.claim(task, "ana")
    assert board.refused("task", "block", task, code=3)["code"] == "token_needed"
    board.corral("task", "block", task, "--force", "--as", "boss")
    assert board.refused("task", "submit", task, "--token", token, code=3)["code"] == "stale_token"


def test_next_is_the_most_urgent_then_the_oldest(board: Board) -> None:
    board.add("plain one")
    board.add("plain two")
    board.add("urgent", "--priority", "5")
    board.add("most urgent", "--priority", "9")
    board.add("urgent too", "--priority", "5")
    order = [board.data("task", "claim", "--next", "--as", "ana")["id"] for _ in range(5)]
    assert order == ["AF-4", "AF-3", "AF-5", "AF-1", "AF-2"]
    assert board.refused("task", "claim", "--next", "--as", "ana", code=4)["code"] == (
        "nothing_ready"
    )


def test_nothing_is_offered_before_its_needs_have_landed(board: Board) -> None:
    board.add("first")
    board.add("second", "--needs", "AF-1", "--priority", "9")
    board.add("third", "--needs", "AF-1,AF-2", "--priority", "9")
    assert [column(board, task) for task in ("AF-2", "AF-3")] == ["backlog", "backlog"]
    assert [task["id"] for task in board.data("task", "list", "--ready")] == ["AF-1"]
    refusal = board.refused("task", "claim", "AF-2", code=3)
    assert refusal["code"] == "needs_not_landed"
    assert "AF-2 needs AF-1" in refusal["message"]

    taken = board.data("task", "claim", "--next")
    assert taken["id"] == "AF-1"
    assert board.refused("task", "claim", "--next", code=4)["code"] == "nothing_ready"
    board.corral("task", "submit", "AF-1", "--token", taken["token"])
    assert board.refused("task", "claim", "AF-2", code=3)["code"] == "needs_not_landed"
    board.corral("task", "land", "AF-1")
    assert column(board, "AF-2") == "todo"
    assert board.refused("task", "claim", "AF-3", code=3)["code"] == "needs_not_landed"
    board.land("AF-2")
    assert board.data("task", "claim", "--next")["id"] == "AF-3"


def test_why_names_what_a_task_waits_for_and_what_waits_for_it(board: Board) -> None:
    board.add("first")
    board.add("second", "--needs", "AF-1")
    waiting = board.data("why", "AF-2")
    assert waiting["obstacles"][0]["code"] == "needs_not_landed"
    assert "AF-2 needs AF-1, which has not landed (state: todo)" in board.corral("why", "AF-2").out
    assert board.data("why", "AF-1")["waiting_for_it"] == ["AF-2"]
    assert "AF-2 cannot start before it has landed" in board.corral("why", "AF-1").out


def test_a_cycle_is_refused_and_written_out(board: Board) -> None:
    board.add("first")
    board.add("second", "--needs", "AF-1")
    board.add("third", "--needs", "AF-2")
    with unchanged(board.path):
        refusal = board.refused("task", "edit", "AF-1", "--needs", "AF-3", code=3)
    assert refusal["code"] == "cycle"
    assert "AF-1 → AF-3 → AF-2 → AF-1" in refusal["message"]
    itself = board.refused("task", "add", "fourth", "--needs", "AF-4", code=3)
    assert "AF-4 → AF-4" in itself["message"]
    assert board.refused("task", "edit", "AF-1", "--needs", "AF-1", code=3)["code"] == "cycle"


def test_a_need_that_was_cancelled_is_said_by_why(board: Board) -> None:
    board.add("first")
    board.add("second", "--needs", "AF-1")
    board.add("third", "--needs", "AF-2")
    board.corral("task", "cancel", "AF-1", "--reason", "not wanted")
    direct = board.corral("why", "AF-2").out
    assert "AF-1 was cancelled" in direct
    assert "corral task retry AF-1, or corral task edit AF-2 --drop-need AF-1" in direct
    assert "AF-3 needs AF-2, which needs AF-1, and AF-1 was cancelled" in (
        board.corral("why", "AF-3").out
    )
    assert board.refused("task", "claim", "AF-2", code=3)["code"] == "need_cancelled"
    board.corral("task", "edit", "AF-2", "--drop-need", "AF-1")
    assert board.data("task", "claim", "--next")["id"] == "AF-2"


def test_a_hand_off_reserves_the_task_and_leaves_a_note(board: Board) -> None:
    task = board.add("Fix login")
    token = board.claim(task, "ana")
    board.corral("task", "hand-off", task, "--to", "ben", "--note", "half done", "--token", token)
    refusal = board.refused("task", "claim", task, "--as", "cy", code=3)
    assert refusal["code"] == "reserved"
    assert board.refused("task", "claim", "--next", "--as", "cy", code=4)["code"] == "nothing_ready"
    assert "half done" in board.corral("task", "show", task).out
    assert board.data("task", "claim", "--next", "--as", "ben")["id"] == task


def test_comments_and_the_brief_are_shown_as_they_were_written(
    board: Board, tmp_path: Path
) -> None:
    brief = "# What to do\n\n\tIndented, ümläut, 漢字, 👩‍🚀\n"
    (tmp_path / "b.md").write_text(brief, "utf-8")
    board.add("from a file", "--brief-file", str(tmp_path / "b.md"))
    board.corral("task", "add", "from stdin", "--brief-file", "-", stdin=brief.encode())
    board.add("typed", "--brief", "short")
    briefs = [board.data("task", "show", f"AF-{i}")["brief"] for i in (1, 2, 3)]
    assert briefs == [brief, brief, "short"]
    board.corral("task", "comment", "AF-1", "first\nof two lines", "--as", "ana")
    board.corral("task", "comment", "AF-1", "second", "--as", "ben")
    said = [(c["actor"], c["text"]) for c in board.data("task", "show", "AF-1")["comments"]]
    assert said == [("ana", "first\nof two lines"), ("ben", "second")]
    shown = board.corral("task", "show", "AF-1").out
    assert "👩‍🚀" in shown
    assert "ben: second" in shown


def test_ids_come_from_the_convoy_and_are_never_used_twice(empty_board: Board) -> None:
    titles = ["Auth fix", "Add forms", "Auth fix", "Refactor", "漢字"]
    made = [empty_board.data("convoy", "create", title) for title in titles]
    assert [convoy["id"] for convoy in made] == [
        "auth-fix",
        "add-forms",
        "auth-fix-2",
        "refactor",
        "convoy",
    ]
    prefixes = [convoy["prefix"] for convoy in made]
    assert prefixes[0] == "AF"
    assert len(set(prefixes)) == 5
    assert empty_board.add("x", "--convoy", "auth-fix") == "AF-1"
    assert empty_board.add("y", "--convoy", "add-forms") == f"{prefixes[1]}-1"
    empty_board.corral("task", "cancel", "AF-1")
    assert empty_board.add("z", "--convoy", "auth-fix") == "AF-2"
    assert empty_board.refused("task", "add", "which one?", code=2)["code"] == "bad_input"
    assert [c["id"] for c in empty_board.data("convoy", "list")] == [c["id"] for c in made]
    shown = empty_board.data("convoy", "show", "auth-fix")
    assert [task["id"] for task in shown["tasks"]] == ["AF-1", "AF-2"]


@pytest.mark.parametrize("place", ["sub/folder", "linked worktree", "--repo", "GIT_DIR"])
def test_the_board_is_the_same_from_everywhere_in_the_repository(
    board: Board, tmp_path: Path, place: str
) -> None:
    board.add("first")
    before: tuple[str, ...] = ()
    if place == "linked worktree":
        elsewhere = tmp_path / "linked"
        board.git("worktree", "add", "--quiet", "-b", "side", str(elsewhere))
        there = board.at(elsewhere)
    elif place == "--repo":
        there, before = board.at(tmp_path), ("--repo", str(board.path))
    elif place == "GIT_DIR":
        there = board.at(tmp_path, GIT_DIR=str(board.path / ".git"))
    else:
        (board.path / place).mkdir(parents=True)
        there = board.at(board.path / place)
    assert there.corral(*before, "status", "--json").out == board.status()
    there.corral(*before, "task", "add", "second", "--as", "ana")
    assert [task["title"] for task in board.data("status")["tasks"]] == ["first", "second"]
    if place == "linked worktree":
        assert there.data("convoy", "create", "Side work")["base"] == "side"


def test_an_edit_changes_what_was_named_and_nothing_else(board: Board) -> None:
    board.add("old", "--path", "src/**", "--accept", "true", "--priority", "3")
    board.corral("task", "edit", "AF-1", "--title", "new", "--path", "docs/", "--path", "lib")
    shown = board.data("task", "show", "AF-1")
    assert (shown["title"], shown["paths"]) == ("new", ["docs/**", "lib"])
    assert (shown["accept"], shown["priority"]) == (["true"], 3)
    assert board.refused("task", "edit", "AF-1", code=2)["code"] == "bad_input"
    token = board.claim("AF-1", "ana")
    assert board.refused("task", "edit", "AF-1", "--title", "x", code=3)["code"] == "wrong_state"
    board.corral("task", "submit", "AF-1", "--token", token)


def test_an_alert_is_raised_once_until_it_is_cleared(board: Board) -> None:
    alert = board.data("alert", "raise", "AF-1", "the disk is nearly full")["id"]
    assert "no change needed" in board.corral("alert", "raise", "AF-1", "again").out
    assert [a["id"] for a in board.data("status")["alerts"]] == [alert]
    assert "the disk is nearly full" in board.corral("status").out
    board.corral("alert", "clear", alert)
    assert board.data("alert", "list") == []
    assert board.refused("alert", "clear", alert, code=4)["code"] == "not_found"

"""R9, R25: the deacon and the machine: strays, trees, rooms, kept work; never what is not ours."""

import os
from pathlib import Path

import pytest

from corral.core.board import commands as c
from corral.core.chores import DAY, SETTLE, ChoreOutcome
from corral.core.ids import TaskId
from corral.roles.records.rooms import Room
from corral.world import processes
from corral.world.checks import Pool, Runs, outcome, stop
from tests.patience import PATIENCE_S
from tests.roles.deacon_repo import Yard, end_all, marked
from tests.world.processes.sessions import await_in
from tests.world.trees.tree_repo import commit_file, everything, git


def test_strays_of_sessions_that_are_over_are_ended_and_nobody_else(yard: Yard) -> None:
    over, live = yard.begin(), yard.begin()
    yard.end(over)
    run = yard.repository.git_dir
    strays = [marked(yard, CORRAL_RUN=run, CORRAL_SESSION=over)]
    strays.append(marked(yard, CORRAL_RUN=run, CORRAL_SESSION="ZZ-9.3"))
    spared = [
        marked(yard, CORRAL_RUN=run, CORRAL_SESSION=live),
        marked(yard, CORRAL_SESSION=over),  # of another repository, or of a person
        marked(yard, CORRAL_RUN=f"{run}/other", CORRAL_SESSION=over),
        marked(yard, CORRAL_RUN=run),
        marked(yard, CORRAL_RUN=run, CORRAL_SESSION="ana"),
        marked(yard),
    ]
    try:
        assert yard.once()["processes"] == ChoreOutcome(2, 2)
        assert [process.wait(PATIENCE_S) for process in strays] == [-9, -9]
        assert [process.poll() for process in spared] == [None] * len(spared)
    finally:
        end_all(*strays, *spared)


def test_a_tree_whose_session_is_over_is_kept_and_parked(yard: Yard) -> None:
    over, live = yard.begin(), yard.begin()
    left, used = yard.tree(over), yard.tree(live)
    commit = commit_file(left.path, "made.txt", "made\n")
    Path(left.path, "left.txt").write_text("left\n")
    assert yard.once()["trees"] == ChoreOutcome()
    yard.end(over)
    assert yard.once()["trees"] == ChoreOutcome(1, 1)
    assert [tree.name for tree in yard.trees.list()] == [live]
    assert Path(used.path, "run.sh").exists()
    (kept,) = yard.trees.keep.list_kept(over)
    assert yard.trees.keep.show(kept).untracked == ("left.txt",)
    assert git(yard.repo, "for-each-ref", "--contains", commit)


@pytest.mark.usefixtures("witness")
def test_a_witness_that_runs_has_time_to_clean_up_itself(yard: Yard) -> None:
    session = yard.begin()
    yard.tree(session)
    yard.end(session)
    assert yard.once()["trees"] == ChoreOutcome()
    yard.ahead = SETTLE + 1000
    assert yard.once()["trees"] == ChoreOutcome(1, 1)


def test_a_tree_that_cannot_be_kept_stays_and_is_told(yard: Yard) -> None:
    session = yard.begin()
    tree = yard.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    yard.end(session)
    desks = Path(yard.repository.folder, "desks")
    desks.write_text("no room for a desk")
    result = yard.once()["trees"]
    assert (result.found, result.done, list(result.worries)) == (1, 0, [session])
    assert yard.alerts() == {"orphan-tree": session}
    assert Path(tree.path, "left.txt").exists()
    desks.unlink()
    assert yard.once()["trees"] == ChoreOutcome(1, 1)
    assert yard.alerts() == {}


def test_the_users_own_trees_branches_and_checkout_are_left_alone(
    yard: Yard, tmp_path: Path
) -> None:
    git(yard.repo, "branch", "convoy/auth-fix/mine")
    git(yard.repo, "worktree", "add", "--quiet", "-b", "AF-1.1", str(tmp_path / "AF-1.1"))
    beside = Path(yard.trees.place, "tree-9")
    beside.mkdir(parents=True)
    (beside / "notes").write_text("a person's own\n")
    (tmp_path / "AF-1.1" / "new").write_text("not committed\n")
    room = Path(yard.repository.folder, "sessions", "notes")
    room.mkdir(parents=True)
    session = yard.begin()
    yard.tree(session)
    yard.end(session)
    branches = git(yard.repo, "for-each-ref", "refs/heads")
    seen = [everything(yard.repo, leaving_out=(b".git",)), everything(tmp_path / "AF-1.1")]
    yard.ahead = 100 * DAY
    yard.once()
    assert git(yard.repo, "for-each-ref", "refs/heads") == branches
    assert [
        everything(yard.repo, leaving_out=(b".git",)),
        everything(tmp_path / "AF-1.1"),
    ] == seen
    assert (beside / "notes").exists()
    assert room.exists()


def test_rooms_and_kept_work_go_after_the_retention(yard: Yard) -> None:
    session = yard.begin()
    tree = yard.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    room = Path(Room(yard.repository.folder, session).next("run")).parent
    yard.end(session)
    yard.once()
    yard.ahead = 29 * DAY
    yard.once()
    assert room.exists()
    yard.ahead = 31 * DAY
    assert yard.once()["rooms"] == ChoreOutcome(1, 1)
    assert not room.exists()
    assert len(yard.trees.keep.list_kept()) == 1, "its convoy is open"
    yard.do(c.CancelTask(task=TaskId("AF-1")))
    yard.ahead += 29 * DAY
    assert yard.once()["kept"] == ChoreOutcome()
    yard.ahead += 2 * DAY
    assert yard.once()["kept"] == ChoreOutcome(1, 1)
    assert yard.trees.keep.list_kept() == []


def test_what_still_runs_is_ended_before_its_room_goes(yard: Yard) -> None:
    session = yard.begin()
    folder = yard.launch(session)
    yard.end(session)
    yard.ahead = 31 * DAY
    assert yard.once()["processes"].done == 1
    home = os.path.dirname(os.path.dirname(folder))
    await_in(home, lambda: None if processes.alive(folder) else True)
    yard.once()
    assert not os.path.exists(folder)


def test_check_trees_and_old_runs_go_when_nobody_uses_them(yard: Yard) -> None:
    pool = Pool(yard.repository)
    runs = Runs(pool)
    over = runs.start(1, "over", "main", ["true"], deadline_s=60)
    await_in(over.folder, lambda: outcome(over.folder))
    going = runs.start(2, "going", "main", ["sleep 1000"], deadline_s=600)
    try:
        yard.ahead = 29 * DAY
        assert yard.once()["checks"] == ChoreOutcome()
        yard.ahead = 31 * DAY
        assert yard.once()["checks"] == ChoreOutcome(1, 1)
        assert pool.slots() == [2]
        assert outcome(going.folder) is None
    finally:
        stop(going.folder)
    await_in(going.folder, lambda: outcome(going.folder))
    assert [run.id for run in runs.all()] == ["over", "going"], "the last ones are kept"


def test_what_was_thrown_away_is_deleted(yard: Yard) -> None:
    trash = Path(yard.trees.place, ".trash-0123456789abcdef")
    (trash / "deep").mkdir(parents=True)
    (trash / "deep" / "file").write_text("x")
    assert yard.once()["trash"] == ChoreOutcome(1, 1)
    assert not trash.exists()

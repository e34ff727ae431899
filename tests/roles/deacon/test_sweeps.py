"""The deacon cleans up strays, trees, rooms and kept work, and nothing that is not ours."""

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
from tests.roles.deacon_repo import DeaconRepo, end_all, marked
from tests.world.processes.sessions import await_in
from tests.world.trees.tree_repo import commit_file, everything, git


def test_only_strays_of_ended_sessions_are_killed(project: DeaconRepo) -> None:
    over, live = project.begin(), project.begin()
    project.end(over)
    run = project.repository.git_dir
    strays = [marked(project, CORRAL_RUN=run, CORRAL_SESSION=over)]
    strays.append(marked(project, CORRAL_RUN=run, CORRAL_SESSION="ZZ-9.3"))
    spared = [
        marked(project, CORRAL_RUN=run, CORRAL_SESSION=live),
        marked(project, CORRAL_SESSION=over),  # of another repository, or of a person
        marked(project, CORRAL_RUN=f"{run}/other", CORRAL_SESSION=over),
        marked(project, CORRAL_RUN=run),
        marked(project, CORRAL_RUN=run, CORRAL_SESSION="ana"),
        marked(project),
    ]
    try:
        assert project.once()["processes"] == ChoreOutcome(2, 2)
        assert [process.wait(PATIENCE_S) for process in strays] == [-9, -9]
        assert [process.poll() for process in spared] == [None] * len(spared)
    finally:
        end_all(*strays, *spared)


def test_a_tree_whose_session_is_over_is_kept_and_parked(project: DeaconRepo) -> None:
    over, live = project.begin(), project.begin()
    left, used = project.tree(over), project.tree(live)
    commit = commit_file(left.path, "made.txt", "made\n")
    Path(left.path, "left.txt").write_text("left\n")
    assert project.once()["trees"] == ChoreOutcome()
    project.end(over)
    assert project.once()["trees"] == ChoreOutcome(1, 1)
    assert [tree.name for tree in project.trees.list()] == [live]
    assert Path(used.path, "run.sh").exists()
    (kept,) = project.trees.keep.list_kept(over)
    assert project.trees.keep.show(kept).untracked == ("left.txt",)
    assert git(project.repo, "for-each-ref", "--contains", commit)


@pytest.mark.usefixtures("witness")
def test_a_witness_that_runs_has_time_to_clean_up_itself(project: DeaconRepo) -> None:
    session = project.begin()
    project.tree(session)
    project.end(session)
    assert project.once()["trees"] == ChoreOutcome()
    project.ahead = SETTLE + 1000
    assert project.once()["trees"] == ChoreOutcome(1, 1)


def test_a_tree_that_cannot_be_kept_stays_and_is_told(project: DeaconRepo) -> None:
    session = project.begin()
    tree = project.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    project.end(session)
    desks = Path(project.repository.folder, "desks")
    desks.write_text("no room for a desk")
    result = project.once()["trees"]
    assert (result.found, result.done, list(result.worries)) == (1, 0, [session])
    assert project.alerts() == {"orphan-tree": session}
    assert Path(tree.path, "left.txt").exists()
    desks.unlink()
    assert project.once()["trees"] == ChoreOutcome(1, 1)
    assert project.alerts() == {}


def test_the_users_own_trees_branches_and_checkout_are_left_alone(
    project: DeaconRepo, tmp_path: Path
) -> None:
    git(project.repo, "branch", "convoy/auth-fix/mine")
    git(project.repo, "worktree", "add", "--quiet", "-b", "AF-1.1", str(tmp_path / "AF-1.1"))
    beside = Path(project.trees.place, "tree-9")
    beside.mkdir(parents=True)
    (beside / "notes").write_text("a person's own\n")
    (tmp_path / "AF-1.1" / "new").write_text("not committed\n")
    room = Path(project.repository.folder, "sessions", "notes")
    room.mkdir(parents=True)
    session = project.begin()
    project.tree(session)
    project.end(session)
    branches = git(project.repo, "for-each-ref", "refs/heads")
    seen = [everything(project.repo, leaving_out=(b".git",)), everything(tmp_path / "AF-1.1")]
    project.ahead = 100 * DAY
    project.once()
    assert git(project.repo, "for-each-ref", "refs/heads") == branches
    assert [
        everything(project.repo, leaving_out=(b".git",)),
        everything(tmp_path / "AF-1.1"),
    ] == seen
    assert (beside / "notes").exists()
    assert room.exists()


def test_rooms_and_kept_work_go_after_the_retention(project: DeaconRepo) -> None:
    session = project.begin()
    tree = project.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    room = Path(Room(project.repository.folder, session).next("run")).parent
    project.end(session)
    project.once()
    project.ahead = 29 * DAY
    project.once()
    assert room.exists()
    project.ahead = 31 * DAY
    assert project.once()["rooms"] == ChoreOutcome(1, 1)
    assert not room.exists()
    assert len(project.trees.keep.list_kept()) == 1, "its convoy is open"
    project.do(c.CancelTask(task=TaskId("AF-1")))
    project.ahead += 29 * DAY
    assert project.once()["kept"] == ChoreOutcome()
    project.ahead += 2 * DAY
    assert project.once()["kept"] == ChoreOutcome(1, 1)
    assert project.trees.keep.list_kept() == []


def test_what_still_runs_is_ended_before_its_room_goes(project: DeaconRepo) -> None:
    session = project.begin()
    folder = project.launch(session)
    project.end(session)
    project.ahead = 31 * DAY
    assert project.once()["processes"].done == 1
    home = os.path.dirname(os.path.dirname(folder))
    await_in(home, lambda: None if processes.alive(folder) else True)
    project.once()
    assert not os.path.exists(folder)


def test_unused_check_trees_and_old_runs_are_removed(project: DeaconRepo) -> None:
    pool = Pool(project.repository)
    runs = Runs(pool)
    over = runs.start(1, "over", "main", ["true"], deadline_s=60)
    await_in(over.folder, lambda: outcome(over.folder))
    going = runs.start(2, "going", "main", ["sleep 1000"], deadline_s=600)
    try:
        project.ahead = 29 * DAY
        assert project.once()["checks"] == ChoreOutcome()
        project.ahead = 31 * DAY
        assert project.once()["checks"] == ChoreOutcome(1, 1)
        assert pool.slots() == [2]
        assert outcome(going.folder) is None
    finally:
        stop(going.folder)
    await_in(going.folder, lambda: outcome(going.folder))
    assert [run.id for run in runs.all()] == ["over", "going"], "the last ones are kept"


def test_what_was_thrown_away_is_deleted(project: DeaconRepo) -> None:
    trash = Path(project.trees.place, ".trash-0123456789abcdef")
    (trash / "deep").mkdir(parents=True)
    (trash / "deep" / "file").write_text("x")
    assert project.once()["trash"] == ChoreOutcome(1, 1)
    assert not trash.exists()

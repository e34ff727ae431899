"""The log as a git ref: it can be rebuilt from and exchanged, and is never overwritten."""

import shutil
import subprocess
from pathlib import Path

import pytest

from corral.core.board.commands import CommentTask
from corral.core.ids import TaskId
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board, make_repository, unchanged

REF = "refs/corral/log"
REFSPEC = f"{REF}:{REF}"


def comment(board: Board, number: int) -> None:
    """Add many events with one wait for the disk, by the same rules as the command."""
    from corral.core.board.rules import decide

    def request(text: str) -> Request[None]:
        command = CommentTask(task=TaskId("AF-1"), text=text)
        return Request(
            "setup", lambda state, now: decide(state, command, "setup", now), lambda *_: None
        )

    store = SqliteStore(board.folder)
    store.batch([request(f"comment {i}") for i in range(number)])
    store.close()


@pytest.fixture
def work(board: Board) -> Board:
    """A board with tasks in several states, pushed to a bare remote called origin."""
    board.here("task", "add", "one", "--brief", "long\ntext", code=0)
    board.here("task", "add", "two", "--needs", "AF-1", "--path", "src/**", code=0)
    board.claim("AF-1", "ana")
    board.here("lease", "acquire", "port:8080", "--as", "ana", code=0)
    board.here("alert", "raise", "AF-1", "look", code=0)
    board.git("add", ".corral")
    board.git("commit", "--quiet", "-m", "Use Corral")
    remote = board.path.parent / "origin.git"
    board.git("init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    board.git("remote", "add", "origin", str(remote))
    board.git("push", "--quiet", "origin", "main")
    board.corral("log", "push", "origin")
    return board


def clone(work: Board, name: str, source: str = "origin.git") -> Board:
    path = work.path.parent / name
    work.git("clone", "--quiet", str(work.path.parent / source), str(path))
    return Board(path)


def joined(work: Board, name: str) -> Board:
    """Return another clone that has taken in the log of origin."""
    other = clone(work, name)
    other.corral("log", "fetch", "origin")
    assert other.status() == work.status()
    return other


def lines(board: Board) -> list[str]:
    return board.corral("log", "--json").out.splitlines()


def test_all_that_is_derived_can_be_deleted(work: Board) -> None:
    before = work.status()
    shutil.rmtree(work.folder / "derived")
    assert work.status() == before
    shutil.rmtree(work.folder / "derived")
    work.corral("rebuild")
    assert work.status() == before


def test_a_fresh_clone_with_the_fetched_ref_rebuilds_the_same_state(work: Board) -> None:
    other = clone(work, "other", "project")
    other.git("fetch", "--quiet", "origin", REFSPEC)
    told = other.data("rebuild", "--from-mirror")
    assert told["seq"] == told["taken"] == len(lines(work))
    assert other.status() == work.status()
    assert lines(other) == lines(work)
    assert other.data("task", "show", "AF-1") == work.data("task", "show", "AF-1")
    assert other.data("log", "verify") == work.data("log", "verify")


def test_a_bare_remote_carries_the_log_with_push_and_fetch(work: Board) -> None:
    other = clone(work, "other")
    assert other.data("log", "fetch", "origin")["taken"] == len(lines(work))
    assert other.status() == work.status()
    other.corral("task", "comment", "AF-1", "from the other side")
    assert other.data("log", "push", "origin")["seq"] == len(lines(work)) + 1
    told = work.data("log", "fetch", "origin")
    assert (told["taken"], told["ahead"]) == (1, 0)
    assert lines(work) == lines(other)
    assert work.status() == other.status()
    work.add("three")
    assert work.data("log", "push", "origin")["seq"] == len(lines(work))


def test_a_fetch_with_nothing_new_changes_nothing(work: Board) -> None:
    before = lines(work)
    assert work.data("log", "fetch", "origin")["taken"] == 0
    work.add("three")
    told = work.data("log", "fetch", "origin")
    assert (told["taken"], told["ahead"]) == (0, 1)
    assert lines(work)[:-1] == before


def test_two_clones_that_both_went_on_are_both_kept_whole(work: Board) -> None:
    other = joined(work, "other")
    common = len(lines(work))
    work.add("only in the first")
    other.add("only in the second")
    other.add("also only in the second")
    work.corral("log", "push", "origin")
    mine, pushed = lines(other), lines(work)

    refusal = other.refused("log", "push", "origin", code=3)
    assert refusal["code"] == "remote_ahead"
    assert refusal["hint"] == "corral log fetch origin"
    assert other.git("ls-remote", "origin", REF).split()[0] == work.git("rev-parse", REF)

    for _ in range(3):
        refusal = other.refused("log", "fetch", "origin", code=3)
        assert refusal["code"] == "diverged"
        assert f"after event {common}, this one has" in refusal["message"]
        assert {"2", "1"} <= set(refusal["message"].split())
        assert lines(other) == mine
        assert other.data("log", "verify")["seq"] == len(mine)
    kept = other.git("show", "refs/corral/remotes/origin/log:events.jsonl").splitlines()
    assert kept[-1] == pushed[-1]
    assert other.add("work goes on here") == "AF-5"
    assert lines(work) == pushed
    assert work.data("log", "verify")["seq"] == len(pushed)


def test_another_log_altogether_is_refused_and_kept_apart(work: Board) -> None:
    stranger = clone(work, "stranger")
    stranger.corral("convoy", "create", "Auth fix")
    before = lines(stranger)
    assert stranger.refused("log", "push", "origin", code=3)["code"] == "remote_ahead"
    refusal = stranger.refused("log", "fetch", "origin", code=3)
    assert refusal["code"] == "diverged"
    assert "it is a different log" in refusal["message"]
    assert lines(stranger) == before
    assert stranger.git("rev-parse", "refs/corral/remotes/origin/log") == (
        work.git("rev-parse", REF)
    )


def test_a_remote_that_was_rewritten_does_not_lose_what_it_had(work: Board) -> None:
    other = joined(work, "other")
    had = work.git("rev-parse", REF)
    stranger = clone(work, "stranger")
    stranger.corral("convoy", "create", "Something else")
    stranger.corral("log", "verify")
    stranger.git("push", "--quiet", "--force", "origin", REFSPEC)
    before = lines(other)
    assert other.refused("log", "fetch", "origin", code=3)["code"] == "diverged"
    assert lines(other) == before
    refs = other.git("for-each-ref", "--format=%(objectname)", "refs/corral")
    assert had in refs.split()


def test_the_same_events_in_other_chunks_are_the_same_log(work: Board) -> None:
    """Two clones that mirror at other times have other commits, and still the same events."""
    other = joined(work, "other")
    for number in range(3):
        other.corral("task", "comment", "AF-1", f"comment {number}")
        other.corral("log", "push", "origin")
    # The first takes the events in without the commits, and truncates its mirror on its own.
    work.git("fetch", "--quiet", "origin", f"{REF}:refs/corral/elsewhere")
    there = Board(work.path.parent / "third")
    work.git("clone", "--quiet", str(work.path), str(there.path))
    there.git("fetch", "--quiet", "origin", f"refs/corral/elsewhere:{REF}")
    there.corral("rebuild", "--from-mirror")
    there.git("update-ref", "-d", REF)
    shutil.rmtree(there.folder / "derived")
    there.corral("status")
    assert there.git("rev-list", "--count", REF) != other.git("rev-list", "--count", REF)
    there.git("remote", "set-url", "origin", str(work.path.parent / "origin.git"))
    assert there.data("log", "fetch", "origin")["taken"] == 0
    assert lines(there) == lines(other)
    there.add("and on it goes")
    there.corral("log", "push", "origin")
    other.corral("log", "fetch", "origin")
    assert lines(there) == lines(other)


def test_the_mirror_is_written_in_batches(work: Board) -> None:
    before = int(work.git("rev-list", "--count", REF))
    comment(work, 450)
    work.corral("status")
    assert int(work.git("rev-list", "--count", REF)) - before == 5
    message = work.git("show", "--no-patch", "--format=%B", REF)
    last = work.events()[-1]
    assert f"seq: {last['seq']}" in message
    assert f"hash: {last['hash']}" in message
    chunks = work.git("log", "--reverse", "--format=%H", REF).split()
    mirrored = [
        line for sha in chunks for line in work.git("show", f"{sha}:events.jsonl").split("\n")
    ]
    assert mirrored == lines(work)


def test_a_long_log_is_not_mirrored_for_every_event(work: Board) -> None:
    comment(work, 2000)
    work.corral("log", "push", "origin")
    before = work.git("rev-parse", REF)
    for number in range(5):
        work.here("task", "comment", "AF-1", f"one more {number}", code=0)
    assert int(work.git("rev-list", "--count", f"{before}..{REF}")) <= 2


def test_writing_in_a_clone_with_an_unread_mirror_is_refused(work: Board) -> None:
    other = clone(work, "other")
    other.git("fetch", "--quiet", "origin", REFSPEC)
    for packed in (False, True):
        if packed:
            other.git("pack-refs", "--all")
        with unchanged(other.path):
            refusal = other.refused("convoy", "create", "Mine", code=3)
        assert refusal["code"] == "mirror_unread"
        assert refusal["hint"] == "corral rebuild --from-mirror"
    other.corral("rebuild", "--from-mirror")
    assert other.data("convoy", "create", "Mine")["id"] == "mine"


def test_a_clone_without_the_ref_says_how_to_get_it(work: Board) -> None:
    other = clone(work, "other")
    refusal = other.refused("rebuild", "--from-mirror", code=4)
    assert "corral log fetch" in refusal["hint"]
    empty = make_repository(work.path.parent / "empty")
    empty.git("init", "--quiet", "--bare", str(empty.path.parent / "empty.git"))
    empty.git("remote", "add", "origin", str(empty.path.parent / "empty.git"))
    assert empty.refused("log", "fetch", "origin", code=4)["code"] == "not_found"
    assert empty.refused("log", "push", "origin", code=4)["code"] == "not_found"


def test_a_mirror_that_was_tampered_with_is_not_taken_in(work: Board, tmp_path: Path) -> None:
    other = clone(work, "other")
    content = work.git("show", f"{REF}:events.jsonl").replace("look", "lock") + "\n"
    (tmp_path / "events.jsonl").write_text(content)
    other.git("fetch", "--quiet", "origin", REFSPEC)
    blob = other.git("hash-object", "-w", str(tmp_path / "events.jsonl"))
    (tmp_path / "tree").write_text(f"100644 blob {blob}\tevents.jsonl\n")
    with (tmp_path / "tree").open() as listing:
        tree = subprocess.run(
            ["git", "mktree"], cwd=other.path, stdin=listing, capture_output=True, check=True
        ).stdout.decode()
    message = other.git("show", "--no-patch", "--format=%B", REF)
    parents = other.git("log", "-1", "--format=%P", REF).split()
    chain = [word for parent in parents for word in ("-p", parent)]
    commit = other.git("commit-tree", tree.strip(), *chain, "-m", message)
    other.git("update-ref", REF, commit)
    refusal = other.refused("rebuild", "--from-mirror", code=1)
    assert refusal["code"] == "log_damaged"
    assert "task.added" not in other.corral("log", "--json", code=None).out

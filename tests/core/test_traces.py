"""Which refs are Corral's own, and what the doctor calls left over."""

import pytest

from corral.core import refs
from corral.core.ids import ConvoyId, task_id
from corral.core.log.state import State
from corral.core.refs import branch_ref, is_ours
from corral.core.traces import leftovers
from tests.core.memory_board import Board

NIGHT = ConvoyId("night-shift")


@pytest.mark.parametrize(
    "ref",
    [
        refs.MIRROR_REF,
        f"{refs.KEEP_REFS}AF-1.1/1",
        refs.remote_log_ref("origin"),
        branch_ref(refs.trunk_branch(NIGHT)),
        branch_ref(refs.task_branch(NIGHT, task_id("A3F", 12))),
        branch_ref(refs.mayor_branch("mayor-2")),
    ],
)
def test_refs_that_corral_makes_are_its_own(ref: str) -> None:
    assert is_ours(ref)


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/main",
        "refs/heads/convoy",
        "refs/heads/convoy/plans",
        "refs/heads/convoy/night/notes",
        "refs/heads/convoy/night/AF-1/more",
        "refs/heads/corral/experiment",
        "refs/tags/convoy/night/trunk",
        "refs/remotes/origin/convoy/night/trunk",
    ],
)
def test_refs_that_a_person_made_are_not(ref: str) -> None:
    assert not is_ours(ref)


def test_what_a_live_board_uses_is_not_left_over() -> None:
    board = Board()
    board.task()
    seen = {
        "refs": [refs.MIRROR_REF],
        "rooms": ["AF-1.1", "AF-1.2", "notes"],
        "processes": ["check-R42"],
    }
    assert leftovers(board.state, seen) == []


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("worktrees", "/x/tree-1", "git worktree remove -ff PATH"),
        ("unfinished", "/x/.trash-1", "corral deacon run --once"),
        ("rooms", "ZZ-1.1", "rm -r .git/corral/sessions/NAME"),
        ("processes", "AF-1.1", "corral deacon run --once"),
        ("sockets", "server.sock", "corral up"),
    ],
)
def test_each_leftover_comes_with_a_command(kind: str, name: str, command: str) -> None:
    board = Board()
    board.task()
    (line,) = leftovers(board.state, {kind: [name, name]})
    assert line.endswith(f": {name} (try: {command})")


def test_refs_without_a_log_are_left_over_but_branches_may_have_been_fetched() -> None:
    seen = {"refs": [refs.MIRROR_REF, branch_ref(refs.trunk_branch(NIGHT))]}
    (line,) = leftovers(State(), seen)
    assert line.startswith(f"refs without a log: {refs.MIRROR_REF} (")


def test_only_a_few_of_many_are_named() -> None:
    (line,) = leftovers(State(), {"worktrees": [f"/x/tree-{n}" for n in range(9)]})
    assert "/x/tree-4 and 4 more" in line

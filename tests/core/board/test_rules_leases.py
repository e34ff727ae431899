"""Leases on named resources, by name and by path, with a time to live."""

import pytest

from corral.core.board import commands as c
from corral.core.board.leases import overlap, resource_name
from corral.core.errors import BadInput
from corral.core.log import events as e
from corral.core.text import TTL_S as LONGEST_S
from tests.core.memory_board import Board


def acquire(board: Board, resource: str, actor: str = "ana", ttl_s: int = 30) -> e.LeaseAcquired:
    return board.one(e.LeaseAcquired, c.AcquireLease(resource=resource, ttl_s=ttl_s), actor)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("port:8080", "port:8080"),
        ("port:08080", "port:8080"),
        (" service:db ", "service:db"),
        ("file:./src//auth"[:10] + "/auth", "file:src/auth"),
        ("file:src/auth/", "file:src/auth/**"),
        ("gpu-pool:0:1", "gpu-pool:0:1"),
    ],
)
def test_a_resource_has_one_spelling(written: str, name: str) -> None:
    assert resource_name(written) == name


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "db",
        ":db",
        "service:",
        "a b:c",
        "port:0",
        "port:65536",
        "port:-1",
        "port:http",
        "port:٣",
        "file:/etc/passwd",
        "file:../up",
        "file:.git/config",
        "file:src/[",
        "service:d\nb",
        "service:" + "x" * 1_000_000,
    ],
)
def test_a_bad_name_is_refused_in_one_sentence(bad: str) -> None:
    board = Board()
    for command in (
        c.AcquireLease(resource=bad),
        c.RenewLease(resource=bad),
        c.ReleaseLease(resource=bad),
    ):
        refusal = board.refusal(command)
        assert isinstance(refusal, BadInput)
        assert refusal.message.isprintable()
        assert len(refusal.message) < 300


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("file:src/auth/**", "file:src/auth/login.py", True),
        ("file:src/auth", "file:src/auth/login.py", True),
        ("file:src/*.py", "file:src/a*", True),
        ("file:src/auth/**", "file:src/author.py", False),
        ("file:docs/*", "file:docs/a/b", False),
        ("file:**", "file:anything", True),
        ("port:8080", "port:8080", True),
        ("port:8080", "port:80", False),
        ("service:db", "service:d*", False),
        ("service:src/auth", "file:src/auth", False),
    ],
)
def test_leases_clash_by_name_and_files_by_path(one: str, other: str, clash: bool) -> None:
    assert overlap(one, other) is overlap(other, one) is clash
    board = Board()
    acquire(board, one)
    command = c.AcquireLease(resource=other)
    if clash:
        refusal = board.refusal(command, "bob")
        assert (refusal.code, refusal.exit_code) == ("lease_held", 3)
        assert "held by ana for another 30 s" in refusal.message
        assert other in refusal.message
    else:
        board.do(command, "bob")


def test_a_clash_by_path_names_the_other_lease() -> None:
    board = Board()
    acquire(board, "file:src/**")
    message = board.refusal(c.AcquireLease(resource="file:src/a.py"), "bob").message
    assert message.startswith("file:src/a.py overlaps file:src/**, which is held by ana")


def test_a_holder_cannot_take_the_same_thing_twice() -> None:
    board = Board()
    acquire(board, "port:1")
    assert board.refusal(c.AcquireLease(resource="port:1"), "ana").code == "lease_held"


def test_a_lease_that_ran_out_can_be_taken_at_once() -> None:
    board = Board()
    old = acquire(board, "port:1", "ana", 10)
    board.wait(9.999)
    board.refusal(c.AcquireLease(resource="port:1"), "bob")
    board.wait(0.001)
    events = board.do(c.AcquireLease(resource="port:1"), "bob")
    assert events[0] == e.LeaseLapsed(resource="port:1", holder="ana", token=old.token)
    assert isinstance(events[1], e.LeaseAcquired)
    assert events[1].token == str(board.state.seq)
    assert board.refusal(c.RenewLease(resource="port:1", token=old.token)).code == "stale_token"


def test_taking_a_folder_ends_all_lapsed_leases_in_it_and_no_other() -> None:
    board = Board()
    for name in ("file:src/a", "file:src/b", "file:docs/c"):
        acquire(board, name, "ana", 10)
    board.wait(10)
    events = board.do(c.AcquireLease(resource="file:src/**"), "bob")
    assert [event.resource for event in events if isinstance(event, e.LeaseLapsed)] == [
        "file:src/a",
        "file:src/b",
    ]
    assert set(board.state.leases) == {"file:src/**", "file:docs/c"}


def test_one_live_lease_in_a_folder_keeps_the_lapsed_ones_untouched() -> None:
    board = Board()
    acquire(board, "file:src/a", "ana", 10)
    acquire(board, "file:src/b", "ana", 20)
    board.wait(10)
    board.refusal(c.AcquireLease(resource="file:src/**"), "bob")
    assert set(board.state.leases) == {"file:src/a", "file:src/b"}


def test_a_renewal_counts_from_now() -> None:
    board = Board()
    token = acquire(board, "port:1", ttl_s=10).token
    board.wait(5)
    renewed = board.one(e.LeaseRenewed, c.RenewLease(resource="port:01", token=token, ttl_s=10))
    assert (renewed.resource, renewed.expires_at) == ("port:1", board.now + 10_000)


def test_a_released_resource_is_free() -> None:
    board = Board()
    token = acquire(board, "port:1").token
    board.do(c.ReleaseLease(resource="port:1", token=token))
    acquire(board, "port:1", "bob")


@pytest.mark.parametrize("ttl_s", [0, -1, LONGEST_S + 1])
def test_the_time_to_live_is_bounded(ttl_s: int) -> None:
    board = Board()
    token = acquire(board, "port:1").token
    assert "time to live" in board.refusal(c.AcquireLease(resource="port:2", ttl_s=ttl_s)).message
    renewal = c.RenewLease(resource="port:1", token=token, ttl_s=ttl_s)
    assert "time to live" in board.refusal(renewal).message

"""The ports of a session are leased with its start, kept with its claim and freed at its end."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import Refused
from corral.core.ids import Token
from corral.core.session import rules as session_rules
from tests.core.session.session_board import (
    FIRST,
    TASK,
    SessionBoard,
    types,
)


def with_ports() -> SessionBoard:
    """A board whose session has two ports; ana has one that is wanted, and had another."""
    board = SessionBoard()
    board.task()
    board.do(c.AcquireLease(resource="port:20000", ttl_s=600))
    board.do(c.AcquireLease(resource="port:20001", ttl_s=1))
    board.wait(1)
    board.start(ports=range(20000, 20010), wanted=2)
    return board


def held(board: SessionBoard, by: str) -> dict[str, int]:
    return {n: lease.expires_at for n, lease in board.state.leases.items() if lease.holder == by}


def test_ports_are_leased_with_the_start_and_those_of_others_passed_over() -> None:
    board = with_ports()
    assert list(held(board, "ana")) == ["port:20000"]
    assert session_rules.port_leases(board.state, board.session()) == ["port:20001", "port:20002"]
    tokens = [lease.token for lease in board.state.leases.values()]
    assert len(set(tokens)) == len(tokens)
    for name, lease in board.state.leases.items():
        release = c.ReleaseLease(resource=name, token=Token("99"))
        assert board.refusal(release, lease.holder).code == "stale_token"


def test_too_few_free_ports_refuse_the_whole_start(board: SessionBoard) -> None:
    other = board.task()
    with pytest.raises(Refused, match=r"AF-2\.1 needs 2 more free ports") as caught:
        board.start(other, ports=[20000], wanted=3)
    assert caught.value.code == "no_port"
    assert board.get(other).claim is None
    assert not board.state.leases


def test_ports_are_kept_with_the_claim_and_given_back_at_the_end() -> None:
    board = with_ports()
    board.wait(30)
    board.record(session_rules.renew(board.state, [FIRST], 90, board.now))
    expires_at = board.now + 90_000
    assert held(board, FIRST) == {"port:20001": expires_at, "port:20002": expires_at}
    assert types(board.end()) == [
        "session.ended",
        "lease.released",
        "lease.released",
        "task.submitted",
    ]
    assert list(board.state.leases) == ["port:20000"]


def test_a_late_session_still_releases_what_it_held() -> None:
    board = with_ports()
    board.do(c.CancelTask(task=TASK))
    assert types(board.end()) == ["session.ended", "lease.released", "lease.released"]

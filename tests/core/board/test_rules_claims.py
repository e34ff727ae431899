"""Which agent gets a task, with which token, and when the claim is lost."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import NotFound
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import TaskState
from tests.core.memory_board import TTL_S, Board


@pytest.fixture
def board() -> Board:
    board = Board()
    board.convoy()
    return board


def add(board: Board, title: str, priority: int = 0, assignee: str = "") -> TaskId:
    command = c.AddTask(title=title, priority=priority, assignee=assignee)
    return board.one(e.TaskAdded, command).task


def test_a_claim_is_held_for_its_time_under_a_token(board: Board) -> None:
    task = board.task()
    claimed = board.one(e.TaskClaimed, c.ClaimTask(task=task, ttl_s=30), "bob")
    assert (claimed.holder, claimed.expires_at) == ("bob", board.now + 30_000)
    assert claimed.token == str(board.state.seq)


def test_a_task_is_found_whatever_the_case_of_its_id(board: Board) -> None:
    assert board.task() == "AF-1"
    assert board.one(e.TaskClaimed, c.ClaimTask(task=TaskId("af-1"))).task == "AF-1"


@pytest.mark.parametrize("claimer", ["bob", "ana"])
def test_a_held_task_is_refused_to_everybody_and_to_its_holder(board: Board, claimer: str) -> None:
    task = board.task()
    board.claim(task, "ana")
    refusal = board.refusal(c.ClaimTask(task=task), claimer)
    assert (refusal.code, refusal.exit_code) == ("already_claimed", 3)
    assert refusal.message == f"{task} is held by ana for another 60 s; nothing was changed"


def test_a_claim_that_ran_out_can_be_taken_at_once_and_the_old_token_is_dead(board: Board) -> None:
    task = board.task()
    old = board.claim(task, "ana")
    board.wait(TTL_S - 0.001)
    board.refusal(c.ClaimTask(task=task), "bob")
    board.wait(0.001)
    events = board.do(c.ClaimTask(task=task), "bob")
    assert events[0] == e.TaskLapsed(task=task, holder="ana", token=old)
    assert board.refusal(c.SubmitTask(task=task, token=old)).code == "stale_token"
    assert "bob holds it now" in board.refusal(c.RenewTask(task=task, token=old)).message


def test_a_claim_that_ran_out_but_was_not_taken_can_still_be_renewed(board: Board) -> None:
    task = board.task()
    token = board.claim(task, "ana")
    board.wait(10 * TTL_S)
    board.do(c.RenewTask(task=task, token=token, ttl_s=5))
    assert board.refusal(c.ClaimTask(task=task), "bob").code == "already_claimed"
    board.wait(5)
    board.claim(task, "bob")


def test_a_renewal_may_also_shorten_a_claim(board: Board) -> None:
    task = board.task()
    token = board.claim(task)
    renewed = board.one(e.TaskRenewed, c.RenewTask(task=task, token=token, ttl_s=1))
    assert renewed.expires_at == board.now + 1000


def test_tokens_only_ever_rise_whatever_they_are_for(board: Board) -> None:
    task = board.task()
    tokens = [int(board.claim(task))]
    for _ in range(3):
        board.wait(TTL_S)
        tokens.append(int(board.claim(task, "bob")))
        lease = board.one(e.LeaseAcquired, c.AcquireLease(resource="port:1", ttl_s=1))
        tokens.append(int(lease.token))
    assert tokens == sorted(set(tokens))


def test_the_next_task_is_the_most_urgent_then_the_oldest(board: Board) -> None:
    low, first, second = add(board, "a", 1), add(board, "b", 5), add(board, "c", 5)
    got = [board.one(e.TaskClaimed, c.ClaimTask(), "bob").task for _ in range(3)]
    assert got == [first, second, low]


def test_the_next_task_is_first_of_all_one_that_was_handed_to_the_claimer(board: Board) -> None:
    urgent, mine, hers = add(board, "a", 9), add(board, "b", 0, "bob"), add(board, "c", 99, "ana")
    got = [board.one(e.TaskClaimed, c.ClaimTask(), "bob").task for _ in range(2)]
    assert got == [mine, urgent]
    assert board.refusal(c.ClaimTask(), "bob").code == "nothing_ready"
    assert board.refusal(c.ClaimTask(task=hers), "bob").code == "reserved"
    board.claim(hers, "ana")


def test_the_next_task_may_be_one_whose_claim_ran_out(board: Board) -> None:
    task = board.task()
    board.claim(task, "ana")
    assert board.refusal(c.ClaimTask(), "bob").code == "nothing_ready"
    board.wait(TTL_S)
    assert [type(event) for event in board.do(c.ClaimTask(), "bob")] == [
        e.TaskLapsed,
        e.TaskClaimed,
    ]


@pytest.mark.parametrize("by_name", [True, False])
def test_a_reservation_is_for_the_next_claim_and_not_for_those_after_it(
    board: Board, by_name: bool
) -> None:
    task = board.task(assignee="ana")
    board.claim(task, "ana")
    board.wait(TTL_S)
    command = c.ClaimTask(task=task) if by_name else c.ClaimTask()
    assert board.do(command, "bob")[-1].type == e.TaskClaimed.type


def test_nothing_ready_is_not_found_with_its_own_code(board: Board) -> None:
    refusal = board.refusal(c.ClaimTask())
    assert isinstance(refusal, NotFound)
    assert (refusal.code, refusal.exit_code) == ("nothing_ready", 4)


def test_ids_of_a_convoy_count_up_even_if_its_tasks_are_given_up(board: Board) -> None:
    first = board.task()
    board.do(c.CancelTask(task=first))
    assert (first, board.task()) == ("AF-1", "AF-2")


def test_two_convoys_of_one_name_never_share_an_id(board: Board) -> None:
    other = board.convoy("Auth fix")
    mine = board.one(e.TaskAdded, c.AddTask(title="a", convoy=ConvoyId("auth-fix"))).task
    theirs = board.one(e.TaskAdded, c.AddTask(title="a", convoy=ConvoyId(other))).task
    assert (other, mine, theirs) == ("auth-fix-2", "AF-1", "AFA-1")


def test_with_several_convoys_one_must_say_which() -> None:
    board = Board()
    assert "no convoy yet" in board.refusal(c.AddTask(title="a")).message
    board.convoy()
    board.do(c.AddTask(title="a"))
    board.convoy("Other")
    assert "2 convoys" in board.refusal(c.AddTask(title="a")).message


def test_a_hand_off_frees_the_task_for_the_other_and_ends_the_claim(board: Board) -> None:
    task = board.task()
    token = board.claim(task, "ana")
    board.do(c.HandOffTask(task=task, to="bob", note="half done", token=token), "ana")
    assert board.refusal(c.ClaimTask(task=task), "ana").code == "reserved"
    assert board.refusal(c.SubmitTask(task=task, token=token), "ana").code == "stale_token"
    board.claim(task, "bob")


def test_a_retry_takes_a_task_back_from_review(board: Board) -> None:
    task = board.task()
    board.bring(task, TaskState.REVIEW)
    board.do(c.RetryTask(task=task, reason="checks are red"))
    assert (board.get(task).state, board.get(task).reason) == (TaskState.TODO, "checks are red")


def test_the_token_in_an_event_is_the_one_that_was_shown(board: Board) -> None:
    task = board.task()
    token = board.claim(task)
    handed_in = board.one(e.TaskSubmitted, c.SubmitTask(task=task, token=token, commit="abc1234"))
    assert handed_in == e.TaskSubmitted(task=task, token=Token(token), commit="abc1234")

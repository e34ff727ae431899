"""A request with a key takes effect once; keys are part of the state and expire."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import AlreadyDone, BadInput, Refused
from corral.core.log import requests
from corral.core.log.state import State

KEY = "0123456789abcdef"


def test_a_key_is_known_for_its_actor_and_its_command_only() -> None:
    state = State()
    asked = requests.keyed(KEY, c.AddTask(title="One"))
    requests.refuse_again(state, "ana", asked)
    requests.remember(state, "ana", asked, 7, 1000)
    with pytest.raises(AlreadyDone) as done:
        requests.refuse_again(state, "ana", asked)
    assert done.value.seq == 7
    with pytest.raises(Refused) as refused:
        requests.refuse_again(state, "ana", requests.keyed(KEY, c.AddTask(title="Two")))
    assert refused.value.code == "key_reused"
    requests.refuse_again(state, "bo", asked)


def test_keys_are_forgotten_by_age_and_by_number() -> None:
    state = State()
    for number in range(requests.REMEMBERED + 5):
        requests.remember(state, "ana", f"key-{number}/d", number, 1000)
    assert len(state.requests) == requests.REMEMBERED
    assert next(iter(state.requests)) == "ana/key-5"
    requests.remember(state, "ana", "late/d", 1, 1001 + requests.REMEMBERED_MS)
    assert list(state.requests) == ["ana/late"]


@pytest.mark.parametrize("key", ["short", "x" * 65, "with blank 1", "a/b/c/d/e", "umlautäöü"])
def test_an_odd_key_is_refused(key: str) -> None:
    with pytest.raises(BadInput):
        requests.keyed(key, c.ClaimTask())

"""Carrying out a command: what the repository says counts where the command says nothing."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import BadInput, Refused
from corral.core.log.state import State
from corral.core.plan.schema import ConvoyPlan, Plan, TaskPlan
from corral.store.port import Store
from corral.store.service import Defaults, perform, record, request
from tests.contract.stores import START, note

HERE = Defaults(claim_ttl_s=60, branch=lambda: "trunk")


def test_what_a_command_leaves_out_comes_from_the_repository(store: Store) -> None:
    leased = perform(store, c.AcquireLease(resource="port:1"), "ana", defaults=HERE)
    assert leased["expires_at"] == START + 60_000
    perform(store, c.CreateConvoy(title="Auth fix"), "ana", defaults=HERE)
    task = TaskPlan(key="a", title="A", accept=("true",), paths=("a",))
    plan = Plan(convoy=ConvoyPlan(title="Other"), tasks=(task,))
    perform(store, c.ApplyPlan(plan=plan), "ana", defaults=HERE)
    assert [convoy.base for convoy in store.state().convoys.values()] == ["trunk", "trunk"]


def test_what_a_command_says_counts(store: Store) -> None:
    command = c.AcquireLease(resource="port:1", ttl_s=5)
    assert perform(store, command, "ana", defaults=HERE)["expires_at"] == START + 5_000
    with pytest.raises(BadInput):
        perform(store, c.AcquireLease(resource="port:2", ttl_s=0), "ana", defaults=HERE)
    perform(store, c.CreateConvoy(title="Auth fix", base=""), "ana", defaults=HERE)
    assert [convoy.base for convoy in store.state().convoys.values()] == [""]


def test_the_same_request_is_answered_again_and_carried_out_once(store: Store) -> None:
    command, key = c.AcquireLease(resource="port:1"), "a-key-of-mine"
    first = perform(store, command, "ana", key=key, defaults=HERE)
    assert perform(store, command, "ana", key=key, defaults=HERE) == first
    with pytest.raises(Refused, match="used for another request"):
        perform(store, c.AcquireLease(resource="port:2"), "ana", key=key, defaults=HERE)


def test_nothing_is_done_for_whoever_is_not_admitted(store: Store) -> None:
    store.transaction(note("a"))

    def admit(state: State, command: c.Command) -> c.Command:
        raise Refused("not yours")

    before = store.state().seq
    with pytest.raises(Refused, match="not yours"):
        store.transaction(request(c.AcquireLease(resource="port:1"), "ana", admit=admit))
    assert store.state().seq == before


def test_a_role_is_told_how_much_it_has_recorded(store: Store) -> None:
    assert record(store, "deacon", note("a").decide) == 2  # with the beginning of the log
    assert record(store, "deacon", lambda state, now: []) == 0

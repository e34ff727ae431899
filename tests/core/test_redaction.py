"""Anything that looks like a key is redacted; near misses are left alone."""

import typing
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from msgspec.inspect import Type

from corral.core.board import commands as c
from corral.core.errors import BadInput, CorralError
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.requests import keyed
from corral.core.plan.schema import Plan
from corral.core.redaction import SHOWN, redacted, without_secrets
from corral.core.text import cut
from corral.store.port import Request
from corral.store.service import perform
from corral.world.engines.agents.output import bounded
from tests.contract.memory_store import MemoryStore

SECRETS = [
    "AKIA" + "ABCD" * 4,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "glpat-" + "a1B2-" * 5,
    "sk-ant-" + "a1B2-" * 8,
    "sk-proj-" + "a1B2" * 8,
    "sk_live_" + "a1B2" * 6,
    "xoxb-" + "123-" * 6,
    "AIza" + "a1B2_" * 7,
    "npm_" + "a1B2" * 9,
    "hf_" + "aB" * 17,
    "eyJ" + "a1" * 10 + ".eyJ" + "b2" * 10 + "." + "c3" * 10,
    "GOCSPX-" + "a1B2" * 7,
    "gsk_" + "a1B2" * 13,
    "hvs." + "a1B2" * 7,
    "corral_p_" + "0f" * 24,
    "corral_s_AF-1.1_" + "0f" * 20,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----",
]
FINE = [
    "the sk-learn package, and task-ghp_1",
    "see eyJ and AKIA in the docs",
    "npm_config_cache",
    "a" * 200,
    "-----BEGIN CERTIFICATE-----",
    "ssh://git@example.org:22/x.git and https://example.org/a:b@c",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_is_taken_out_wherever_it_stands(secret: str) -> None:
    assert redacted(f"before {secret}, after") == f"before {SHOWN}, after"
    assert redacted(f"TOKEN={secret}\n") == f"TOKEN={SHOWN}\n"


def test_a_password_in_an_address_is_taken_out() -> None:
    said = redacted("fatal: https://bot:hunter2@example.org/x.git not found")
    assert said == f"fatal: https://{SHOWN}@example.org/x.git not found"


@pytest.mark.parametrize("text", FINE)
def test_other_text_is_left_alone(text: str) -> None:
    assert redacted(text) == text


def texts(kind: Any, text: str) -> Iterator[Any]:
    """Yield values of a type whose texts are all this one; nothing if it has no text."""
    match msgspec.inspect.type_info(kind) if not isinstance(kind, Type) else kind:
        case msgspec.inspect.Metadata(type=inner):
            yield from texts(inner, text)
        case msgspec.inspect.StrType():
            yield text
        case (
            msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item)
        ):
            yield from ([value] for value in texts(item, text))
        case msgspec.inspect.DictType(value_type=item):
            yield from ({text: value} for value in texts(item, text))
        case msgspec.inspect.UnionType(types=kinds):
            yield from (value for one in kinds for value in texts(one, text))
        case msgspec.inspect.StructType(fields=fields):
            for field in fields:
                for value in texts(field.type, text):
                    yield {field.encode_name: value}


def filled(kind: type[Struct], values: dict[str, Any]) -> Any:
    """Make a command or an event with some fields set, and something in those that it needs."""
    samples: dict[str, Any] = {
        **{"task": "AF-1", "title": "T", "text": "t", "to": "people", "resource": "service:x"},
        **{"subject": "log", "alert": "alert-1", "session": "AF-1.1", "message": "m-1"},
        **{"check": "R1", "result": "red"},
    }
    needed = {
        field.name: samples.get(field.name, PLAN)
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    return msgspec.convert({**needed, **values}, kind)


ONE = {"key": "one", "title": "One", "accept": ["make test"]}
PLAN = {"convoy": {"title": "P"}, "task": [ONE]}


def planned(secret: str) -> Iterator[dict[str, Any]]:
    """Yield plans with a secret in each place of one."""
    convoy, task = (Plan.__annotations__[name] for name in ("convoy", "tasks"))
    for value in texts(convoy, secret):
        yield {**PLAN, "convoy": {"title": "P", **value}}
    (item,) = (kind for kind in typing.get_args(typing.get_args(task)[0]) if kind is not ...)
    for value in texts(item, secret):
        yield {**PLAN, "task": [{**ONE, **value}]}


def commands(secret: str) -> Iterator[c.Command]:
    """Yield every command with the secret in each of its texts, one at a time."""
    for kind in c.COMMANDS.values():
        for field in msgspec.structs.fields(kind):
            values = planned(secret) if field.name == "plan" else texts(field.type, secret)
            for value in values:
                yield filled(kind, {field.name: value})


@pytest.mark.parametrize("secret", SECRETS)
def test_no_field_of_any_command_puts_one_into_the_log(secret: str) -> None:
    tried, taken = set(), set()
    for command in commands(secret):
        store = MemoryStore()
        for first in (c.CreateConvoy(title="Auth fix"), c.AddTask(title="One")):
            perform(store, first, "ana", lambda state, rows: None)
        tried.add(command.name)
        with suppress(CorralError):
            perform(store, command, "ana", lambda state, rows: None)
            taken.add(command.name)
        part = secret.partition("\n")[0].encode()
        assert all(part not in row.line for row in store.read()), command
        assert part not in msgspec.json.encode(store.state()), command
    assert len(tried) > 20
    assert {"task add", "task comment", "message send", "alert raise", "plan apply"} <= taken


@pytest.mark.parametrize("secret", SECRETS)
def test_no_field_of_any_event_has_one_once_it_is_stored(secret: str) -> None:
    """In every source: an engine's words, a check's output, a quotation by the witness."""
    seen = 0
    for kind in e.every_event().values():
        fields = {
            field.name: value
            for field in msgspec.structs.fields(kind)
            for value in texts(field.type, f"a {secret} b")
        }
        event = filled(kind, {**_numbers(kind), **fields}) if fields else None
        if event is not None:
            found = without_secrets(event)
            assert secret.partition("\n")[0].encode() not in msgspec.json.encode(found), kind
            assert SHOWN.encode() in msgspec.json.encode(found), kind
            seen += 1
    assert seen > 40


def _numbers(kind: type[Struct]) -> dict[str, Any]:
    basic = {int: 1, bool: True}
    return {
        field.name: basic[field.type]
        for field in msgspec.structs.fields(kind)
        if field.required and field.type in basic
    }


def test_what_a_role_records_is_cleaned_by_the_store() -> None:
    store = MemoryStore()
    for first in (c.CreateConvoy(title="Auth fix"), c.AddTask(title="One")):
        perform(store, first, "ana", lambda state, rows: None)
    said = e.TaskBlocked(task=TaskId("AF-1"), reason=f"it printed {SECRETS[1]}")
    store.transaction(Request("witness", lambda state, now: [said], lambda state, rows: None))
    assert store.state().tasks[TaskId("AF-1")].reason == f"it printed {SHOWN}"
    assert store.verify() == store.state()


def test_a_name_or_a_key_that_is_a_secret_is_refused() -> None:
    store = MemoryStore()
    with pytest.raises(BadInput):
        perform(store, c.CreateConvoy(title="A"), SECRETS[1], lambda state, rows: None)
    with pytest.raises(BadInput):
        keyed(SECRETS[1], c.ClaimTask())


def test_a_text_is_cleaned_before_it_is_cut() -> None:
    assert SECRETS[1][:12] not in cut("x" * 80 + " " + SECRETS[1], 95)
    assert SECRETS[1][:12] not in bounded("x" * 80 + " " + SECRETS[1], 95)

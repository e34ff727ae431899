"""Every event survives a round trip, and the stored format cannot change by accident."""

from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any, NewType, get_args, get_origin

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from corral.core.errors import LogTooNew
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log.codec import (
    FORMAT,
    GENESIS,
    Record,
    Stored,
    chain,
    decode,
    encode,
    event_of,
    mirrored,
    unmirrored,
)
from corral.core.log.events import (
    Event,
    LogCreated,
    TaskAdded,
    TaskClaimed,
    TaskEdited,
    every_event,
)

EVENTS = every_event()
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: ANY_TEXT,
    int: st.integers(0, 2**53),
    bool: st.booleans(),
    type(None): st.none(),
}

# The name, the required fields and the optional fields of every type of event: what is in a log
# that somebody has. A field may be added with a default; anything else needs a new type.
KNOWN = {
    "alert.acknowledged": "alert by",
    "alert.cleared": "alert",
    "alert.raised": "alert kind subject text",
    "change.queued": "task commit fork ?paths ?many",
    "change.returned": "task commit why ?detail ?beside ?paths ?run ?tip",
    "check.ended": "run result ?command ?detail ?took_ms ?beside ?cached",
    "check.started": "run convoy members tip commit tree key ?commits ?kind ?slot"
    " ?deadline_s ?external",
    "chore.done": "chore ?found ?done",
    "convoy.created": "convoy title prefix ?base ?strategy ?checks",
    "convoy.finished": "convoy how ?base ?commit ?note",
    "landing.begun": "run convoy old new tasks ?commits",
    "landing.ended": "run convoy landed ?reason",
    "lease.acquired": "resource holder token expires_at",
    "lease.lapsed": "resource holder token",
    "lease.released": "resource token",
    "lease.renewed": "resource token expires_at",
    "log.created": "log format",
    "mayor.answered": "mayor turn ?text ?problems ?trouble ?used_up ?thread ?place ?model"
    " ?account ?until_at ?wrote ?fresh ?cached ?output ?nano_usd ?unpriced",
    "mayor.asked": "mayor turn cause message profile ?prompt ?resume ?task",
    "mayor.ended": "mayor how ?reason",
    "mayor.started": "mayor goal engine ?replan",
    "message.acknowledged": "message",
    "message.delivered": "message reader ?proof",
    "message.expired": "message",
    "message.returned": "message to",
    "message.sent": "message sender to text expires_at ?question ?reply_to ?plain ?answers",
    "message.taken": "message session ?launch",
    "overlap.over": "task ?other ?reason",
    "overlap.seen": "task ?other ?paths",
    "plan.approved": "mayor proposal convoy",
    "plan.proposed": "mayor plan tasks ?cancel",
    "plan.rejected": "mayor proposal ?reason",
    "queue.paused": "?convoy ?reason",
    "queue.resumed": "?convoy",
    "session.answered": "session",
    "session.asked": "session text ?options ?call",
    "session.ended": "session verdict ?detail ?commit ?code ?signal ?killed",
    "session.engaged": "session ?thread ?model ?version",
    "session.limited": "session account trouble until_at ?text",
    "session.progressed": "session text ?outputs",
    "session.reacted": "session cause action ?text",
    "session.spent": "session ?model ?fresh ?cached ?output ?nano_usd ?unpriced ?turns",
    "session.started": "session task token profile branch base ?pool ?wall_s ?trunk ?account"
    " ?resume ?takes",
    "session.stop_asked": "session verdict reason",
    "settings.changed": "role",
    "task.added": "task convoy title ?priority ?needs ?paths ?accept ?inputs ?engine ?brief"
    " ?assignee ?run ?role ?urgent ?parent ?budget ?levels ?every ?cron"
    " ?missed ?key ?spec ?reasons",
    "task.blocked": "task reason",
    "task.cancelled": "task ?reason",
    "task.claimed": "task holder token expires_at",
    "task.commented": "task text",
    "task.delayed": "task reason until_at",
    "task.edited": "task ?title ?priority ?needs ?paths ?accept ?inputs ?engine ?brief ?run"
    " ?role ?spec ?reasons",
    "task.failed": "task reason",
    "task.handed_off": "task ?to ?note",
    "task.landed": "task ?commit",
    "task.lapsed": "task holder token",
    "task.parked": "task reason until_at",
    "task.recurred": "task date",
    "task.renewed": "task token expires_at",
    "task.retried": "task ?reason",
    "task.submitted": "task token ?commit",
    "task.unblocked": "task",
    "traces.sent": "upto ?number",
    "trunk.moved": "convoy new ?old ?who",
    "work.paused": "?convoy ?by ?reason",
    "work.resumed": "?convoy",
}

# Lines of logs that somebody has, one of each type at least, from the type on. Before each stands
# the beginning of its sha256: a line is added anywhere, and never changed.
GOLDEN = Path(__file__).with_name("golden_events.txt").read_bytes().splitlines()

FIRST = [
    (
        LogCreated(log="0011223344556677", format=1),
        b'{"seq":1,"at":1700000000000,"actor":"corral","type":"log.created",'
        b'"data":{"log":"0011223344556677","format":1}}',
    ),
    (
        TaskAdded(
            task=TaskId("AF-1"), convoy=ConvoyId("auth-fix"), title="Löse “es”", paths=("src/**",)
        ),
        '{"seq":2,"at":1700000000000,"actor":"corral","type":"task.added",'
        '"data":{"task":"AF-1","convoy":"auth-fix","title":"Löse “es”",'
        '"paths":["src/**"]}}'.encode(),
    ),
    (
        TaskClaimed(task=TaskId("AF-1"), holder="ana", token=Token("3"), expires_at=1700000060000),
        b'{"seq":3,"at":1700000000000,"actor":"corral","type":"task.claimed",'
        b'"data":{"task":"AF-1","holder":"ana","token":"3","expires_at":1700000060000}}',
    ),
    (
        TaskEdited(task=TaskId("AF-1"), title="", needs=()),
        b'{"seq":4,"at":1700000000000,"actor":"corral","type":"task.edited",'
        b'"data":{"task":"AF-1","title":"","needs":[]}}',
    ),
]
HEAD = "a861c280c79c50955327785d43ef0a86d11f8899a1db57782ea98b19b5610cf5"


def described(event: type[Event]) -> str:
    return " ".join(("" if field.required else "?") + field.name for field in fields(event))


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Draw values of the type of a field: texts, numbers, switches, lists, and nothing."""
    if isinstance(kind, NewType):
        return values(kind.__supertype__)
    if isinstance(kind, UnionType):
        return st.one_of(*map(values, get_args(kind)))
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=3).map(tuple)
    if get_origin(kind) is dict:
        return st.dictionaries(*map(values, get_args(kind)), max_size=3)
    return PLAIN[kind]


def values_of(event: type[Event]) -> st.SearchStrategy[Event]:
    """Fill every field, with its default now and then."""
    chosen = {field.name: values(field.type) for field in fields(event)}
    return st.fixed_dictionaries(chosen).map(lambda given: event(**given))


def test_the_events_are_those_of_logs_that_exist() -> None:
    assert {name: described(event) for name, event in EVENTS.items()} == KNOWN


@pytest.mark.parametrize("event", EVENTS.values(), ids=list(EVENTS))
@settings(max_examples=20)
@given(data=st.data())
def test_every_event_comes_back_as_it_was_from_its_one_line(
    event: type[Event], data: st.DataObject
) -> None:
    original = data.draw(values_of(event))
    actor, at = data.draw(ANY_TEXT), data.draw(st.integers(0, 2**53))
    line = encode(7, at, actor, original)
    assert not {b"\n", b"\r"} & {bytes([byte]) for byte in line}
    record = decode(line)
    assert (record.seq, record.at, record.actor, record.type) == (7, at, actor, event.type)
    assert event_of(record) == original


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden[:16].decode())
def test_the_stored_format_is_what_it_always_was(golden: bytes) -> None:
    digest, _, rest = golden.partition(b" ")
    found = sha256(rest).hexdigest()[:16]
    assert found == digest.decode(), f"this was {digest.decode()} {rest.decode()}"
    line = b'{"seq":7,"at":1700000000000,"actor":"ana",' + rest[1:]
    assert encode(7, 1_700_000_000_000, "ana", event_of(decode(line))) == line


def test_there_is_a_golden_line_of_every_event_with_all_its_fields() -> None:
    stored: dict[str, set[str]] = {}
    for golden in GOLDEN:
        shown = msgspec.json.decode(golden.partition(b" ")[2])
        stored.setdefault(shown["type"], set()).update(shown["data"])
    assert stored == {name: set(event.__struct_fields__) for name, event in EVENTS.items()}


def test_a_log_begins_as_it_always_did() -> None:
    head = GENESIS
    for seq, (event, line) in enumerate(FIRST, 1):
        assert encode(seq, 1_700_000_000_000, "corral", event) == line
        head = chain(head, line)
    assert head.hex() == HEAD
    assert FORMAT == 1


def test_anybody_can_check_the_chain_with_a_sha256_and_a_loop() -> None:
    head, by_hand = GENESIS, bytes(32)
    for _, line in FIRST:
        head = chain(head, line)
        by_hand = sha256(by_hand + line).digest()
    assert head == by_hand


def test_the_chain_depends_on_every_line_and_on_their_order() -> None:
    heads = {chain(chain(GENESIS, a), b) for a, b in ((b"a", b"b"), (b"b", b"a"), (b"a", b"c"))}
    assert len(heads) == 3


def test_a_key_stands_at_the_end_of_the_line_and_nowhere_else() -> None:
    event, line = FIRST[0]
    keyed = encode(1, 1_700_000_000_000, "corral", event, "abcdefgh/0123456789ab")
    assert keyed == line[:-1] + b',"key":"abcdefgh/0123456789ab"}'
    assert decode(keyed).key == "abcdefgh/0123456789ab"
    assert decode(line).key == ""


def test_fields_that_have_their_default_are_not_stored() -> None:
    line = encode(1, 1, "ana", TaskAdded(task=TaskId("A-1"), convoy=ConvoyId("a"), title="t"))
    assert b"brief" not in line
    assert b"priority" not in line


def test_a_field_from_the_future_is_ignored() -> None:
    record = Record(3, 1, "ana", "task.unblocked", msgspec.Raw(b'{"task":"A-1","mood":"good"}'))
    assert event_of(record) == EVENTS["task.unblocked"](**{"task": "A-1"})


def test_an_event_from_the_future_can_be_read_but_not_understood() -> None:
    line = b'{"seq":9,"at":1,"actor":"ana","type":"task.teleported","data":{"x":1}}'
    record = decode(line)
    assert (record.seq, record.type, bytes(record.data)) == (9, "task.teleported", b'{"x":1}')
    with pytest.raises(LogTooNew, match=r"event 9 is a 'task\.teleported'") as caught:
        event_of(record)
    assert "upgrade Corral" in caught.value.hint


def test_a_mirrored_line_is_json_with_the_hash() -> None:
    line = FIRST[0][1]
    shown = msgspec.json.decode(mirrored(Stored(1, line, chain(GENESIS, line))))
    assert list(shown) == ["seq", "at", "actor", "type", "data", "hash"]
    assert shown["hash"] == sha256(GENESIS + line).hexdigest()


@given(st.integers(1, 2**53), ANY_TEXT, ANY_TEXT, st.binary(min_size=32, max_size=32))
def test_mirroring_can_be_undone(seq: int, actor: str, text: str, digest: bytes) -> None:
    for said in (text, f'{text}","hash":"00"}}'):
        line = encode(seq, 1, actor, EVENTS["task.failed"](**{"task": "A-1", "reason": said}))
        stored = Stored(seq, line, digest)
        assert unmirrored(mirrored(stored)) == stored


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"not json",
        FIRST[0][1],
        FIRST[0][1][:-1] + b',"hash":"zz"}',
        FIRST[0][1][:-1] + b',"hash":"00"',
        b'{"seq":"one"}'[:-1] + b',"hash":"00"}',
    ],
)
def test_anything_else_is_not_a_line_of_a_log(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several sentences, one kind of error
        unmirrored(line)

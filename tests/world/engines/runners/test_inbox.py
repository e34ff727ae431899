"""The inbox: texts arrive in order, each exactly once, also across a kill."""

from pathlib import Path

from corral.world.engines.runners import inbox
from corral.world.engines.runners.inbox import DeliveryProof, Inbox, InboxMessage
from tests.world.engines.runners.runner_process import send


def test_texts_are_taken_in_order_and_once(tmp_path: Path) -> None:
    room = str(tmp_path)
    inbox.put(room, InboxMessage("m-10", "two", by="ada"))
    inbox.put(room, InboxMessage("m-9", "one", by="ada"))
    reader = Inbox(room, "acp")
    first, second = reader.take(), reader.take()
    assert first is not None
    assert second is not None
    assert (first.text, first.by, second.text, reader.take()) == ("one", "ada", "two", None)
    assert inbox.receipt(room, "m-9") is None
    reader.done(first, DeliveryProof.RECORD)
    assert inbox.receipt(room, "m-9") is DeliveryProof.RECORD


def test_what_was_taken_by_a_killed_runner_is_in_doubt_until_it_is_done(tmp_path: Path) -> None:
    room = str(tmp_path)
    for text in ("delivered", "in doubt", "new"):
        send(room, text)
    killed = Inbox(room, "acp")
    delivered = killed.take()
    assert delivered is not None
    assert killed.take() is not None
    killed.done(delivered, DeliveryProof.RECORD)
    # Killed within `done`: both files are there.
    (tmp_path / "inbox/taken/m-1.json").write_bytes((tmp_path / "inbox/done/m-1.json").read_bytes())

    after = Inbox(room, "acp")
    assert [message.text for message in after.doubtful()] == ["in doubt"]
    assert [message.text for message in after.doubtful()] == ["in doubt"]
    new = after.take()
    assert new is not None
    assert new.text == "new"


def test_a_file_that_is_not_a_message_is_set_aside(tmp_path: Path) -> None:
    room = str(tmp_path)
    reader = Inbox(room, "acp")
    (tmp_path / "inbox/m-0.json").write_text("not one of ours")
    send(room, "fine")
    message = reader.take()
    assert message is not None
    assert message.text == "fine"
    assert (tmp_path / "inbox/done/unreadable-m-0.json").exists()


def test_the_inbox_knows_its_reader(tmp_path: Path) -> None:
    room = str(tmp_path)
    assert inbox.reader_of(room) == ""
    reader = Inbox(room, "tmux")
    assert inbox.reader_of(room) == "tmux"
    reader.close()
    assert inbox.reader_of(room) == ""


def test_a_message_of_the_log_is_put_once_and_can_be_taken_back_until_it_is_taken(
    tmp_path: Path,
) -> None:
    room = str(tmp_path)
    letter = InboxMessage("m-7", "Blue", told="[m-7 from ana]\n  Blue")
    reader = Inbox(room, "acp")
    inbox.put(room, InboxMessage("m-12", "later"))
    inbox.put(room, letter)
    inbox.withdraw(room, "m-7")
    assert not inbox.taken(room, "m-7")
    inbox.put(room, letter)
    taken = [reader.take() for _ in range(2)]
    assert [message.name if message else "" for message in taken] == ["m-7", "m-12"]
    for when in ("taken", "done"):
        inbox.put(room, letter)
        inbox.withdraw(room, "m-7")
        assert reader.take() is None, when
        assert inbox.taken(room, "m-7") is (when == "taken")
        reader.done(letter, DeliveryProof.RECORD) if when == "taken" else None


def test_a_knock_and_a_dismissal_are_each_seen_once(tmp_path: Path) -> None:
    room = str(tmp_path)
    reader = Inbox(room, "acp")
    assert not reader.knocked()
    inbox.dismiss(room)  # about nothing that is open
    inbox.knock(room)
    inbox.knock(room)
    assert reader.knocked()
    assert not reader.knocked()
    assert not reader.dismissed()
    inbox.dismiss(room)
    assert reader.dismissed()
    assert not reader.dismissed()

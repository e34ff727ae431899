"""Each page of a search through a long log equals what a full scan finds."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Served, serve

Event = dict[str, Any]


def about(event: Event, task: str) -> bool:
    data = event["data"]
    named = (data.get("task"), data.get("subject"), *data.get("tasks", ()))
    return task in named or data.get("to") == f"task:{task}"


LOOKS: tuple[tuple[dict[str, str], Callable[[Event], bool]], ...] = (
    ({}, lambda event: True),
    ({"type": "task.added"}, lambda event: event["type"] == "task.added"),
    (
        {"type": "alert,convoy.created"},
        lambda event: event["type"].startswith(("alert.", "convoy.created")),
    ),
    ({"task": "AF-1"}, lambda event: about(event, "AF-1")),
    (
        {"convoy": "other", "type": "task"},
        lambda event: event["data"].get("task", "AF")[:2] != "AF",
    ),
    ({"actor": "ANN"}, lambda event: "ann" in event["actor"]),
    ({"text": "größe"}, lambda event: "Größe" in str(event["data"])),
    ({"text": "nowhere"}, lambda event: False),
)


@pytest.fixture
def board(board: Board) -> Board:
    board.here("convoy", "create", "Other", code=0)
    for number in range(1, 5):
        board.add(f"Task {number}", "--convoy", "auth-fix")
        board.add("Die Größe", "--convoy", "other")
        board.here("task", "comment", f"AF-{number}", "hm", "--as", "ann", code=0)
        board.here("message", "send", f"AF-{number}", "hello", code=0)
        board.here("alert", "raise", f"AF-{number}", f"odd {number}", code=0)
    return board


def pages(served: Served, words: dict[str, str], limit: int, *, back: bool) -> list[Event]:
    """Turn page after page until all is looked at."""
    found: list[Event] = []
    newest = served.get("/api/log?limit=1").data["seq"]
    place = newest + 1 if back else 0
    while place > 1 if back else place < newest:
        where = {"before" if back else "after": place, "limit": limit}
        page = served.get(f"/api/log?{urlencode({**words, **where})}").data
        found = page["events"] + found if back else found + page["events"]
        assert page["begin"] <= page["end"]
        assert (page["begin"] < place) if back else (page["end"] > place)  # it gets on
        place = page["begin"] if back else page["end"]
    return found


def test_pages_forwards_and_backwards_are_what_a_plain_look_finds(board: Board) -> None:
    events = board.events()
    with serve(board) as served:
        for words, wanted in LOOKS:
            expected = [event for event in events if wanted(event)]
            assert bool(expected) != (words == {"text": "nowhere"})
            for limit in (3, 1000):
                for back in (True, False):
                    found = pages(served, words, limit, back=back)
                    assert found == expected, (words, limit, back)
                    assert all(one["seq"] < other["seq"] for one, other in pairwise(found))

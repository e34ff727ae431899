"""The filter of the log takes every type of event."""

from pathlib import Path

import msgspec
import pytest

from corral.core.show.log_filter import tasks_of

GOLDEN = Path(__file__).parents[1] / "log" / "golden_events.txt"
LINES = GOLDEN.read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:16])
def test_every_event_says_which_tasks_it_is_about(line: str) -> None:
    event = msgspec.json.decode(line.partition(" ")[2])
    tasks = tasks_of(event["data"])
    assert all(tasks)
    assert event["data"].get("task", "") in {*tasks, ""}

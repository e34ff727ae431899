"""Events as a list and as lanes, and the whole dashboard at an earlier event."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from corral.core.log.state import State
from corral.core.show.tables import board_of
from corral.store.replay import extend
from corral.store.sqlite import SqliteStore
from tests.e2e.server.live_server import wait_for
from tests.e2e.witness.witness_repo import WORK
from tests.web.browsed_repo import BrowsedRepo, Window
from tests.web.test_accessible import violations
from tests.web.test_sessions import SEEN

PLACES = """() => Object.fromEntries([...document.querySelectorAll('[data-column] [data-task]')]
  .map(card => [card.dataset.task, card.closest('[data-column]').dataset.column]))"""
SCRUB = """(slider, seq) => { slider.value = seq;
  slider.dispatchEvent(new Event('input', {bubbles: true})) }"""


@pytest.fixture
def timeline(project: BrowsedRepo, view: Window) -> Page:
    return view.look(project, "timeline")


def comment(project: BrowsedRepo, task: str, text: str, times: int = 1) -> None:
    served = project.served()
    for _ in range(times):
        assert served.post("/api/task/comment", {"task": task, "text": text}).status == 200


def shown(page: Page) -> list[dict[str, Any]]:
    """Return the events in view."""
    found: list[dict[str, Any]] = page.evaluate(
        "() => [...document.querySelectorAll('[data-event]')]"
        ".map(e => ({seq: +e.dataset.event, type: e.dataset.type}))"
    )
    return found


def test_events_come_by_themselves_and_are_found(project: BrowsedRepo, timeline: Page) -> None:
    page = timeline
    task = project.shelve("Watch the log")
    waits = []
    for number in range(3):
        comment(project, task, f"remark {number}")
        at = project.of_type("task.commented")[-1]["at"]
        waits.append(page.evaluate(SEEN, ["[data-event]", f"remark {number}"]) - at)
    assert min(waits) < 1000, waits
    newest = page.locator("[data-event]").first
    seq = project.of_type("task.commented")[-1]["seq"]
    expect(page.locator(f'[data-event="{seq}"]')).to_contain_text("remark 2")
    page.get_by_label("Type").select_option("task.commented")
    expect(newest).to_have_attribute("data-event", str(seq))
    wait_for(lambda: {e["type"] for e in shown(page)} == {"task.commented"}, "only comments")
    page.get_by_label("Filter by text").fill("REMARK 1")
    expect(page.locator("[data-event]")).to_have_count(1)
    comment(project, task, "and remark 1 again")  # what comes is filtered as well
    expect(page.locator("[data-event]")).to_have_count(2)
    page.get_by_label("Filter by text").fill("")
    page.get_by_label("Type").select_option("")
    page.get_by_label("Task", exact=True).fill(task)
    expected = [e["seq"] for e in project.events() if e["data"].get("task") == task]
    wait_for(lambda: sorted(e["seq"] for e in shown(page)) == expected, "only of the task")
    page.get_by_label("Actor").fill("nobody like that")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_label("Actor").fill("")
    page.locator("[data-event] .summary").last.click()
    expect(page.get_by_role("complementary", name=f"Event {expected[0]}")).to_contain_text(
        "Watch the log"
    )


def test_older_events_are_loaded_only_when_one_goes_there(
    project: BrowsedRepo, timeline: Page
) -> None:
    page = timeline
    comment(project, project.shelve("Much to say"), "again", 230)
    page.reload()
    expect(page.locator("[data-event]").first).to_be_visible()
    assert not page.locator('[data-event="1"]').count()
    expect(page.get_by_text(re.compile(r"searched back to event ([2-9]|1\d)"))).to_be_visible()
    assert page.locator("[data-event]").count() < 80  # of the 200 that were loaded
    events = page.get_by_role("region", name="Events, newest first")

    def at_the_first() -> int:
        events.evaluate("box => { box.scrollTop = box.scrollHeight }")
        page.wait_for_timeout(50)
        return page.locator('[data-event="1"]').count()

    wait_for(at_the_first, "the first event")
    expect(page.get_by_text(", back to the first event")).to_be_visible()


def test_any_moment_is_that_of_a_replay(project: BrowsedRepo, view: Window) -> None:
    first, second = project.shelve("One"), project.shelve("Two")
    for command in ("block", "unblock", "block"):
        project.here("task", command, first, code=0)
        project.here("task", command, second, code=0)
    page = view.look(project, "timeline")
    slider, store = page.get_by_label("Event", exact=True), SqliteStore(str(project.folder))
    newest = project.events()[-1]["seq"]
    try:
        for seq in (newest - 1, newest - 4, newest // 2, newest - 3, 3):
            slider.evaluate(SCRUB, seq)
            expect(page.locator("[data-notice=past]")).to_contain_text(f"after event {seq},")
            expect(page.locator("[data-event]").first).to_have_attribute("data-event", str(seq))
            page.get_by_role("link", name="Board", exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Board")
            replayed = board_of(extend(State(), store.read(0, seq)))
            places = {t.id: t.column for t in replayed.tasks if t.column != "cancelled"}
            wait_for(lambda: page.evaluate(PLACES) == places, f"the board at {seq}: {places}")  # noqa: B023
            told = project.served().get(f"/api/board?at={seq}").data
            assert {t["id"]: t["column"] for t in told["tasks"]} == {
                t.id: t.column for t in replayed.tasks
            }
            page.go_back()
    finally:
        store.close()
    project.here("task", "unblock", first, code=0)  # meanwhile
    page.get_by_role("link", name="Board", exact=True).click()
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator(f'[data-column=todo] [data-task="{first}"]')).to_be_visible()
    expect(page.locator("[data-notice=past]")).to_have_count(0)


def test_time_is_moved_with_keys_and_nothing_is_changed_in_the_past(
    project: BrowsedRepo, timeline: Page
) -> None:
    page = timeline
    task = project.shelve("Step by step")
    seq = project.of_type("task.added")[-1]["seq"]
    comment(project, task, "now", 3)
    expect(page.locator(f'[data-event="{seq + 3}"]')).to_be_visible()
    page.get_by_role("button", name=f"Show the dashboard at event {seq}").click()
    past = page.locator("[data-notice=past]")
    expect(past).to_contain_text(f"after event {seq},")
    page.keyboard.press("]")
    expect(past).to_contain_text(f"after event {seq + 1},")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("[")
    expect(past).to_contain_text(f"after event {seq - 1},")
    page.get_by_label("Event", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(past).to_contain_text(f"after event {seq},")
    page.locator("h1").click()
    page.keyboard.press(".")
    expect(past).to_have_count(0)
    expect(page.locator("[data-event]").first).not_to_have_attribute("data-event", str(seq))


def test_lanes_show_sessions_by_their_verdict(project: BrowsedRepo, timeline: Page) -> None:
    page = timeline
    good = project.script(WORK, "--convoy", "project")
    bad = project.script("exit 3", "--convoy", "project")
    page.get_by_role("button", name="Lanes").click()
    drawn = page.get_by_role("region", name="Lanes")
    expect(drawn.locator(f'[data-lane="{good}"] [data-bar="{good}.1"]')).to_have_class(
        re.compile("tone-green")
    )
    expect(drawn.locator(f'[data-lane="{bad}"] [data-bar="{bad}.1"]')).to_have_class(
        re.compile("tone-red")
    )
    expect(drawn.locator(f'[data-lane="{good}"] [data-mark=landed]')).to_have_count(1)
    expect(drawn.locator("[data-lane=Checks] [data-bar]").first).to_be_attached()
    assert not violations(page)
    bar = drawn.locator(f'[data-bar="{bad}.1"]')
    bar.focus()
    expect(drawn.get_by_role("status")).to_contain_text(f"{bad}.1 crashed")
    drawn.get_by_role("button", name="Sessions").click()
    expect(drawn.locator(f'[data-lane="{bad}.1"]')).to_be_attached()
    before = bar.bounding_box()
    assert before is not None
    for _ in range(4):
        page.keyboard.press("-")
    wait_for(lambda: bar.bounding_box() != before, "zoomed")
    bar.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{project.url}/sessions/{bad}.1")

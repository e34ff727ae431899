"""The alerts, health and convoy pages update live, and their controls work."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.web.browsed_repo import BrowsedRepo, Window, window
from tests.web.watch import Watch, last

ASKS = (
    "corral message send people 'Which colour?' --question && "
    "corral message send people 'The build is slow' && "
    "until test -e {gate}; do sleep 0.1; done; exit 1"
)


def test_alerts_are_seen_and_called_over(project: BrowsedRepo, view: Window) -> None:
    page = view.look(project, "alerts")
    expect(page.get_by_text("Nothing needs you.")).to_be_visible()
    watch = Watch(page, project)
    ids = []
    for number, name in enumerate(("disk", "clock", "power"), 1):
        watch.until(f"[data-alert]:nth-child({number})")
        ids.append(_raise(project, name))
        watch.seen("alert.raised")
        expect(page.locator(f"[data-alert={ids[-1]}]")).to_contain_text(f"The {name} is bad")
    first, second, third = ids
    expect(page.locator(".nav [aria-current] .count")).to_have_text("3")
    page.get_by_role("button", name=f"acknowledge {first}").click()
    last(project, "alert.acknowledged", alert=first)
    expect(page.locator(f"[data-alert={first}]")).to_contain_text("acknowledged by person")
    page.get_by_label("Filter alerts").fill("clock")
    expect(page.locator("[data-alert]")).to_have_count(1)
    page.get_by_label("Filter alerts").fill("")
    page.get_by_role("button", name="Acknowledge all").click()
    expect(page.get_by_text("Acknowledged (3)")).to_be_visible()
    seen = {event["data"]["alert"] for event in project.of_type("alert.acknowledged")}
    assert seen == {first, second, third}
    expect(page.locator(".nav [aria-current] .count")).to_have_count(0)
    page.get_by_role("button", name=f"clear {second}").click()
    last(project, "alert.cleared", alert=second)
    expect(page.locator(f"[data-alert={second}]")).to_have_count(0)


def _raise(project: BrowsedRepo, name: str) -> str:
    project.here("alert", "raise", name, f"The {name} is bad", code=0)
    return str(project.of_type("alert.raised")[-1]["data"]["alert"])


def test_an_agent_that_asks_is_answered(project: BrowsedRepo, view: Window, tmp_path: Path) -> None:
    page = view.look(project, "alerts")
    gate = tmp_path / "gate"
    task = project.script(ASKS.format(gate=gate), "--convoy", "project")
    try:
        _answer(project, page, task)
    finally:
        gate.touch()
    project.until_ended(task)


def _answer(project: BrowsedRepo, page: Page, task: str) -> None:
    asked = page.locator(".alert", has_text="Which colour?")
    expect(asked).to_contain_text(f"{task}.1")
    asked.get_by_label("Answer").fill("Blue")
    asked.get_by_role("button", name="Send").click()
    sent = last(project, "message.sent")
    assert (sent["to"], sent["text"]) == (f"session:{task}.1", "Blue")
    assert sent["reply_to"] == next(
        e["data"]["message"] for e in project.of_type("message.sent") if e["data"].get("question")
    )
    expect(asked).to_have_count(0)
    told = page.locator(".alert", has_text="The build is slow")
    told.get_by_role("button", name=re.compile("^Mark")).click()
    expect(told).to_have_count(0)
    assert "question" not in project.alerts()


def test_health_says_what_runs_and_pauses_everything(project: BrowsedRepo, view: Window) -> None:
    page = view.look(project, "health")
    for role in ("server", "witness", "refinery", "deacon"):
        expect(page.locator("li", has_text=role).first).to_contain_text("running")
    watch = Watch(page, project)
    watch.until("[data-notice=paused]")
    page.get_by_role("button", name="Pause sessions").click()
    watch.seen("work.paused")
    assert "convoy" not in last(project, "work.paused"), "all of them"
    task = project.script("sleep 600", "--convoy", "project")
    page.get_by_role("button", name="Resume sessions").click()
    last(project, "work.resumed")
    expect(page.locator("[data-notice=paused]")).to_have_count(0)
    meter = page.get_by_role("meter", name="concurrent sessions")
    expect(meter).to_have_attribute("aria-valuenow", re.compile("[1-9]"))
    project.until(lambda: f"{task}.1" in [one["id"] for one in project.sessions()])
    project.here("session", "stop", f"{task}.1", code=0)
    expect(meter).to_have_attribute("aria-valuenow", "0")
    expect(page.locator("[data-job]").first).to_be_visible()


def test_a_convoy_is_drawn_and_two_browsers_see_the_same(
    project: BrowsedRepo, view: Window, browser: Browser
) -> None:
    base = project.shelve("Lay the base")
    wall = project.shelve("Build the wall", "--needs", base)
    roof = project.shelve("Put up the roof", "--needs", wall)
    with window(browser, viewport={"width": 375, "height": 740}) as other:
        pages = [view.page, other.log_in(project).page]
        for page in pages:
            page.goto(f"{project.url}/convoy/shelf")
            expect(page.locator("[data-node]")).to_have_count(3)
            expect(page.locator("path.edge.critical")).to_have_count(2)
        watch = Watch(pages[0], project)
        watch.until(f"[data-node='{base}'].tone-amber")
        project.here("task", "block", base, code=0)
        watch.seen("task.blocked")
        for page in pages:
            expect(page.locator(f"[data-node='{base}']")).to_contain_text("blocked")
            expect(page.get_by_role("table", name="Merge report")).to_contain_text("blocked")
        shown = [_drawn(page) for page in pages]
        assert shown[0] == shown[1]
        assert not pages[1].evaluate("document.documentElement.scrollWidth > innerWidth")
    page = pages[0]
    page.locator(f"a:has([data-node='{roof}'])").click()
    expect(page.get_by_role("complementary")).to_contain_text("Put up the roof")
    page.keyboard.press("Escape")
    page.goto(f"{project.url}/convoy/project")
    page.get_by_role("button", name="Pause").click()
    last(project, "work.paused", convoy="project")
    page.get_by_role("button", name="Resume").click()
    last(project, "work.resumed", convoy="project")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def _drawn(page: Page) -> list[str]:
    nodes = page.locator("[data-node]").all()
    return [f"{node.text_content()} {node.get_attribute('transform')}" for node in nodes]

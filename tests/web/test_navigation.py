"""Moving between pages and back in time, earlier sessions, and stuck tasks."""

import json
import re

from playwright.sync_api import Page, expect

from tests.e2e.server.live_server import wait_for
from tests.web.browsed_repo import PAGES, BrowsedRepo, Window
from tests.web.test_accessible import violations
from tests.web.test_timeline import SCRUB
from tests.web.watch import last

FAILS = "printf '\\033[31mno\\033[0m way\\n'; echo $CORRAL_SESSION; exit 3"
# How everything on a page looks, but for what it says.
LOOKS = """() => [...new Set([...document.querySelectorAll('#page *')].map(element => {
  const style = getComputedStyle(element);
  const names = ["display", "overflowX", "padding", "flexDirection", "backgroundColor"];
  return [element.tagName, element.getAttribute('class'), ...names.map(n => style[n])].join('|');
}))]"""


def fail_twice(project: BrowsedRepo) -> str:
    task = project.script(FAILS, "--convoy", "project", title="Fail twice")
    for attempt in (1, 2):
        project.until(lambda: project.task(task)["state"] == "failed")
        if attempt == 1:
            project.here("task", "retry", task, code=0)
            project.until(lambda: project.task(task)["attempts"] == 2)
    return task


def go_to(page: Page, name: str) -> None:
    page.locator(".nav").get_by_role("link", name=re.compile(f"^{name}", re.I)).click()
    expect(page.locator("#page")).to_have_attribute("data-page", name)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_what_is_stuck_needs_a_person_until_somebody_decides(
    project: BrowsedRepo, view: Window
) -> None:
    task = fail_twice(project)
    page = view.look(project, "board")
    expect(page.locator(".glance")).to_contain_text("1 needs you")
    page.locator(".glance a").first.click()
    stuck = page.locator(f"[data-stuck={task}]")
    expect(stuck).to_contain_text("no way")
    assert "[31m" not in stuck.inner_text()  # colours are for terminals
    assert not violations(page)
    stuck.get_by_role("button", name=f"Cancel {task}").click()
    page.get_by_label("Reason").fill("not worth it")
    page.get_by_role("button", name="Cancel task").click()
    last(project, "task.cancelled", task=task, reason="not worth it")
    expect(stuck).to_have_count(0)
    expect(page.locator(".nav [aria-current] .count")).to_have_count(0)


def test_every_session_of_a_task_has_a_page(project: BrowsedRepo, view: Window) -> None:
    task = fail_twice(project)
    page = view.look(project, f"tasks/{task}")
    drawer = page.get_by_role("complementary", name=f"Task {task}")
    for number in (1, 2):
        expect(drawer.get_by_role("link", name=f"{task}.{number}")).to_be_visible()
    drawer.get_by_role("link", name=f"{task}.1").click()
    expect(page).to_have_url(f"{project.url}/sessions/{task}.1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("log", name="Output")).to_contain_text(f"{task}.1")
    expect(page.get_by_text("Verdict: crashed")).to_be_visible()
    expect(page.get_by_role("button", name="Follow")).to_have_count(0)
    page.get_by_role("tab", name="Brief").click()
    expect(page.get_by_role("tabpanel")).to_contain_text(f"You are session {task}.1")
    page.reload()
    expect(page.get_by_text("Verdict: crashed")).to_be_visible()
    page.get_by_role("tab", name="Output").click()
    about = page.get_by_role("complementary", name="About the session")
    about.get_by_role("link", name=f"{task}.2").click()
    expect(page.get_by_role("log", name="Output")).to_contain_text(f"{task}.2")
    page.goto(f"{project.url}/sessions/{task}.3")
    expect(page.get_by_text(f"Session {task}.3 not found.")).to_be_visible()


def test_looking_back_says_what_is_shown_as_it_is_now(project: BrowsedRepo, view: Window) -> None:
    task = fail_twice(project)
    events = project.of_type("session.started")
    began = next(e["seq"] for e in events if e["data"]["session"] == f"{task}.1")
    page = view.look(project, "timeline")
    page.get_by_label("Event", exact=True).evaluate(SCRUB, began)
    past = page.locator("[data-notice=past]")
    expect(past).to_contain_text(f"after event {began},")
    go_to(page, "sessions")
    page.locator(f"[data-session='{task}.1'] a.open").click()
    expect(page.locator("[data-as-now]")).to_contain_text("as they are now")
    expect(page.get_by_role("log", name="Output")).to_contain_text(f"{task}.1")
    expect(page.locator("[data-notice=cut]")).to_have_count(0)
    go_to(page, "health")
    expect(page.locator("[data-as-now]")).to_be_visible()
    go_to(page, "board")
    page.keyboard.press("n")
    page.get_by_label("Title").fill("Too late")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("viewing the past")
    page.keyboard.press("Escape")
    past.get_by_role("button", name="Back to now").click()
    assert "Too late" not in json.dumps(project.of_type("task.added"))


def test_a_page_looks_the_same_wherever_one_comes_from(project: BrowsedRepo, view: Window) -> None:
    fail_twice(project)
    page = view.page
    fresh = {}
    for name in PAGES:
        view.look(project, name)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_timeout(500)  # what it asks for has come
        fresh[name] = set(page.evaluate(LOOKS))
    view.look(project, "board")
    page.locator("[data-task] a.title").first.click()
    page.keyboard.press("Escape")
    for name in PAGES:  # by now every style of every page is there
        go_to(page, name)
    for name in PAGES:
        go_to(page, name)
        wait_for(lambda: not set(page.evaluate(LOOKS)) - fresh[name], f"{name} as before")  # noqa: B023

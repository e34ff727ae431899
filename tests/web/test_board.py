"""The board updates live, and every control on it works."""

import json
import os
import re
import signal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.server.live_server import wait_for
from tests.web.browsed_repo import BrowsedRepo, Window, window
from tests.web.watch import Watch, last

# Notes every time that the drawer says that its task does not exist.
LOST = """() => { window.lost = [];
  const look = () => {
    const said = document.querySelector(".drawer")?.textContent ?? "";
    if (/not found/.test(said)) window.lost.push(said);
  };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
}"""


def card(page: Page, task: str, column: str) -> Locator:
    return page.locator(f'[data-column="{column}"] [data-task="{task}"]')


@pytest.fixture
def board(project: BrowsedRepo, view: Window) -> Page:
    return view.look(project, "board")


def test_it_changes_with_the_log_without_being_loaded_again(
    project: BrowsedRepo, board: Page
) -> None:
    task, watch = project.shelve("Watch me"), Watch(board, project)
    for command, column in (("block", "blocked"), ("unblock", "todo"), ("cancel", "cancelled")):
        if column == "cancelled":
            board.get_by_role("button", name=re.compile("^cancelled")).click()
        watch.until(f"[data-column={column}] [data-task={task}]")
        project.here("task", command, task, code=0)
        watch.seen(f"task.{command}ed" if command != "cancel" else "task.cancelled")


def test_a_task_is_added_and_found(project: BrowsedRepo, view: Window, board: Page) -> None:
    view.allow("404")  # what it needs is not there at first
    board.keyboard.press("n")
    dialog = board.get_by_role("dialog")
    dialog.get_by_label("Title").fill("From the browser")
    dialog.get_by_label(re.compile("^Brief")).fill("In *full*.")
    dialog.get_by_label("Convoy").select_option("shelf")
    dialog.get_by_label("Priority").fill("4")
    dialog.get_by_label(re.compile("^Needs")).fill("P-999")
    dialog.get_by_role("button", name="Add task").click()
    expect(dialog.get_by_role("alert")).to_contain_text("P-999")
    dialog.get_by_label(re.compile("^Needs")).fill("")
    dialog.get_by_label(re.compile("^Paths")).fill("src/a/**\nsrc/b/**")
    dialog.get_by_role("button", name="Add task").click()
    added = last(project, "task.added", title="From the browser")
    assert (added["priority"], added["paths"]) == (4, ["src/a/**", "src/b/**"])
    drawer = board.get_by_role("complementary")
    expect(drawer).to_contain_text("In *full*.")
    drawer.get_by_label("Comment", exact=True).fill("Good idea")
    board.keyboard.press("Enter")
    expect(drawer.locator(".comment")).to_contain_text("Good idea")
    last(project, "task.commented", text="Good idea")
    board.keyboard.press("Escape")
    board.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    board.get_by_label("Filter tasks").fill("from browser")
    expect(board.locator("[data-task]")).to_have_count(1)
    board.get_by_label("Convoy", exact=True).select_option("project")
    expect(board.locator("[data-task]")).to_have_count(0)
    expect(board).to_have_url(re.compile(r"q=from\+browser.*convoy=project|convoy=project.*q=from"))


def test_keys_move_tasks_and_set_priorities(
    project: BrowsedRepo, view: Window, board: Page
) -> None:
    task = project.shelve("With keys")
    board.get_by_label("Filter tasks").fill("With keys")
    card(board, task, "todo").get_by_role("link", name="With keys").focus()
    board.keyboard.press("+")
    expect(card(board, task, "todo")).to_contain_text("P1")
    assert last(project, "task.edited", task=task) == {"task": task, "priority": 1}
    board.keyboard.press("b")
    board.get_by_role("dialog").get_by_role("textbox").fill("for a reason")
    board.keyboard.press("Enter")
    expect(card(board, task, "blocked")).to_contain_text("for a reason")
    card(board, task, "blocked").get_by_role("link").focus()
    board.keyboard.press("u")
    expect(card(board, task, "todo")).to_be_visible()
    last(project, "task.unblocked", task=task)
    view.allow("409")
    card(board, task, "todo").get_by_role("link").focus()
    board.keyboard.press("r")
    expect(board.get_by_role("alert")).to_contain_text("retry needs")  # refused, with a hint
    board.keyboard.press("?")
    expect(board.get_by_role("dialog")).to_contain_text("Raise priority")


def test_dragging_moves_tasks_and_sets_priorities(project: BrowsedRepo, board: Page) -> None:
    first, second = project.shelve("Drag one", "--priority", "7"), project.shelve("Drag two")
    board.get_by_label("Filter tasks").fill("Drag")
    card(board, second, "todo").drag_to(card(board, first, "todo"))
    expect(card(board, second, "todo")).to_contain_text("P8")
    expect(board.locator("[data-column=todo] [data-task]").first).to_have_attribute(
        "data-task", second
    )
    card(board, first, "todo").drag_to(board.locator("[data-column=blocked]"))
    board.get_by_role("dialog").get_by_role("button", name="Block task").click()
    expect(card(board, first, "blocked")).to_be_visible()
    card(board, first, "blocked").drag_to(board.locator("[data-column=todo]"))
    expect(card(board, first, "todo")).to_be_visible()
    last(project, "task.unblocked", task=first)


def test_a_session_at_work_is_on_its_card(project: BrowsedRepo, board: Page) -> None:
    script = "printf '\\033[1mhalf way\\033[0m\\n' > progress.md; sleep 600"
    task = project.script(script, "--convoy", "project", title="Busy")
    board.get_by_label("Filter tasks").fill("Busy")
    expect(card(board, task, "doing")).to_contain_text("half way")
    card(board, task, "doing").get_by_role("link", name=f"{task}.1").click()
    expect(board).to_have_url(f"{project.url}/sessions/{task}.1")


def test_the_palette_goes_everywhere(project: BrowsedRepo, board: Page) -> None:
    task = project.shelve("Needle in the haystack")
    expect(card(board, task, "todo")).to_be_visible()
    board.keyboard.press("Control+k")
    board.get_by_label("Go to or run").fill("needle")
    board.keyboard.press("Enter")
    expect(board.get_by_role("complementary")).to_contain_text("Needle in the haystack")
    expect(board).to_have_url(f"{project.url}/?task={task}")
    board.keyboard.press("Control+k")
    board.get_by_label("Go to or run").fill("light and dark")
    board.keyboard.press("Enter")
    expect(board.locator("html")).to_have_attribute("data-theme", "light")


def test_cut_and_restored_nothing_is_missed(
    project: BrowsedRepo, view: Window, browser: Browser
) -> None:
    view.allow("ERR_|Failed to load resource")
    page = view.look(project, "board")
    page.get_by_label("Filter tasks").fill("Missed")
    before = project.shelve("Missed before")
    expect(card(page, before, "todo")).to_be_visible()
    supervisor = json.loads((project.folder / "up.json").read_text())["pid"]
    record = project.folder / "server.json"
    old = record.read_text()
    os.kill(supervisor, signal.SIGSTOP)  # so that the server stays away for a while
    try:
        os.kill(json.loads(old)["pid"], signal.SIGKILL)
        expect(page.locator("[data-notice=cut]")).to_be_visible()
        during = project.shelve("Missed during")
        project.here("task", "block", before, "--reason", "while away", code=0)
        expect(card(page, before, "todo")).to_be_visible()  # as it was, and it says so
    finally:
        os.kill(supervisor, signal.SIGCONT)
    wait_for(lambda: record.exists() and record.read_text() != old, "the server is back")
    expect(page.locator("[data-notice=cut]")).to_have_count(0)
    expect(card(page, during, "todo")).to_be_visible()
    expect(card(page, before, "blocked")).to_contain_text("while away")
    with window(browser, viewport={"width": 1440, "height": 900}) as other:
        fresh = other.log_in(project).look(project, "board")
        fresh.get_by_label("Filter tasks").fill("Missed")
        expect(card(fresh, during, "todo")).to_be_visible()
        shown = [re.sub(r"\d+[smh]", "", p.locator(".columns").inner_text()) for p in (page, fresh)]
        assert shown[0] == shown[1]
        project.here("task", "cancel", during, code=0)
        for one in (page, fresh):
            expect(card(one, during, "todo")).to_have_count(0)


def test_the_drawer_of_a_new_task_never_says_that_there_is_none(board: Page) -> None:
    board.evaluate(LOST)
    expect(board.locator(".columns")).to_be_visible()
    for number in range(8):
        board.keyboard.press("n")
        dialog = board.get_by_role("dialog")
        dialog.get_by_label("Title").fill(f"New task {number}")
        dialog.get_by_label("Convoy").select_option("shelf")
        dialog.get_by_role("button", name="Add task").click()
        drawer = board.get_by_role("complementary")
        expect(drawer.get_by_role("heading", name=f"New task {number}")).to_be_visible()
        board.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
    assert board.evaluate("window.lost") == []

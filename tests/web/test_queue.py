"""The queue page shows what is checked and what waits, and its controls work."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.corral_command import make_repository
from tests.e2e.witness.witness_repo import QUIET, WORK
from tests.web.browsed_repo import BrowsedRepo, Window
from tests.web.watch import Watch, last

CHECK = (
    "printf '\\033[32mlooking at the change\\033[0m\\n'; until test -e {gate}; do sleep 0.1; done"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedRepo]:
    """A repository whose checks wait at a gate."""
    folder = tmp_path_factory.mktemp("queue")
    make_repository(folder / "project")
    made = BrowsedRepo(folder / "project")
    made.corral("init")
    script = folder / "check.sh"
    script.write_text(CHECK.format(gate=folder / "gate"))
    made.configure(f'{QUIET}[refinery]\nchecks = ["sh {script}"]\n')
    made.here("convoy", "create", "Project", code=0)
    with made.up():
        yield made


@pytest.fixture
def queue(project: BrowsedRepo, view: Window) -> Page:
    return view.look(project, "queue")


def test_work_is_followed_from_being_handed_in_to_the_verdict(
    project: BrowsedRepo, queue: Page
) -> None:
    watch = Watch(queue, project)
    expect(queue.get_by_text("Nothing is waiting.")).to_be_visible()
    for number in (1, 2, 3):
        watch.until(f"[data-queued='PRO-{number}']")
        project.script(WORK, title=f"Change {number}")
        watch.seen("change.queued")
    run = queue.locator("[data-check]").first
    expect(run.get_by_role("list", name="Predicted state")).to_contain_text("PRO-1")
    expect(queue.locator("[data-queued='PRO-1']")).to_contain_text("Change 1")
    _priorities(project, queue)
    _log_of_the_run(queue)
    _pause(project, queue)

    queue.get_by_role("button", name="Remove PRO-3 from the queue").click()
    expect(queue.locator("[data-queued='PRO-3']")).to_have_count(0)
    assert project.task("PRO-3")["state"] != "review"

    watch.until("[role=table][aria-label=Verdicts] .tone-green")
    (Path(project.path).parent / "gate").touch()
    watch.seen("check.ended")
    expect(queue.get_by_text("Nothing is waiting.")).to_be_visible()
    expect(queue.get_by_role("table", name="Verdicts")).to_contain_text("PRO-1")


def _priorities(project: BrowsedRepo, queue: Page) -> None:
    queue.get_by_role("button", name="Move PRO-2 to the front").click()
    assert last(project, "task.edited", task="PRO-2")["priority"] == 100
    expect(queue.locator("[data-queued='PRO-2']")).to_contain_text("priority 100")
    expect(queue.get_by_role("button", name="Move PRO-2 to the front")).to_be_disabled()
    queue.get_by_role("button", name="Reset the priority of PRO-2").click()
    last(project, "task.edited", task="PRO-2", priority=0)
    expect(queue.locator("[data-queued='PRO-2']")).not_to_contain_text("priority")


def _log_of_the_run(queue: Page) -> None:
    queue.locator("[data-check]").first.get_by_role("link").first.click()
    dialog = queue.get_by_role("dialog")
    expect(dialog.get_by_role("log")).to_contain_text("looking at the change")
    expect(dialog.locator(".ansi .f2")).to_have_text("looking at the change")
    queue.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert queue.url.endswith("/queue")


def _pause(project: BrowsedRepo, queue: Page) -> None:
    queue.get_by_role("button", name="Pause landing").click()
    assert last(project, "queue.paused")["reason"] == "paused on the dashboard"
    expect(queue.locator("[data-notice=paused]")).to_contain_text("Landing paused")
    queue.get_by_role("button", name="Resume landing").click()
    last(project, "queue.resumed")
    expect(queue.locator("[data-notice=paused]")).to_have_count(0)

"""The mayor's page: a goal, a conversation, a plan as a graph, and its approval."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.mayor.mayor_repo import MayorRepo, make_mayor_repo, plan, task
from tests.web.browsed_repo import BrowsedRepo, Window
from tests.web.test_hostile import HOSTILE, check
from tests.web.watch import Watch, last

BRIEF = "\n".join(HOSTILE[:-1])  # the last one is refused in a plan: it cannot be seen
FIRST = plan(task("a", brief=BRIEF, minutes=5), task("b", title=HOSTILE[1], needs=["a"]))
MORE = plan(task("c", needs=["b"], accept=["test -e c.txt"]))
ELSE = plan(task("x"), title="Else")


class BrowsedMayorRepo(BrowsedRepo, MayorRepo):
    """A repository with a scripted mayor, and everything running."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedMayorRepo]:
    town = BrowsedMayorRepo(make_mayor_repo(tmp_path_factory.mktemp("mayor") / "project").path)
    town.here("pause", "--sessions", code=0)  # sessions would use up the answers
    with town.up():
        yield town


@pytest.fixture
def mayor(project: BrowsedMayorRepo, view: Window) -> Page:
    return view.look(project, "mayor")


def test_from_a_goal_to_a_plan_on_the_board(project: BrowsedMayorRepo, mayor: Page) -> None:
    gate, watch = project.place / "gate", Watch(mayor, project)
    file = project.place / "first"
    file.write_text(f"Here it is. {HOSTILE[1]}\n\n```json\n{FIRST}\n```\n")
    project.script(f'until test -e "{gate}"; do sleep 0.05; done; cat "{file}"')
    project.answers(f"Because. {HOSTILE[0]}", MORE)
    mayor.get_by_label("Goal").fill(f"Make it good\n{HOSTILE[0]}")
    mayor.get_by_label("Planning engine").select_option("planner")
    watch.until(".thinking")
    mayor.get_by_role("button", name="Make a plan").click()
    watch.seen("mayor.asked")
    assert last(project, "mayor.started")["goal"] == f"Make it good\n{HOSTILE[0]}"
    expect(mayor.get_by_role("log")).to_contain_text(HOSTILE[0])
    mayor.get_by_label("Message to the mayor").fill("Too early")
    expect(mayor.get_by_role("button", name="Send")).to_be_disabled()

    watch.until("[data-node=b]")
    gate.touch()
    watch.seen("plan.proposed")
    expect(mayor.locator("path.edge.critical")).to_have_count(1)
    _look_at_a_task(mayor)

    _say(mayor, "Why is b after a?")
    said = mayor.get_by_role("log").locator(".bubble")
    expect(said.last).to_contain_text(f"Because. {HOSTILE[0]}")
    expect(mayor.locator("[data-node]")).to_have_count(2)

    mayor.get_by_role("button", name="Change …").click()
    expect(mayor.get_by_label("Message to the mayor")).to_be_focused()
    watch.until("[data-node=c]")
    _say(mayor, "One more,\nplease")
    watch.seen("plan.proposed")
    expect(said.filter(has_text="One more,")).to_contain_text("One more,\nplease")
    check(mayor, "mayor")

    proposed = project.of_type("plan.proposed")[-1]["seq"]
    mayor.get_by_role("button", name="Approve").click()
    assert last(project, "plan.approved")["proposal"] == proposed
    expect(mayor.get_by_text("plan on the board")).to_be_visible()
    expect(mayor.get_by_role("button", name="Approve")).to_have_count(0)
    assert len(project.titles()) == 3
    mayor.get_by_role("link", name="go to its convoy").click()
    expect(mayor.locator("[data-node]")).to_have_count(3)


def _look_at_a_task(mayor: Page) -> None:
    mayor.locator("a:has([data-node=a])").click()
    dialog = mayor.get_by_role("dialog")
    expect(dialog.locator(".prose").first).to_have_text(BRIEF)
    expect(dialog).to_contain_text("a.txt")
    mayor.keyboard.press("Escape")
    mayor.get_by_role("table", name="Tasks of the plan").get_by_text(HOSTILE[1]).click()
    expect(dialog).to_contain_text("needs")
    mayor.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def _say(mayor: Page, text: str) -> None:
    box = mayor.get_by_label("Message to the mayor")
    box.fill(text)
    expect(mayor.get_by_role("button", name="Send")).to_be_enabled()
    box.press("Enter")
    expect(box).to_have_value("")


def test_a_plan_is_rejected_and_the_talk_stopped_on_a_phone(
    project: BrowsedMayorRepo, mayor: Page
) -> None:
    mayor.set_viewport_size({"width": 375, "height": 740})
    project.answers(ELSE)
    mayor.get_by_role("button", name="New goal").click()
    mayor.get_by_label("Goal").fill("Something else")
    mayor.get_by_label("Replan when a task fails").check()
    mayor.get_by_role("button", name="Make a plan").click()
    assert last(project, "mayor.started", goal="Something else")["replan"] == "on_failure"
    mayor.get_by_role("button", name="Plan").click()
    expect(mayor.locator("[data-node=x]")).to_be_visible()
    expect(mayor.get_by_label("Message to the mayor")).to_be_hidden()
    mayor.get_by_role("button", name="Reject …").click()
    mayor.get_by_label("Reason").fill("too much")
    mayor.get_by_role("button", name="Reject plan").click()
    assert last(project, "plan.rejected")["reason"] == "too much"
    expect(mayor.get_by_text("rejected", exact=True)).to_be_visible()
    assert "Do x" not in project.titles()
    assert not mayor.evaluate("document.documentElement.scrollWidth > innerWidth")

    mayor.get_by_role("button", name="Stop …").click()
    mayor.get_by_role("button", name="Stop conversation").click()
    assert last(project, "mayor.ended")["how"] == "stopped"
    expect(mayor.get_by_text("stopped", exact=True)).to_be_visible()
    mayor.get_by_label("Conversation", exact=True).select_option("mayor-1")
    mayor.get_by_role("button", name="Talk").click()
    expect(mayor.get_by_role("log")).to_contain_text("Make it good")
    expect(mayor.get_by_text("This is an earlier conversation.")).to_be_visible()

"""Live sessions: tiles, streaming output, and the controls of a session."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.corral_command import CORRAL
from tests.e2e.server.live_server import wait_for
from tests.e2e.witness.witness_repo import WORK
from tests.web.browsed_repo import BrowsedRepo, Window
from tests.web.test_accessible import violations

# It prints and asks on command, and ends when it may.
AGENT = """\
printf 'first \\033[31mred\\033[0m light\\n'
until test -e {go}; do
  test -e {say} && cat {say} && rm {say}
  test -e {ask} && rm {ask} && {corral} message send people 'Which colour?' --question
  sleep 0.05
done
{work}
"""
HOSTILE = (
    "\x1b]0;owned\x07\x1b]8;;javascript:window.owned=1\x1b\\link\x1b]8;;\x1b\\"
    "<img src=x onerror=window.owned=1><script>window.owned=1</script>"
    "\x1b[2J\x1b[31;1mred <b>\x1b[0m\x1b[38;2;9;9;9mdark\x1b[0m"
    "\x1b[9;url(//evil.example)\x1b[0m end\n"
)
SEEN = """([selector, text]) => new Promise((done, fail) => {
  setTimeout(() => fail(new Error(`${text} did not appear`)), 120_000);
  const check = () => {
    if ([...document.querySelectorAll(selector)].some(one => one.textContent.includes(text)))
      observer.disconnect(), done(Date.now());
  };
  const observer = new MutationObserver(check);
  observer.observe(document.body, {childList: true, subtree: true, characterData: true});
  check();
})"""

BELOW = "box => box.scrollHeight - box.scrollTop - box.clientHeight"


class Actor:
    """A session that does what the test says."""

    def __init__(self, project: BrowsedRepo, folder: Path) -> None:
        self._files = {name: folder / name for name in ("go", "say", "ask")}
        quoted = {name: shlex.quote(str(path)) for name, path in self._files.items()}
        text = AGENT.format(**quoted, corral=CORRAL, work=WORK)
        self.task = project.script(text, "--convoy", "project", title=f"Act {folder.name}")
        self.id = f"{self.task}.1"
        project.until(lambda: project.task(self.task)["state"] == "doing")

    def say(self, text: str) -> None:
        path = self._files["say"]
        wait_for(lambda: not path.exists(), "what was said before is printed")
        half = path.with_suffix(".half")
        half.write_text(text)
        half.rename(path)

    def ask(self) -> None:
        self._files["ask"].touch()

    def go(self) -> None:
        self._files["go"].touch()


@pytest.fixture
def actor(project: BrowsedRepo, tmp_path: Path) -> Actor:
    return Actor(project, tmp_path)


def by_person(project: BrowsedRepo, kind: str) -> dict[str, Any]:
    found = wait_for(lambda: [e for e in project.of_type(kind) if e["actor"] == "person"], kind)
    data: dict[str, Any] = found[-1]["data"]
    return data


def test_a_tile_shows_what_its_session_is_at(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    page = view.look(project, "sessions")
    tile = page.locator(f'[data-session="{actor.id}"]')
    expect(tile).to_have_attribute("data-state", "running")
    expect(tile).to_contain_text("Act ")
    expect(tile.locator(".tail .f1")).to_have_text("red")
    waits = []
    for number in range(3):
        project.here("session", "report", actor.id, f"step {number}", code=0)
        at = project.of_type("session.progressed")[-1]["at"]
        selector = f'[data-session="{actor.id}"] .progress'
        waits.append(page.evaluate(SEEN, [selector, f"step {number}"]) - at)
    assert min(waits) < 1000, waits  # the best: how busy the machine is says nothing about us
    actor.say("a line for the tile\n")
    expect(tile.locator(".tail")).to_contain_text("a line for the tile")
    actor.ask()
    expect(tile).to_have_attribute("data-state", "waiting for an answer")
    expect(tile).to_contain_text("Which colour?")
    page.get_by_label("Filter sessions").fill("nothing like it")
    expect(tile).to_have_count(0)
    page.get_by_label("Filter sessions").fill(actor.id.lower())
    expect(tile).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{project.url}/sessions/{actor.id}")
    page.keyboard.press("u")
    actor.go()
    project.until_ended(actor.task)
    expect(page.get_by_text("No sessions are running.")).to_be_visible()
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("which=ended"))
    expect(tile).to_have_attribute("data-state", "proved")


def open_session(project: BrowsedRepo, view: Window, actor: Actor, tab: str = "") -> Page:
    page = view.look(project, f"sessions/{actor.id}?tab={tab}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Session {actor.id}")
    return page


def test_output_comes_as_it_is_printed_and_is_only_text(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    page = open_session(project, view, actor)
    output = page.get_by_role("log", name="Output")
    expect(output.locator(".f1")).to_have_text("red")
    assert not violations(page)
    actor.say("\x1b[32mgreen\nstill\x1b[0m green no more\n")
    expect(output.locator(".f2")).to_have_text(["green", "still"])
    actor.say(HOSTILE)
    expect(output).to_contain_text(
        "<script>window.owned=1</script>red <b>darkrl(//evil.example) end"
    )
    expect(output.get_by_text("dark", exact=True)).to_have_css("color", "rgb(9, 9, 9)")
    assert output.locator("a, img, script, b").count() == 0
    assert page.evaluate("window.owned") is None
    assert page.title() == "Sessions · Corral"
    page.keyboard.press("/")
    page.keyboard.type("GREEN")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    expect(output.locator("mark[data-here]")).to_have_text("green")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_text("2 of 2")).to_be_visible()


def test_output_is_followed_until_one_looks_back_and_can_be_read_to_its_beginning(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    actor.say("".join(f"line {number} {'.' * 80}\n" for number in range(4000)))  # 350 kB
    actor.say("the last one\n")
    page = open_session(project, view, actor)
    output, follow = page.get_by_role("log"), page.get_by_role("button", name="Follow")
    expect(output.get_by_text("the last one")).to_be_in_viewport()
    expect(follow).to_have_attribute("aria-pressed", "true")
    assert "line 0 " not in (output.text_content() or "")  # only the end was loaded
    page.keyboard.press("f")
    expect(follow).to_have_attribute("aria-pressed", "false")
    actor.say("unseen\n" * 30)
    expect(output).to_contain_text("unseen")
    assert output.evaluate(BELOW) > 100
    page.keyboard.press("f")
    wait_for(lambda: output.evaluate(BELOW) < 5, "it follows again")
    output.hover()
    page.mouse.wheel(0, -600)
    expect(follow).to_have_attribute("aria-pressed", "false")

    def at_the_beginning() -> bool:
        output.evaluate("box => { box.scrollTop = 0 }")
        page.wait_for_timeout(50)
        return "first red light" in (output.text_content() or "")

    wait_for(at_the_beginning, "all of it is loaded, page by page")
    lines = [
        line for line in (output.text_content() or "").splitlines() if line.startswith("line ")
    ]
    assert [line.split()[1] for line in lines] == [str(number) for number in range(4000)]


def test_a_session_is_spoken_to_and_answered(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    page = open_session(project, view, actor)
    page.keyboard.press("s")
    page.keyboard.type("Mind the gap")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"Sent to {actor.id}")).to_be_visible()
    sent = by_person(project, "message.sent")
    assert (sent["to"], sent["text"]) == (f"session:{actor.id}", "Mind the gap")
    expect(page.locator(".talk")).to_contain_text("Mind the gap")
    actor.ask()
    expect(page.locator("[data-question]")).to_contain_text("Which colour?")
    asked = page.locator("[data-question]").get_attribute("data-question")
    page.get_by_label(f"Answer {actor.id}").fill("Blue")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("[data-question]")).to_have_count(0)
    sent = by_person(project, "message.sent")
    assert (sent["text"], sent["reply_to"]) == ("Blue", asked)


def test_what_a_session_did_and_how_it_ended(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    page = open_session(project, view, actor, "brief")
    expect(page.get_by_role("region", name="Brief")).to_contain_text("Act ")
    page.get_by_role("tab", name="Calls").click()
    expect(page.get_by_text("This engine prints plain text.")).to_be_visible()
    actor.go()
    project.until_ended(actor.task)
    expect(page.get_by_text("Verdict: proved")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.get_by_role("tab", name="Diff").click()
    file = page.locator(".diff-file")
    expect(file.locator("summary")).to_contain_text(f"work-{actor.task}.txt")
    expect(file.locator(".added")).to_have_text(f"+{actor.id}")
    assert not violations(page)
    file.locator("summary").click()
    expect(file.locator(".added")).to_have_count(0)


def test_a_session_is_stopped_after_asking_twice(
    project: BrowsedRepo, view: Window, actor: Actor
) -> None:
    page = open_session(project, view, actor)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Keep running").click()
    assert not [
        e for e in project.of_type("session.stop_asked") if e["data"]["session"] == actor.id
    ]
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Reason").fill("it goes astray")
    page.get_by_role("button", name="Stop session").click()
    asked = by_person(project, "session.stop_asked")
    assert (asked["session"], asked["reason"]) == (actor.id, "it goes astray")
    expect(page.get_by_text("Verdict: stopped")).to_be_visible()
    assert project.verdict(actor.task) == "stopped"

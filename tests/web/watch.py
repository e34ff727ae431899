"""Sees a page show an event without being loaded again; reads what a click wrote to the log."""

from typing import Any

from playwright.sync_api import Page

from tests.e2e.server.live_server import wait_for
from tests.web.browsed_repo import PATIENCE_MS, BrowsedRepo

# Kept in the page itself: it would be lost if the page were loaded again.
WATCH = """([selector, patience]) => {
  const shown = () => document.querySelector(selector);
  window.seen = new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`${selector} did not appear`)), patience);
    const look = () => shown() && (observer.disconnect(), done(true));
    const observer = new MutationObserver(look);
    observer.observe(document.body, {childList: true, subtree: true, attributes: true});
    look();
  });
  window.seen.catch(() => {}); // whoever asks is told
}"""


class Watch:
    """Sees that something appears on the page as it is, without any reload."""

    def __init__(self, page: Page, project: BrowsedRepo) -> None:
        self._page = page
        self._ranch = project

    def until(self, selector: str) -> None:
        """Look out for an element from now on; do what makes it appear, then call `seen`."""
        self._page.evaluate(WATCH, [selector, PATIENCE_MS])

    def seen(self, kind: str) -> None:
        wait_for(lambda: self._ranch.of_type(kind), kind)
        assert self._page.evaluate("window.seen")


def last(project: BrowsedRepo, kind: str, **fields: Any) -> dict[str, Any]:
    """Return what the newest event of a type says that the person at the browser has caused."""

    def found() -> dict[str, Any] | None:
        mine = [event for event in project.of_type(kind) if event["actor"] == "person"]
        return mine[-1] if mine and fields.items() <= mine[-1]["data"].items() else None

    data: dict[str, Any] = wait_for(found, f"{kind} {fields}")["data"]
    return data

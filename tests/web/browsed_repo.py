"""A real browser on a real `corral up`: what it shows, and what it must never do."""

import os
import random
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.e2e.server.live_server import Served
from tests.e2e.witness.witness_repo import WitnessRepo

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 120_000
PAGES = ("board", "convoy", "sessions", "queue", "timeline", "alerts", "mayor", "health")
BUILT = Path(__file__).parents[2] / "src" / "corral" / "web" / "index.html"


def chromium() -> str:
    """Return the path of the browser; without one, skip or fail, and say what helps."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found and BUILT.exists():
        return found
    missing = "chromium (apt-get install chromium)" if not found else "the built page (make web)"
    message = f"the tests of the dashboard need {missing}"
    if os.environ.get("CORRAL_NEED_BROWSER"):
        pytest.fail(message)
    pytest.skip(message)


class BrowsedRepo(WitnessRepo):
    """A repository whose tasks are shell scripts, and everything that `corral up` runs."""

    url = ""

    @property
    def over(self) -> Path:
        """A file that is there once everything is to end."""
        return self.path.parent / "over"

    def keep_port(self) -> None:
        """Have the server come back on the port that it had: a page that waits expects it there."""
        config = self.path / ".corral" / "config.toml"
        config.write_text(f"{config.read_text()}\n[server]\nport = {_lasting_port()}\n")

    @contextmanager
    def up(self) -> Iterator["BrowsedRepo"]:
        # Its checks may wait for a test, so they are not tried before.
        self.url = str(self.data("up", "-d", "--on-red", "ignore")["url"])
        try:
            yield self
        finally:
            self.over.touch()
            for session in self.sessions():
                if not session["ended_at"]:
                    self.corral("session", "stop", session["id"], code=None)
            self.until(lambda: all(one["ended_at"] for one in self.sessions()))
            self.corral("down", "--json", code=None)

    def shelve(self, title: str, *words: str) -> str:
        """Add a task that no session will take; return its id."""
        return self.add(title, "--convoy", "shelf", *words)

    def served(self) -> Served:
        return Served(self, None, self.url)  # type: ignore[arg-type]

    def path_to(self, page: str) -> str:
        return self.url + ("/" if page == "board" else f"/{page}")


def _lasting_port() -> int:
    """Return a free port outside of the range that the system hands out."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(first // 2, first)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Window:
    """One browser with its own cookies, and everything in it that should not have happened."""

    def __init__(self, context: BrowserContext) -> None:
        context.set_default_timeout(PATIENCE_MS)
        self.context = context
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self._note(f"error: {error}"))
        context.on("request", self._asked)

    def allow(self, pattern: str) -> None:
        """Let the console say this: what the test does makes it so."""
        self._allowed.append(re.compile(pattern))

    def log_in(self, project: BrowsedRepo) -> "Window":
        self.page.goto(project.data("link")["url"])
        return self

    def look(self, project: BrowsedRepo, page: str = "board") -> Page:
        """Go to a page and wait until it shows what the server has."""
        self.page.goto(project.path_to(page))
        self.page.get_by_text(re.compile(r"Live · event \d+")).wait_for(state="attached")
        return self.page

    def check(self) -> None:
        bad = [one for one in self.problems if not any(p.search(one) for p in self._allowed)]
        assert not bad, bad

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self._note(f"request: {request.url}")

    def _note(self, problem: str) -> None:
        self.problems.append(problem)


@contextmanager
def window(browser: Browser, **options: Any) -> Iterator[Window]:
    """Open a browser of its own; whatever it complains about fails the test."""
    context = browser.new_context(**options)
    try:
        opened = Window(context)
        yield opened
        opened.check()
    finally:
        context.close()

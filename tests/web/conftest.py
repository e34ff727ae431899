"""The browser, once for all tests of this folder, and a repository for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.e2e.corral_command import make_repository
from tests.e2e.witness.farm import QUIET
from tests.web.browsing import FLAGS, Ranch, Window, chromium, window


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def ranch(tmp_path: Path) -> Iterator[Ranch]:
    """A repository with the convoy `farm` (tasks F-1, F-2, …), and everything running."""
    make_repository(tmp_path / "project")
    made = Ranch(tmp_path / "project")
    made.corral("init")
    made.configure(QUIET)
    made.here("convoy", "create", "Farm", code=0)
    with made.up():
        yield made


@pytest.fixture
def view(browser: Browser, ranch: Ranch) -> Iterator[Window]:
    """A browser that is logged in."""
    with window(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened.log_in(ranch)

"""A repository with everything running for each test file, and a browser that is logged in."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.corral_command import make_repository
from tests.e2e.witness.witness_repo import QUIET
from tests.web.browsed_repo import PATIENCE_MS, BrowsedRepo, Window, window

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedRepo]:
    """A repository with everything running, for the tests of one file.

    What is in its convoy `project` is given to sessions; what is in `shelf` stays where it is.
    """
    folder = tmp_path_factory.mktemp("web")
    make_repository(folder / "project")
    made = BrowsedRepo(folder / "project")
    made.corral("init")
    made.configure(QUIET)
    made.keep_port()
    made.here("convoy", "create", "Project", code=0)
    made.here("convoy", "create", "Shelf", code=0)
    made.here("pause", "--sessions", "--convoy", "shelf", code=0)
    with made.up():
        yield made


@pytest.fixture
def view(browser: Browser, project: BrowsedRepo) -> Iterator[Window]:
    """A browser that is logged in."""
    with window(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened.log_in(project)

"""For all tests: which of them a make target runs, and what is said of those that were skipped.

A test that means something only while nothing else runs has the mark `alone`.
"""

import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from tests import targets
from tests.engines import install

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples each time, so that what fails is what was changed; others are tried on demand.
settings.register_profile(
    "corral",
    deadline=None,
    derandomize=os.environ.get("CORRAL_EXPLORE") != "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("corral")

# The node that `make env` installed, before the system's, if that has one at all. Playwright brings
# one that needs a library which is not everywhere.
NODE = Path(sys.prefix, "node")
if NODE.is_dir():
    os.environ["PATH"] = f"{NODE}:{os.environ['PATH']}"
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(NODE / "node")

LONGEST = ("web/", "e2e/whole/", "e2e/engines/", "e2e/refinery/", "e2e/", "world/", "roles/")

# A shell that runs us in the background has us ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target", choices=[*targets.PLACES], help="run what this target of tests/targets.py runs"
    )


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as there are cores, because tests wait for a third of their time."""
    return min(8, 2 * (os.cpu_count() or 1))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read a file that the target runs nothing of."""
    target = config.getoption("--target")
    if target is None or not collection_path.name.startswith("test_"):
        return None
    return not any(targets.parts(target, _below(collection_path))) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    target = config.getoption("--target")
    if target is None:
        return
    if target != "engines" and (lost := [item.nodeid for item in items if _needs_agents(item)]):
        raise pytest.UsageError(f"tests/targets.py: not tests of the agents? {lost}")
    names = {item: _below(item.path) + item.nodeid[item.nodeid.index("::") :] for item in items}
    chosen = [
        item
        for item, name in names.items()
        if targets.runs(target, name, long=item.get_closest_marker("long") is not None)
    ]
    kept = {*chosen}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = sorted(chosen, key=lambda item: _place(names[item]))


def _place(name: str) -> int:
    """Put long files first: one that begins last goes on while the other workers have no work."""
    return next((place for place, start in enumerate(LONGEST) if name.startswith(start)), 99)


def _below(path: Path) -> str:
    return path.relative_to(targets.TESTS).as_posix()


def _needs_agents(item: pytest.Item) -> bool:
    return "programs" in getattr(item, "fixturenames", ())


def pytest_sessionfinish() -> None:
    """Delete what each process has made for all of its tests: one of xdist ends without atexit."""
    if made := sys.modules.get("tests.e2e.corral_command"):
        made.delete_templates()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Name the tests that this machine could not run, by what is missing."""
    reasons: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "?"
        file, _, test = report.nodeid.partition("::")
        reasons[reason.removeprefix("Skipped: ")][file].append(test or "all")
    if reasons:
        terminalreporter.section("skipped")
    for reason, skipped in sorted(reasons.items()):
        terminalreporter.line(f"{reason}:")
        for file, tests in sorted(skipped.items()):
            terminalreporter.line(f"  {file}: {', '.join(tests)}")


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the real coding agents, which `make engines` installs.

    Without them tests are skipped, but with CORRAL_NEED_ENGINES=1 they fail.
    """
    found = install.programs() or install.awaited()
    if found is None:
        if os.environ.get("CORRAL_NEED_ENGINES") == "1":
            pytest.fail("the coding agents are not installed: make engines")
        pytest.skip("the coding agents are not installed: make engines")
    return found


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A browser for the tests of one file.

    Until it is closed, the process can drive no other, nor run a loop of asyncio of its own.
    """
    from playwright.sync_api import sync_playwright

    from tests.web.browsed_repo import FLAGS, chromium

    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()

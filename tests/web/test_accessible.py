"""axe-core finds no serious violation on any page, in any theme or size."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsed_repo import PAGES, BrowsedRepo, Window, window
from tests.web.scene import make_scene, until_lively

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedRepo]:
    with make_scene(tmp_path_factory.mktemp("scene")).up() as project:
        until_lively(project)
        yield project


def violations(page: Page) -> list[tuple[str, str, list[str]]]:
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(found => found.violations)")
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 375)], ids=str
)
def test_no_page_has_a_serious_violation(
    scene: BrowsedRepo, browser: Browser, scheme: Any, width: int
) -> None:
    size: Any = {"width": width, "height": 900}
    with window(browser, viewport=size, color_scheme=scheme, reduced_motion="reduce") as opened:
        opened.log_in(scene)
        bad = {}
        for name in PAGES:
            page = opened.look(scene, name)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            page.wait_for_timeout(500)
            bad[name] = violations(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        bad |= {name: violations(page) for name, page in overlays(opened, scene)}
        assert not any(bad.values()), {name: found for name, found in bad.items() if found}


def overlays(opened: Window, scene: BrowsedRepo) -> Iterator[tuple[str, Page]]:
    """Open what lies over pages, one after the other."""
    page = opened.page
    page.goto(f"{scene.url}/tasks/CR-9")
    expect(page.get_by_role("complementary")).to_contain_text("Brief")
    yield "drawer", page
    opened.look(scene, "board")
    for key, name in (("Control+k", "palette"), ("?", "keys"), ("n", "add")):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        yield name, page
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)

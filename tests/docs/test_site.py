"""The documentation builds as a site that works without a network, and a broken one does not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))

# What a browser loads on its own, unlike the links that a reader follows.
_LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)""")


def build(folder: Path, target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = build(ROOT, target)
    assert done.returncode == 0, done.stdout
    return target


def test_every_page_is_built_and_can_be_searched(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text("utf-8")
    for page in PAGES:
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / name).exists()
        assert f'"location":"{name}' in index
    assert not [file for file in site.rglob("*") if "hooks" in file.name], "only pages belong there"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = _LOADED.findall(page.read_text("utf-8"))
        assert loaded, "the pattern must find some"
        away = [place for place in loaded if re.match(r"(?:[a-z]+:)?//", place)]
        assert not away, f"{page.name} loads {away}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?https?:", sheet.read_text("utf-8"))


def test_the_search_works_from_a_file(site: Path, browser: Browser) -> None:
    asked: list[str] = []
    with browser.new_page() as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.get_by_placeholder("Search").fill("turnstile")
        found = page.locator(".md-search-result__link").first
        found.wait_for(timeout=PATIENCE_S * 1000)
        assert "html?h=turnstile" in (found.get_attribute("href") or "")
    assert [url for url in asked if not url.startswith("file:")] == []


def test_a_broken_page_is_refused(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / "docs" / "lost.md").write_text("# A page outside of the navigation\n", "utf-8")
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write("\n[page](nowhere.md) [anchor](glossary.md#nowhere)\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    for fault in ("lost.md", "nowhere.md", "glossary.md#nowhere"):
        assert fault in done.stdout

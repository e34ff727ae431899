"""`make pictures`: the pictures of the dashboard that the documentation shows, in docs/pictures."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.web.browsed_repo import FLAGS, PAGES, chromium, window
from tests.web.scene import make_scene, until_lively

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "pictures"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 740}, "color_scheme": "light"},
}
# Pages that show more when something is chosen.
MORE = {"session": "/sessions/CR-1.1", "task": "/tasks/CR-9", "convoy": "/convoy/checkout-rewrite"}


def shown() -> set[str]:
    """Return the names of the pictures that a page of the documentation shows."""
    pages = (page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    return {name for text in pages for name in re.findall(r"pictures/([\w-]+\.png)", text)}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = shown()
    with (
        tempfile.TemporaryDirectory() as folder,
        make_scene(Path(folder)).up() as project,
        sync_playwright() as playwright,
    ):
        until_lively(project)
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for look, options in LOOKS.items():
            with window(browser, reduced_motion="reduce", **options) as opened:
                page = opened.log_in(project).page
                paths = {name: "/" if name == "board" else f"/{name}" for name in PAGES} | MORE
                for name, path in paths.items():
                    if f"{name}-{look}.png" not in wanted:
                        continue
                    page.goto(project.url + path)
                    page.get_by_text(re.compile(r"Live · event \d+")).wait_for(state="attached")
                    page.wait_for_timeout(1500)  # until animations end
                    page.screenshot(path=FOLDER / f"{name}-{look}.png")
                    print(f"{name}-{look}.png", file=sys.stderr)
        browser.close()
    if shutil.which("pngquant"):
        files = [str(FOLDER / name) for name in sorted(wanted)]
        subprocess.run(["pngquant", "--force", "--ext", ".png", "--", *files], check=True)
    else:
        print("Install pngquant to have the pictures compressed before you commit them.")


if __name__ == "__main__":
    main()

"""Puts the dashboard into wheels and source distributions.

Where npm is present, the dashboard is built from web/. Without npm, or if that build fails (no
network, no packages), the build committed in src/corral/web is packaged instead; a test holds that
the two are the same bytes. Editable installs skip all this: they use the committed build in place.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMMITTED = "src/corral/web"
TIMEOUT_S = 600


class DashboardHook(BuildHookInterface[BuilderConfig]):
    """pyproject.toml excludes the committed build, so that the one chosen here is the only one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory(prefix="corral-dashboard-")
        built = Path(self.folder.name, "web")
        if problem := build(Path(self.root, "web"), built):
            self.app.display_warning(f"Packaging the committed build of the dashboard: {problem}.")
            built = Path(self.root, COMMITTED)
        build_data["force_include"][str(built)] = COMMITTED

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()


def build(sources: Path, into: Path) -> str:
    """Build the dashboard; return what prevented it, or nothing."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    commands = {"npm run build": [npm, "run", "build", "--", "--outDir", str(into)]}
    if not is_installed(sources):
        commands = {
            "npm ci": [npm, "ci", "--no-audit", "--no-fund", "--fetch-retries=1"]
        } | commands
    for name, command in commands.items():
        try:
            done = subprocess.run(
                command, cwd=sources, capture_output=True, timeout=TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{name} failed: {error}"
        if done.returncode:
            return f"{name} failed with exit code {done.returncode}"
    return "" if (into / "index.html").exists() else "the build left no index.html"


def is_installed(sources: Path) -> bool:
    """Say whether node_modules holds the locked versions; others would build something else."""
    try:
        installed = json.loads((sources / "node_modules/.package-lock.json").read_bytes())
    except OSError:
        return False
    locked = json.loads((sources / "package-lock.json").read_bytes())["packages"]
    found = installed["packages"]
    wanted = {name for name, package in locked.items() if name and not package.get("optional")}
    return wanted <= found.keys() and all(
        package["version"] == locked.get(name, {}).get("version") for name, package in found.items()
    )

"""Puts the dashboard, the commit and the project's address into wheels and source distributions.

Where npm is present, the dashboard is built from web/. Without npm, or if that build fails (no
network, no packages), the build committed in src/corral/web is packaged instead; a test holds that
the two are the same bytes. Editable installs skip all this: they use the committed build in place.

A source distribution has the commit already, so the wheel that is built from it is the same.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMMITTED = "src/corral/web"
VERSION = "src/corral/version.py"
NO_COMMIT = "$Format:%H$"
TIMEOUT_S = 600


class PackageHook(BuildHookInterface[BuilderConfig]):
    """pyproject.toml excludes what is added here, so that this is the only copy of it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory(prefix="corral-build-")
        built = Path(self.folder.name, "web")
        if problem := build(Path(self.root, "web"), built):
            self.app.display_warning(f"Packaging the committed build of the dashboard: {problem}.")
            built = Path(self.root, COMMITTED)
        marked = Path(self.folder.name, "version.py")
        source = Path(self.root, VERSION).read_text("utf-8")
        marked.write_text(source.replace(NO_COMMIT, commit(self.root) or NO_COMMIT), "utf-8")
        build_data["force_include"] |= {str(built): COMMITTED, str(marked): VERSION}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()


class AddressHook(MetadataHookInterface):
    """The repository whose workflow releases Corral is its address; other builds name none."""

    def update(self, metadata: dict[str, Any]) -> None:
        server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
        if "urls" not in metadata and server and name:
            home = f"{server}/{name}"
            metadata["urls"] = {
                "Repository": home,
                "Documentation": f"{home}/tree/HEAD/docs",
                "Changelog": f"{home}/blob/HEAD/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }


def commit(root: str) -> str:
    """Return the commit of a checkout, ending in -dirty if files differ; empty if there is none."""
    if not Path(root, ".git").exists():
        return ""  # the repository around a folder of another project says nothing about it
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return said.stdout.strip()


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

"""Fetches real histories to compare merges on: `make histories`.

Debian packages the fixtures of go-git: histories of public projects, as packs inside a Go source
file. Those with merges are made into bare repositories in one folder outside of the clone, which
appears whole, by a rename. Nothing but Python's own library is used.
"""

import base64
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

PACKAGE = "golang-github-go-git-go-git-fixtures-dev"
SOURCE = "usr/share/gocode/src/github.com/go-git/go-git-fixtures/data.go"
WANTED = (
    "git-174be6bd4292c18160542ae6dc6704b877b8a01a.tgz",
    "pack-0d3d824fb5c930e7e7e1f0f399f2976847d31fd3.pack",
    "pack-4ec6344877f494690fc800aceaf2ca0e86786acb.pack",
    "pack-7861f2632868833a35fe5e4ab94f99638ec5129b.pack",
    "pack-f2e0a8889a746f7600e07d2246a2e29a72f696be.pack",
)


def folder() -> Path:
    """Return where the histories are, or will be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CORRAL_HISTORIES") or Path(cache) / "corral" / "histories-1")


def main() -> int:
    target = folder()
    if target.is_dir():
        return 0
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        print("The histories come as a Debian package, and there is no apt-get here.")
        return 0
    print("Fetching histories of public projects ...", flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".histories-") as place:
        here = Path(place)
        if not downloaded(here):
            print("The histories come as a Debian package, and only root can update the lists.")
            return 0
        (file,) = here.glob(f"{PACKAGE}_*.deb")
        run(here, "dpkg-deb", "-x", str(file), "package")
        text = (here / "package" / SOURCE).read_text("utf-8")
        made = here / "made"
        made.mkdir()
        for name in WANTED:
            write(made / name.partition(".")[0], name, content(text, name))
        try:
            made.rename(target)
        except OSError:
            if not target.is_dir():  # somebody else was quicker
                raise
    return 0


def downloaded(place: Path) -> bool:
    download = ("apt-get", "download", "-qq", PACKAGE)
    if not subprocess.call(download, cwd=place, stderr=subprocess.DEVNULL):
        return True
    if os.getuid() != 0:
        return False
    run(place, "apt-get", "update", "-qq")
    run(place, *download)
    return True


def content(text: str, name: str) -> bytes:
    """Return one file of those that the source holds, compressed and in base64."""
    found = re.search(
        rf'"/data/{re.escape(name)}": \{{.*?compressed: `\n?([^`]*)`', text, re.DOTALL
    )
    if found is None:
        raise SystemExit(f"{PACKAGE} does not hold {name} any more")
    return gzip.decompress(base64.b64decode(found[1]))


def write(repo: Path, name: str, data: bytes) -> None:
    """Make a bare repository of a packed history, with a branch for every tip."""
    run(repo.parent, "git", "init", "--quiet", "--bare", str(repo))
    if name.endswith(".pack"):
        run(repo, "git", "index-pack", "--stdin", stdin=data)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            # Before 3.11.4 there are no filters, and an argument for one is refused.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(repo / "archive")
        for pack in (repo / "archive").rglob("*.pack"):
            run(repo, "git", "index-pack", "--stdin", stdin=pack.read_bytes())
        shutil.rmtree(repo / "archive")
    said = run(repo, "git", "cat-file", "--batch-all-objects", "--batch-check").decode()
    commits = [line.split()[0] for line in said.splitlines() if " commit " in line]
    parents: set[str] = set()
    for line in (
        run(repo, "git", "rev-list", "--parents", "--no-walk", *commits).decode().split("\n")
    ):
        parents.update(line.split()[1:])
    for number, tip in enumerate(commit for commit in commits if commit not in parents):
        run(repo, "git", "update-ref", f"refs/heads/tip-{number}", tip)


def run(place: Path, *command: str, stdin: bytes = b"") -> bytes:
    words: Sequence[str] = command
    done = subprocess.run(words, cwd=place, input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words[:3])} failed: {done.stderr.decode(errors='replace')}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

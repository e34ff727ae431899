"""A repository, an agent's hands in a tree, and a way to see everything in a folder."""

import os
import stat
import subprocess
from pathlib import Path

from corral.world.repository import find
from corral.world.trees import Trees

PERSON = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"))
}


def git(folder: Path | str, *args: str, fine: tuple[int, ...] = (0,), stdin: bytes = b"") -> str:
    """Run git as an agent or a user would."""
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        env=os.environ | PERSON | {"GIT_EDITOR": "true"},
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode in fine, done.stderr.decode("utf-8", "replace")
    return os.fsdecode(done.stdout).strip()


def repository(folder: Path, files: int = 8) -> Path:
    """Make a repository with some files in a few folders and two commits."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(files):
        path = folder / f"part{number % 3}" / f"file{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"content of {number}\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("part0")
    (folder / ".gitignore").write_text("*.log\nbuild/\n.env\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    (folder / "part0" / "file0.txt").write_text("content of 0, second\n")
    git(folder, "commit", "--quiet", "-am", "second")
    return folder


def opened(repo: Path, *, pool: int = 4, keep_ignored: tuple[str, ...] = ()) -> Trees:
    return Trees(find(str(repo)), pool=pool, keep_ignored=keep_ignored)


def commit_file(folder: str | Path, name: str, content: str) -> str:
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    git(folder, "add", "--", name)
    git(folder, "commit", "--quiet", "-m", f"add {name}")
    return git(folder, "rev-parse", "HEAD")


def everything(folder: Path | str, *, leaving_out: tuple[bytes, ...] = ()) -> dict[bytes, object]:
    """Return each file, link and folder below with its mode and content."""
    found: dict[bytes, object] = {}
    top = os.fsencode(folder)
    for inside, folders, names in os.walk(top):
        folders[:] = [n for n in folders if os.path.join(inside, n) not in _below(top, leaving_out)]
        for name in (*folders, *names):
            path = os.path.join(inside, name)
            if path in _below(top, leaving_out):
                continue
            status = os.lstat(path)
            seen: object = None
            if stat.S_ISLNK(status.st_mode):
                seen = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                seen = Path(os.fsdecode(path)).read_bytes()
            found[os.path.relpath(path, top)] = (stat.S_IMODE(status.st_mode), seen)
    return found


def working_files(folder: Path | str) -> dict[bytes, object]:
    """Return the files and links of a working tree as git can know them."""
    return {
        path: (bool(mode & stat.S_IXUSR), seen)
        for path, (mode, seen) in _pairs(everything(folder, leaving_out=(b".git",)))
        if seen is not None
    }


def _pairs(found: dict[bytes, object]) -> list[tuple[bytes, tuple[int, object]]]:
    return [(path, value) for path, value in found.items() if isinstance(value, tuple)]


def _below(top: bytes, names: tuple[bytes, ...]) -> set[bytes]:
    return {os.path.join(top, name) for name in names}

"""What git itself makes of two branches, in a working tree, as a user would."""

import os
import subprocess
from pathlib import Path

from msgspec import Struct

from tests.world.trees.tree_repo import PERSON

_BUG = -6  # aborted


class Outcome(Struct, frozen=True):
    """A tree and how many commits were made; or the unmerged entries of the index."""

    tree: str = ""
    commits: int | None = None  # counted for a rebase
    unmerged: frozenset[tuple[str, str, int, str]] = frozenset()


class Clone:
    """An ordinary clone, to merge in."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        self._sound: dict[str, bool] = {}
        run(source, "clone", "--quiet", "--no-checkout", "--mirror", str(source), f"{folder}/.git")
        run(folder, "config", "--unset", "core.bare")
        run(folder, "config", "gc.auto", "0")

    def set(self, key: str, value: str) -> None:
        run(self.folder, "config", key, value)

    def merge(self, ours: str, theirs: str, *options: str) -> Outcome | None:
        """Merge; None if git will not, because a fresh checkout already looks changed to it.

        That is so where attributes convert line ends that were committed as they are. And git 2.39
        itself gives up on some conflicts between files and folders, with a message that says BUG.
        """
        if not self._check_out(ours):
            return None
        done = run(self.folder, "merge", "--no-commit", *options, theirs, fine=(0, 1, _BUG))
        if done.returncode == _BUG:
            return None
        return self._outcome(conflict=done.returncode != 0)

    def rebase(self, onto: str, fork: str, commit: str) -> Outcome | None:
        if not self._check_out(commit) or not self._check_out(onto):
            return None
        done = run(
            *(self.folder, "rebase", "--quiet", "--onto", onto, fork, commit),
            fine=(0, 1, 128, _BUG),
        )
        if done.returncode == _BUG or b"would be overwritten" in done.stderr + done.stdout:
            run(self.folder, "rebase", "--quit", fine=(0, 128))
            return None
        if done.returncode and not (self.folder / ".git" / "rebase-merge").exists():
            return None  # a tree that was clean a moment ago: git looks at times, too
        found = self._outcome(conflict=done.returncode != 0)
        if done.returncode:
            run(self.folder, "rebase", "--quit")
            return found
        count = run(self.folder, "rev-list", "--count", f"{onto}..HEAD").stdout
        return Outcome(found.tree, int(count))

    def log(self, *args: str) -> bytes:
        return run(self.folder, "log", *args).stdout

    def _outcome(self, *, conflict: bool) -> Outcome:
        if conflict:
            return Outcome(unmerged=_unmerged(self.folder))
        return Outcome(run(self.folder, "write-tree").stdout.decode().strip())

    def _check_out(self, commit: str) -> bool:
        (self.folder / ".git" / "index.lock").unlink(missing_ok=True)  # of one that gave up
        run(self.folder, "checkout", "--quiet", "--force", "--detach", commit)
        run(self.folder, "clean", "-ffdxq")
        if commit not in self._sound:
            self._sound[commit] = not run(self.folder, "status", "--porcelain").stdout
        return self._sound[commit]


def run(
    folder: Path, *args: str, fine: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        ["git", *args],
        cwd=folder if folder.exists() else folder.parent,
        env=os.environ | PERSON | {"GIT_EDITOR": "true", "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode in fine, (args, done.stderr.decode("utf-8", "replace"))
    return done


def _unmerged(folder: Path) -> frozenset[tuple[str, str, int, str]]:
    found = set()
    for line in run(folder, "ls-files", "--unmerged", "-z").stdout.split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, oid, stage = about.decode().split(" ")
            found.add((mode, oid, int(stage), os.fsdecode(path)))
    return frozenset(found)

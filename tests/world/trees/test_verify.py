"""The copy is compared with the disk; any difference stops a removal."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from corral.core.errors import Refused
from corral.world.git.view import View
from corral.world.keep.snapshot import Snapshot
from corral.world.keep.verify import verify
from corral.world.trees import Trees


def content(place: Path) -> None:
    (place / "work").write_text("WORK")


def mode(place: Path) -> None:
    (place / "work").chmod(0o755)


def target(place: Path) -> None:
    (place / "link").unlink()
    (place / "link").symlink_to("part1")


def gone(place: Path) -> None:
    (place / "work").unlink()


def one_more(place: Path) -> None:
    (place / "part0" / "late").write_text("written while we looked")


def turned_into_a_pipe(place: Path) -> None:
    (place / "work").unlink()
    os.mkfifo(place / "work")


@pytest.mark.parametrize("change", [content, mode, target, gone, one_more, turned_into_a_pipe])
def test_a_difference_is_refused(repo: Path, trees: Trees, change: Callable[[Path], None]) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    (Path(tree.path) / "work").write_text("work")
    (Path(tree.path) / "x.log").write_text("ignored")
    kept = trees.keep.pin(tree, "test")
    assert kept
    raw = View(str(repo / ".git"), raw=True)
    verify(tree, raw, kept.commit, Snapshot("", "", ignored=frozenset({b"x.log"})))
    change(Path(tree.path))
    with pytest.raises(Refused):
        verify(tree, raw, kept.commit, Snapshot("", "", ignored=frozenset({b"x.log"})))

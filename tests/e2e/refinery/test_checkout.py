"""I7: the user's checkout stays as it is to the byte, whatever state it is in, and work lands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.refinery.yard import TRUNK, Yard, make_yard
from tests.world.trees.tree_repo import git


def dirty(yard: Yard) -> None:
    (yard.path / "README.md").write_text("changed\n")
    (yard.path / "staged").write_text("staged\n")
    yard.git("add", "staged")
    (yard.path / "staged").write_text("and changed again\n")
    (yard.path / "untracked").write_text("untracked\n")


def detached(yard: Yard) -> None:
    yard.git("checkout", "--quiet", "--detach", "HEAD")


def in_a_rebase(yard: Yard) -> None:
    yard.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    (yard.path / "check.sh").write_text("another\n")
    yard.git("add", "--all")
    yard.git("commit", "--quiet", "-m", "another")
    git(yard.path, "rebase", "main", fine=(1,))
    assert (yard.path / ".git" / "rebase-merge").is_dir()


def on_the_trunk(yard: Yard) -> None:
    yard.hand_in({"file-0": "x\n"})
    yard.once()
    yard.git("checkout", "--quiet", TRUNK)
    (yard.path / "README.md").write_text("changed\n")


def on_the_base(yard: Yard) -> None:
    assert yard.git("symbolic-ref", "HEAD") == "refs/heads/main"


def everything(yard: Yard) -> dict[bytes, object]:
    found = yard.checkout()
    for folder in ("rebase-merge",):
        for path in (yard.path / ".git" / folder).rglob("*"):
            found[bytes(path)] = path.read_bytes() if path.is_file() else None
    return found


@pytest.mark.parametrize("state", [dirty, detached, in_a_rebase, on_the_trunk, on_the_base])
def test_the_checkout_is_the_same_to_the_byte(
    tmp_path: Path, state: Callable[[Yard], None]
) -> None:
    finish = "merge" if state in (dirty, in_a_rebase) else "leave"
    yard = make_yard(tmp_path / "project", "true\n", f'slots = 1\nfinish = "{finish}"\n')
    state(yard)
    before = everything(yard)
    main = yard.git("rev-parse", "main")
    tasks = [yard.hand_in({f"file-{n}": "x\n"}) for n in (1, 2)]
    assert everything(yard) == before
    yard.once()
    assert everything(yard) == before
    assert {yard.states()[task] for task in tasks} == {"done"}
    assert "file-2" in yard.git("ls-tree", "--name-only", TRUNK).split()
    if state is on_the_trunk:
        said = yard.alerts()["trunk_checked_out"]
        assert str(yard.path) in said
        assert "switch to another branch there" in said
    if state is dirty:
        (finished,) = yard.events("convoy.finished")
        assert finished["data"]["how"] == "left"
        assert "git merge --ff-only" in finished["data"]["note"]
        assert yard.git("rev-parse", "main") == main

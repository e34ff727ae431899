"""R31: conflicts that need nobody: kept on both sides, made anew by a command, resolved before."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.refinery.yard import TRUNK, Yard, make_yard

# `all.lock` lists what is in the folder `parts`, and the check insists on it.
CHECK = '[ "$(cat all.lock)" = "$(ls parts)" ]\n'
REGENERATE = """
[[refinery.regenerate]]
paths = ["*.lock"]
command = "{command}"
"""


def make_parts(path: Path, command: str) -> Yard:
    yard = make_yard(path, CHECK, "slots = 1\nreturns = 1\n" + REGENERATE.format(command=command))
    start = yard.branch("start", {"parts/a": "x\n", "all.lock": "a\n", "notes": "1\n"})
    yard.git("reset", "--hard", "--quiet", start)
    return yard


def results(yard: Yard) -> list[tuple[str, str]]:
    kinds = {e["data"]["run"]: e["data"].get("kind", "land") for e in yard.events("check.started")}
    ended = [e["data"] for e in yard.events("check.ended")]
    return [(kinds[one["run"]], one["result"]) for one in ended]


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
def test_files_in_conflict_are_made_anew(tmp_path: Path, strategy: str) -> None:
    yard = make_parts(tmp_path / "project", "ls parts > all.lock")
    if strategy == "rebase":
        config = yard.path / ".corral" / "config.toml"
        config.write_text(
            config.read_text().replace("[refinery]", '[refinery]\nstrategy = "rebase"')
        )
    names = ("b", "c", "d")
    tasks = [yard.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"}) for name in names]
    before = yard.checkout()
    yard.once()
    assert {yard.states()[task] for task in tasks} == {"done"}
    assert yard.git("show", f"{TRUNK}:all.lock").split() == ["a", *names]
    assert ("regenerate", "green") in results(yard)
    assert not yard.events("change.returned")
    assert yard.checkout() == before
    assert not yard.git("for-each-ref", "refs/corral/spec")


def test_a_command_that_fails_leaves_an_ordinary_conflict(tmp_path: Path) -> None:
    yard = make_parts(tmp_path / "project", "echo no network; exit 1")
    tasks = [
        yard.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"}) for name in ("b", "c")
    ]
    yard.once()
    assert sorted(yard.states()[task] for task in tasks) == ["done", "failed"]
    (returned,) = yard.events("change.returned")
    assert (returned["data"]["why"], returned["data"]["paths"]) == ("conflict", ["all.lock"])
    assert results(yard).count(("regenerate", "red")) == 1


def test_other_files_in_conflict_are_not_made_by_it(tmp_path: Path) -> None:
    yard = make_parts(tmp_path / "project", "ls parts > all.lock")
    for name in ("b", "c"):
        yard.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n", "notes": f"{name}\n"})
    yard.once()
    (returned,) = yard.events("change.returned")
    assert set(returned["data"]["paths"]) == {"all.lock", "notes"}
    assert {kind for kind, _ in results(yard)} <= {"land", "probe"}


def test_both_sides_are_kept_where_that_is_declared(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", "true\n", 'slots = 1\nunion = ["CHANGES*"]\n')
    tasks = [yard.hand_in({"CHANGES.md": f"entry {n}\n"}) for n in range(3)]
    yard.once()
    assert {yard.states()[task] for task in tasks} == {"done"}
    said = yard.git("show", f"{TRUNK}:CHANGES.md").splitlines()
    assert sorted(said) == ["entry 0", "entry 1", "entry 2"]


def test_a_conflict_that_was_resolved_once_needs_nobody_again(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", "true\n", "slots = 1\n")
    start = yard.branch("start", {"notes": "1\n"})
    yard.git("reset", "--hard", "--quiet", start)
    yard.here("convoy", "create", "Again", code=0)
    landed = yard.hand_in({"notes": "2\n"}, "--convoy", "yard")
    yard.once()
    late = yard.hand_in({"notes": "3\n"}, "--convoy", "yard")
    theirs = yard.git("rev-parse", f"convoy/yard/{late}")
    yard.once()
    (returned,) = yard.events("change.returned")
    assert returned["data"]["task"] == late
    # Its next attempt goes out from the trunk.
    yard.submit(late, yard.branch(f"convoy/yard/{late}", {"notes": "2 and 3\n"}, TRUNK))
    yard.once()
    assert {yard.states()[task] for task in (landed, late)} == {"done"}
    # The same two changes meet in another convoy.
    again = [yard.add("again", "--convoy", "again") for _ in range(2)]
    yard.submit(again[0], yard.branch("again-2", {"notes": "2\n"}))
    yard.once()
    yard.submit(again[1], theirs)
    yard.once()
    assert {yard.states()[task] for task in again} == {"done"}
    assert len(yard.events("change.returned")) == 1
    shown = subprocess.run(
        ["git", "show", "convoy/again/trunk:notes"],
        cwd=yard.path,
        env=yard.env,
        capture_output=True,
        check=True,
    )
    assert shown.stdout == b"2 and 3\n"

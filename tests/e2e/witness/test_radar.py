"""An upcoming conflict is seen while agents work, reported once, and cleared."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.witness.witness_repo import QUIET, WitnessRepo

CODE = "def total(items):\n    return sum(items)\n\n\ndef mean(items):\n    return 0\n"
FAST = f"{QUIET}[radar]\nevery_s = 1\n"
GO = 'while [ ! -e "{go}" ]; do sleep 0.05; done; '


@pytest.fixture
def shop(project: WitnessRepo) -> WitnessRepo:
    """A project with a module of two functions, on the branch that its convoy starts from."""
    (project.path / "src").mkdir()
    (project.path / "src" / "sums.py").write_text(CODE)
    project.git("add", "src")
    project.git("commit", "-qm", "Sums")
    project.configure(FAST)
    return project


def edits(line: str) -> str:
    """Return a script that edits one function; most agents edit without committing for long."""
    return f"sed -i 's/return sum.*/{line}/' src/sums.py"


def waits(shop: WitnessRepo, name: str) -> str:
    return GO.format(go=shop.path.parent / name)


def go(shop: WitnessRepo, name: str) -> None:
    (shop.path.parent / name).touch()


def coming(shop: WitnessRepo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shop.here("status", "--json", code=0).data["overlaps"]
    return found


def between(shop: WitnessRepo, *kinds: str) -> list[tuple[str, str, str]]:
    """Return what was told of conflicts, in order."""
    return [
        (event["type"], event["data"]["task"], event["data"].get("other", ""))
        for kind in kinds
        for event in shop.of_type(kind)
    ]


def test_two_agents_in_one_function_are_told_of_before_either_hands_in(shop: WitnessRepo) -> None:
    one = shop.script(
        f"{edits('return max(items)')}; git commit -qam Max; {waits(shop, 'one')}", title="Max"
    )
    other = shop.script(
        f"{waits(shop, 'begin')}{edits('return min(items)')}; {waits(shop, 'other')}"
        "git commit -qam Min",
        title="Min",
    )
    apart = shop.script(
        f"sed -i 's/return 0/return 1/' src/sums.py; {waits(shop, 'one')}git commit -qam Mean",
        title="Mean",
    )
    with shop.witness():
        shop.until_running(f"{other}.1")
        before = index_of(shop, other)
        go(shop, "begin")
        found = shop.until(lambda: coming(shop))
        assert [(o["task"], o["other"], o["paths"]) for o in found] == [
            (other, one, ["src/sums.py"])
        ]
        assert shop.task(one)["state"] == shop.task(other)["state"] == "doing"
        assert index_of(shop, other) == before, "the session's index is its own"
        said = f"{other} conflicts with {one} (Max) in src/sums.py"
        assert f"upcoming conflicts (1)\n  {said}\n" in f"{shop.here('status').out}\n"
        for task in (one, other):
            assert f"upcoming conflict: {said}" in shop.here("why", task).out
        assert shop.here("why", apart, "--json").data["overlaps"] == []
        assert shop.here("queue", "list", "--json").data["overlaps"] == found
        go(shop, "one")
        shop.until_ended(one)
        shop.corral("refinery", "run", "--once")
        assert shop.task(one)["state"] == "done"
        # What has landed is what the other has to cope with now.
        shop.until(lambda: [o["other"] for o in coming(shop)] == [""])
        go(shop, "other")
        shop.until_ended(other)
    told = between(shop, "overlap.seen")
    assert told == [("overlap.seen", other, one), ("overlap.seen", other, "")]
    assert between(shop, "overlap.over")[0] == ("overlap.over", other, one)


def index_of(shop: WitnessRepo, task: str) -> bytes:
    tree = next(tree for tree in shop.trees().list() if tree.name == f"{task}.1")
    return Path(tree.git_dir, "index").read_bytes()


def test_what_is_mended_or_given_up_is_not_shown_any_more(shop: WitnessRepo) -> None:
    one = shop.script(
        f"{edits('return max(items)')}; {waits(shop, 'one')}git checkout -q src;"
        f"{waits(shop, 'end')}"
    )
    other = shop.script(f"{edits('return min(items)')}; {waits(shop, 'other')}{waits(shop, 'end')}")
    third = shop.script(f"{waits(shop, 'third')}{edits('return 7')}; {waits(shop, 'end')}")
    with shop.witness():
        shop.until(lambda: coming(shop))
        go(shop, "one")
        shop.until(lambda: not coming(shop))
        assert [e["data"]["reason"] for e in shop.of_type("overlap.over")] == [
            "the conflict was resolved"
        ]
        go(shop, "third")
        found = shop.until(lambda: coming(shop))
        assert {found[0]["task"], found[0]["other"]} == {other, third}
        shop.here("session", "stop", f"{third}.1", code=0)
        shop.until(lambda: not coming(shop))
        assert one in shop.here("status").out
        go(shop, "other")
        go(shop, "end")
        shop.until(lambda: all(session["verdict"] for session in shop.sessions()))
    assert len(shop.of_type("overlap.seen")) == 2


def test_a_task_about_what_others_are_in_conflict_over_is_held_back(shop: WitnessRepo) -> None:
    shop.configure(f"{FAST}hold = true\n")
    one = shop.script(f"{edits('return max(items)')}; {waits(shop, 'one')}")
    other = shop.script(f"{edits('return min(items)')}; {waits(shop, 'other')}")
    with shop.witness():
        shop.until(lambda: coming(shop))
        held = shop.script("true", "--path", "src/*.py")
        free = shop.script("true", "--path", "docs/**")
        shop.until_ended(free)
        assert shop.task(held)["state"] == "todo"
        why = shop.here("why", held, "--json").data
        assert [o["code"] for o in why["obstacles"]] == ["overlap"]
        assert "is held back: it would run into a conflict" in why["summary"]
        assert f"{one} and {other} conflict" in why["obstacles"][0]["text"]
        go(shop, "one")
        shop.until_ended(one)
        shop.until_ended(held)
        go(shop, "other")
        shop.until_ended(other)


def test_it_can_be_turned_off_and_what_it_said_is_over_then(shop: WitnessRepo) -> None:
    shop.script(f"{edits('return max(items)')}; {waits(shop, 'end')}")
    shop.script(f"{edits('return min(items)')}; {waits(shop, 'end')}")
    with shop.witness():
        shop.until(lambda: coming(shop))
    shop.configure(f"{QUIET}[radar]\nenabled = false\n")
    with shop.witness():
        shop.until(lambda: not coming(shop))
        go(shop, "end")
    assert len(shop.of_type("overlap.seen")) == 1

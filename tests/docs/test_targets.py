"""Every test is run by a make target, and every place that the table names is there."""

import ast
import re

from tests import targets

MAKEFILE = (targets.TESTS.parent / "Makefile").read_text("utf-8")


def test_every_file_belongs_to_a_target() -> None:
    lost = [f for f in targets.files() if not any(targets.runs(name, f) for name in targets.PLACES)]
    assert lost == []


def test_every_place_in_the_table_holds_tests() -> None:
    known = {*targets.files()}
    for file in targets.files():
        tree = ast.parse((targets.TESTS / file).read_text("utf-8"))
        known |= {
            f"{file}::{node.name}" for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
        }
    named = {place.partition("[")[0] for places in targets.PLACES.values() for place in places}
    assert [
        place for place in named if not any(targets.is_within(test, place) for test in known)
    ] == []


def whose(test: str, *, long: bool = False) -> list[str]:
    return [target for target in targets.PLACES if targets.runs(target, test, long=long)]


def test_what_is_long_or_needs_the_agents_is_left_out_of_the_others() -> None:
    assert whose("world/git/test_same_as_git.py::test_real_histories[x]") == ["long"]
    assert whose("e2e/refinery/test_killed.py::test_x[1]") == ["test"]
    assert whose("e2e/refinery/test_killed.py::test_x", long=True) == ["long"]
    assert whose("engines/test_governor.py::test_x", long=True) == ["engines"]
    assert whose("web/test_shell.py::test_x") == ["browser", "test"]
    assert whose("web/test_queue.py::test_x") == ["browser"]
    assert whose("elsewhere/test_x.py") == []
    assert whose("elsewhere/test_x.py", long=True) == []


def test_every_target_says_what_it_needs_and_how_long_it_takes() -> None:
    for target in targets.PLACES:
        name = targets.command(target).removeprefix("make ")
        (about,) = re.findall(rf"^{name}: ## (.*)", MAKEFILE, re.MULTILINE)
        assert re.search(r"needs? .*; \d+ minutes", about), about
        assert f"--target {target} " in MAKEFILE

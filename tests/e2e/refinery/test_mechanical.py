"""Conflicts resolved automatically: keep both sides, or regenerate. No others are."""

from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo

# `all.lock` lists what is in the folder `parts`, and the check insists on it.
CHECK = '[ "$(cat all.lock)" = "$(ls parts)" ]\n'
REGENERATE = """
[[refinery.regenerate]]
paths = ["*.lock"]
command = "{command}"
"""


def make_parts(path: Path, command: str) -> RefineryRepo:
    project = make_refinery_repo(
        path, CHECK, "slots = 1\nreturns = 1\n" + REGENERATE.format(command=command)
    )
    start = project.branch("start", {"parts/a": "x\n", "all.lock": "a\n", "notes": "1\n"})
    project.git("reset", "--hard", "--quiet", start)
    return project


def results(project: RefineryRepo) -> list[tuple[str, str]]:
    kinds = {
        e["data"]["run"]: e["data"].get("kind", "land") for e in project.events("check.started")
    }
    ended = [e["data"] for e in project.events("check.ended")]
    return [(kinds[one["run"]], one["result"]) for one in ended]


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
def test_conflicting_generated_files_are_regenerated(tmp_path: Path, strategy: str) -> None:
    project = make_parts(tmp_path / "project", "ls parts > all.lock")
    if strategy == "rebase":
        config = project.path / ".corral" / "config.toml"
        config.write_text(
            config.read_text().replace("[refinery]", '[refinery]\nstrategy = "rebase"')
        )
    names = ("b", "c", "d")
    tasks = [
        project.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"}) for name in names
    ]
    before = project.checkout()
    project.once()
    assert {project.states()[task] for task in tasks} == {"done"}
    assert project.git("show", f"{TRUNK}:all.lock").split() == ["a", *names]
    assert ("regenerate", "green") in results(project)
    assert not project.events("change.returned")
    assert project.checkout() == before
    assert not project.git("for-each-ref", "refs/corral/spec")


def test_a_command_that_fails_leaves_an_ordinary_conflict(tmp_path: Path) -> None:
    project = make_parts(tmp_path / "project", "echo no network; exit 1")
    tasks = [
        project.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"}) for name in ("b", "c")
    ]
    project.once()
    assert sorted(project.states()[task] for task in tasks) == ["done", "failed"]
    (returned,) = project.events("change.returned")
    assert (returned["data"]["why"], returned["data"]["paths"]) == ("conflict", ["all.lock"])
    assert results(project).count(("regenerate", "red")) == 1


def test_other_files_in_conflict_are_not_made_by_it(tmp_path: Path) -> None:
    project = make_parts(tmp_path / "project", "ls parts > all.lock")
    for name in ("b", "c"):
        project.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n", "notes": f"{name}\n"})
    project.once()
    (returned,) = project.events("change.returned")
    assert set(returned["data"]["paths"]) == {"all.lock", "notes"}
    assert {kind for kind, _ in results(project)} <= {"land", "probe"}


def test_both_sides_are_kept_where_that_is_declared(tmp_path: Path) -> None:
    project = make_refinery_repo(
        tmp_path / "project", "true\n", 'slots = 1\nunion = ["CHANGES*"]\n'
    )
    tasks = [project.hand_in({"CHANGES.md": f"entry {n}\n"}) for n in range(3)]
    project.once()
    assert {project.states()[task] for task in tasks} == {"done"}
    said = project.git("show", f"{TRUNK}:CHANGES.md").splitlines()
    assert sorted(said) == ["entry 0", "entry 1", "entry 2"]


@pytest.mark.parametrize("strategy", ["squash", "rebase", "merge"])
def test_no_resolution_is_applied_to_another_conflict(tmp_path: Path, strategy: str) -> None:
    project = make_refinery_repo(
        tmp_path / "project", "true\n", f'slots = 1\nstrategy = "{strategy}"\n'
    )
    project.git("reset", "--hard", "--quiet", project.branch("start", {"a": "1\n", "b": "1\n"}))
    project.here("convoy", "create", "Again", code=0)
    project.hand_in({"a": "2\n"}, "--convoy", "project")
    project.once()
    late = project.hand_in({"a": "3\n"}, "--convoy", "project")
    theirs = project.git("rev-parse", f"convoy/project/{late}")
    project.once()
    # Its next attempt goes out from the trunk.
    resolved = {"a": "2 and 3\n"}
    project.submit(late, project.branch(f"convoy/project/{late}", resolved, TRUNK))
    project.once()
    assert project.states()[late] == "done"
    # The same contents meet in another file, and the same changes in another convoy.
    project.hand_in({"b": "2\n"}, "--convoy", "project")
    project.once()
    elsewhere = project.hand_in({"b": "3\n"}, "--convoy", "project")
    again = [project.add("again", "--convoy", "again") for _ in range(2)]
    project.submit(again[0], project.branch("again-2", {"a": "2\n"}))
    project.once()
    project.submit(again[1], theirs)
    project.once()
    returned = [e["data"]["task"] for e in project.events("change.returned")]
    assert returned == [late, elsewhere, again[1]]


def test_what_was_generated_is_used_for_that_merge_only(tmp_path: Path) -> None:
    project = make_parts(tmp_path / "project", "ls parts > all.lock")
    for name in ("b", "c"):
        project.hand_in({f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"})
    project.once()
    # The same contents of the generated file meet again, with another folder beside them.
    project.here("convoy", "create", "Again", code=0)
    for name, more in (("b", {"parts/d": "x\n"}), ("c", {})):
        task = project.add("again", "--convoy", "again")
        files = {f"parts/{name}": "x\n", "all.lock": f"a\n{name}\n"} | more
        project.submit(task, project.branch(f"again-{name}", files))
    config = project.path / ".corral" / "config.toml"
    config.write_text(config.read_text().replace("sh check.sh", "true"))
    project.once()
    assert project.git("show", "convoy/again/trunk:all.lock").split() == ["a", "b", "c", "d"]

"""Set-up runs once, in every tree that needs it, and a kill leaves nothing half-made."""

import json
import os
import signal
from pathlib import Path

from tests.e2e.corral_command import Board
from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo

# Like most tools, it refuses to run in a folder where it has already run.
SETUP = (
    "set -e; echo $PWD >> {count}; mkdir deps; {gate}; echo made > deps/made; ln -s made deps/link"
)
CHECK = "test -e deps/made && test $(cat deps/link) = made"


def configured(count: Path, gate: str = "true", more: str = 'locks = ["lock"]') -> str:
    script = json.dumps(["sh", "-c", SETUP.format(count=count, gate=gate)])
    return f"[trees]\nsetup = [{script}]\n{more}\n"


def refinery(tmp_path: Path, more: str = 'locks = ["lock"]', gate: str = "true") -> RefineryRepo:
    project = make_refinery_repo(
        tmp_path / "project", CHECK, configured(tmp_path / "count", gate, more)
    )
    (project.path / ".gitignore").write_text("deps/\n")
    (project.path / "lock").write_text("1")
    project.git("add", "--all")
    project.git("commit", "-qm", "set-up")
    return project


def count(tmp_path: Path) -> int:
    path = tmp_path / "count"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_check_trees_are_set_up_once(tmp_path: Path) -> None:
    project = refinery(tmp_path)
    tasks = [project.hand_in({f"{name}.txt": name}) for name in "abc"]
    project.once()
    assert [project.states()[task] for task in tasks] == ["done"] * 3, project.events("check")
    slots = {end["data"]["slot"] for end in project.events("check.started")}
    assert count(tmp_path) == len(slots)
    project.hand_in({"lock": "2"})
    project.once()
    assert project.git("show", f"{TRUNK}:lock") == "2"
    assert count(tmp_path) > len(slots)


def test_a_check_cannot_spoil_the_set_up_of_the_next_one(tmp_path: Path) -> None:
    project = refinery(tmp_path)
    script = f"{CHECK} && ! test -e deps/extra && echo x > deps/extra && echo y > deps/made"
    project.hand_in({"check.sh": script})
    project.once()
    project.hand_in({"check.sh": script, "more.txt": "x"}, base=TRUNK)
    project.once()
    assert set(project.states().values()) == {"done"}, project.events("check")


def test_a_set_up_that_fails_blames_no_change(tmp_path: Path) -> None:
    project = refinery(tmp_path, gate=f"test -e {tmp_path}/network")
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        project.until(lambda: "cannot_check" in project.alerts())
        assert "the set-up of its tree failed" in project.alerts()["cannot_check"]
        (tmp_path / "network").touch()
        project.until(lambda: project.states()[task] == "done")
    assert not project.events("change.returned")
    assert {end["data"]["result"] for end in project.events("check.ended")} == {"lost", "green"}


def test_a_change_that_breaks_the_set_up_is_red(tmp_path: Path) -> None:
    project = refinery(tmp_path, gate="if grep -q bad lock; then exit 1; fi")
    good, bad = project.hand_in({"a.txt": "a"}), project.hand_in({"lock": "bad"})
    project.once()
    assert project.states()[good] == "done"
    assert project.states()[bad] != "done"
    assert any("set-up" in e["data"]["detail"] for e in project.events("change.returned"))


def copying(tmp_path: Path, more: str = "") -> str:
    """Return settings whose set-up copies a library of the repository, like the real pip."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(f"#!/bin/sh\nset -e; mkdir deps; cp $2/core.sh deps/core.sh{more}\n")
    pip.chmod(0o755)
    return f'[trees]\nsetup = [["{pip}", "install", "libs/core"]]\n'


def library(project: Board, ignored: str = "deps/\n") -> None:
    folder = project.path / "libs" / "core"
    folder.mkdir(parents=True)
    (folder / "core.sh").write_text("true\n")
    (project.path / "setup.cfg").touch()
    (project.path / ".gitignore").write_text(f"{ignored}.corral/\n")
    project.git("add", "--all")
    project.git("commit", "-qm", "library")


def test_the_copy_of_a_broken_change_is_not_given_to_the_next_one(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "sh deps/core.sh", copying(tmp_path))
    library(project)
    bad = project.hand_in({"libs/core/core.sh": "exit 1\n"})
    project.once()
    assert project.states()[bad] != "done"
    good = project.hand_in({"a.txt": "a"})
    project.once()
    assert project.states()[good] == "done", project.events("check")
    bad = project.hand_in({"libs/core/core.sh": "exit 1\n", "b.txt": "b"})
    project.once()
    assert project.states()[bad] != "done"


def witness(tmp_path: Path, gate: str = "true", more: str = 'locks = ["lock"]') -> WitnessRepo:
    project = make_witness_repo(tmp_path / "project")
    project.configure(
        QUIET.replace("attempts = 1", "attempts = 3") + configured(tmp_path / "count", gate, more)
    )
    (project.path / ".gitignore").write_text("deps/\n.corral/\n")
    (project.path / "lock").write_text("1")
    project.git("add", "--all")
    project.git("commit", "-qm", "set-up")
    return project


def test_a_second_attempt_is_not_set_up_again(tmp_path: Path) -> None:
    project = witness(tmp_path)
    again = f"test -e {tmp_path}/first || {{ touch {tmp_path}/first; exit 1; }}; {CHECK} && {WORK}"
    task = project.script(again, "--accept", CHECK)
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert project.sessions()[0]["id"].endswith(".2")
    assert count(tmp_path) == 1


def test_acceptance_judges_a_set_up_of_the_work_itself(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    project.configure(QUIET + copying(tmp_path))
    library(project)
    change = "echo '{}' > libs/core/core.sh; echo x > new.txt; git add -A; git commit -qm work"
    accept = ("--accept", "sh deps/core.sh && test -e new.txt")
    sound = project.script(change.format("true #"), *accept)
    broken = project.script(change.format("exit 7"), *accept)
    unbuilt = project.script("git rm -q libs/core/core.sh && git commit -qm work", *accept)
    project.once()
    assert project.verdict(sound) == "proved", project.detail(sound)
    assert project.verdict(broken) == "checks_failed", project.detail(broken)
    assert "exit code 7" in project.detail(broken)
    assert project.verdict(unbuilt) == "checks_failed", project.detail(unbuilt)
    assert "the set-up command" in project.detail(unbuilt)
    assert not project.alerts()


def test_what_a_set_up_leaves_is_not_billed_to_a_session(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    project.configure(QUIET + copying(tmp_path))
    library(project, ignored="")
    task = project.script(WORK)
    stray = project.script(f"{WORK}; echo x > stray.txt")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    branch = f"convoy/project/{task}"
    assert "deps" not in project.git("ls-tree", "--name-only", branch)
    assert (project.verdict(stray), project.detail(stray)) == ("dirty", "stray.txt")


def test_check_names_what_a_set_up_leaves_and_changes(tmp_path: Path) -> None:
    change = "; echo 2 > libs/core/core.sh; mkdir -p seen; touch seen/x"
    project = make_refinery_repo(tmp_path / "project", "true", copying(tmp_path, change))
    library(project, ignored="seen/\n")
    found = project.data("check")["findings"]
    notes = [(one["text"], one["remedy"]) for one in found if one["name"] == "set-up"]
    assert [one["state"] for one in found if one["name"] == "set-up"] == ["note", "note"]
    assert "leaves deps/ in every tree" in notes[0][0]
    assert notes[0][1] == "add deps/ to .gitignore and commit it"
    assert "changes libs/core/core.sh, which git tracks" in notes[1][0]


def test_a_kill_during_set_up_leaves_nothing_half_made(tmp_path: Path) -> None:
    project = witness(tmp_path, gate=f"test -e {tmp_path}/go || sleep 1000")
    task = project.script(f"{CHECK} && {WORK}", "--accept", CHECK)
    with project.witness() as process:
        project.until(lambda: count(tmp_path) == 1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    (tmp_path / "go").touch()
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert len(project.sessions()) == 1  # no attempt was used up
    stores = [
        name for _, _, names in os.walk(tmp_path / ".project-corral/setups") for name in names
    ]
    assert sorted(stores) == ["link", "made"]


def test_seeds_are_copied_with_their_links(tmp_path: Path) -> None:
    project = witness(tmp_path)
    project.configure(QUIET + '[trees]\nseed = ["deps/seed", "missing"]\n')
    (project.path / "deps/seed").mkdir(parents=True)
    (project.path / "deps/seed/file").write_text("seed")
    (project.path / "deps/seed/l").symlink_to("file")
    check = "test $(cat deps/seed/l) = seed && test -L deps/seed/l && echo x > deps/seed/file"
    task = project.script(f"{check} && {WORK}")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert (project.path / "deps/seed/file").read_text() == "seed"


def test_nothing_of_it_is_left_after_an_uninstall(tmp_path: Path) -> None:
    project = witness(tmp_path)
    project.script(WORK)
    project.once()
    assert (tmp_path / ".project-corral" / "setups").is_dir()
    project.here("uninstall", "--yes", code=0)
    assert not (tmp_path / ".project-corral").exists()

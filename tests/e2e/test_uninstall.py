"""`corral uninstall` removes every trace and loses no work; `corral doctor` finds leftovers."""

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.corral_command import Board, make_repository, unchanged
from tests.e2e.whole.ci import CONFIG, Ci
from tests.e2e.witness.witness_repo import WORK, WitnessRepo, make_witness_repo
from tests.patience import PATIENCE_S

# It commits, and leaves something uncommitted; it also sets an upstream, which git writes to the
# configuration that all working trees share.
UNTIDY = (
    "git branch --quiet --set-upstream-to=main; echo done > done.txt; git add done.txt;"
    " git commit -qm half; echo unsaved > unsaved.txt"
)


@pytest.fixture
def ci(tmp_path: Path) -> Ci:
    """A repository as it was before Corral came, but for what `facts` does not look at."""
    ci = Ci(make_repository(tmp_path / "project").path)
    ci.marks.mkdir()
    return ci


def facts(board: Board) -> dict[str, Any]:
    """Return all that git shows of a repository, and the files of its git folder."""
    git_dir = board.path / ".git"
    inside = (path.relative_to(git_dir) for path in git_dir.rglob("*") if not path.is_socket())
    return {
        "refs": board.git("for-each-ref"),
        "worktrees": board.git("worktree", "list", "--porcelain"),
        "status": board.git("status", "--porcelain", "--ignored"),
        "config": (git_dir / "config").read_text(),
        "files": sorted(str(path) for path in inside if path.parts[0] != "objects"),
        "beside": sorted(path.name for path in board.path.parent.iterdir()),
    }


def set_up(ci: Ci) -> None:
    ci.corral("init")
    (ci.path / ".corral" / "config.toml").write_text(CONFIG)


def ran(ci: Ci) -> None:
    """Run a convoy: one task lands, two conflict until one is done again, one leaves a mess."""
    set_up(ci)
    same = "echo $CORRAL_TASK > README.md"
    plan = ci.plan(
        ci.script("fine", ci.work()),
        ci.script("one", ci.work(same)),
        ci.script("two", ci.work(same)),
        ci.script("untidy", UNTIDY),
    )
    assert ci.run(plan).code == 1
    os.unlink(plan)


def kept_files(board: Board, bundle: Path) -> dict[str, str]:
    """Return the last content of every file in the refs of a bundle, fetched into a fresh clone."""
    fresh = board.path.parent / "fresh"
    board.git("clone", "--quiet", "--mirror", str(board.path), str(fresh))
    there = board.at(fresh)
    there.git("fetch", "--quiet", str(bundle), "refs/*:refs/*")
    found = {}
    for ref in there.git("for-each-ref", "--format=%(refname)", "refs/corral/keep").split():
        for name in there.git("ls-tree", "-r", "--name-only", ref).split():
            found[name] = there.git("show", f"{ref}:{name}")
    shutil.rmtree(fresh)
    return found


def test_after_a_convoy_everything_is_as_before_and_all_of_it_can_come_back(ci: Ci) -> None:
    (ci.path.parent / ".cache").mkdir()  # as every home has; checks may need one
    before = facts(ci)
    ran(ci)
    (ci.path / ".corral" / "roles").mkdir()
    board, saved = ci.status(), ci.data("rescue", "list")
    installed = facts(ci)
    listed = ci.data("uninstall")
    said = ci.corral("uninstall").out
    assert facts(ci) == installed
    assert listed["removed"] is False
    assert listed["running"] == []
    assert "convoy/night/trunk" in said
    assert "corral uninstall --yes" in said
    done = ci.data("uninstall", "--yes")
    kept = Path(done["kept"])
    assert kept.parent == ci.path.parent
    assert set(installed["beside"]) - set(before["beside"]) == {".project-corral"}
    assert facts(ci) == {**before, "beside": sorted([*before["beside"], kept.name])}
    assert set(listed["refs"]) <= set(done["refs"])
    assert "there is nothing to remove" in ci.corral("uninstall", "--yes").out

    ci.git("fetch", "--quiet", str(kept / "work.bundle"), "refs/*:refs/*")
    ci.folder.mkdir()
    for file in kept.glob("log.db*"):
        file.rename(ci.folder / file.name)
    (kept / "settings-1").rename(ci.path / ".corral")
    assert (ci.path / ".corral" / "config.toml").read_text() == CONFIG
    assert json.loads(ci.status())["data"]["tasks"] == json.loads(board)["data"]["tasks"]
    assert ci.data("rescue", "list") == saved


def test_work_that_is_nowhere_else_is_in_the_bundle_and_no_other(ci: Ci) -> None:
    ran(ci)
    ci.git("merge", "--quiet", "convoy/night/trunk")
    done = ci.data("uninstall", "--yes")
    bundle = Path(done["kept"]) / "work.bundle"
    heads = {line.split()[1] for line in ci.git("bundle", "list-heads", str(bundle)).splitlines()}
    assert "refs/heads/convoy/night/trunk" not in heads, "main has it"
    assert "refs/heads/convoy/night/N-4" in heads
    assert kept_files(ci, bundle)["unsaved.txt"] == "unsaved"


def test_a_person_decides_about_branches_and_about_what_is_theirs(ci: Ci) -> None:
    ran(ci)
    ci.git("add", ".corral")
    ci.git("commit", "--quiet", "-m", "Set Corral up")
    ci.git("branch", "convoy/of-my-own")
    ci.git("worktree", "add", "--quiet", str(ci.path.parent / "mine"), "convoy/night/N-1")
    tip = ci.git("rev-parse", "convoy/night/trunk")
    listed = ci.data("uninstall", "--keep-branches")
    assert not [ref for ref in listed["refs"] if ref.startswith("refs/heads/")]
    ci.corral("uninstall", "--yes", "--keep-branches")
    assert ci.git("rev-parse", "convoy/night/trunk") == tip
    done = ci.data("uninstall", "--yes")
    assert set(done["stay"]) == {"refs/heads/convoy/night/N-1", str(ci.path / ".corral")}
    assert ci.git("for-each-ref", "--format=%(refname:short)").split() == [
        "convoy/night/N-1",
        "convoy/of-my-own",
        "main",
    ]
    assert (ci.path.parent / "mine" / "N-1.txt").exists()
    assert ci.git("status", "--porcelain") == ""


def killed(project: WitnessRepo, *, agents: bool) -> None:
    """Kill the witness and the server, and all that runs below them; or leave the agents."""
    ready = project.path.parent / "ready"
    task = project.script(f"{WORK}; echo unsaved > unsaved.txt; touch '{ready}'; sleep 600")
    serving = project.started("serve", "--port", "0", stdout=subprocess.DEVNULL)
    project.until((project.folder / "run" / "server.sock").exists)
    with project.witness() as witness:
        project.until(ready.exists)
        refused = project.refused("uninstall", "--yes", "--stop", code=3)
        assert refused["code"] == "still_running"
        assert "witness" in refused["message"]
        record = json.loads((project.run_of(f"{task}.1") / "process.json").read_text())
        pids = [witness.pid, serving.pid, record["keeper_pid"], record["pid"]]
        for pid in pids + (project.leftovers() if agents else []):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        witness.wait(PATIENCE_S)
        serving.wait(PATIENCE_S)


def test_after_everything_was_killed_the_doctor_sees_it_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    project = make_witness_repo(tmp_path / "project")
    killed(project, agents=True)
    project.until(lambda: not project.leftovers())
    found = {
        check["name"]: check for check in project.corral("doctor", "--json", code=1).data["checks"]
    }
    assert not found["leftovers"]["ok"]
    assert "server.sock (try: corral up)" in found["leftovers"]["text"]
    done = project.data("uninstall", "--yes")
    assert kept_files(project, Path(done["kept"]) / "work.bundle")["unsaved.txt"] == "unsaved"
    assert not project.folder.exists()
    assert not (tmp_path / ".project-corral").exists()
    assert project.git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


def test_sessions_that_outlive_their_witness_are_ended_only_on_demand(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    killed(project, agents=False)
    before = facts(project)
    assert "--stop" in project.refused("uninstall", "--yes", code=3)["hint"]
    assert facts(project) == before
    assert project.leftovers()
    done = project.data("uninstall", "--yes", "--stop")
    assert project.leftovers() == []
    assert kept_files(project, Path(done["kept"]) / "work.bundle")["unsaved.txt"] == "unsaved"
    assert not project.folder.exists()


def test_what_is_left_after_the_folder_was_deleted_by_hand_is_found_and_removed(
    tmp_path: Path,
) -> None:
    project = make_witness_repo(tmp_path / "project")
    killed(project, agents=True)
    shutil.rmtree(project.folder)
    said = project.corral("doctor", code=1).out
    assert "refs without a log: refs/corral/base/tree-1, refs/corral/log" in said
    assert "corral rebuild --from-mirror" in said
    assert str(tmp_path / ".project-corral" / "tree-1") in said
    done = project.data("uninstall", "--yes")
    assert kept_files(project, Path(done["kept"]) / "work.bundle")["unsaved.txt"] == "unsaved"
    assert project.git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert not (tmp_path / ".project-corral").exists()
    assert "no problems found" in project.corral("doctor").out


def test_a_repository_without_corral_has_nothing_to_remove(bare_board: Board) -> None:
    with unchanged(bare_board.path):
        assert bare_board.data("uninstall", "--yes")["removed"] is False

"""Once checks are mended and the trunk has moved, no earlier verdict counts against a change."""

from pathlib import Path

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo


def reached(project: RefineryRepo, kind: str, number: int) -> None:
    project.until(lambda: len(project.events(kind)) == number)


def test_a_change_is_checked_again_instead_of_sent_back(tmp_path: Path) -> None:
    gate = tmp_path / "go"
    script = f"while ! test -e {gate}; do sleep 0.05; done; exit 3"
    project = make_refinery_repo(tmp_path / "project", script)
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        for number in (1, 2):  # red twice, so that the next plan would send it back
            reached(project, "check.started", number)
            project.here("pause", code=0)
            gate.touch()
            reached(project, "check.ended", number)
            gate.unlink()
            if number == 1:
                project.here("resume", code=0)
    (project.path / ".corral" / "config.toml").write_text('[refinery]\nchecks = ["true"]\n')
    moved = project.branch("moved", {"m.txt": "m"}, TRUNK)
    project.plumb("update-ref", f"refs/heads/{TRUNK}", moved)
    project.here("resume", code=0)
    project.once()
    assert project.states()[task] == "done"
    assert not project.events("change.returned")
    assert project.events("check.started")[-1]["data"]["tip"] == moved

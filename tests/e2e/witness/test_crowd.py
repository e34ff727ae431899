"""Many agents at once, each in its own tree; the user's checkout is untouched."""

from pathlib import Path

from tests.e2e.witness.witness_repo import QUIET, make_witness_repo


def test_twenty_agents_commit_side_by_side(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project", QUIET)
    for number in range(400):
        path = project.path / f"part{number % 20}" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"content of {number}\n")
    project.git("add", "part*")
    project.git("commit", "-qm", "many files")
    before = project.checkout()
    script = (
        "for n in 1 2 3 4 5 6 7 8; do echo $n >> part1/$CORRAL_TASK; git add -A;"
        ' git commit -qm "step $n" || exit 1; sleep 0.4; done'
    )
    tasks = [
        project.script(script, "--accept", "test $(wc -l < part1/$CORRAL_TASK) = 8")
        for _ in range(20)
    ]
    project.once()
    assert {project.verdict(task) for task in tasks} == {"proved"}
    assert project.checkout() == before
    for task in tasks:
        base, commit = project.session(f"{task}.1")["base"], project.task(task)["commit"]
        assert project.git("rev-list", "--count", f"{base}..{commit}") == "8"
        assert project.git("diff", "--name-only", base, commit) == f"part1/{task}"
    assert len(project.of_type("session.started")) == 20
    assert project.of_type("alert.raised") == []

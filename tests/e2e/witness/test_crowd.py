"""R7, R25, I7: many agents at once, each in its own tree; the user's checkout is not touched."""

from pathlib import Path

from tests.e2e.witness.farm import QUIET, make_farm


def test_twenty_agents_commit_side_by_side(tmp_path: Path) -> None:
    farm = make_farm(tmp_path / "project", QUIET)
    for number in range(400):
        path = farm.path / f"part{number % 20}" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"content of {number}\n")
    farm.git("add", "part*")
    farm.git("commit", "-qm", "many files")
    before = farm.checkout()
    script = (
        "for n in 1 2 3 4 5 6 7 8; do echo $n >> part1/$CORRAL_TASK; git add -A;"
        ' git commit -qm "step $n" || exit 1; sleep 0.4; done'
    )
    tasks = [
        farm.script(script, "--accept", "test $(wc -l < part1/$CORRAL_TASK) = 8") for _ in range(20)
    ]
    farm.once()
    assert {farm.verdict(task) for task in tasks} == {"proved"}
    assert farm.checkout() == before
    for task in tasks:
        base, commit = farm.session(f"{task}.1")["base"], farm.task(task)["commit"]
        assert farm.git("rev-list", "--count", f"{base}..{commit}") == "8"
        assert farm.git("diff", "--name-only", base, commit) == f"part1/{task}"
    assert len(farm.of_type("session.started")) == 20
    assert farm.of_type("alert.raised") == []

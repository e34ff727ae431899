"""A session cannot prove its work with an acceptance script that it rewrote."""

import pytest

from tests.e2e.witness.witness_repo import WORK, WitnessRepo

REWRITE = "echo 'exit 0' > check.sh && git commit -qam easier"


@pytest.fixture
def checked(project: WitnessRepo) -> WitnessRepo:
    """A project with a script that finds nothing good enough."""
    (project.path / "check.sh").write_text("exit 1\n")
    (project.path / "check.sh").chmod(0o755)
    project.git("add", "check.sh")
    project.git("commit", "-qm", "a check")
    return project


@pytest.mark.parametrize("accept", ["sh check.sh", "./check.sh", "cd . && sh -c 'sh check.sh'"])
def test_a_rewritten_script_proves_nothing(checked: WitnessRepo, accept: str) -> None:
    task = checked.script(f"{WORK} && {REWRITE}", "--accept", accept)
    checked.once()
    assert checked.verdict(task) == "out_of_scope"
    assert checked.detail(task).startswith("check.sh: an acceptance command of the task runs it")
    assert "    check.sh\n" in (checked.room(f"{task}.1") / "brief.md").read_text()


def test_a_task_may_own_its_script_and_may_add_one(checked: WitnessRepo) -> None:
    owner = checked.script(REWRITE, "--accept", "sh check.sh", "--path", "check.sh")
    add = "echo 'exit 0' > new.sh && git add -A && git commit -qm new"
    author = checked.script(add, "--accept", "sh new.sh")
    checked.once()
    assert checked.verdict(owner) == "proved", checked.detail(owner)
    assert checked.verdict(author) == "proved", checked.detail(author)

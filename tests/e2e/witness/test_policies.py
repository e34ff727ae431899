"""Uncommitted work may be committed on the agent's behalf, if configured."""

from tests.e2e.witness.witness_repo import QUIET, WitnessRepo

POLICY = QUIET.replace("grace_s = 1", "grace_s = 1\ncommit_dirty = true")


def test_what_is_left_is_committed_before_it_is_judged(project: WitnessRepo) -> None:
    project.configure(POLICY)
    task = project.script(
        "echo a > a.txt; echo x >> README.md; echo '1 - hi' > progress.md; mkdir d; echo b > d/b",
        "--accept",
        "test -f a.txt",
    )
    scoped = project.script("echo b > b.txt", "--path", "src/**")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    commit = project.task(task)["commit"]
    changed = project.git("diff-tree", "-r", "--name-only", "--no-commit-id", commit).split("\n")
    assert changed == ["README.md", "a.txt", "d/b"]
    assert "on behalf of the session" in project.git("log", "-1", "--format=%B", commit)
    assert project.verdict(scoped) == "out_of_scope"


def test_an_observer_may_change_nothing(project: WitnessRepo) -> None:
    project.configure(POLICY)
    good = project.script("echo all is well", "--role", "observer")
    bad = project.script("echo a > a.txt; git add -A; git commit -qm a", "--role", "observer")
    worse = project.script("echo a > a.txt", "--role", "observer")
    project.once()
    assert project.verdict(good) == "proved"
    assert (project.verdict(bad), project.verdict(worse)) == ("out_of_scope", "dirty")

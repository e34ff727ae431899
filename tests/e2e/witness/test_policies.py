"""R9: what is left uncommitted may be committed on behalf of the agent, if that is configured."""

from tests.e2e.witness.farm import QUIET, Farm

POLICY = QUIET.replace("grace_s = 1", "grace_s = 1\ncommit_dirty = true")


def test_what_is_left_is_committed_before_it_is_judged(farm: Farm) -> None:
    farm.configure(POLICY)
    task = farm.script(
        "echo a > a.txt; echo x >> README.md; echo '1 - hi' > progress.md; mkdir d; echo b > d/b",
        "--accept",
        "test -f a.txt",
    )
    scoped = farm.script("echo b > b.txt", "--path", "src/**")
    farm.once()
    assert farm.verdict(task) == "proved", farm.detail(task)
    commit = farm.task(task)["commit"]
    changed = farm.git("diff-tree", "-r", "--name-only", "--no-commit-id", commit).split("\n")
    assert changed == ["README.md", "a.txt", "d/b"]
    assert "on behalf of the session" in farm.git("log", "-1", "--format=%B", commit)
    assert farm.verdict(scoped) == "out_of_scope"


def test_an_observer_may_change_nothing(farm: Farm) -> None:
    farm.configure(POLICY)
    good = farm.script("echo all is well", "--role", "observer")
    bad = farm.script("echo a > a.txt; git add -A; git commit -qm a", "--role", "observer")
    worse = farm.script("echo a > a.txt", "--role", "observer")
    farm.once()
    assert farm.verdict(good) == "proved"
    assert (farm.verdict(bad), farm.verdict(worse)) == ("out_of_scope", "dirty")

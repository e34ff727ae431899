"""Work that contains a key does not land, and nothing is built on it."""

import pytest

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, script

KEY = "plain-looking-0123456789"
PLACE = "eu-central-1b"
PASSED_ON = 'env = ["MY_KEY", "MY_PLACE"]\ncommit = true\n'
COMMIT = "git add -A && git commit -qm work"


def work(project: EngineRepo, *commands: str) -> str:
    return project.script(script(began(), *commands, DONE))


@pytest.fixture
def project(project: EngineRepo) -> EngineRepo:
    project.env |= {"MY_KEY": KEY, "MY_PLACE": PLACE}
    project.configure(CONFIG + PASSED_ON)
    return project


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_work_with_a_key_in_it_is_refused_however_it_got_there(
    project: EngineRepo, kind: str
) -> None:
    project.configure(CONFIG + PASSED_ON + f'[trees]\nkind = "{kind}"\n')
    left = work(project, 'mkdir "my settings"', 'echo "key = $MY_KEY" > "my settings/é.ini"')
    taken_out = work(project, "echo $MY_KEY > a.txt", COMMIT, "echo none > a.txt", COMMIT)
    in_message = work(project, WORK, 'git commit -q --amend -m work -m "- with $MY_KEY"')
    in_bytes = work(project, 'printf "\\000\\001$MY_KEY\\377" > a.bin', COMMIT)
    merged = work(
        project,
        *(WORK, "git checkout -qb side HEAD^", "echo 1 > side.txt", COMMIT, "git checkout -q -"),
        *("git merge -q --no-commit side", "echo $MY_KEY > evil.txt", COMMIT),
    )
    project.once()
    expected = {
        left: "my settings/é.ini",
        taken_out: "a.txt",
        in_message: "the message of a commit",
        in_bytes: "a.bin",
        merged: "evil.txt",
    }
    for task, where in expected.items():
        assert project.verdict(task) == "leaked", project.detail(task)
        assert project.detail(task) == f"the value of MY_KEY is in {where}"
        assert "leaked: the value of MY_KEY is in" in project.here("why", task, code=0).out
        assert KEY not in project.git("log", "-p", "--text", "--branches")
        assert project.kept(f"{task}.1")
    raised = project.here("alert", "list", "--json", code=0).data
    assert {(alert["kind"], alert["subject"]) for alert in raised} == {
        ("leaked", f"{task}.1") for task in expected
    }
    assert KEY not in project.here("log", "--json").out


def test_the_next_attempt_starts_over_and_lands_nothing_of_the_one_with_the_key(
    project: EngineRepo,
) -> None:
    project.configure(CONFIG.replace("attempts = 1", "attempts = 2") + PASSED_ON)
    learns = 'grep -q "leaked: the value of MY_KEY is in notes.txt" "$CORRAL_BRIEF"'
    task = work(project, f"{learns} || {{ echo $MY_KEY > notes.txt; {COMMIT}; }}", WORK)
    project.once()
    assert project.verdicts() == ["leaked", "proved"], project.detail(task)
    assert project.git("show", "--format=", "--name-only", f"convoy/project/{task}") == (
        f"work-{task}.txt"
    )
    assert project.git("rev-list", "--count", f"main..convoy/project/{task}") == "1"


def test_what_is_no_key_or_was_there_before_may_be_written(project: EngineRepo) -> None:
    (project.path / "sample.txt").write_text(f"a sample: {KEY}\n")
    project.git("add", "sample.txt")
    project.git("commit", "-qm", "It is there for all to see")
    no_key = work(project, "echo $MY_PLACE > place.txt", COMMIT)
    known = work(project, 'echo "the sample: $MY_KEY" > sample.txt', COMMIT)
    project.once()
    assert {project.verdict(no_key), project.verdict(known)} == {"proved"}, project.detail(no_key)


def test_a_key_may_be_taken_out(project: EngineRepo) -> None:
    (project.path / "a.txt").write_text(f"{KEY}\n")
    project.git("add", "a.txt")
    project.git("commit", "-qm", "By mistake")
    task = work(project, "git rm -q a.txt", COMMIT)
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)

"""R24: a key that an agent writes into its work does not land, and nobody builds on it."""

import pytest

from tests.e2e.engines.ranch import CONFIG, DONE, WORK, Ranch, began, script

KEY = "plain-looking-0123456789"
PLACE = "eu-central-1b"
PASSED_ON = 'env = ["MY_KEY", "MY_PLACE"]\ncommit = true\n'
COMMIT = "git add -A && git commit -qm work"


def work(ranch: Ranch, *commands: str) -> str:
    return ranch.script(script(began(), *commands, DONE))


@pytest.fixture
def ranch(ranch: Ranch) -> Ranch:
    ranch.env |= {"MY_KEY": KEY, "MY_PLACE": PLACE}
    ranch.configure(CONFIG + PASSED_ON)
    return ranch


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_work_with_a_key_in_it_is_refused_however_it_got_there(ranch: Ranch, kind: str) -> None:
    ranch.configure(CONFIG + PASSED_ON + f'[trees]\nkind = "{kind}"\n')
    left = work(ranch, 'mkdir "my settings"', 'echo "key = $MY_KEY" > "my settings/é.ini"')
    taken_out = work(ranch, "echo $MY_KEY > a.txt", COMMIT, "echo none > a.txt", COMMIT)
    in_message = work(ranch, WORK, 'git commit -q --amend -m work -m "- with $MY_KEY"')
    in_bytes = work(ranch, 'printf "\\000\\001$MY_KEY\\377" > a.bin', COMMIT)
    merged = work(
        ranch,
        *(WORK, "git checkout -qb side HEAD^", "echo 1 > side.txt", COMMIT, "git checkout -q -"),
        *("git merge -q --no-commit side", "echo $MY_KEY > evil.txt", COMMIT),
    )
    ranch.once()
    expected = {
        left: "my settings/é.ini",
        taken_out: "a.txt",
        in_message: "the message of a commit",
        in_bytes: "a.bin",
        merged: "evil.txt",
    }
    for task, where in expected.items():
        assert ranch.verdict(task) == "leaked", ranch.detail(task)
        assert ranch.detail(task) == f"the value of MY_KEY is in {where}"
        assert "leaked: the value of MY_KEY is in" in ranch.here("why", task, code=0).out
        assert KEY not in ranch.git("log", "-p", "--text", "--branches")
        assert ranch.kept(f"{task}.1")
    raised = ranch.here("alert", "list", "--json", code=0).data
    assert {(alert["kind"], alert["subject"]) for alert in raised} == {
        ("leaked", f"{task}.1") for task in expected
    }
    assert KEY not in ranch.here("log", "--json").out


def test_the_next_attempt_starts_over_and_lands_nothing_of_the_one_with_the_key(
    ranch: Ranch,
) -> None:
    ranch.configure(CONFIG.replace("attempts = 1", "attempts = 2") + PASSED_ON)
    learns = 'grep -q "leaked: the value of MY_KEY is in notes.txt" "$CORRAL_BRIEF"'
    task = work(ranch, f"{learns} || {{ echo $MY_KEY > notes.txt; {COMMIT}; }}", WORK)
    ranch.once()
    assert ranch.verdicts() == ["leaked", "proved"], ranch.detail(task)
    assert ranch.git("show", "--format=", "--name-only", f"convoy/farm/{task}") == (
        f"work-{task}.txt"
    )
    assert ranch.git("rev-list", "--count", f"main..convoy/farm/{task}") == "1"


def test_what_is_no_key_or_was_there_before_may_be_written(ranch: Ranch) -> None:
    (ranch.path / "sample.txt").write_text(f"a sample: {KEY}\n")
    ranch.git("add", "sample.txt")
    ranch.git("commit", "-qm", "It is there for all to see")
    no_key = work(ranch, "echo $MY_PLACE > place.txt", COMMIT)
    known = work(ranch, 'echo "the sample: $MY_KEY" > sample.txt', COMMIT)
    ranch.once()
    assert {ranch.verdict(no_key), ranch.verdict(known)} == {"proved"}, ranch.detail(no_key)


def test_a_key_may_be_taken_out(ranch: Ranch) -> None:
    (ranch.path / "a.txt").write_text(f"{KEY}\n")
    ranch.git("add", "a.txt")
    ranch.git("commit", "-qm", "By mistake")
    task = work(ranch, "git rm -q a.txt", COMMIT)
    ranch.once()
    assert ranch.verdict(task) == "proved", ranch.detail(task)

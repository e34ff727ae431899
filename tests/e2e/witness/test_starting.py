"""R7, R20: what keeps a session from starting is said by name and frees the slot."""

import pytest

from tests.e2e.witness.farm import QUIET, WORK, Farm

ENGINE = """\
[engine.nothing]
type = "shell"
[engine.gone]
type = "shell"
command = ["/does/not/exist"]
"""


def test_what_cannot_start_says_why_and_frees_its_slot(farm: Farm) -> None:
    farm.configure(QUIET.replace("total = 50", "total = 1") + ENGINE)
    wrong = {
        farm.script(WORK, "--input", "docs/plan.md"): "the input 'docs/plan.md' does not exist",
        farm.add("x", "--engine", "unheard-of"): "no engine 'unheard-of'",
        farm.add("x"): "no engine 'default'",
        farm.add("x", "--engine", "nothing"): "the engine 'nothing' has no command",
        farm.add("x", "--engine", "gone"): "/does/not/exist",
        farm.add("x", "--run", "no-such-program --now"): "no-such-program",
    }
    good = farm.script(WORK, "--input", "README.md")
    farm.once()
    for task, reason in wrong.items():
        assert farm.verdict(task) == "could_not_start"
        assert reason in farm.detail(task)
        assert farm.task(task)["state"] == "failed"
    assert farm.verdict(good) == "proved"
    assert farm.trees().list() == []


@pytest.mark.parametrize(
    ("command", "limit_s", "reason"),
    [
        ('["sh", "-c", "echo no network; exit 4"]', 60, "exit code 4; its last words: no network"),
        ('["sh", "-c", "sleep 60 & sleep 60"]', 1, "it took longer than 1 s"),
        ('["no-such-tool"]', 60, "no-such-tool"),
    ],
)
def test_a_set_up_command_that_fails_or_hangs_is_tried_again_later(
    farm: Farm, command: str, limit_s: int, reason: str
) -> None:
    config = QUIET.replace("attempts = 1", "attempts = 2")
    farm.configure(f"{config}\n[trees]\nsetup = [{command}]\nsetup_s = {limit_s}\n")
    task = farm.script(WORK)
    farm.once()
    ended = farm.of_type("session.ended")
    assert [e["data"]["verdict"] for e in ended] == ["could_not_start"] * 2
    assert all(reason in e["data"]["detail"] for e in ended), ended
    assert farm.task(task)["state"] == "failed"
    assert farm.leftovers() == []
    assert farm.trees().list() == []


def test_set_up_copies_files_runs_commands_and_leases_ports(farm: Farm) -> None:
    (farm.path / ".gitignore").write_text(".env\nbuilt\n")
    farm.git("add", ".")
    farm.git("commit", "-qm", "ignore")
    (farm.path / ".env").write_text("SECRET=1\n")
    farm.configure(
        QUIET + '[trees]\ncopy = [".env"]\nsetup = [["sh", "-c", "cat .env > built"]]\n'
        "ports = 2\nport_range = [23000, 23005]\n"
    )
    show = (
        "cat built > seen.txt; echo $CORRAL_PORT_1 $CORRAL_PORT_2 >> seen.txt;"
        "corral lease list --json > leases.txt; git add -A; git commit -qm seen; sleep 0.5"
    )
    tasks = [farm.script(show) for _ in range(4)]  # six ports: three at a time
    farm.once()
    for task in tasks:
        assert farm.verdict(task) == "proved", farm.detail(task)
        commit = farm.task(task)["commit"]
        secret, numbers = farm.git("show", f"{commit}:seen.txt").split("\n")
        assert secret == "SECRET=1"
        first, second = numbers.split()
        leases = farm.git("show", f"{commit}:leases.txt")
        assert f'"port:{first}"' in leases
        assert first != second
    held: dict[str, str] = {}
    for event in map(dict, farm.of_type("lease.acquired") + farm.of_type("lease.released")):
        held[event["data"]["resource"]] = event["type"]
    assert len(farm.of_type("lease.acquired")) == 8
    assert farm.data("lease", "list") == []


def test_a_task_that_waits_for_a_slot_says_so(farm: Farm) -> None:
    farm.configure(QUIET.replace("total = 50", "total = 1"))
    first, second = farm.script("sleep 60"), farm.script("sleep 60")
    with farm.witness():
        farm.until_running(f"{first}.1")
        said = farm.here("why", second, code=0).out
        assert "waits for a slot: 1 of 1 are taken" in said
        farm.here("session", "stop", f"{first}.1", code=0)
        assert farm.until_ended(first) == "stopped"
        farm.until_running(f"{second}.1")
        farm.here("session", "stop", f"{second}.1", code=0)
        assert farm.until_ended(second) == "stopped"


def test_a_retry_goes_on_with_the_last_attempts_commits_also_after_the_trunk_moved_on(
    farm: Farm,
) -> None:
    farm.configure(
        QUIET.replace("attempts = 1", "attempts = 2").replace("backoff_s = 0", "backoff_s = 1")
    )
    task = farm.script(f"{WORK}; test $CORRAL_SESSION = $CORRAL_TASK.2")
    with farm.witness():
        farm.until_ended(task)
        farm.git("update-ref", "refs/heads/convoy/farm/trunk", _commit_on(farm))
        farm.until(lambda: farm.task(task)["state"] == "review")
    commit = farm.task(task)["commit"]
    assert farm.git("show", f"{commit}:work-{task}.txt") == f"{task}.1\n{task}.2"


def _commit_on(farm: Farm) -> str:
    return farm.git("commit-tree", "-p", "main", "-m", "landed", "main^{tree}")

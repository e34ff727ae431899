"""What the `corral` command lets a session do is the same with and without a server."""

import subprocess

import pytest

from tests.e2e.witness.witness_repo import WORK, WitnessRepo

REFUSED = {
    "another task": "corral task cancel {other}",
    "a comment on another task": "corral task comment {other} hello",
    "another name": "corral --as bob task cancel {other}",
    "everything": "corral pause",
    "a convoy": "corral convoy create 'Mine'",
    "a check": "corral queue report R1 green",
    "an alert": "corral alert clear A-1",
    "a role": "corral refinery run --once",
    "all roles": "corral down",
    "the whole": "corral uninstall --yes",
    "the token of people": "corral link",
}
ALLOWED = (
    "corral status && corral task show {other} && corral why {other} && corral task list"
    " && corral task comment $CORRAL_TASK hello && corral message send people hello"
)


@pytest.mark.parametrize("without_key", [False, True])
@pytest.mark.parametrize("served", [False, True])
def test_a_session_may_change_only_what_is_its_own(
    project: WitnessRepo, *, served: bool, without_key: bool
) -> None:
    other = project.add("Somebody else's", "--for", "ann")
    tries = "\n".join(
        f"{what.format(other=other)} >/dev/null 2>&1; [ $? = 3 ] || echo 'it could: {name}'"
        for name, what in REFUSED.items()
    )
    # Some engines withhold variables that sound like secrets.
    unset = "unset CORRAL_KEY CORRAL_TOKEN\n" if without_key else ""
    task = project.script(f"{unset}{tries}\n{ALLOWED.format(other=other)} && {WORK}")
    server = project.started("serve", "--port", "0", stdout=subprocess.DEVNULL) if served else None
    try:
        if served:
            project.until((project.folder / "run" / "server.sock").exists)
        project.once()
    finally:
        if server is not None:
            server.terminate()
            server.wait()
    said = (project.run_of(f"{task}.1") / "output").read_text()
    assert "it could" not in said
    assert project.verdict(task) == "proved", project.detail(task) + said
    assert project.task(other)["state"] == "todo"
    assert len(project.task(task)["comments"]) == 1


def test_in_another_repository_a_session_is_anybody(project: WitnessRepo) -> None:
    """An agent may test a project that itself uses Corral."""
    task = project.script(
        "d=$(mktemp -d) && git init -q $d && cd $d && git commit -q --allow-empty -m first"
        f" && corral init && corral convoy create Mine && cd - && {WORK}"
    )
    project.once()
    said = (project.run_of(f"{task}.1") / "output").read_text()
    assert project.verdict(task) == "proved", project.detail(task) + said

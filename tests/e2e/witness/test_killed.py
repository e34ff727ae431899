"""The witness, an agent, or everything at once is killed, and nothing is lost."""

import json
import os
import shlex
import signal
from contextlib import suppress
from pathlib import Path

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo
from tests.patience import PATIENCE_S

RETRIED = QUIET.replace("attempts = 1", "attempts = 3")


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # one of the others may have taken it along
        os.kill(pid, signal.SIGKILL)


def _wait_for(gate: Path) -> str:
    return f"until test -e {shlex.quote(str(gate))}; do sleep 0.05; done"


def test_a_killed_witness_is_succeeded_by_one_that_goes_on_with_the_same_sessions(
    project: WitnessRepo,
) -> None:
    many = 20
    gate = project.path.parent / "gate"
    say = 'for n in {}; do echo "$CORRAL_SESSION line $n"; done'
    script = f"{say.format('1 2')}; {_wait_for(gate)}; {say.format('3 4 5')}; "
    tasks = [project.script(script + (WORK if number % 4 else "exit 7")) for number in range(many)]
    with project.witness() as first:
        pids = [project.until_running(f"{task}.1") for task in tasks]
        first.kill()
        first.wait()
    assert len(set(pids)) == many
    gate.touch()
    project.once()
    for number, task in enumerate(tasks):
        session = project.session(f"{task}.1")
        assert session["verdict"] == ("proved" if number % 4 else "crashed"), session
        assert not (project.room(f"{task}.1") / "run-2").exists()
        exit_ = json.loads((project.run_of(f"{task}.1") / "exit.json").read_text())
        assert exit_["code"] == (0 if number % 4 else 7)
        said = (project.run_of(f"{task}.1") / "output").read_text().splitlines()
        assert said[:5] == [f"{task}.1 line {n}" for n in range(1, 6)]
    started = [event["data"]["session"] for event in project.of_type("session.started")]
    assert sorted(started) == sorted(f"{task}.1" for task in tasks)
    ended = project.of_type("session.ended")
    assert {e["data"].get("code") for e in ended} == {0, 7}


def test_a_killed_agent_is_crashed_and_tried_again_up_to_the_limit(project: WitnessRepo) -> None:
    project.configure(RETRIED)
    task = project.script("echo I am about to; echo do something; sleep 300")
    with project.witness():
        for attempt in (1, 2, 3):
            _kill_when_it_has_spoken(project, task, attempt)
        assert project.until(lambda: project.task(task)["state"] == "failed")
    assert len(project.of_type("task.delayed")) == 2
    assert len(project.of_type("task.failed")) == 1


def _kill_when_it_has_spoken(project: WitnessRepo, task: str, attempt: int) -> None:
    """Kill an agent, and wait until that is known."""
    name = f"{task}.{attempt}"
    pid = project.until_running(name)
    project.until(lambda: (project.run_of(name) / "output").stat().st_size > 20)
    kill(pid)
    project.until(lambda: len(project.of_type("session.ended")) >= attempt)
    ended = project.of_type("session.ended")[-1]["data"]
    assert (ended["session"], ended["verdict"], ended["signal"]) == (name, "crashed", 9)
    assert "I am about to / do something" in ended["detail"]


def test_after_everything_was_killed_at_once_nothing_is_lost_and_no_task_is_stuck(
    project: WitnessRepo,
) -> None:
    project.configure(RETRIED)
    script = (
        f"if [ $CORRAL_SESSION = $CORRAL_TASK.1 ]; then {WORK};"
        " echo half > half.txt; git add half.txt; echo more > more.txt; touch ready; sleep 300;"
        f" else {WORK}; fi"
    )
    tasks = [project.script(script) for _ in range(6)]
    with project.witness() as witness:
        for task in tasks:
            project.until_running(f"{task}.1")
        trees = {tree.name: tree.path for tree in project.trees().list()}
        project.until(lambda: all(os.path.exists(f"{path}/ready") for path in trees.values()))
        witness.send_signal(signal.SIGSTOP)
        records = [
            json.loads((project.run_of(f"{task}.1") / "process.json").read_text()) for task in tasks
        ]
        agents = project.leftovers()
        # Kill first the process that could report how the others ended.
        for pid in [witness.pid, *(r["keeper_pid"] for r in records), *(r["pid"] for r in records)]:
            kill(pid)
        for pid in agents:
            kill(pid)
        witness.wait()
    project.until(lambda: not project.leftovers())
    project.once()
    for task in tasks:
        first = next(
            e for e in project.of_type("session.ended") if e["data"]["session"] == f"{task}.1"
        )
        assert first["data"]["verdict"] == "crashed"
        assert "nothing recorded how" in first["data"]["detail"]
        assert project.verdict(task) == "proved", project.detail(task)
        assert project.task(task)["state"] == "review"
        commit = project.task(task)["commit"]
        # The second attempt went on with what the first one had committed.
        assert project.git("show", f"{commit}:work-{task}.txt") == f"{task}.1\n{task}.2"
        assert project.has_file_kept(f"{task}.1", "half.txt", "half")
        assert project.has_file_kept(f"{task}.1", "more.txt", "more")


def test_the_keeper_and_the_shim_are_killed_and_the_agent_lives_on(project: WitnessRepo) -> None:
    ready = project.path.parent / "ready"
    task = project.script(f"trap '' TERM HUP; touch '{ready}'; sleep 300 & sleep 300")
    with project.witness() as witness:
        project.until(ready.exists)  # before that, it would end with who started it
        record = json.loads((project.run_of(f"{task}.1") / "process.json").read_text())
        witness.kill()
        witness.wait()
    kill(record["keeper_pid"])
    kill(record["pid"])
    assert project.leftovers()
    project.once()
    assert project.verdict(task) == "crashed"
    assert project.leftovers() == []


def test_a_witness_that_is_asked_to_stop_leaves_its_sessions_running(project: WitnessRepo) -> None:
    gate = project.path.parent / "gate"
    task = project.script(f"{_wait_for(gate)}; {WORK}")
    checked = project.script(WORK, "--accept", _wait_for(gate))
    with project.witness() as witness:
        project.until_running(f"{task}.1")
        project.until((project.room(f"{checked}.1") / "check-1" / "process.json").exists)
        refused = project.refused("witness", "run", code=3)
        assert refused["code"] == "witness_runs"
        witness.send_signal(signal.SIGINT)
        assert witness.wait(PATIENCE_S) == 0
    assert project.session(f"{task}.1")["verdict"] == ""
    assert project.until_running(f"{task}.1")
    gate.touch()
    project.once()
    assert (project.verdict(task), project.verdict(checked)) == ("proved", "proved")
    assert len(project.of_type("session.started")) == 2


def test_a_second_witness_is_refused(project: WitnessRepo) -> None:
    project.script("sleep 1")
    with project.witness():
        project.until(project.sessions)
        said = project.corral("witness", "run", "--once", code=3)
        assert "another witness" in said.err

"""After a stop nothing is alive, whatever the agent did; output is bounded."""

import json
import signal

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo

DAEMONS = (
    "setsid sh -c 'sleep 300 & sleep 300' & "
    "(setsid sh -c '(setsid sleep 300 &) ; sleep 300' &) ; "
    'python3 -c \'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen();'
    " time.sleep(300)' & touch up; sleep 300"
)


def test_daemons_of_a_stopped_session_do_not_survive_it(project: WitnessRepo) -> None:
    task = project.script(DAEMONS)
    other = project.script(f"sleep 1; {WORK}")
    with project.witness():
        project.until_running(f"{task}.1")
        project.until(lambda: len(project.leftovers()) >= 7)
        project.here("session", "stop", f"{task}.1", "--reason", "enough", code=0)
        assert project.until_ended(task) == "stopped"
        assert project.detail(task) == "enough"
        assert project.until_ended(other) == "proved"
    assert project.leftovers() == []
    assert project.task(task)["state"] == "failed"


def test_one_that_ignores_the_request_is_killed(project: WitnessRepo) -> None:
    task = project.script("trap '' TERM INT HUP; echo deaf; while true; do sleep 0.1; done")
    with project.witness():
        project.until_running(f"{task}.1")
        project.until(lambda: (project.run_of(f"{task}.1") / "output").stat().st_size)
        project.here("session", "stop", f"{task}.1", code=0)
        assert project.until_ended(task) == "stopped"
    (ended,) = project.of_type("session.ended")
    assert ended["data"]["signal"] == signal.SIGKILL
    assert project.leftovers() == []


def test_a_frozen_shim_does_not_keep_a_session_alive(project: WitnessRepo) -> None:
    task = project.script("kill -STOP $PPID; sleep 300")
    with project.witness():
        project.until_running(f"{task}.1")
        project.here("session", "stop", f"{task}.1", code=0)
        assert project.until_ended(task) == "stopped"
    assert project.leftovers() == []


def test_much_output_is_bounded_on_disk_and_its_end_is_kept(project: WitnessRepo) -> None:
    project.configure(QUIET.replace("grace_s = 1", "grace_s = 1\noutput_mb = 2"))
    task = project.script(f"head -c 200000000 /dev/zero | tr '\\0' 'x'; echo; echo the end; {WORK}")
    project.once()
    assert project.verdict(task) == "proved"
    folder = project.run_of(f"{task}.1")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3 << 20
    ended = json.loads((folder / "exit.json").read_text())
    assert ended["output_bytes"] > 200_000_000
    assert project.data("session", "tail", f"{task}.1", "--lines", "1")["lines"] == ["the end"]


def test_a_session_whose_task_was_taken_away_is_stopped(project: WitnessRepo) -> None:
    task = project.script("touch up; sleep 300")
    with project.witness():
        project.until_running(f"{task}.1")
        project.here("task", "hand-off", task, "--to", "ann", "--force", code=0)
        assert project.until_ended(task) == "stopped"
    assert project.task(task)["assignee"] == "ann"
    assert project.task(task)["state"] == "todo"


def test_an_agent_cannot_hand_in_its_own_task(project: WitnessRepo) -> None:
    task = project.script('corral task submit $CORRAL_TASK; echo "said: $?"')
    project.once()
    assert project.verdict(task) == "no_change"
    assert project.of_type("task.submitted") == []

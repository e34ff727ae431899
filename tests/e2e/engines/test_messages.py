"""A message reaches an agent that never asks for it, once, at its next turn."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.corral_command import CORRAL
from tests.e2e.engines.engine_repo import CONFIG, DONE, QUIET, WORK, EngineRepo, began, script
from tests.patience import PATIENCE_S


def heard(project: EngineRepo) -> Path:
    """Where the agents of a test write down what they were told."""
    return project.path.parent / "heard"


def listening(project: EngineRepo, *commands: str) -> str:
    """Return a script of an agent that notes its prompt and waits for a sign before it ends."""
    note = f'echo "== $CORRAL_SESSION $CORRAL_RESUME" >> {heard(project)}; cat >> {heard(project)}'
    return script(note, began(), *commands)


def wait_for(path: Path) -> str:
    return f"until test -e {path}; do sleep 0.05; done"


def test_a_message_is_the_next_turn_of_an_agent_that_can_be_resumed(project: EngineRepo) -> None:
    go = project.path.parent / "go"
    task = project.script(listening(project, wait_for(go), WORK, DONE))
    with project.witness():
        project.until(lambda: project.of_type("session.engaged"))
        sent = project.data("message", "send", f"{task}.1", "Use the other port")["id"]
        said = project.data("session", "send", f"{task}.1", "And be quick", "--wait", "0")
        assert (said["session"], said["proof"]) == (f"{task}.1", None)
        go.touch()
        assert project.until_ended(task) == "proved"
    told = heard(project).read_text()
    assert told.count("Use the other port") == told.count("And be quick") == 1
    assert f"== {task}.1 th-1" in told
    assert project.reactions() == [("message", "resume")]
    proofs = {
        e["data"]["message"]: e["data"]["proof"] for e in project.of_type("message.delivered")
    }
    assert proofs == {sent: "reacted", said["message"]: "reacted"}


MOST_STEPS = 60


def killed_everywhere(project: EngineRepo, each: Callable[[int, Path], str]) -> list[str]:
    """Have a witness killed at every step of its way, one message for each; return the steps.

    `each` adds a task, sends a message that is like no other, and returns what it says. Another
    witness then goes on to the end.
    """
    steps: list[str] = []
    for number in range(1, MOST_STEPS):
        armed = project.path.parent / f"armed-{number}"
        errors = project.path.parent / f"fragile-{number}.err"
        words = [sys.executable, "-m", "tests.e2e.engines.killed_witness", str(number), str(armed)]
        env = {**project.env, "PYTHONPATH": str(Path(__file__).parents[3])}
        with open(errors, "wb") as file:
            witness = subprocess.Popen(words, cwd=project.path, env=env, stderr=file)
        try:
            text = each(number, armed)
            code = witness.wait(PATIENCE_S)
        finally:
            witness.kill()
            witness.wait()
        assert code in (0, -signal.SIGKILL), errors.read_text()
        project.patient(PATIENCE_S, "witness", "run", "--once")
        assert heard(project).read_text().count(text) == 1, (errors.read_text(), text)
        if code == 0:
            return steps
        steps.append(errors.read_text().strip())
    raise AssertionError(f"there is no end to the steps: {steps}")


def test_a_witness_that_is_killed_anywhere_delivers_exactly_once(project: EngineRepo) -> None:
    def each(number: int, armed: Path) -> str:
        go = project.path.parent / f"go-{number}"
        task = project.script(listening(project, wait_for(go), WORK, DONE))
        project.until(lambda: task in engaged(project))
        armed.touch()
        project.here("message", "send", f"{task}.1", f"Text {number} of many")
        go.touch()
        return f"Text {number} of many"

    steps = killed_everywhere(project, each)
    assert {"killed before record", "killed after record", "killed after start"} <= set(steps)
    assert set(project.verdicts()) == {"proved"}
    assert len(project.of_type("message.delivered")) == len(steps) + 1


def engaged(project: EngineRepo) -> set[str]:
    found = project.of_type("session.engaged")
    return {event["data"]["session"].partition(".")[0] for event in found}


def test_a_plain_program_has_messages_in_its_brief_and_takes_no_text(project: EngineRepo) -> None:
    project.configure(QUIET.replace("attempts = 1", "attempts = 2"))
    go = project.path.parent / "go"
    first = f"test $CORRAL_SESSION = $CORRAL_TASK.2 || {{ {wait_for(go)}; exit 1; }}"
    task = project.script(f"cat >> {heard(project)}; {first}; {WORK}")
    project.here("message", "send", task, "For the first", code=0)
    with project.witness():
        project.until(lambda: heard(project).exists() and heard(project).read_text())
        refused = project.refused("session", "send", f"{task}.1", "Hello", code=3)
        assert refused["code"] == "takes_no_text"
        assert f"corral message send {task}.1" in refused["hint"]
        project.here("message", "send", f"{task}.1", "For it, or the next", code=0)
        go.touch()
        project.until(lambda: project.task(task)["state"] == "review")
        assert (
            project.refused("session", "send", f"{task}.2", "Hi", code=3)["code"] == "session_ended"
        )
    briefs = heard(project).read_text().split(f"# {task}: work")
    assert [("For the first" in b, "For it, or the next" in b) for b in briefs[1:]] == [
        (True, False),
        (False, True),
    ]
    assert {e["data"]["proof"] for e in project.of_type("message.delivered")} == {"started"}
    assert [e["data"]["to"] for e in project.of_type("message.returned")] == [f"task:{task}"]
    assert project.data("message", "list") == []


def test_an_agent_that_asks_and_ends_its_turn_is_left_until_it_is_answered(
    project: EngineRepo,
) -> None:
    ask = f"{CORRAL} message send people 'Which one?' --question"
    turn = f'if [ -z "$CORRAL_RESUME" ]; then {ask} >&2; {DONE}; exit 0; fi'
    task = project.script(listening(project, turn, WORK, DONE))
    with project.witness():
        project.until(lambda: ("question", "wait") in project.reactions())
        (asked,) = project.data("message", "list")
        assert f"waits ({asked['id']})" in project.here("session", "list").out
        assert f"waits for an answer to {asked['id']}: Which one?" in project.here("why", task).out
        assert project.alerts() == {"question": f"{task}.1"}
        project.here("session", "send", f"{task}.1", "The blue one", code=0)
        assert project.until_ended(task) == "proved"
    assert heard(project).read_text().count("The blue one") == 1
    assert f"in answer to {asked['id']}" in heard(project).read_text()
    assert project.alerts() == {}


def test_an_agent_that_waits_for_an_answer_is_not_silent(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("beat_s = 60", "beat_s = 3") + "turn_s = 9\n")
    ask = f"{CORRAL} message send people 'Which one?' --question"
    got = f"until {CORRAL} message read | grep -q Blue; do sleep 1; done"
    task = project.script(listening(project, f"{ask} >&2", got, WORK, DONE))
    with project.witness():
        asked = project.until(lambda: project.data("message", "list"))[0]
        at = time.monotonic()
        project.until(lambda: time.monotonic() - at > 12)  # three beats, and what a turn may take
        assert project.verdicts() == []
        project.here("message", "send", f"{task}.1", "Blue", "--reply-to", asked["id"], code=0)
        assert project.until_ended(task) == "proved"
    assert "Blue" not in heard(project).read_text(), "it has read that by itself"


HERE = f"PYTHONPATH={Path(__file__).parents[3]}"
SPOKEN = (
    QUIET
    + """
[engine.default]
type = "command"
output = "facts"
transport = "acp"
command = {command}
"""
)


def speaking(project: EngineRepo, *more: str) -> None:
    """Have the tasks worked on by an agent that speaks the protocol, in one process."""
    agent = ["env", HERE, sys.executable, "-m", "tests.e2e.engines.patient_agent"]
    words = [*agent, str(heard(project)), str(project.path.parent / "go")]
    project.configure(SPOKEN.format(command=json.dumps(words)) + "\n".join(more) + "\n")


def add_patient(project: EngineRepo, name: str) -> str:
    task = project.add("Work", "--brief", f"wait for {name}")
    project.until(lambda: heard(project).exists())
    project.until(lambda: f"wait for {name}" in heard(project).read_text())
    return task


def turns(project: EngineRepo) -> list[tuple[str, str]]:
    """Return each delivery: the process, and the text."""
    parts = heard(project).read_text().split("== ")[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def test_a_message_is_a_further_turn_of_an_agent_that_speaks_the_protocol(
    project: EngineRepo,
) -> None:
    speaking(project)
    with project.witness():
        task = add_patient(project, "one")
        project.here("message", "send", f"{task}.1", "The first", code=0)
        project.here("message", "send", task, "The second, wait for two", code=0)
        # Until the turn is over, it can read them on its own.
        took = project.data("message", "read", "--as", f"{task}.1")["messages"]
        assert [m["text"] for m in took] == ["The first", "The second, wait for two"]
        project.here("message", "send", f"{task}.1", "The third, wait for three", code=0)
        (project.path.parent / "go-one").touch()
        project.until(lambda: "The third" in heard(project).read_text())
        (project.path.parent / "go-three").touch()
        assert project.until_ended(task) == "proved"
    told = turns(project)
    assert len(told) == 2, "one brief, one message"
    assert told[0][0] == told[1][0], "in the same process"
    assert re.match(r"\[m-\d+ from \S+\]\n  The third", told[1][1])
    assert project.reactions() == []
    proofs = [e["data"].get("proof", "") for e in project.of_type("message.delivered")]
    assert proofs == ["", "", "record"]


def test_a_killed_witness_hands_over_to_a_live_agent_exactly_once(project: EngineRepo) -> None:
    speaking(project)

    def each(number: int, armed: Path) -> str:
        task = add_patient(project, f"me-{number}")
        armed.touch()
        project.here("message", "send", f"{task}.1", f"Text {number} of many")
        (project.path.parent / f"go-me-{number}").touch()
        return f"Text {number} of many"

    steps = killed_everywhere(project, each)
    assert {"killed before knock", "killed after record"} <= set(steps)
    assert set(project.verdicts()) == {"proved"}
    assert len(project.of_type("message.delivered")) == len(steps) + 1


def test_policy_answers_every_question_also_the_same_one_again(project: EngineRepo) -> None:
    speaking(project, 'permission = "ask"', 'answers = "allow once"')
    task = project.add("Work", "--brief", "ask 3 times")
    with project.witness():
        assert project.until_ended(task) == "proved"
    assert heard(project).read_text().count("chosen: yes") == 3
    assert project.reactions() == [("asked", "answered")] * 3
    sent = project.of_type("message.sent")
    assert [(e["data"]["sender"], e["data"]["answers"]) for e in sent] == [
        ("policy", f"q{number}") for number in range(3)
    ]
    assert [e["data"]["proof"] for e in project.of_type("message.delivered")] == ["record"] * 3


def test_a_question_that_a_person_has_answered_is_not_shown_any_more(project: EngineRepo) -> None:
    speaking(project, 'permission = "ask"')
    task = project.add("Work", "--brief", "ask 1 times, wait for one")
    asks = "asks: execute: make"
    with project.witness():
        project.until(lambda: asks in project.data("why", task)["met"])
        assert project.alerts() == {"asked": f"{task}.1"}
        project.here("session", "send", f"{task}.1", "allow once", code=0)
        project.until(lambda: project.of_type("session.answered"))
        assert asks not in project.data("why", task)["met"]
        project.until(lambda: project.alerts() == {})
        (project.path.parent / "go-one").touch()
        assert project.until_ended(task) == "proved"


def test_an_agent_that_is_killed_over_a_message_is_not_told_it_again(project: EngineRepo) -> None:
    speaking(project)
    with project.witness():
        task = add_patient(project, "one")
        project.here("message", "send", f"{task}.1", "Mind this: wait for never", code=0)
        (project.path.parent / "go-one").touch()
        project.until(lambda: "Mind this" in heard(project).read_text())
        os.kill(project.program_pid(f"{task}.1"), signal.SIGKILL)
        assert project.until_ended(task) == "proved"
    assert heard(project).read_text().count("Mind this") == 1
    assert project.reactions() == [("crashed", "resume")]
    assert [e["data"]["proof"] for e in project.of_type("message.delivered")] == ["record"]


def test_a_turn_that_broke_off_before_it_heard_anything_is_told_again(project: EngineRepo) -> None:
    go = project.path.parent / "go"
    broken = 'test -n "$CORRAL_RESUME" -a ! -e "$HOME/broken"'
    first = f'if {broken}; then touch "$HOME/broken"; kill -9 $$; fi'
    task = project.script(script(first, listening(project, wait_for(go), WORK, DONE)))
    with project.witness():
        project.until(lambda: project.of_type("session.engaged"))
        project.here("message", "send", f"{task}.1", "Use the other port", code=0)
        go.touch()
        assert project.until_ended(task) == "proved"
    assert heard(project).read_text().count("Use the other port") == 1
    assert project.reactions() == [("message", "resume"), ("crashed", "resume")]
    assert len(project.of_type("message.delivered")) == 1


def test_the_sender_of_an_undelivered_message_is_told(project: EngineRepo) -> None:
    go = project.path.parent / "go"
    other = project.add("Nobody", "--needs", project.add("First", "--for", "ana"))
    ask = f"{CORRAL} message send {other} 'Are you there?' --question --ttl 1 >&2"
    once = f'test -n "$CORRAL_RESUME" || {ask}'
    task = project.script(listening(project, once, wait_for(go), WORK, DONE))
    with project.witness():
        asked = project.until(lambda: project.of_type("message.sent"))[0]["data"]["message"]
        lost = project.data("message", "send", other, "Never mind", "--ttl", "1")["id"]

        def expired() -> bool:
            project.here("deacon", "run", "--once")
            return len(project.of_type("message.expired")) == 2

        project.until(expired)
        assert project.alerts() == {"undelivered": lost}
        go.touch()
        assert project.until_ended(task) == "proved"
    assert heard(project).read_text().count(f"Nobody took {asked} to task:{other}") == 1

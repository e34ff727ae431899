"""R17: a message reaches an agent that never asks for it, once, at its next turn."""

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
from tests.e2e.engines.ranch import CONFIG, DONE, QUIET, WORK, Ranch, began, script
from tests.patience import PATIENCE_S


def heard(ranch: Ranch) -> Path:
    """Where the agents of a test write down what they were told."""
    return ranch.path.parent / "heard"


def listening(ranch: Ranch, *commands: str) -> str:
    """Return a script of an agent that notes its prompt and waits for a sign before it ends."""
    note = f'echo "== $CORRAL_SESSION $CORRAL_RESUME" >> {heard(ranch)}; cat >> {heard(ranch)}'
    return script(note, began(), *commands)


def wait_for(path: Path) -> str:
    return f"until test -e {path}; do sleep 0.05; done"


def test_a_message_is_the_next_turn_of_an_agent_that_can_be_resumed(ranch: Ranch) -> None:
    go = ranch.path.parent / "go"
    task = ranch.script(listening(ranch, wait_for(go), WORK, DONE))
    with ranch.witness():
        ranch.until(lambda: ranch.of_type("session.engaged"))
        sent = ranch.data("message", "send", f"{task}.1", "Use the other port")["id"]
        said = ranch.data("session", "send", f"{task}.1", "And be quick", "--wait", "0")
        assert (said["session"], said["proof"]) == (f"{task}.1", None)
        go.touch()
        assert ranch.until_ended(task) == "proved"
    told = heard(ranch).read_text()
    assert told.count("Use the other port") == told.count("And be quick") == 1
    assert f"== {task}.1 th-1" in told
    assert ranch.reactions() == [("message", "resume")]
    proofs = {e["data"]["message"]: e["data"]["proof"] for e in ranch.of_type("message.delivered")}
    assert proofs == {sent: "reacted", said["message"]: "reacted"}


MOST_STEPS = 60


def killed_everywhere(ranch: Ranch, each: Callable[[int, Path], str]) -> list[str]:
    """Have a witness killed at every step of its way, one message for each; return the steps.

    `each` adds a task, sends a message that is like no other, and returns what it says. Another
    witness then goes on to the end.
    """
    steps: list[str] = []
    for number in range(1, MOST_STEPS):
        armed = ranch.path.parent / f"armed-{number}"
        errors = ranch.path.parent / f"fragile-{number}.err"
        words = [sys.executable, "-m", "tests.e2e.engines.fragile", str(number), str(armed)]
        env = {**ranch.env, "PYTHONPATH": str(Path(__file__).parents[3])}
        with open(errors, "wb") as file:
            witness = subprocess.Popen(words, cwd=ranch.path, env=env, stderr=file)
        try:
            text = each(number, armed)
            code = witness.wait(PATIENCE_S)
        finally:
            witness.kill()
            witness.wait()
        assert code in (0, -signal.SIGKILL), errors.read_text()
        ranch.patient(PATIENCE_S, "witness", "run", "--once")
        assert heard(ranch).read_text().count(text) == 1, (errors.read_text(), text)
        if code == 0:
            return steps
        steps.append(errors.read_text().strip())
    raise AssertionError(f"there is no end to the steps: {steps}")


def test_a_witness_that_is_killed_anywhere_delivers_exactly_once(ranch: Ranch) -> None:
    def each(number: int, armed: Path) -> str:
        go = ranch.path.parent / f"go-{number}"
        task = ranch.script(listening(ranch, wait_for(go), WORK, DONE))
        ranch.until(lambda: task in engaged(ranch))
        armed.touch()
        ranch.here("message", "send", f"{task}.1", f"Text {number} of many")
        go.touch()
        return f"Text {number} of many"

    steps = killed_everywhere(ranch, each)
    assert {"killed before record", "killed after record", "killed after start"} <= set(steps)
    assert set(ranch.verdicts()) == {"proved"}
    assert len(ranch.of_type("message.delivered")) == len(steps) + 1


def engaged(ranch: Ranch) -> set[str]:
    found = ranch.of_type("session.engaged")
    return {event["data"]["session"].partition(".")[0] for event in found}


def test_a_plain_program_has_messages_in_its_brief_and_takes_no_text(ranch: Ranch) -> None:
    ranch.configure(QUIET.replace("attempts = 1", "attempts = 2"))
    go = ranch.path.parent / "go"
    first = f"test $CORRAL_SESSION = $CORRAL_TASK.2 || {{ {wait_for(go)}; exit 1; }}"
    task = ranch.script(f"cat >> {heard(ranch)}; {first}; {WORK}")
    ranch.here("message", "send", task, "For the first", code=0)
    with ranch.witness():
        ranch.until(lambda: heard(ranch).exists() and heard(ranch).read_text())
        refused = ranch.refused("session", "send", f"{task}.1", "Hello", code=3)
        assert refused["code"] == "takes_no_text"
        assert f"corral message send {task}.1" in refused["hint"]
        ranch.here("message", "send", f"{task}.1", "For it, or the next", code=0)
        go.touch()
        ranch.until(lambda: ranch.task(task)["state"] == "review")
        assert (
            ranch.refused("session", "send", f"{task}.2", "Hi", code=3)["code"] == "session_ended"
        )
    briefs = heard(ranch).read_text().split(f"# {task}: work")
    assert [("For the first" in b, "For it, or the next" in b) for b in briefs[1:]] == [
        (True, False),
        (False, True),
    ]
    assert {e["data"]["proof"] for e in ranch.of_type("message.delivered")} == {"started"}
    assert [e["data"]["to"] for e in ranch.of_type("message.returned")] == [f"task:{task}"]
    assert ranch.data("message", "list") == []


def test_an_agent_that_asks_and_ends_its_turn_is_left_until_it_is_answered(ranch: Ranch) -> None:
    ask = f"{CORRAL} message send people 'Which one?' --question"
    turn = f'if [ -z "$CORRAL_RESUME" ]; then {ask} >&2; {DONE}; exit 0; fi'
    task = ranch.script(listening(ranch, turn, WORK, DONE))
    with ranch.witness():
        ranch.until(lambda: ("question", "wait") in ranch.reactions())
        (asked,) = ranch.data("message", "list")
        assert f"waits ({asked['id']})" in ranch.here("session", "list").out
        assert f"waits for an answer to {asked['id']}: Which one?" in ranch.here("why", task).out
        assert ranch.alerts() == {"question": f"{task}.1"}
        ranch.here("session", "send", f"{task}.1", "The blue one", code=0)
        assert ranch.until_ended(task) == "proved"
    assert heard(ranch).read_text().count("The blue one") == 1
    assert f"in answer to {asked['id']}" in heard(ranch).read_text()
    assert ranch.alerts() == {}


def test_who_waits_for_an_answer_is_not_silent(ranch: Ranch) -> None:
    ranch.configure(CONFIG.replace("beat_s = 60", "beat_s = 3") + "turn_s = 9\n")
    ask = f"{CORRAL} message send people 'Which one?' --question"
    got = f"until {CORRAL} message read | grep -q Blue; do sleep 0.2; done"
    task = ranch.script(listening(ranch, f"{ask} >&2", got, WORK, DONE))
    with ranch.witness():
        asked = ranch.until(lambda: ranch.data("message", "list"))[0]
        at = time.monotonic()
        ranch.until(lambda: time.monotonic() - at > 12)  # three beats, and what a turn may take
        assert ranch.verdicts() == []
        ranch.here("message", "send", f"{task}.1", "Blue", "--reply-to", asked["id"], code=0)
        assert ranch.until_ended(task) == "proved"
    assert "Blue" not in heard(ranch).read_text(), "it has read that by itself"


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


def speaking(ranch: Ranch, *more: str) -> None:
    """Have the tasks worked on by an agent that speaks the protocol, in one process."""
    agent = ["env", HERE, sys.executable, "-m", "tests.e2e.engines.patient_agent"]
    words = [*agent, str(heard(ranch)), str(ranch.path.parent / "go")]
    ranch.configure(SPOKEN.format(command=json.dumps(words)) + "\n".join(more) + "\n")


def add_patient(ranch: Ranch, name: str) -> str:
    task = ranch.add("Work", "--brief", f"wait for {name}")
    ranch.until(lambda: heard(ranch).exists())
    ranch.until(lambda: f"wait for {name}" in heard(ranch).read_text())
    return task


def turns(ranch: Ranch) -> list[tuple[str, str]]:
    """Return who was told what: the process, and the text."""
    parts = heard(ranch).read_text().split("== ")[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def test_a_message_is_a_further_turn_of_an_agent_that_speaks_the_protocol(ranch: Ranch) -> None:
    speaking(ranch)
    with ranch.witness():
        task = add_patient(ranch, "one")
        ranch.here("message", "send", f"{task}.1", "The first", code=0)
        ranch.here("message", "send", task, "The second, wait for two", code=0)
        # Until the turn is over, it can read them by itself.
        took = ranch.data("message", "read", "--as", f"{task}.1")["messages"]
        assert [m["text"] for m in took] == ["The first", "The second, wait for two"]
        ranch.here("message", "send", f"{task}.1", "The third, wait for three", code=0)
        (ranch.path.parent / "go-one").touch()
        ranch.until(lambda: "The third" in heard(ranch).read_text())
        (ranch.path.parent / "go-three").touch()
        assert ranch.until_ended(task) == "proved"
    told = turns(ranch)
    assert len(told) == 2, "one brief, one message"
    assert told[0][0] == told[1][0], "in the same process"
    assert re.match(r"\[m-\d+ from uid-0\]\n  The third", told[1][1])
    assert ranch.reactions() == []
    proofs = [e["data"].get("proof", "") for e in ranch.of_type("message.delivered")]
    assert proofs == ["", "", "record"]


def test_a_killed_witness_hands_over_to_a_live_agent_exactly_once(ranch: Ranch) -> None:
    speaking(ranch)

    def each(number: int, armed: Path) -> str:
        task = add_patient(ranch, f"me-{number}")
        armed.touch()
        ranch.here("message", "send", f"{task}.1", f"Text {number} of many")
        (ranch.path.parent / f"go-me-{number}").touch()
        return f"Text {number} of many"

    steps = killed_everywhere(ranch, each)
    assert {"killed before knock", "killed after record"} <= set(steps)
    assert set(ranch.verdicts()) == {"proved"}
    assert len(ranch.of_type("message.delivered")) == len(steps) + 1


def test_policy_answers_every_question_also_the_same_one_again(ranch: Ranch) -> None:
    speaking(ranch, 'permission = "ask"', 'answers = "allow once"')
    task = ranch.add("Work", "--brief", "ask 3 times")
    with ranch.witness():
        assert ranch.until_ended(task) == "proved"
    assert heard(ranch).read_text().count("chosen: yes") == 3
    assert ranch.reactions() == [("asked", "answered")] * 3
    sent = ranch.of_type("message.sent")
    assert [(e["data"]["sender"], e["data"]["answers"]) for e in sent] == [
        ("policy", f"q{number}") for number in range(3)
    ]
    assert [e["data"]["proof"] for e in ranch.of_type("message.delivered")] == ["record"] * 3


def test_a_question_that_a_person_has_answered_is_not_shown_any_more(ranch: Ranch) -> None:
    speaking(ranch, 'permission = "ask"')
    task = ranch.add("Work", "--brief", "ask 1 times, wait for one")
    asks = "asks: execute: make"
    with ranch.witness():
        ranch.until(lambda: asks in ranch.data("why", task)["met"])
        assert ranch.alerts() == {"asked": f"{task}.1"}
        ranch.here("session", "send", f"{task}.1", "allow once", code=0)
        ranch.until(lambda: ranch.of_type("session.answered"))
        assert asks not in ranch.data("why", task)["met"]
        ranch.until(lambda: ranch.alerts() == {})
        (ranch.path.parent / "go-one").touch()
        assert ranch.until_ended(task) == "proved"


def test_an_agent_that_is_killed_over_a_message_is_not_told_it_again(ranch: Ranch) -> None:
    speaking(ranch)
    with ranch.witness():
        task = add_patient(ranch, "one")
        ranch.here("message", "send", f"{task}.1", "Mind this: wait for never", code=0)
        (ranch.path.parent / "go-one").touch()
        ranch.until(lambda: "Mind this" in heard(ranch).read_text())
        os.kill(ranch.program_pid(f"{task}.1"), signal.SIGKILL)
        assert ranch.until_ended(task) == "proved"
    assert heard(ranch).read_text().count("Mind this") == 1
    assert ranch.reactions() == [("crashed", "resume")]
    assert [e["data"]["proof"] for e in ranch.of_type("message.delivered")] == ["record"]


def test_a_turn_that_broke_off_before_it_heard_anything_is_told_again(ranch: Ranch) -> None:
    go = ranch.path.parent / "go"
    broken = 'test -n "$CORRAL_RESUME" -a ! -e "$HOME/broken"'
    first = f'if {broken}; then touch "$HOME/broken"; kill -9 $$; fi'
    task = ranch.script(script(first, listening(ranch, wait_for(go), WORK, DONE)))
    with ranch.witness():
        ranch.until(lambda: ranch.of_type("session.engaged"))
        ranch.here("message", "send", f"{task}.1", "Use the other port", code=0)
        go.touch()
        assert ranch.until_ended(task) == "proved"
    assert heard(ranch).read_text().count("Use the other port") == 1
    assert ranch.reactions() == [("message", "resume"), ("crashed", "resume")]
    assert len(ranch.of_type("message.delivered")) == 1


def test_who_sent_what_nobody_took_is_told(ranch: Ranch) -> None:
    go = ranch.path.parent / "go"
    other = ranch.add("Nobody", "--needs", ranch.add("First", "--for", "ana"))
    ask = f"{CORRAL} message send {other} 'Are you there?' --question --ttl 1 >&2"
    once = f'test -n "$CORRAL_RESUME" || {ask}'
    task = ranch.script(listening(ranch, once, wait_for(go), WORK, DONE))
    with ranch.witness():
        asked = ranch.until(lambda: ranch.of_type("message.sent"))[0]["data"]["message"]
        lost = ranch.data("message", "send", other, "Never mind", "--ttl", "1")["id"]

        def expired() -> bool:
            ranch.here("deacon", "run", "--once")
            return len(ranch.of_type("message.expired")) == 2

        ranch.until(expired)
        assert ranch.alerts() == {"undelivered": lost}
        go.touch()
        assert ranch.until_ended(task) == "proved"
    assert heard(ranch).read_text().count(f"Nobody took {asked} to task:{other}") == 1

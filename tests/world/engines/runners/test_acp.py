"""The runner with an agent that follows a script, and with one that misbehaves."""

import json
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from corral.core.engine.facts import (
    Answered,
    Asked,
    Began,
    Denied,
    Fact,
    Finished,
    Said,
    Spent,
    Told,
    Trouble,
    Used,
    Window,
)
from corral.world import processes
from corral.world.engines.runners import inbox
from corral.world.engines.runners.inbox import DeliveryProof, Inbox
from corral.world.engines.runners.orders import AcpOrder, McpServer, PermissionPolicy, runner_argv
from tests.world.engines.runners.runner_process import Running, running, scripted, send, until
from tests.world.processes.sessions import Sessions


def run(tmp_path: Path, first: str, script: str = "", **more: Any) -> tuple[int, Running]:
    with running(scripted(tmp_path, script, **more), first, tmp_path / "tree") as runner:
        return runner.end(), runner


def test_a_turn_as_facts(tmp_path: Path) -> None:
    code, runner = run(tmp_path, "work", policy=PermissionPolicy.ALLOW)
    path = str(tmp_path / "tree" / "a.py")
    expected: list[Fact] = [
        Began(session="ses-1", version="scripted 1.0"),
        Said(text="I will write a file"),
        Used(tool="edit", what="Write a.py", paths=(path,), call="c1"),
        Answered(call="c1", text="written"),
        Used(tool="execute", what="git commit -m x", call="c2"),
        Answered(call="c2"),
        Window(used=1200, size=200_000),
        Said(text="done"),
        Spent(fresh=100, cached=40, output=20, cost_usd=0.25),
        Finished(),
    ]
    assert (code, runner.facts) == (0, expected)


def test_permissions_by_policy(tmp_path: Path) -> None:
    code, runner = run(tmp_path, "work", policy=PermissionPolicy.ALLOW_EDITS)
    assert runner.saw(Denied)() == [Denied(tool="execute", what="git commit -m x")]
    assert [answer.ok for answer in runner.saw(Answered)()] == [True, False]
    code, runner = run(tmp_path, "work", policy=PermissionPolicy.ALLOW_EDITS, allow=("git",))
    assert [answer.ok for answer in runner.saw(Answered)()] == [True, True]
    code, runner = run(tmp_path, "work", policy=PermissionPolicy.DENY)
    assert [answer.ok for answer in runner.saw(Answered)()] == [False, False]
    assert code == 0
    code, runner = run(tmp_path, "outside", policy=PermissionPolicy.ALLOW_EDITS)
    chosen = [
        line.partition("optionId': '")[2].partition("'")[0] for line in runner.text().splitlines()
    ]
    assert [one for one in chosen if one] == ["no", "no", "no", "yes"]


def test_a_person_answers_or_nobody_does(tmp_path: Path) -> None:
    order = scripted(tmp_path, policy=PermissionPolicy.ASK, answer_s=30)
    with running(order, "work", tmp_path / "tree") as runner:
        (asked,) = until(runner.saw(Asked))
        assert asked == Asked(
            text="edit: Write a.py", options=("Allow once", "Always", "Reject"), call="c1"
        )
        number = send(tmp_path, "allow once")
        until(lambda: len(runner.saw(Asked)()) == 2)
        assert inbox.receipt(str(tmp_path), number) is DeliveryProof.RECORD
        send(tmp_path, "no", answers="c2")
        assert runner.end() == 0
    assert [answer.ok for answer in runner.saw(Answered)()] == [True, False]
    _, runner = run(tmp_path, "work", policy=PermissionPolicy.ASK, answer_s=0.2)
    assert len(runner.saw(Denied)()) == 2


def test_what_the_agent_may_not_do_is_refused(tmp_path: Path) -> None:
    code, runner = run(tmp_path, "reach")
    assert runner.text().split()[1::2] == ["-32601"] * 4
    assert list((tmp_path / "tree").iterdir()) == []
    assert code == 0


def test_further_turns_come_through_the_inbox_each_once(tmp_path: Path) -> None:
    with running(scripted(tmp_path, linger_s=60), "first", tmp_path / "tree") as runner:
        until(runner.saw(Asked))  # the turn is over
        for text in ("second", "third"):
            send(tmp_path, text)
        until(lambda: len(runner.saw(Told)()) == 2)
        assert runner.stop() == 143
    assert runner.text() == "firstsecondthird"  # in as many parts as it came
    assert runner.saw(Told)() == [
        Told(text="second", proof="record"),
        Told(text="third", proof="record"),
    ]
    assert runner.finished.text == "stopped"


def test_a_text_in_doubt_is_said_again_only_if_the_agent_never_had_it(tmp_path: Path) -> None:
    room = str(tmp_path)
    for text in ("what was said before", "what was not"):
        send(room, text)
    killed = Inbox(room, "acp")
    assert killed.take() is not None
    assert killed.take() is not None
    code, runner = run(tmp_path, "", resume="ses-1")
    # What the agent replays is no news.
    assert (code, runner.text()) == (0, "what was not")
    assert [inbox.receipt(room, name) for name in ("m-1", "m-2")] == [DeliveryProof.RECORD] * 2


def test_resuming(tmp_path: Path) -> None:
    _, runner = run(tmp_path, "again", resume="ses-2")
    assert runner.finished.trouble is Trouble.SESSION
    _, runner = run(tmp_path, "again", "no-load", resume="ses-1")
    assert runner.finished.trouble is Trouble.SESSION


def test_mode_model_and_mcp_are_passed_on_and_the_order_is_not(tmp_path: Path) -> None:
    mcp = McpServer("far", url="http://127.0.0.1:1/mcp", headers={"Authorization": "$SECRET"})
    order = scripted(tmp_path, mode="b", model="m-1", mcp=(mcp,), linger_s=0)
    with running(order, "mcp", tmp_path / "tree", SECRET="s3cret") as runner:
        assert runner.end() == 0
    said = runner.text()
    assert said.startswith("mode bmodel m-1")
    (far,) = json.loads(said.removeprefix("mode bmodel m-1"))
    assert far["url"] == "http://127.0.0.1:1/mcp"
    assert far["headers"] == [{"name": "Authorization", "value": "s3cret"}]
    _, runner = run(tmp_path, "environment")
    assert "CORRAL_RUNNER" not in runner.text()


def test_nonsense_does_not_end_a_session(tmp_path: Path) -> None:
    code, runner = run(tmp_path, "nonsense")
    assert (code, runner.text()) == (0, "still here -32602")
    assert not any("Traceback" in line for line in runner.lines)


def test_a_flood_of_questions_is_answered(tmp_path: Path) -> None:
    _, runner = run(tmp_path, "flood", policy=PermissionPolicy.DENY)
    assert runner.text() == "300 answers: {'no'}"
    _, runner = run(tmp_path, "flood", policy=PermissionPolicy.ASK, answer_s=1)
    assert runner.text() == "300 answers: {'no'}"
    assert len(runner.saw(Asked)()) == 32


@pytest.mark.parametrize(
    ("script", "first", "code", "trouble", "words"),
    [
        ("", "crash", 3, Trouble.OTHER, "exit code 9: Segmentation fault"),
        ("", "huge", 3, Trouble.OTHER, "more than 32 MB"),
        ("", "hang", 4, Trouble.NETWORK, "silent for 1 s"),
        ("", "string-error", 1, Trouble.OTHER, "plain words"),
        ("mute", "x", 4, Trouble.NETWORK, "no answer to initialize within 1 s"),
        ("no-start", "x", 3, Trouble.AUTH, "exit code 7"),
        ("old", "x", 3, Trouble.OTHER, "version 99"),
        ("login", "x", 1, Trouble.AUTH, "Authentication required"),
        ("not-of-the-protocol", "x", 3, Trouble.OTHER, "breaks the protocol: sessionId"),
    ],
)
def test_how_it_can_go_wrong(
    tmp_path: Path, *, script: str, first: str, code: int, trouble: Trouble, words: str
) -> None:
    bounds: dict[str, float] = {"start_s": 1} if script == "mute" else {}
    bounds |= {"turn_s": 1 if first == "hang" else 60, "stop_s": 0.5}
    got, runner = run(tmp_path, first, script, **bounds)
    assert (got, runner.finished.trouble) == (code, trouble)
    assert words in runner.finished.text


def test_no_such_program(tmp_path: Path) -> None:
    order = AcpOrder(room=str(tmp_path), argv=("no-such-agent",))
    with running(order, "x", tmp_path / "tree") as runner:
        assert runner.end() == 2
    assert runner.finished.text == "no-such-agent: No such file or directory"
    assert inbox.reader_of(str(tmp_path)) == ""


def test_stopping_cancels_the_turn_and_leaves_no_process(tmp_path: Path) -> None:
    with running(scripted(tmp_path), "patient", tmp_path / "tree") as runner:
        until(runner.saw(Said))
        assert runner.stop() == 143
    assert runner.text() == "waitinggiven up"
    assert runner.finished.text == "stopped"
    with running(scripted(tmp_path), "patient", tmp_path / "tree") as runner:
        until(lambda: inbox.reader_of(str(tmp_path)))  # long before it starts the agent
        assert runner.stop() == 143
    assert runner.finished.text == "stopped"


def test_no_process_outlives_the_runner(sessions: Sessions) -> None:
    room = sessions.root
    argv, env = runner_argv(scripted(room, stop_s=0.5))
    brief = room / "brief"
    brief.write_text("hang")
    for name, number in (("killed", signal.SIGKILL), ("stopped", signal.SIGTERM)):
        env |= sessions.launch(name, "x").env
        started = sessions.start(name, *argv, env=env, stdin=str(brief))
        folder = sessions.folder(name)
        until(partial(_has_said, folder, "hm"))
        assert len(sessions.alive()) >= 3
        os.kill(started.program_pid, number)
        sessions.ended(name)
        assert sessions.alive() == set()
    assert '"stopped"' in processes.tail(sessions.folder("stopped"), 1)[0]


def test_ten_megabytes_of_updates_in_flat_memory(tmp_path: Path) -> None:
    with running(scripted(tmp_path, linger_s=60), "much 200", tmp_path / "tree") as runner:
        until(runner.saw(Asked))
        before = _memory(runner.process.pid)
        send(tmp_path, "much 5000")
        until(lambda: len(runner.saw(Asked)()) == 2)
        assert _memory(runner.process.pid) - before < 4 << 20
        send(tmp_path, "big")
        until(lambda: len(runner.text()) == 5 << 20)


def _has_said(folder: str, text: str) -> bool:
    return text in "".join(processes.tail(folder, 9))


def _memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) << 10

"""Real sessions under `corral up`: restricted by their key, sent messages, paused."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.corral_command import CORRAL, make_board
from tests.e2e.server.live_server import Served, wait_for
from tests.e2e.server.test_up import record, up
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo

AGENT = f"""\
set -e
{CORRAL} session report "$CORRAL_SESSION" 'half way'
{CORRAL} message send people 'Which one?' --question
until {CORRAL} message read | tee -a read.txt | grep -q Blue; do sleep 0.1; done
test -n "$CORRAL_URL" && {WORK}
"""


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    project = WitnessRepo(make_board(tmp_path / "project", "Auth fix").path)
    project.configure(QUIET)
    return project


def test_an_agent_asks_a_person_answers_and_the_server_dies_in_between(
    project: WitnessRepo,
) -> None:
    project.script(AGENT)
    project.corral("pause", "--sessions")
    with up(project):
        project.corral("resume", "--sessions")  # the session now knows where the server is
        asked = wait_for(lambda: project.data("message", "list"), "the agent asks")[0]
        assert (asked["sender"], asked["question"]) == ("AF-1.1", True)
        assert f"waits ({asked['id']})" in project.corral("session", "list").out
        project.corral("message", "send", "AF-1.1", "Blue", "--reply-to", asked["id"])
        server = int(str(record(project)["pid"]))
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: project.sessions()[0]["verdict"], "the session has ended")
    assert project.verdict("AF-1") == "proved", project.sessions()
    session = project.of_type("session.progressed")[0]
    assert (session["actor"], session["data"]["text"]) == ("AF-1.1", "half way")
    assert "key" in session, "it went through the server"
    answers = [e for e in project.of_type("message.delivered") if e["data"]["reader"] == "AF-1.1"]
    assert len(answers) == 1
    branch = project.task("AF-1")["commit"]
    read = project.git("show", f"{branch}:read.txt").splitlines()
    assert [line.strip() for line in read if "Blue" in line] == ["Blue"]


LISTENING = """\
echo '{{"fact":"began","session":"th-1","model":"m"}}'
cat >> {heard}
until test -e {go}; do sleep 0.05; done
{work}
echo '{{"fact":"finished"}}'
"""


def test_a_message_arrives_once_although_the_server_is_killed_on_its_way(
    project: WitnessRepo,
) -> None:
    project.configure(f'{QUIET}[engine.default]\ntype = "command"\noutput = "facts"\n')
    heard = project.path.parent / "heard"
    # The moments at which the server is killed: before it was asked, and when the log shows these.
    moments = ("", "message.sent", "message.taken", "message.delivered")
    with up(project):
        for number, moment in enumerate(moments, 1):
            go = project.path.parent / f"go-{number}"
            task = project.script(LISTENING.format(heard=heard, go=go, work=WORK))
            wait_for(partial(in_log, project, "session.engaged", number), "it runs")
            text = f"text {number} of many"
            if not moment:
                kill_server(project)
            elif moment == "message.sent":
                served = Served(project, None, str(record(project)["url"]))  # type: ignore[arg-type]
                body = {"session": f"{task}.1", "text": text}
                sent = served.post("/api/session/send", body).data
                assert (sent["to"], sent["text"]) == (f"session:{task}.1", text)
                kill_server(project)
            if moment != "message.sent":
                project.corral("session", "send", f"{task}.1", text, "--wait", "0")
            go.touch()
            if moment in moments[2:]:
                wait_for(partial(in_log, project, moment, number), moment)
                kill_server(project)
            wait_for(partial(is_proved, project, task), "it has ended")
    told = heard.read_text()
    assert [told.count(f"text {n} of many") for n in range(1, len(moments) + 1)] == [1] * 4
    assert len(project.of_type("message.delivered")) == len(moments)


def in_log(project: WitnessRepo, kind: str, number: int) -> bool:
    return len(project.of_type(kind)) == number


def is_proved(project: WitnessRepo, task: str) -> bool:
    return project.verdict(task) == "proved"


def kill_server(project: WitnessRepo) -> None:
    """Kill the server, and wait for the next one."""
    pid = int(str(record(project)["pid"]))
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: record(project)["pid"] != pid, "it is started again")


def test_a_pause_holds_for_the_witness(project: WitnessRepo) -> None:
    project.script(WORK)
    project.corral("pause", "--sessions", "--convoy", "auth-fix", "--reason", "night")
    project.once()
    assert project.sessions() == []
    assert "has paused new sessions: night" in project.corral("why", "AF-1").out
    project.corral("resume", "--sessions", "--convoy", "auth-fix")
    project.once()
    assert project.verdict("AF-1") == "proved"

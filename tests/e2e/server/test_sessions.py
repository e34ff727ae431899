"""R17, R20, R22: real sessions under `corral up`: bounded by their key, spoken to, paused."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.corral_command import CORRAL, make_repository
from tests.e2e.server.serving import Served, wait_for
from tests.e2e.server.test_up import record, up
from tests.e2e.witness.farm import QUIET, WORK, Farm

AGENT = f"""\
set -e
{CORRAL} session report "$CORRAL_SESSION" 'half way'
{CORRAL} message send people 'Which one?' --question
until {CORRAL} message read | tee -a read.txt | grep -q Blue; do sleep 0.1; done
test -n "$CORRAL_URL" && {WORK}
"""


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    made = make_repository(tmp_path / "project")
    farm = Farm(made.path)
    farm.corral("init")
    farm.configure(QUIET)
    farm.corral("convoy", "create", "Auth fix")
    return farm


def test_an_agent_asks_a_person_answers_and_the_server_dies_in_between(farm: Farm) -> None:
    farm.script(AGENT)
    farm.corral("convoy", "pause")
    with up(farm):
        farm.corral("convoy", "resume")  # now the server is there, and the session knows where
        asked = wait_for(lambda: farm.data("message", "list"), "the agent asks")[0]
        assert (asked["sender"], asked["question"]) == ("AF-1.1", True)
        assert f"waits ({asked['id']})" in farm.corral("session", "list").out
        farm.corral("message", "send", "AF-1.1", "Blue", "--reply-to", asked["id"])
        server = int(str(record(farm)["pid"]))
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: farm.sessions()[0]["verdict"], "the session has ended")
    assert farm.verdict("AF-1") == "proved", farm.sessions()
    session = farm.of_type("session.progressed")[0]
    assert (session["actor"], session["data"]["text"]) == ("AF-1.1", "half way")
    assert "key" in session, "it went through the server"
    answers = [e for e in farm.of_type("message.delivered") if e["data"]["reader"] == "AF-1.1"]
    assert len(answers) == 1
    branch = farm.task("AF-1")["commit"]
    read = farm.git("show", f"{branch}:read.txt").splitlines()
    assert [line.strip() for line in read if "Blue" in line] == ["Blue"]


LISTENING = """\
echo '{{"fact":"began","session":"th-1","model":"m"}}'
cat >> {heard}
until test -e {go}; do sleep 0.05; done
{work}
echo '{{"fact":"finished"}}'
"""


def test_a_message_arrives_once_although_the_server_is_killed_on_its_way(farm: Farm) -> None:
    farm.configure(f'{QUIET}[engine.default]\ntype = "command"\noutput = "facts"\n')
    heard = farm.path.parent / "heard"
    # The moments at which the server is killed: before it was asked, and when the log shows these.
    moments = ("", "message.sent", "message.taken", "message.delivered")
    with up(farm):
        for number, moment in enumerate(moments, 1):
            go = farm.path.parent / f"go-{number}"
            task = farm.script(LISTENING.format(heard=heard, go=go, work=WORK))
            wait_for(partial(in_log, farm, "session.engaged", number), "it runs")
            text = f"text {number} of many"
            if not moment:
                kill_server(farm)
            elif moment == "message.sent":
                served = Served(farm, None, str(record(farm)["url"]))  # type: ignore[arg-type]
                body = {"session": f"{task}.1", "text": text}
                sent = served.post("/api/session/send", body).data
                assert (sent["to"], sent["text"]) == (f"session:{task}.1", text)
                kill_server(farm)
            if moment != "message.sent":
                farm.corral("session", "send", f"{task}.1", text, "--wait", "0")
            go.touch()
            if moment in moments[2:]:
                wait_for(partial(in_log, farm, moment, number), moment)
                kill_server(farm)
            wait_for(partial(is_proved, farm, task), "it has ended")
    told = heard.read_text()
    assert [told.count(f"text {n} of many") for n in range(1, len(moments) + 1)] == [1] * 4
    assert len(farm.of_type("message.delivered")) == len(moments)


def in_log(farm: Farm, kind: str, number: int) -> bool:
    return len(farm.of_type(kind)) == number


def is_proved(farm: Farm, task: str) -> bool:
    return farm.verdict(task) == "proved"


def kill_server(farm: Farm) -> None:
    """Kill the server, and wait for the next one."""
    pid = int(str(record(farm)["pid"]))
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: record(farm)["pid"] != pid, "it is started again")


def test_a_pause_holds_for_the_witness(farm: Farm) -> None:
    farm.script(WORK)
    farm.corral("convoy", "pause", "--convoy", "auth-fix", "--reason", "night")
    farm.once()
    assert farm.sessions() == []
    assert "has paused the starting of sessions: night" in farm.corral("why", "AF-1").out
    farm.corral("convoy", "resume", "--convoy", "auth-fix")
    farm.once()
    assert farm.verdict("AF-1") == "proved"

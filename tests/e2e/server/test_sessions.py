"""R17, R20, R22: real sessions under `corral up`: bounded by their key, spoken to, paused."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.corral_command import CORRAL, make_repository
from tests.e2e.server.serving import wait_for
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


def test_a_pause_holds_for_the_witness(farm: Farm) -> None:
    farm.script(WORK)
    farm.corral("convoy", "pause", "--convoy", "auth-fix", "--reason", "night")
    farm.once()
    assert farm.sessions() == []
    assert "has paused the starting of sessions: night" in farm.corral("why", "AF-1").out
    farm.corral("convoy", "resume", "--convoy", "auth-fix")
    farm.once()
    assert farm.verdict("AF-1") == "proved"

"""`corral run --headless`: its exit code and its files say how a plan ended."""

import fcntl
import json
import os
import pty
import re
import shlex
import signal
import struct
import termios
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from corral.interfaces.cli.output import width
from tests.e2e.whole.ci import CONFIG, Ci, ended, make_ci

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@pytest.fixture
def ci(tmp_path: Path) -> Ci:
    return make_ci(tmp_path)


def test_all_landed(ci: Ci) -> None:
    plan = ci.plan(
        ci.script("first", ci.work()),
        ci.script("second", ci.work(), "first"),
        ci.script("third", ci.work(), "first"),
    )
    answer = ci.run(plan, "--json")
    assert (answer.code, answer.err) == (0, ""), answer
    *events, last = answer.out.splitlines()
    log = ci.corral("log", "--json").out.splitlines()
    assert events == log[: len(events)]  # exactly as the log has them, from the plan on
    assert "convoy.created" in events[1]
    assert {e["type"] for e in map(json.loads, log[len(events) :])} <= {"alert.cleared"}
    summary = json.loads(last)["data"]
    assert summary == ci.summary()
    assert (summary["standing"], summary["exit_code"]) == ("landed", 0)
    assert (summary["landed"], summary["failed"], summary["waiting"]) == (3, 0, 0)
    assert [task["attempts"] for task in summary["tasks"]] == [1, 1, 1]
    suite = ci.suite()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "0", "0")
    landed = ci.git("ls-tree", "--name-only", "convoy/night/trunk").split()
    assert {"N-1.txt", "N-2.txt", "N-3.txt"} <= set(landed)
    again = ci.run(plan)
    assert again.code == 0
    assert set(ci.launches().values()) == {1}


def test_one_failed_and_what_needs_it_never_starts(ci: Ci) -> None:
    plan = ci.plan(
        ci.script("good", ci.work()),
        ci.script("bad", "printf 'odd \\033[31m words'; exit 3"),
        ci.script("after", ci.work(), "bad"),
    )
    answer = ci.run(plan, "--summary", "out/s.json", "--junit", "out/j.xml")
    assert answer.code == 1, answer
    assert "night: 1 of 3 landed, failed" in answer.out
    summary = json.loads((ci.path / "out" / "s.json").read_text())
    assert [(t["state"], t["lot"], t["attempts"]) for t in summary["tasks"]] == [
        ("done", "over", 1),
        ("failed", "failed", 2),
        ("todo", "failed", 0),
    ]
    suite = ElementTree.parse(ci.path / "out" / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [len(case) for case in suite] == [0, 1, 1]


def test_a_task_that_needs_a_person(ci: Ci) -> None:
    block = "corral task block $CORRAL_TASK --reason 'which colour?'"
    answer = ci.run(ci.plan(ci.script("ask", block), ci.script("good", ci.work())))
    assert answer.code == 5, answer
    assert "which colour?" in answer.out
    assert ci.suite().get("skipped") == "1"


def test_out_of_budget(tmp_path: Path) -> None:
    spend = 'printf \'%s\\n\' \'{"fact":"spent","output":9,"cost_usd":2.0}\''
    finish = "printf '%s\\n' '{\"fact\":\"finished\"}'"
    engine = '[engine.paid]\ntype = "command"\noutput = "facts"\ncommand = ["true"]\n'
    ci = make_ci(tmp_path, CONFIG + engine + "[budget]\nconvoy_usd = 1.0\n")
    paid = ci.script("paid", f"{spend}; {ci.work()}; {finish}")
    later = ci.script("later", f"{ci.work()}; {finish}", "paid")
    answer = ci.run(ci.plan(paid | {"engine": "paid"}, later | {"engine": "paid"}))
    assert answer.code == 6, answer
    assert ci.summary()["standing"] == "out_of_budget"
    assert ci.summary()["known_usd"] == 2.0
    assert "N-2" not in ci.launches()


def test_a_bad_plan_changes_nothing(ci: Ci) -> None:
    before = ci.corral("log", "--json").out
    plan = ci.plan(ci.script("a", "true", "b"), ci.script("b", "true", "a"))
    answer = ci.run(plan, "--json")
    assert answer.code == 2, answer
    assert json.loads(answer.out)["error"]["code"] == "bad_plan"
    assert ci.run("missing.toml").code == 4
    assert ci.corral("run", plan, code=2).err.startswith("corral: ")
    assert ci.corral("log", "--json").out == before


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_interrupted_and_resumed(ci: Ci, number: int) -> None:
    gate = ci.path.parent / "go"
    wait = f"while [ ! -e '{gate}' ]; do echo waiting; sleep 0.1; done"
    plan = ci.plan(
        ci.script("first", ci.work()),
        ci.script("long", ci.work(wait), "first"),
        ci.script("last", ci.work(), "long"),
    )
    run = ci.begun(plan)
    ci.until(lambda: list((ci.folder / "sessions").glob("N-2.1/run-1/process.json")))
    run.send_signal(number)
    answer = ended(run)
    assert answer.code == 130, answer
    assert "continue with: corral run night" in answer.out
    assert ci.summary()["standing"] == "interrupted"
    assert ci.data("status")["tasks"]
    assert {session["verdict"] for session in ci.data("session", "list")} == {
        "proved",
        "interrupted",
    }
    assert "doing" not in {task["state"] for task in ci.data("task", "list")}
    gate.touch()
    assert ci.run("night").code == 0
    assert ci.launches() == {"N-1": 1, "N-2": 1, "N-3": 1}
    assert ci.count("task.failed") == ci.count("task.delayed") == 0
    assert ci.count("task.landed") == 3


def test_killed_in_the_middle_and_run_again(ci: Ci) -> None:
    """kill -9 of the run: what was done is not done twice, what runs is taken over."""
    gate = ci.path.parent / "go"
    wait = f"while [ ! -e '{gate}' ]; do echo waiting; sleep 0.1; done"
    plan = ci.plan(
        ci.script("first", ci.work()),
        ci.script("long", ci.work(wait), "first"),
        ci.script("wide", ci.work(wait), "first"),
        ci.script("last", ci.work(), "long", "wide"),
    )
    run = ci.begun(plan)
    sessions = ci.folder / "sessions"
    ci.until(lambda: len(list(sessions.glob("N-[23].1/run-1/process.json"))) == 2)
    run.kill()
    run.communicate()
    gate.touch()
    assert ci.run(plan).code == 0
    assert set(ci.launches().values()) == {1}
    assert ci.count("session.started") == ci.count("task.landed") == 4


def test_two_runs_at_once_share_the_work(ci: Ci) -> None:
    one = ci.plan(*(ci.script(f"a{n}", ci.work("sleep 0.5")) for n in range(4)))
    other = ci.plan(
        *(ci.script(f"b{n}", ci.work("sleep 2")) for n in range(4)), name="b.toml", title="Blue"
    )
    runs = [ci.begun(one), ci.begun(one), ci.begun(other)]
    answers = [ended(run) for run in runs]
    assert [answer.code for answer in answers] == [0, 0, 0], answers
    assert set(ci.launches().values()) == {1}
    assert len(ci.launches()) == 8
    assert ci.count("convoy.created") == 2


def test_a_witness_that_runs_already_is_used_and_replaced_if_it_ends(ci: Ci) -> None:
    gate = ci.path.parent / "go"
    wait = f"while [ ! -e '{gate}' ]; do echo waiting; sleep 0.1; done"
    plan = ci.plan(ci.script("first", ci.work(wait)), ci.script("last", ci.work(), "first"))
    witness = ci.started("witness", "run")
    ci.until((ci.folder / "witness.lock").exists)
    run = ci.begun(plan)
    ci.until(lambda: list((ci.folder / "sessions").glob("N-1.1/run-1/process.json")))
    witness.kill()
    witness.wait()
    gate.touch()
    answer = ended(run)
    assert answer.code == 0, answer
    assert set(ci.launches().values()) == {1}


def test_on_a_terminal_it_takes_no_more_lines_than_there_are(ci: Ci) -> None:
    lines, columns = 24, 60
    plan = ci.plan(
        ci.script("ask", "corral task block $CORRAL_TASK --reason 'which colour?'"),
        *(ci.script(f"after-{number}", ci.work(), "ask") for number in range(40)),
    )
    code, out = on_a_terminal(ci, lines, columns, "run", plan, "--yes")
    assert code == 5, out
    assert "… and " in out
    first, *frames = re.split(r"\x1b\[\d+A\r", out)
    assert frames
    drawn = [first, *frames[:-1]]  # below the last one stands the report
    assert max(frame.count("\n") for frame in drawn) < lines
    shown = [line for frame in drawn for line in ESCAPE.sub("", frame).split("\n")]
    assert [line for line in shown if width(line.strip("\r")) >= columns] == []


def on_a_terminal(ci: Ci, lines: int, columns: int, *words: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    seen = ci.at(ci.path, TERM="xterm")
    process = seen.started(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    out = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    return process.wait(), out


def read_terminal(fd: int) -> bytes:
    try:
        return os.read(fd, 65_536)
    except OSError:  # Linux says so when the last process has closed its side
        return b""


def test_what_no_session_could_begin_with_is_refused_before_anything_is_changed(ci: Ci) -> None:
    before = ci.events()
    nobody = ci.run(ci.plan({"key": "brief", "brief": "Do it."}))
    assert (nobody.code, ci.events()) == (2, before), nobody
    assert "there is no engine 'default'" in nobody.err
    plan = Path(ci.plan(ci.script("good", ci.work())))
    plan.write_text(plan.read_text().replace("[convoy]", '[convoy]\nbase = "nowhere"'))
    nowhere = ci.run(str(plan))
    assert (nowhere.code, ci.events()) == (3, before), nowhere
    assert "there is no branch 'nowhere' to start from" in nowhere.err
    ci.git("tag", "nowhere", "HEAD^")  # any name of a commit will do
    assert ci.run(str(plan)).code == 0
    start = ci.git("rev-list", "--max-parents=0", "convoy/night/trunk").strip()
    assert ci.git("merge-base", "main", "convoy/night/trunk").strip() == start


def test_a_convoy_without_a_start_waits_for_a_person_and_goes_on_afterwards(ci: Ci) -> None:
    ci.corral("convoy", "create", "Night", "--base", "later")
    ci.corral("task", "add", "work", "--run", f"sh -c {shlex.quote(ci.work())}")
    answer = ci.run("night")
    assert answer.code == 5, answer
    assert "NIG-1 cannot be started: there is no branch 'later'" in ci.corral("why", "NIG-1").out
    ci.git("branch", "later")
    assert ci.run("night").code == 0
    assert "no branch" not in ci.corral("alert", "list").out


def test_interrupted_impatiently_it_ends_its_agents_all_the_same(ci: Ci) -> None:
    run = ci.begun(ci.plan(ci.script("long", "while :; do echo waiting; sleep 0.1; done")))
    room = ci.folder / "sessions" / "N-1.1" / "run-1"
    ci.until((room / "process.json").exists)
    for _ in range(20):
        run.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert ended(run).code == 130
    (session,) = ci.data("session", "list")
    assert session["stop"] == "interrupted"
    ci.until((room / "exit.json").exists)


def test_a_run_has_a_server_that_can_be_watched(ci: Ci) -> None:
    gate = ci.path.parent / "go"
    wait = f"while [ ! -e '{gate}' ]; do echo waiting; sleep 0.1; done"
    run = ci.begun(ci.plan(ci.script("long", ci.work(wait))))
    ci.until(lambda: ci.corral("link", code=None).code == 0)
    assert ci.data("link")["url"].startswith("http://127.0.0.1")
    refusal = ci.refused("up", "-d", code=3)
    assert refusal["code"] == "already_up"
    assert "corral link" in refusal["hint"]
    gate.touch()
    answer = ended(run)
    assert (answer.code, "Corral serves" in answer.out) == (0, False)
    assert ci.corral("link", code=None).code == 4

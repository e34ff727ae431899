"""The dashboard's detail views, and the mayor over HTTP, with real agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.corral_command import make_board
from tests.e2e.mayor.mayor_repo import MayorRepo, make_mayor_repo, plan, task
from tests.e2e.server.live_server import Answer, Served, serve, wait_for
from tests.e2e.witness.witness_repo import QUIET, WitnessRepo

# It changes files, sets traps for readers, and waits until it may end.
AGENT = """\
echo first > committed.txt && git add -A && git commit -qm work
git config core.fsmonitor 'touch {trap}; false'
git config diff.external 'touch {trap}'
git config core.hooksPath "$PWD/hooks"
mkdir -p hooks && printf '#!/bin/sh\\ntouch {trap}\\n' > hooks/post-index-change
chmod +x hooks/post-index-change
printf '*.txt filter=trap diff=trap\\n' > .gitattributes
git config filter.trap.clean 'touch {trap}; cat'
git config diff.trap.textconv 'touch {trap}; cat'
echo second > uncommitted.txt
printf '\\033[32mready\\033[0m\\n'
until test -e {go}; do sleep 0.05; done
rm -rf uncommitted.txt .gitattributes hooks
"""
CONFIG = f"""\
{QUIET}
[refinery]
checks = ["echo all is well"]
[engine.talker]
type = "command"
command = ["sh", "{{script}}"]
output = "facts"
"""
FACTS: list[dict[str, Any]] = [
    {"fact": "began", "session": "c-1", "model": "small"},
    {"fact": "used", "tool": "edit", "what": "a.txt", "call": "1"},
    {"fact": "answered", "call": "1", "text": "done"},
    {"fact": "said", "text": "<script>alert(1)</script>"},
    {"fact": "finished"},
]


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    project = WitnessRepo(make_board(tmp_path / "project", "Auth fix").path)
    script = tmp_path / "talker.sh"
    facts = "".join(f"{json.dumps(fact)}\n" for fact in FACTS)
    script.write_text(
        f"cat <<'END'\n{facts}END\necho x > a.txt && git add -A && git commit -qm facts\n"
    )
    project.configure(CONFIG.format(script=script))
    return project


def test_a_session_is_looked_into_without_running_what_it_wrote(
    project: WitnessRepo, tmp_path: Path
) -> None:
    trap, go = tmp_path / "trapped", tmp_path / "go"
    project.script(AGENT.format(trap=trap, go=go), title="Fix <b>login</b>")
    with serve(project) as served, project.witness():
        url = "/api/sessions/AF-1.1"
        lines = wait_for(lambda: _lines(served, url), "it prints something")
        assert lines == ["\x1b[32mready\x1b[0m"]
        trap.unlink(missing_ok=True)  # the agent's own git may have stepped into it
        found = served.get(f"{url}/diff").data
        files = {file["path"]: (file["added"], file["deleted"]) for file in found["files"]}
        assert files["committed.txt"] == files["uncommitted.txt"] == (1, 0)
        assert "+first" in found["patch"]
        assert "+second" in found["patch"]
        assert found["uncommitted"] == 3
        assert found["cut"] is False
        assert not trap.exists()
        assert "Fix <b>login</b>" in served.get(f"{url}/brief").data["text"]
        assert served.get(f"{url}/usage").data["processes"] >= 1
        assert served.get("/api/convoys/auth-fix/report").data["standing"] == "running"
        assert served.get(f"{url}/facts").data == {"structured": False, "facts": []}
        row = served.get("/api/board").data["sessions"][0]
        assert (row["id"], row["live"], row["convoy"]) == ("AF-1.1", True, "auth-fix")
        go.touch()
        wait_for(lambda: served.get(url).data["verdict"], "it ends")
    assert project.verdict("AF-1") == "proved", project.sessions()
    project.corral("refinery", "run", "--once")
    with serve(project) as served:
        assert "+first" in served.get(f"{url}/diff").data["patch"]
        assert served.get(f"{url}/usage").data is None
        board = served.get("/api/board").data
        (check,) = board["checks"]
        assert (check["result"], check["members"], check["live"]) == ("green", ["AF-1"], False)
        log = served.get(f"/api/checks/{check['id']}/log").data["lines"]
        assert "all is well" in log
        assert (board["queue"], board["convoys"][0]["landed"]) == ([], 1)
        why = served.get(f"/api/why?of={check['id']}").data
        assert (why["kind"], why["summary"].endswith("is green")) == ("check", True)
        assert served.get("/api/why?of=AF-1.1").data["summary"] == "AF-1.1 ended as proved"
        assert served.get("/api/why?of=nothing").status == 404
        report = served.get("/api/convoys/auth-fix/report").data
        assert (report["landed"], report["tasks"][0]["verdict"]) == (1, "proved")
        assert served.get("/api/checks/nothing/log").status == 404
        newest = board["seq"]
        page = served.get(f"/api/log?before={newest}&limit=3").data["events"]
        assert [event["seq"] for event in page] == [newest - 3, newest - 2, newest - 1]


def _lines(served: Served, url: str) -> list[str]:
    answer = served.get(f"{url}/output")
    return list(answer.data["lines"]) if answer.status == 200 else []


def test_what_an_engine_tells_is_shown_as_it_is(project: WitnessRepo) -> None:
    project.add("Talk", "--engine", "talker")
    project.once()
    with serve(project) as served:
        found = served.get("/api/sessions/AF-1.1/facts").data
        assert found["structured"] is True
        assert [fact["fact"] for fact in found["facts"]] == [fact["fact"] for fact in FACTS]
        assert found["facts"][3]["text"] == FACTS[3]["text"]
        last = served.get("/api/sessions/AF-1.1/facts?limit=1").data["facts"]
        assert [fact["fact"] for fact in last] == ["finished"]


def test_a_plan_is_made_changed_and_approved_over_http(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project")
    project.answers(
        plan(task("a"), task("b", needs=["a"])),
        plan(task("a"), task("b", needs=["a"]), task("c", needs=["b"])),
    )
    with serve(project) as served:
        assert served.post("/api/mayor/ask", {"text": "Hello?"}).status == 404
        assert served.post("/api/mayor/start", {"goal": "x", "engine": "none"}).status == 400
        begun = served.post("/api/mayor/start", {"goal": "--yes, make it good"}).data
        assert begun["id"] == "mayor-1"
        first = wait_for(lambda: _pending(served, 0), "a plan is proposed")
        said = served.get("/api/mayors/mayor-1").data
        assert said["goal"] == "--yes, make it good"
        assert [one["kind"] for one in said["said"]] == ["asked", "answered"]
        assert said["proposal"]["edges"] == [{"task": "b", "need": "a", "reason": ""}]
        assert said["proposal"]["critical"]["keys"] == ["a", "b"]
        served.post("/api/mayor/ask", {"text": "One more, please"})
        second = wait_for(lambda: _pending(served, first), "it is changed")
        old = served.post("/api/mayor/approve", {"proposal": first})
        assert old.status == 409
        assert served.post("/api/mayor/approve", {"proposal": 1}).status == 409
        done = served.post("/api/mayor/approve", {"proposal": second}).data
        assert (done["convoy"], done["pending"]) == ("good", False)
        board = served.get("/api/board").data
        assert [row["title"] for row in board["tasks"]] == ["Do a", "Do b", "Do c"]
        assert board["convoys"][0]["critical"] == ["GOO-1", "GOO-2", "GOO-3"]
        assert served.post("/api/mayor/reject", {}).status == 409
        assert served.post("/api/mayor/stop", {"reason": "enough"}).data["state"] == "stopped"
        assert served.get("/api/mayors/mayor-2").status == 404
    assert project.of_type("plan.approved")[0]["data"]["proposal"] == second


def test_what_is_said_to_the_mayor_with_a_key_is_said_once(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project")
    project.answers(*([plan(task("a"))] * 2))
    with serve(project) as served:

        def say(what: str, **body: object) -> Answer:
            key = {"Idempotency-Key": f"{what}-key-1"}
            return served.post(f"/api/mayor/{what}", body, headers=key)

        assert say("start", goal="Make it good").data["id"] == "mayor-1"
        first = wait_for(lambda: _pending(served, 0), "a plan is proposed")
        assert say("start", goal="Make it good").data["pending"] is True
        assert say("start", goal="Another").error["code"] == "key_reused"
        assert say("ask", text="Are you sure?").data["id"] == "mayor-1"
        second = wait_for(lambda: _pending(served, first), "it has answered")
        assert say("ask", text="Are you sure?").data["pending"] is True
        with_newline = served.post("/api/mayor/reject", {"reason": "a\nb"})
        assert (with_newline.status, with_newline.error["code"]) == (400, "bad_input")
        empty = served.post("/api/mayor/ask", {"text": " "})
        assert (empty.status, empty.error["code"]) == (400, "bad_input")
        assert served.post("/api/mayor/approve", {"proposal": 1 << 64}).status == 400
        for _ in range(2):
            assert say("approve", proposal=second).data["convoy"] == "good"
        for _ in range(2):
            assert say("stop", reason="enough").data["state"] == "stopped"
    causes = [event["data"]["cause"] for event in project.of_type("mayor.asked")]
    assert causes == ["goal", "question"]
    assert len(project.of_type("plan.approved")) == len(project.of_type("mayor.ended")) == 1


def _waiting(project: MayorRepo) -> Path:
    """Let the next run of the engine wait for a file, then answer with a plan."""
    go = project.place / "go"
    (project.place / "good").write_text(plan(task("a")))
    project.script(
        f'touch "{project.place}/up"; until test -e "{go}"; do sleep 0.05; done'
        f'; cat "{project.place}/good"; echo'
    )
    return go


def test_a_server_takes_over_the_run_of_one_that_was_killed(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project")
    go = _waiting(project)
    with serve(project) as served:
        served.post("/api/mayor/start", {"goal": "Make it good"}).data  # noqa: B018 - it is asked
        project.until((project.place / "up").exists)
        served.kill()
    with serve(project) as served:
        go.touch()
        wait_for(lambda: _pending(served, 0), "the plan is taken in")
    assert project.runs == 1, "nothing was asked twice"
    project.nothing_left()


def test_a_server_that_stops_ends_the_engine_and_the_conversation_can_go_on(
    tmp_path: Path,
) -> None:
    project = make_mayor_repo(tmp_path / "project")
    _waiting(project)
    project.answers(plan(task("a")))
    with serve(project) as served:
        served.post("/api/mayor/start", {"goal": "Make it good"}).data  # noqa: B018 - it is asked
        project.until((project.place / "up").exists)
        served.stop()
    project.until(lambda: not project.leftovers())
    with serve(project) as served:
        assert served.get("/api/board").data["mayors"][0]["state"] == "asking"
        assert project.runs == 1, "it costs nothing until somebody asks for it"
        assert served.post("/api/mayor/start", {}).status == 200
        wait_for(lambda: _pending(served, 0), "the plan is proposed")
    assert project.runs == 2


def _pending(served: Served, after: int) -> int:
    rows = served.get("/api/board").data["mayors"]
    seq = rows[0]["proposed_seq"] if rows and rows[0]["pending"] else 0
    return int(seq) if seq > after else 0


def test_every_session_of_a_task_and_a_convoy_at_an_earlier_event(project: WitnessRepo) -> None:
    task = project.script('echo "$CORRAL_SESSION"; exit 3')
    project.once()
    failed = project.of_type("task.failed")[-1]["seq"]
    project.here("task", "retry", task, code=0)
    project.once()
    with serve(project) as served:
        found = served.get(f"/api/tasks/{task}/sessions").data
        assert [(one["id"], one["verdict"], one["live"]) for one in found] == [
            (f"{task}.1", "crashed", False),
            (f"{task}.2", "crashed", False),
        ]
        newest = [one for one in served.get("/api/board").data["sessions"] if one["task"] == task]
        assert found[1:] == newest
        printed = served.get(f"/api/sessions/{task}.1/output").data["lines"]
        assert printed == [f"{task}.1"]
        earlier = served.get(f"/api/convoys/auth-fix/report?at={failed}").data
        assert [line["attempts"] for line in earlier["tasks"]] == [1]
        now = served.get("/api/convoys/auth-fix/report").data
        assert [line["attempts"] for line in now["tasks"]] == [2]
        assert served.get("/api/tasks/AF-9/sessions").status == 404

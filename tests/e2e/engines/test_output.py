"""An engine's output is shown in words, or raw on request."""

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, fact, first, script


def test_tail_show_status_and_cost_tell_what_an_engine_did(project: EngineRepo) -> None:
    task = project.script(
        script(
            began(),
            fact("said", text="Reading \x1b[31mthe code"),
            fact("used", tool="edit", what="a.txt", paths=["a.txt"]),
            fact("answered", ok=False, text="no such file"),
            fact("spent", fresh=1200, cached=5, output=80, cost_usd=0.25),
            "echo a line that is no fact",
            WORK,
            DONE,
        )
    )
    project.once()
    said = project.here("session", "tail", f"{task}.1", code=0).out
    assert said.splitlines() == [
        "began: m-1 th-1",
        "Reading ?[31mthe code",
        "> edit a.txt",
        "< failed: no such file",
        "tokens: 1,200 in, 5 cached, 80 out, $0.2500",
        "finished: well",
    ]
    raw = project.here("session", "tail", f"{task}.1", "--raw", code=0).out
    assert "a line that is no fact" in raw
    assert '{"fact": "began"' in raw
    shown = project.here("session", "show", f"{task}.1", code=0).out
    assert "model m-1, conversation th-1" in shown
    assert "1,200 tokens in, 5 cached, 80 out: $0.2500" in shown
    data = project.session(f"{task}.1")
    assert data["engine"]["files"] == ["a.txt"]
    assert data["spent"] == {
        "fresh": 1200,
        "cached": 5,
        "output": 80,
        "cost_usd": 0.25,
        "unpriced": 0,
    }
    assert "spent today $0.25, in total $0.25" in project.here("status", code=0).out
    assert "$0.2500 in 1 session" in project.here("cost", code=0).out


def test_a_session_can_be_looked_at_after_another_has_taken_its_place(project: EngineRepo) -> None:
    limited = fact("finished", trouble="rate", text="429", retry_s=1)
    spent = fact("spent", fresh=7, output=1, cost_usd=0.25)
    project.configure(CONFIG + "commit = true\n")
    meets = first(began(), fact("said", text="the first half"), spent, limited, "exit 1")
    task = project.script(script(meets, began(), fact("said", text="the rest"), WORK, DONE))
    project.once()
    assert project.verdicts() == ["limited", "proved"]
    one = project.session(f"{task}.1")
    assert (one["verdict"], one["detail"], one["thread"]) == ("limited", "429", "th-1")
    assert (one["spent"]["fresh"], one["spent"]["cost_usd"]) == (7, 0.25)
    assert one["ended_at"] == project.of_type("session.ended")[0]["at"]
    assert "ended" in project.here("session", "show", f"{task.lower()}.1", code=0).out
    assert "the first half" in project.here("session", "tail", f"{task}.1", code=0).out
    assert "the first half" in project.here("session", "tail", f"{task}.1", "--raw", code=0).out
    left = project.corral("session", "attach", f"{task}.1")
    assert f"{task}.1 ended: limited: 429" in left.err
    refused = project.here("session", "stop", f"{task}.1", "--reason", "no", "--json").error
    assert refused["code"] == "session_ended"
    assert project.session(f"{task}.2")["verdict"] == "proved"
    for unknown in (f"{task}.0", f"{task}.3", f"{task}.x", "ZZ-1.1"):
        assert project.here("session", "show", unknown, "--json").error["code"] == "not_found"

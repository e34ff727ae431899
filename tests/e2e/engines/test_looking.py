"""R18: an engine's output is shown in words, and as it is if that is asked for."""

from tests.e2e.engines.ranch import DONE, WORK, Ranch, began, fact, script


def test_tail_show_status_and_cost_tell_what_an_engine_did(ranch: Ranch) -> None:
    task = ranch.script(
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
    ranch.once()
    said = ranch.here("session", "tail", f"{task}.1", code=0).out
    assert said.splitlines() == [
        "began: m-1 th-1",
        "Reading ?[31mthe code",
        "> edit a.txt",
        "< failed: no such file",
        "tokens: 1,200 in, 5 cached, 80 out, $0.2500",
        "finished: well",
    ]
    raw = ranch.here("session", "tail", f"{task}.1", "--raw", code=0).out
    assert "a line that is no fact" in raw
    assert '{"fact": "began"' in raw
    shown = ranch.here("session", "show", f"{task}.1", code=0).out
    assert "model m-1, conversation th-1" in shown
    assert "1,200 tokens in, 5 cached, 80 out: $0.2500" in shown
    data = ranch.session(f"{task}.1")
    assert data["engine"]["files"] == ["a.txt"]
    assert data["spent"] == {
        "fresh": 1200,
        "cached": 5,
        "output": 80,
        "cost_usd": 0.25,
        "unpriced": 0,
    }
    assert "spent today $0.25, in all $0.25" in ranch.here("status", code=0).out
    assert "$0.2500 in 1 sessions" in ranch.here("cost", code=0).out

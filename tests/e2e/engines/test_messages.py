"""R17: a message reaches an agent that never asks for it, once, at its next turn."""

from pathlib import Path

from tests.e2e.engines.ranch import CONFIG, DONE, WORK, Ranch, began, fact, script


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

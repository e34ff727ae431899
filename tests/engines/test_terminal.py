"""R18, R19: a real agent on a terminal of its own: started, told, looked at, judged."""

from pathlib import Path

from tests.engines.running import plan
from tests.engines.test_witness import ranch_of
from tests.standin.server import StandIn


def test_claude_code_on_a_terminal_from_a_brief_to_proved_work(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    ranch = ranch_of(tmp_path, programs, standin, {"sat-at": "claude-code"})
    config = ranch.path / ".corral" / "config.toml"
    config.write_text(
        config.read_text().replace("[engine.sat-at]\n", '[engine.sat-at]\ntransport = "tmux"\n')
    )
    brief = tmp_path / "brief.md"
    brief.write_text(plan({"op": "write", "path": "a.py", "content": "y = 2\n"}))
    words = ("--engine", "sat-at", "--brief-file", str(brief), "--accept", "test -f a.py")
    task = ranch.add("Write a.py", *words)
    session = f"{task}.1"

    def raw() -> str:
        return ranch.here("session", "tail", session, "--raw").out

    with ranch.witness():
        ranch.until(lambda: '"fact":"told"' in raw())
        assert '"proof":"record"' in raw(), "its own transcript has the brief"
        ranch.until(lambda: "a.py" in ranch.here("session", "tail", session).out)
        said = "Now say this: SAY <<<fine weather>>>"
        sent = ranch.corral("session", "send", session, said, "--wait", "200", "--json").data
        assert sent["proof"] == "record"
        ranch.until(lambda: "fine weather" in ranch.here("session", "tail", session).out)
        ranch.here("session", "send", session, "/exit", "--wait", "0", code=0)
        assert ranch.until_ended(task) == "proved", ranch.detail(task)
    assert ranch.git("show", f"{ranch.task(task)['commit']}:a.py") == "y = 2"
    assert ranch.leftovers() == []

"""A real agent on its own terminal: started, sent messages, watched, judged."""

from pathlib import Path

from tests.engines.engine_tree import plan
from tests.engines.test_witness import project_of
from tests.standin.server import StandIn


def test_claude_code_on_a_terminal_from_a_brief_to_proved_work(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    project = project_of(tmp_path, programs, standin, {"sat-at": "claude-code"})
    config = project.path / ".corral" / "config.toml"
    config.write_text(
        config.read_text().replace("[engine.sat-at]\n", '[engine.sat-at]\ntransport = "tmux"\n')
    )
    brief = tmp_path / "brief.md"
    brief.write_text(plan({"op": "write", "path": "a.py", "content": "y = 2\n"}))
    words = ("--engine", "sat-at", "--brief-file", str(brief), "--accept", "test -f a.py")
    task = project.add("Write a.py", *words)
    session = f"{task}.1"

    def raw() -> str:
        return project.here("session", "tail", session, "--raw").out

    with project.witness():
        project.until(lambda: '"fact":"told"' in raw())
        assert '"proof":"record"' in raw(), "its own transcript has the brief"
        project.until(lambda: "a.py" in project.here("session", "tail", session).out)
        said = "Now say this: SAY <<<fine weather>>>"
        sent = project.corral("session", "send", session, said, "--wait", "200", "--json").data
        assert sent["proof"] == "record"
        project.until(lambda: "fine weather" in project.here("session", "tail", session).out)
        project.here("session", "send", session, "/exit", "--wait", "0", code=0)
        assert project.until_ended(task) == "proved", project.detail(task)
    assert project.git("show", f"{project.task(task)['commit']}:a.py") == "y = 2"
    assert project.leftovers() == []

"""The real agents use Corral's own tools over MCP, each with its session's key."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.engines.engine_repo import EngineRepo
from tests.engines.engine_tree import KEY, plan
from tests.engines.test_witness import project_of
from tests.patience import PATIENCE_S
from tests.standin.server import StandIn

USERS = ("claude-code", "codex", "gemini", "copilot")


@contextmanager
def up(project: EngineRepo) -> Iterator[None]:
    """Have the server run for a while, and nothing else."""
    server = project.started("serve", "--port", "0")
    try:
        project.until((project.folder / "server.json").exists)
        yield
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


def test_real_agents_report_send_and_reserve(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    names = {f"tools-{engine}": engine for engine in USERS}
    project = project_of(tmp_path, programs, standin, names)
    tasks = {}
    for name in names:
        brief = tmp_path / f"{name}.md"
        brief.write_text(
            plan(
                {"op": "call", "tool": "progress", "args": {"text": f"{name} is at it"}},
                {"op": "call", "tool": "lease", "args": {"resource": f"service:{name}"}},
                {"op": "call", "tool": "message", "args": {"to": "people", "text": f"by {name}"}},
                {"op": "write", "path": f"{name}.py", "content": "y = 2\n"},
                {"op": "say", "text": "Done."},
            )
        )
        tasks[name] = project.add(
            f"Use the tools of corral, then write {name}.py",
            *("--engine", name, "--brief-file", str(brief), "--accept", f"test -f {name}.py"),
        )
    with up(project):
        project.patient(300, "witness", "run", "--once")
    assert {name: project.verdict(task) for name, task in tasks.items()} == dict.fromkeys(
        tasks, "proved"
    ), {name: project.detail(task) for name, task in tasks.items()}
    for name, task in tasks.items():
        session = f"{task}.1"
        said = [e["data"]["text"] for e in project.of_type("session.progressed")]
        assert f"{name} is at it" in said
        sent = {e["data"]["sender"]: e["data"]["text"] for e in project.of_type("message.sent")}
        assert sent[session] == f"by {name}"
        leased = {
            e["data"]["resource"]: e["data"]["holder"] for e in project.of_type("lease.acquired")
        }
        assert leased[f"service:{name}"] == session
    assert KEY not in project.here("log", "--json").out
    assert project.leftovers() == []

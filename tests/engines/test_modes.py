"""Engines in read-only mode, and engines killed in the middle of their work."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from corral.world.engines.recipe import Permission
from tests.engines.conftest import MakeYard
from tests.engines.engine_tree import ENGINES, EngineTree, Outcome, plan
from tests.standin.faults import Fault
from tests.standin.server import StandIn

WRITE = plan(
    {"op": "write", "path": "a.py", "content": "y = 2\n"},
    {"op": "edit", "path": "b.py", "old": "x = 1", "new": "x = 3"},
    {"op": "run", "cmd": "touch c.py"},
    {"op": "say", "text": "Done."},
)


@pytest.fixture(scope="module")
def looked(make_refinery_repo: MakeYard) -> dict[str, tuple[EngineTree, Outcome]]:
    def look(engine: str) -> tuple[EngineTree, Outcome]:
        project = make_refinery_repo(engine, f"{engine}-look")
        return project, project.run(project.job(WRITE, permission=Permission.READ), limit_s=240)

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(ENGINES, pool.map(look, ENGINES), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_read_only_engine_changes_nothing(
    engine: str, looked: dict[str, tuple[EngineTree, Outcome]]
) -> None:
    project, outcome = looked[engine]
    assert outcome.code is not None, "it waits for somebody"
    changed = project.git("status", "--short") + project.git("log", "--format=%s")
    assert changed == "The beginning\n"


def written_down(project: EngineTree) -> bool:
    """Whether the engine's own record has the first step: one of them writes a little behind."""
    return any(b"y = 2" in path.read_bytes() for path in project.home.rglob("*.jsonl"))


@pytest.mark.parametrize("engine", ["claude-code", "codex", "copilot"])
def test_a_killed_conversation_goes_on(
    engine: str, make_refinery_repo: MakeYard, standin: StandIn
) -> None:
    project = make_refinery_repo(engine, f"{engine}-killed")
    scenario = standin.scenario(f"{engine}-killed")
    scenario.fail(Fault("hang", skip=1))
    first = project.run(
        project.job(plan({"op": "write", "path": "a.py", "content": "y = 2\n"})),
        until=lambda: any(r.fault for r in scenario.seen().requests) and written_down(project),
    )
    assert first.code is None, "it was to be killed"
    assert first.session
    brief = plan(
        {"op": "write", "path": "c.py", "content": "z = 4\n"}, {"op": "say", "text": "On."}
    )
    second = project.run(project.job(brief, resume=first.session))
    assert second.session == first.session, second
    assert (project.tree / "c.py").exists()
    last = scenario.seen(bodies=True).requests[-1]
    assert "y = 2" in str(last.body), "what it had done is forgotten"

"""Real agents over the Agent Client Protocol, against the stand-in for their models."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from corral.core.engine.facts import Answered, Asked, Began, Denied, Spent, Told, Trouble, Used
from corral.world.engines import registry
from corral.world.engines.agents import acp as acp_agents
from corral.world.engines.files import lay
from corral.world.engines.recipe import EngineJob, Prepared, environment
from corral.world.engines.runners.orders import AcpOrder, Order
from tests.patience import PATIENCE_S
from tests.standin.faults import Fault
from tests.standin.server import StandIn, serving
from tests.world.engines.runners.runner_process import Running, running, send, until

MODELS = {
    "opencode": "gpt-5",
    "gemini": "gemini-2.5-pro",
    "copilot": "gpt-5",
    "claude-code": "claude-sonnet-4-5",
    "codex": "gpt-5.5",
}
PROGRAMS = {"claude-code": "claude"}
PLAN = (
    'PLAN [{"op":"write","path":"a.py","content":"x = 1\\n"},'
    '{"op":"run","cmd":"git status"},{"op":"say","text":"all done"}]'
)
TURN_S = PATIENCE_S


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as started:
        yield started


class AcpTree:
    """A tree and a room for one agent."""

    def __init__(self, type: str, top: Path, place: Path, standin: StandIn) -> None:
        self.type, self.place, self.room = type, place, top
        self.tree = top / "tree"
        self.tree.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.tree, check=True)
        self.scenario = f"{type}-{top.name}"
        self.standin = standin
        self.job = EngineJob(
            session="AF-1.1",
            program=(str(place / PROGRAMS.get(type, type)),),
            tree=str(self.tree),
            home=str(top / "home"),
            prompt_file="",
            model=MODELS[type],
            base_url=standin.url(self.scenario),
            key="FAKE_KEY",
        )

    def order(self, **changes: object) -> tuple[AcpOrder, Prepared]:
        job = EngineJob(
            **{name: getattr(self.job, name) for name in EngineJob.__struct_fields__} | changes
        )
        recipe = registry.find(self.type)
        order, prepared = acp_agents.prepare(self.type, job, recipe.prepare, room=str(self.room))
        lay(prepared, job.home)
        return order, prepared

    @contextmanager
    def running(self, order: Order, prepared: Prepared, first: str) -> Iterator[Running]:
        env = environment(prepared, {"FAKE_KEY": "sk-fake-0123456789abcdef"})
        path = f"{self.place}:{os.environ['PATH']}"
        with running(order, first, self.tree, **env | {"PATH": path}) as runner:
            yield runner


@pytest.fixture(params=list(MODELS))
def project(
    request: pytest.FixtureRequest, tmp_path: Path, programs: Path, standin: StandIn
) -> AcpTree:
    return AcpTree(request.param, tmp_path, programs, standin)


def test_an_agent_edits_is_held_back_and_goes_on(project: AcpTree) -> None:
    order, prepared = project.order()
    order = msgspec.structs.replace(order, linger_s=TURN_S)
    with project.running(order, prepared, PLAN) as runner:
        until(runner.saw(Asked), TURN_S)
        assert (project.tree / "a.py").read_text() == "x = 1\n"
        send(project.room, "RUN <<<touch ../outside>>>")
        until(lambda: len(runner.saw(Asked)()) == 2, TURN_S)
        # The sandbox of codex lets it write below /tmp, without a question.
        outside = (project.room / "outside").exists()
        assert runner.stop() == 143
    assert "all done" in runner.text()
    assert runner.saw(Told)()[0].proof == "record"
    (began,) = runner.saw(Began)()
    assert began.session
    written = [use for use in runner.saw(Used)() if any("a.py" in path for path in use.paths)]
    assert written
    assert [answer.ok for answer in runner.saw(Answered)()][:2] == [True, True]
    assert runner.saw(Spent)()
    if project.type != "codex":
        assert not outside
        assert any("outside" in fact.what for fact in runner.saw(Denied)())
    # The conversation is still there for another process.
    order, prepared = project.order(resume=began.session)
    with project.running(order, prepared, "SAY <<<back again>>>") as runner:
        assert runner.end() == 0, runner.lines
    assert "back again" in runner.text()
    assert "all done" not in runner.text()


@pytest.mark.parametrize(
    ("type", "kind", "trouble"),
    [
        ("copilot", "401", Trouble.AUTH),
        ("copilot", "overflow", Trouble.OVERFLOW),
        ("codex", "429", Trouble.RATE),
        ("codex", "overflow", Trouble.OVERFLOW),
        ("claude-code", "429", Trouble.RATE),
        ("claude-code", "overflow", Trouble.OVERFLOW),
        ("gemini", "401", Trouble.AUTH),
    ],
)
def test_why_an_agent_could_not_go_on(
    tmp_path: Path, programs: Path, standin: StandIn, *, type: str, kind: str, trouble: Trouble
) -> None:
    project = AcpTree(type, tmp_path, programs, standin)
    standin.scenario(project.scenario).fail(Fault(kind, times=100))
    with project.running(*project.order(), "SAY <<<never>>>") as runner:
        assert runner.end() == 1, runner.lines
    assert runner.finished.trouble is trouble

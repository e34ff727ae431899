"""Every engine: from a brief to changes in its tree, then a second turn.

The engines run at once, two turns each; the tests look at what came of it.
"""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct

from corral.core.engine.facts import Answered, Began, Denied, Said, Used
from tests.engines.conftest import MakeYard
from tests.engines.engine_tree import ENGINES, KEY, TOKEN, EngineTree, Outcome, http_tools, plan
from tests.engines.toolbox import Toolbox
from tests.standin.scenario import Record
from tests.standin.server import StandIn, key_mark
from tests.standin.talk import Usage

CAN_USE_TOOLS = tuple(engine for engine in ENGINES if engine != "aider")
RESTRICTED = tuple(e for e in CAN_USE_TOOLS if e not in ("continue", "codex"))
ROUNDED = ("aider",)  # says "2.2k" for 2,235

FIRST = plan(
    {"op": "write", "path": "a.py", "content": "y = 2\n"},
    {"op": "read", "path": "b.py"},
    {"op": "edit", "path": "b.py", "old": "x = 1", "new": "x = 3"},
    {"op": "run", "cmd": "git status --short"},
    {"op": "run", "cmd": "touch ../outside"},
    {"op": "say", "text": "All is done."},
)
SECOND = plan({"op": "write", "path": "c.py", "content": "z = 4\n"}, {"op": "say", "text": "More."})


class Story(Struct):
    project: EngineTree
    first: Outcome
    second: Outcome
    used: list[Usage]  # by the end of each turn, as the stand-in counts
    requests: list[Record]


@pytest.fixture(scope="module")
def stories(make_refinery_repo: MakeYard, standin: StandIn, tools: Toolbox) -> dict[str, Story]:
    def live(engine: str) -> Story:
        project = make_refinery_repo(engine, engine)
        scenario = standin.scenario(engine)
        mcp = http_tools(tools.url(engine)) if engine in CAN_USE_TOOLS else None
        brief = FIRST
        if mcp:
            call = '{"op": "call", "tool": "note", "args": {"text": "hello"}}, '
            brief = brief.replace("PLAN [", f"PLAN [{call}")
        first = project.run(project.job(brief, mcp=mcp), limit_s=240)
        used = scenario.seen().usage
        job = project.job(SECOND, resume=first.session, before=first.spent())
        second = project.run(job, limit_s=240)
        seen = scenario.seen(bodies=True)
        return Story(project, first, second, [used, seen.usage], seen.requests)

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(ENGINES, pool.map(live, ENGINES), strict=True))


@pytest.fixture(params=ENGINES)
def story(request: pytest.FixtureRequest, stories: dict[str, Story]) -> Story:
    return stories[request.param]


def test_it_does_what_the_brief_says_and_ends(story: Story) -> None:
    tree = story.project.tree
    assert (tree / "a.py").read_text() == "y = 2\n"
    assert (tree / "b.py").read_text() == "x = 3\n"
    assert story.first.code == 0
    assert story.first.finished is not None
    assert story.first.finished.trouble is None


def test_it_leaves_nothing_else_in_the_tree(story: Story) -> None:
    changed = set(story.project.git("status", "--short").splitlines())
    commits = story.project.git("log", "--format=%an").splitlines()
    if story.project.recipe.commits:
        assert changed == set()
        assert commits == ["A Tester"] * 3
    else:
        assert changed == {" M b.py", "?? a.py", "?? c.py"}
        assert commits == ["A Tester"]


def test_its_output_is_read(story: Story) -> None:
    engine = story.project.recipe.type
    (began,) = story.first.all(Began)
    assert began.session
    used = story.first.all(Used)
    assert used
    if engine == "aider":
        assert {path for one in used for path in one.paths} == {"a.py", "b.py"}
        return
    assert [said.text for said in story.first.all(Said)] == ["All is done."]
    assert any("git status --short" in one.what for one in used)
    if engine != "continue":  # it says only what was called
        paths = {Path(path).name for one in used for path in one.paths}
        assert {"a.py", "b.py"} <= paths
        assert any("b.py" in answer.text for answer in story.first.all(Answered))


def test_tokens_are_those_that_the_model_reported(story: Story) -> None:
    for outcome, used, before in zip(
        (story.first, story.second), story.used, (Usage(), story.used[0]), strict=True
    ):
        said = outcome.spent()
        if story.project.recipe.type in ROUNDED:
            work = [r.usage for r in story.requests if r.work and r.usage.output == said.output]
            assert any(abs(said.fresh - one.fresh) <= 50 for one in work)
            continue
        real = (used.fresh - before.fresh, used.cached - before.cached, used.output - before.output)
        assert (said.fresh, said.cached, said.output) == real


def test_cost_is_said_where_the_engine_knows_it(story: Story) -> None:
    cost = story.first.spent().cost_usd
    assert (cost is not None and cost > 0) if story.project.recipe.cost else cost is None


def test_it_goes_on_with_the_conversation(story: Story) -> None:
    assert (story.project.tree / "c.py").read_text() == "z = 4\n"
    assert story.second.session == story.first.session
    last = [record for record in story.requests if record.work][-1]
    assert "All is done." in str(last.body), "what was said before is not part of it"
    assert "z = 4" in str(last.body)


@pytest.mark.parametrize("engine", RESTRICTED)
def test_it_may_run_only_what_it_was_allowed(engine: str, stories: dict[str, Story]) -> None:
    story = stories[engine]
    assert not (story.project.place / "outside").exists()
    assert story.first.all(Denied)


@pytest.mark.parametrize("engine", CAN_USE_TOOLS)
def test_it_calls_a_tool_of_ours(engine: str, stories: dict[str, Story], tools: Toolbox) -> None:
    assert tools.notes[engine] == ["hello"]
    assert tools.refused == 0
    assert any("note" in used.tool for used in stories[engine].first.all(Used))
    results = [record for record in stories[engine].requests if record.work]
    assert "note number 1 is kept" in str(results[-1].body), "the answer was not used"


def test_secrets_stay_in_the_environment(story: Story) -> None:
    marks = {
        value
        for record in story.requests
        for name, value in record.headers.items()
        if name in ("authorization", "x-api-key", "x-goog-api-key")
    }
    assert marks == {f"sha256:{key_mark(KEY)}"}, "the key of the profile was not used"
    for folder in (story.project.tree, story.project.home):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 20_000_000:
                content = path.read_bytes()
                assert KEY.encode() not in content, path
                assert TOKEN.encode() not in content, path


def test_files_of_ours_can_be_read_by_nobody_else(story: Story) -> None:
    job = story.project.job("Nothing.")
    for name in story.project.recipe.prepare(job).files:
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE(story.project.home.stat().st_mode) == 0o700


def test_nothing_is_secret_on_the_command_line(story: Story) -> None:
    prepared = story.project.recipe.prepare(
        story.project.job("Nothing.", mcp=http_tools("http://x"))
    )
    assert KEY not in str(prepared)
    assert TOKEN not in str(prepared)
    assert "CORRAL_TEST_KEY" in prepared.keys.values()

"""How each engine's words are understood when its model fails, beyond `test_matrix`.

All runs are made at once, a few at a time. A run ends as soon as the engine has said what is
wrong: how long it would go on trying is its own business, because the caller decides.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import Struct
from msgspec.structs import replace

from corral.core.engine.facts import Answered, Fact, Finished, Limited, Trouble
from tests.engines.conftest import MakeYard
from tests.engines.engine_tree import EngineTree, Outcome, plan
from tests.standin.faults import Fault
from tests.standin.server import StandIn

FAULTS = {
    "quota": Fault("quota", times=None),
    "proxy": Fault("garbage", times=None),
    # These pass, or are no errors to anybody.
    "rate, once": Fault("429"),
    "slow": Fault("slow", times=None, pause=0.05),
    "bad call": Fault("badtool"),
    "empty": Fault("empty", times=None),
}
EXPECTED: dict[str, dict[str, Trouble]] = {
    "claude-code": {"proxy": Trouble.NETWORK},
    "codex": {"quota": Trouble.QUOTA, "proxy": Trouble.NETWORK},
    "gemini": {"quota": Trouble.QUOTA},
    "copilot": {"quota": Trouble.QUOTA},
    "continue": {"quota": Trouble.QUOTA, "proxy": Trouble.NETWORK},
}
PASSING = (("claude-code", "rate, once"), ("codex", "slow"), ("gemini", "slow"))
OTHERWISE = (
    ("claude-code", "bad call"),
    ("codex", "bad call"),
    ("copilot", "bad call"),
    ("codex", "empty"),
)
SAID = tuple((engine, fault) for engine, faults in EXPECTED.items() for fault in faults)
ALL = (*SAID, *PASSING, *OTHERWISE)


class Case(Struct):
    project: EngineTree
    outcome: Outcome
    requests: int


@pytest.fixture(scope="module")
def cases(make_refinery_repo: MakeYard, standin: StandIn) -> dict[tuple[str, str], Case]:
    def suffer(which: tuple[str, str]) -> Case:
        engine, fault = which
        name = f"{engine}-{fault}".replace(" ", "-").replace(",", "")
        scenario = standin.scenario(name)
        scenario.fail(replace(FAULTS[fault]))
        project = make_refinery_repo(engine, name)
        brief = plan(
            {"op": "write", "path": "a.py", "content": "y = 2\n"}, {"op": "say", "text": "Done."}
        )
        outcome = project.run(
            project.job(brief, idle_s=5),
            limit_s=240,
            enough=in_trouble if which in SAID else lambda _: False,
        )
        return Case(project, outcome, len(scenario.seen().requests))

    with ThreadPoolExecutor(3) as pool:
        return dict(zip(ALL, pool.map(suffer, ALL), strict=True))


def in_trouble(fact: Fact) -> bool:
    return isinstance(fact, Limited) or (isinstance(fact, Finished) and fact.trouble is not None)


@pytest.mark.parametrize("which", SAID, ids=": ".join)
def test_trouble_is_named(which: tuple[str, str], cases: dict[tuple[str, str], Case]) -> None:
    case = cases[which]
    expected = EXPECTED[which[0]][which[1]]
    assert case.outcome.troubles == {expected}
    assert case.outcome.finished is not None, "whoever is stopped for a limit should say so"
    assert case.requests <= 4, "it hammers"


@pytest.mark.parametrize("which", PASSING, ids=": ".join)
def test_what_passes_does_no_harm(
    which: tuple[str, str], cases: dict[tuple[str, str], Case]
) -> None:
    case = cases[which]
    assert (case.project.tree / "a.py").read_text() == "y = 2\n"
    assert case.outcome.finished == Finished(text=case.outcome.all(Finished)[0].text)
    assert bool(case.outcome.all(Limited)) == ("rate" in which[1])


@pytest.mark.parametrize("which", OTHERWISE, ids=": ".join)
def test_a_good_end_says_nothing_about_the_work(
    which: tuple[str, str], cases: dict[tuple[str, str], Case]
) -> None:
    case = cases[which]
    assert case.outcome.code == 0
    assert case.outcome.finished is not None
    assert case.outcome.finished.trouble is None
    assert case.project.git("status", "--short") == ""
    assert all(not answer.ok for answer in case.outcome.all(Answered))


@pytest.mark.parametrize("engine", ["claude-code", "codex", "copilot", "gemini"])
def test_a_conversation_that_is_gone(engine: str, make_refinery_repo: MakeYard) -> None:
    project = make_refinery_repo(engine, f"{engine}-gone")
    job = project.job(plan({"op": "say", "text": "Hello."}))
    outcome = project.run(replace(job, resume=job.new_id))
    assert outcome.code != 0
    assert outcome.finished is not None
    assert outcome.finished.trouble is Trouble.SESSION

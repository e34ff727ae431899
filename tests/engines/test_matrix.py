"""How every engine's sessions end when its model fails, under the witness.

One run has all of it: each engine meets the faults of a chain one after the other (`matrix`). The
table that comes out of it is in docs/how-to/engines.md.
"""

from pathlib import Path

import pytest
from msgspec import Struct

from tests.engines.engine_tree import ENGINES, KEY
from tests.engines.matrix import GRACE_S, NONE, PARK_S, Chain, Launch, Matrix
from tests.standin.faults import Fault
from tests.standin.server import StandIn

RUN_S = 2400  # a quiet machine needs a tenth of it
SLACK_S = 40  # of a machine that is not
HOUR_S = 3600

# Each lasts for a whole launch, but the call. The first request is answered, so that there is a
# conversation to go on with; but for some, which meet one that there is.
AT_ONCE = frozenset({"wrong key", "malformed call"})
FAULTS = {
    "429": Fault("429", times=None),
    "429, for an hour": Fault("429", times=None, retry_after=HOUR_S),
    "529": Fault("529", times=None),
    "500": Fault("500", times=None),
    "cut connection": Fault("cut", times=None),
    "hang in mid-stream": Fault("hang", times=None),
    "hang before headers": Fault("hang_headers", times=None),
    "malformed call": Fault("badtool"),
    "context overflow": Fault("overflow", times=None),
    "wrong key": Fault("401", times=None),
}
SILENT = ("hang in mid-stream", "hang before headers", "malformed call")
BROKEN = ("429", "500", "context overflow", "cut connection", "wrong key")
LIMITED = ("529", "429, for an hour")
# Over the Agent Client Protocol. Gemini takes a turn that is given up out of its record, so what
# comes after the hang is not looked at.
SPOKEN = {"spoken": ("429", "wrong key"), "hushed": ("hang in mid-stream",)}

VERDICT = {
    "429": "limited",
    "429, for an hour": "limited",
    "529": "limited",
    "500": "upstream",
    "cut connection": "upstream",
    "hang in mid-stream": "hung",
    "hang before headers": "hung",
    "malformed call": "proved",
    "context overflow": "overflow",
    "wrong key": "refused",
}


class Otherwise(Struct, frozen=True):
    verdicts: tuple[str, ...]
    why: str


OWN_CLOCK = Otherwise(
    ("hung", "upstream"), "it has a clock of its own, set to the same time: either may be first"
)
OTHERWISE = {
    ("claude-code", "hang in mid-stream"): OWN_CLOCK,
    ("claude-code", "hang before headers"): OWN_CLOCK,
    ("codex", "hang in mid-stream"): OWN_CLOCK,
    ("opencode", "hang in mid-stream"): OWN_CLOCK,
    ("opencode", "hang before headers"): OWN_CLOCK,
    ("aider", "hang in mid-stream"): OWN_CLOCK,
    ("aider", "hang before headers"): OWN_CLOCK,
}
# It saves a conversation only at its good end, so there is none to go on with.
FORGETS = frozenset({"continue"})

PARKED = frozenset({"limited", "upstream", "refused"})
RESUMED = frozenset({"limited", "upstream", "hung"})
Pair = tuple[str, str]


def chain(kind: str, engine: str, faults: tuple[str, ...], transport: str = "cli") -> Chain:
    # Aider makes one request for all its work.
    first = 0 if engine == "aider" else 1
    skips = {fault: 0 if fault in AT_ONCE else first for fault in faults}
    met = {fault: fault_of(fault, skip) for fault, skip in skips.items()}
    hangs = "hang in mid-stream" in faults
    return Chain(f"{kind}-{engine}", engine, met, turn_s(engine) if hangs else 120, transport)


def turn_s(engine: str) -> int:
    """Return how long a model may be silent: aider itself is, for long, before it asks it."""
    return 40 if engine == "aider" else 20


def fault_of(name: str, skip: int) -> Fault:
    fault = FAULTS[name]
    return Fault(fault.kind, times=fault.times, skip=skip, retry_after=fault.retry_after)


CHAINS = (
    *(chain("silent", engine, SILENT) for engine in ENGINES),
    *(chain("broken", engine, BROKEN) for engine in ENGINES),
    *(chain(kind, "gemini", faults, "acp") for kind, faults in SPOKEN.items()),
    *(chain("limited", engine, LIMITED) for engine in ENGINES),
)
PAIRS = [(one.name, fault) for one in CHAINS for fault in one.faults]


class Suffered(Struct):
    matrix: Matrix
    launches: dict[str, list[Launch]]  # by the name of the chain

    def of(self, pair: Pair) -> Launch:
        return next(one for one in self.launches[pair[0]] if one.fault == pair[1])

    def next(self, pair: Pair) -> Launch | None:
        """Return the launch after the one with this fault."""
        launches = self.launches[pair[0]]
        number = launches.index(self.of(pair)) + 1
        return launches[number] if number < len(launches) else None


@pytest.fixture(scope="module")
def suffered(
    tmp_path_factory: pytest.TempPathFactory, programs: Path, standin: StandIn
) -> Suffered:
    matrix = Matrix(tmp_path_factory.mktemp("matrix"), programs, standin, CHAINS)
    matrix.run(RUN_S)
    found = matrix.launches()
    return Suffered(matrix, {one.name: found[task] for task, one in matrix.chains.items()})


def engine_of(pair: Pair) -> str:
    return pair[0].partition("-")[2]


@pytest.mark.parametrize("pair", PAIRS, ids=": ".join)
def test_a_fault_has_its_verdict(pair: Pair, suffered: Suffered) -> None:
    launch = suffered.of(pair)
    known = OTHERWISE.get((engine_of(pair), pair[1]))
    assert launch.verdict in (known.verdicts if known else (VERDICT[pair[1]],)), launch.detail
    assert any(one.fault for one in launch.records) or pair[1] == "malformed call"
    assert launch.detail or launch.verdict == "proved", "the log does not say why"


@pytest.mark.parametrize("pair", PAIRS, ids=": ".join)
def test_a_fault_uses_up_no_attempt_and_the_work_goes_on(pair: Pair, suffered: Suffered) -> None:
    launch, then = suffered.of(pair), suffered.next(pair)
    if launch.verdict in PARKED:
        assert launch.after == "parked"
    elif launch.verdict == "hung":  # the second time in one session it counts
        assert launch.after in ("resume", "restart", "delayed")
    elif launch.verdict == "overflow":
        assert launch.after == "restart"
    if then is None:
        return
    if launch.verdict in RESUMED and engine_of(pair) not in FORGETS:
        assert then.resumed == launch.thread != ""
        assert then.thread == launch.thread, "another conversation was begun"
        if then.fault != NONE:
            assert ": continue" in then.said, "it was not told that it goes on"
            assert "PLAN [" in then.said, "the conversation does not know the brief"
    else:
        assert then.resumed == ""


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[1] != "malformed call"], ids=": ".join)
def test_no_fault_holds_a_slot_for_longer_than_its_bound(pair: Pair, suffered: Suffered) -> None:
    launch = suffered.of(pair)
    silent = pair[1].startswith("hang")
    bound = (turn_s(engine_of(pair)) if silent else 0) + PARK_S + GRACE_S
    assert launch.held_s < bound + SLACK_S


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_lasts_as_long_as_the_other_side_says(engine: str, suffered: Suffered) -> None:
    launch = suffered.of((f"limited-{engine}", "429, for an hour"))
    rest_s = (launch.until_at - launch.ended_at) / 1000
    assert rest_s > HOUR_S * 0.9


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refused_key_is_a_persons_business(engine: str, suffered: Suffered) -> None:
    met = suffered.launches[f"broken-{engine}"]
    assert [one.fault for one in met] == list(BROKEN), "it was started again on that account"
    alerts = suffered.matrix.project.here("alert", "list", "--json").data
    refused = {one["subject"] for one in alerts if one["kind"] == "account_refused"}
    assert f"broken-{engine}" in refused


def test_nothing_is_left_of_it(suffered: Suffered) -> None:
    project = suffered.matrix.project
    assert project.leftovers() == []
    assert [one["id"] for one in project.sessions() if not one["verdict"]] == []
    assert project.here("lease", "list", "--json").data == []
    assert KEY not in project.here("log", "--json").out


def test_the_table_of_the_manual_is_this_one() -> None:
    manual = Path(__file__).parents[2] / "docs" / "how-to" / "engines.md"
    assert table() in manual.read_text(), f"put this into docs/how-to/engines.md:\n\n{table()}"


def table() -> str:
    """Return what is expected above as it stands in the manual."""
    lines = [f"| fault | {' | '.join(ENGINES)} |", f"| --- |{' --- |' * len(ENGINES)}"]
    for fault, usual in VERDICT.items():
        known = [OTHERWISE.get((engine, fault)) for engine in ENGINES]
        cells = [
            " or ".join(f"`{v}`" for v in one.verdicts) if one else f"`{usual}`" for one in known
        ]
        lines.append(f"| {fault} | {' | '.join(cells)} |")
    return "\n".join(lines)

"""R18, R19: the real agents through the witness: brief, edits, commit, proof; and their faults."""

from pathlib import Path

import pytest

from tests.e2e.engines.ranch import QUIET, Ranch, make_ranch
from tests.engines.running import ENGINES, KEY, MODELS, plan
from tests.standin.faults import Fault
from tests.standin.server import StandIn

PROFILE = """
[engine.{name}]
type = "{type}"
model = "{model}"
base_url = "{url}"
env = ["CORRAL_TEST_KEY"]
turn_s = {turn_s}
"""


def ranch_of(
    place: Path, programs: Path, standin: StandIn, scenarios: dict[str, str], turn_s: int = 60
) -> Ranch:
    """Make a repository with a profile for each scenario: its name, and the type of its engine."""
    profiles = "".join(
        PROFILE.format(
            name=name, type=engine, model=MODELS[engine], url=standin.url(name), turn_s=turn_s
        )
        for name, engine in scenarios.items()
    )
    ranch = make_ranch(place / "project", QUIET + profiles)
    ranch.env["PATH"] = f"{programs}:{ranch.env['PATH']}"
    ranch.env["CORRAL_TEST_KEY"] = KEY
    return ranch


def test_all_engines_in_one_convoy_are_proved(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    names = {f"mixed-{engine}": engine for engine in ENGINES}
    ranch = ranch_of(tmp_path, programs, standin, names)
    config = ranch.path / ".corral" / "config.toml"
    config.write_text(config.read_text().replace("attempts = 1\n", "attempts = 3\n"))
    tasks = {}
    for name in names:
        brief = tmp_path / f"{name}.md"
        brief.write_text(
            plan(
                {"op": "write", "path": f"{name}.py", "content": "y = 2\n"},
                {"op": "say", "text": "Done."},
            )
        )
        tasks[name] = ranch.add(
            f"Write {name}.py",
            *("--engine", name, "--brief-file", str(brief), "--accept", f"test -f {name}.py"),
        )
    ranch.once()
    assert {name: ranch.verdict(task) for name, task in tasks.items()} == dict.fromkeys(
        tasks, "proved"
    ), {name: ranch.detail(task) for name, task in tasks.items()}
    for name, task in tasks.items():
        assert ranch.git("show", f"{ranch.task(task)['commit']}:{name}.py") == "y = 2"
    assert KEY not in ranch.here("log", "--json").out
    assert ranch.leftovers() == []


VERDICTS = {"401": "refused", "429": "limited"}


@pytest.mark.parametrize("engine", ["claude-code", "codex"])
@pytest.mark.parametrize("kind", VERDICTS)
def test_a_fault_is_its_own_verdict_and_burns_no_attempt(
    tmp_path: Path, programs: Path, standin: StandIn, engine: str, kind: str
) -> None:
    name = f"fault-{kind}-{engine}"
    standin.scenario(name).fail(Fault(kind=kind, times=None))
    ranch = ranch_of(tmp_path, programs, standin, {name: engine})
    brief = tmp_path / "brief.md"
    brief.write_text(plan({"op": "write", "path": "a.py", "content": "y = 2\n"}))
    task = ranch.add("Write it", "--engine", name, "--brief-file", str(brief))
    with ranch.witness():
        assert ranch.until_ended(task, 120) == VERDICTS[kind], ranch.detail(task)
        ranch.until(lambda: ranch.of_type("task.parked"))
    assert ranch.of_type("task.delayed") == []
    assert ranch.leftovers() == []


@pytest.mark.parametrize("engine", ["claude-code", "codex"])
def test_a_model_that_falls_silent_is_left_and_the_conversation_goes_on(
    tmp_path: Path, programs: Path, standin: StandIn, engine: str
) -> None:
    name = f"silent-{engine}"
    standin.scenario(name).fail(Fault(kind="hang", times=1, skip=1))
    ranch = ranch_of(tmp_path, programs, standin, {name: engine}, turn_s=8)
    # The recipe would have the engine give up by itself at the same time.
    brief = tmp_path / "brief.md"
    brief.write_text(
        plan(
            {"op": "write", "path": "a.py", "content": "y = 2\n"},
            {"op": "write", "path": "b.py", "content": "y = 3\n"},
            {"op": "say", "text": "Done."},
        )
    )
    accept = ("--accept", "test -f a.py && test -f b.py")
    task = ranch.add("Write it", "--engine", name, "--brief-file", str(brief), *accept)
    ranch.once()
    assert ranch.verdicts() == ["proved"], (ranch.detail(task), ranch.reactions())
    assert ranch.leftovers() == []

"""The real agents under the witness: brief, edits, commit, proof."""

from pathlib import Path

from tests.e2e.engines.engine_repo import QUIET, EngineRepo, make_engine_repo
from tests.engines.engine_tree import ENGINES, KEY, MODELS, plan
from tests.standin.server import StandIn

PROFILE = """
[engine.{name}]
type = "{type}"
model = "{model}"
base_url = "{url}"
env = ["CORRAL_TEST_KEY"]
turn_s = {turn_s}
"""


def project_of(
    place: Path, programs: Path, standin: StandIn, scenarios: dict[str, str], turn_s: int = 60
) -> EngineRepo:
    """Make a repository with a profile for each scenario: its name, and the type of its engine."""
    profiles = "".join(
        PROFILE.format(
            name=name, type=engine, model=MODELS[engine], url=standin.url(name), turn_s=turn_s
        )
        for name, engine in scenarios.items()
    )
    project = make_engine_repo(place / "project", QUIET + profiles)
    project.env["PATH"] = f"{programs}:{project.env['PATH']}"
    project.env["CORRAL_TEST_KEY"] = KEY
    return project


def test_all_engines_in_one_convoy_are_proved(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    names = {f"mixed-{engine}": engine for engine in ENGINES}
    project = project_of(tmp_path, programs, standin, names)
    tasks = {}
    for name in names:
        brief = tmp_path / f"{name}.md"
        brief.write_text(
            plan(
                {"op": "write", "path": f"{name}.py", "content": "y = 2\n"},
                {"op": "say", "text": "Done."},
            )
        )
        tasks[name] = project.add(
            f"Write {name}.py",
            *("--engine", name, "--brief-file", str(brief), "--accept", f"test -f {name}.py"),
        )
    project.patient(420, "witness", "run", "--once")
    assert {name: project.verdict(task) for name, task in tasks.items()} == dict.fromkeys(
        tasks, "proved"
    ), {name: project.detail(task) for name, task in tasks.items()}
    for name, task in tasks.items():
        assert project.git("show", f"{project.task(task)['commit']}:{name}.py") == "y = 2"
    assert KEY not in project.here("log", "--json").out
    assert project.leftovers() == []

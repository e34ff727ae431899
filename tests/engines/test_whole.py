"""The real agents, from a plan to a landed branch, all in one run."""

import json
from pathlib import Path

from corral.world.processes import landlock
from tests.e2e.engines.engine_repo import EngineRepo
from tests.engines.engine_tree import ENGINES, KEY, plan
from tests.engines.test_witness import project_of
from tests.standin.server import StandIn

RUN_S = 420
SPOKEN = ("opencode", "gemini")  # also over the Agent Client Protocol


def planned(place: Path, names: list[str]) -> Path:
    """Write a plan with a task for each profile."""
    lines = ["[convoy]", 'title = "Mixed"', 'checks = ["test -z \\"$(ls bad-* 2>/dev/null)\\""]']
    for name in names:
        brief = plan(
            {"op": "write", "path": f"{name}.py", "content": "y = 2\n"},
            {"op": "say", "text": "Done."},
        )
        lines += [
            "[[task]]",
            f"key = {json.dumps(name)}",
            f'title = "Write {name}.py"',
            f"engine = {json.dumps(name.partition('_')[0])}",
            f'paths = ["{name}.py"]',
            f'accept = ["test -f {name}.py"]',
            f"brief = {json.dumps(brief)}",
        ]
    file = place / "plan.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def run(project: EngineRepo, file: Path) -> dict[str, object]:
    """Run a plan to its end; return the report."""
    done = project.patient(RUN_S, "run", str(file), "--headless", "--json")
    assert done.code == 0, (done.out[-3000:], done.err[-2000:])
    report: dict[str, object] = json.loads(done.out.splitlines()[-1])["data"]
    return report


def test_all_engines_at_once_from_a_plan_to_the_branch(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    profiles = {f"mixed-{engine}": engine for engine in ENGINES}
    spoken = {f"spoken-{engine}": engine for engine in SPOKEN}
    project = project_of(tmp_path, programs, standin, profiles | spoken)
    config = project.path / ".corral" / "config.toml"
    text = config.read_text()
    for name in spoken:
        text = text.replace(f"[engine.{name}]\n", f'[engine.{name}]\ntransport = "acp"\n')
    if landlock.version():  # all of them must work while confined to their own trees
        text += "[confine]\nenabled = true\n"
    config.write_text(text)
    names = [*profiles, *spoken]
    report = run(project, planned(tmp_path, names))
    assert report["landed"] == len(names), report
    trunk = report["trunk"]
    for name in names:
        assert project.git("show", f"{trunk}:{name}.py") == "y = 2"
    assert KEY not in project.here("log", "--json").out
    assert project.leftovers() == []


def test_twelve_sessions_of_two_engines_at_once(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    profiles = {"crowd-claude": "claude-code", "crowd-codex": "codex"}
    project = project_of(tmp_path, programs, standin, profiles)
    names = [f"{profile}_{n}" for profile in profiles for n in range(6)]
    report = run(project, planned(tmp_path, names))
    assert report["landed"] == len(names), report
    assert project.most_at_once() == len(names)
    assert project.leftovers() == []

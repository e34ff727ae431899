"""A rate limit is a pause: it uses up no attempt, and sessions come back one after another."""

import pytest

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, fact, first, script
from tests.e2e.server.live_server import serve

LIMITS = [
    {"trouble": "rate", "text": "429 too many requests", "retry_s": 1},
    {"trouble": "overload", "text": "529 overloaded", "retry_s": 1},
]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: str(limit["trouble"]))
def test_a_limit_parks_the_task_and_its_conversation_goes_on(
    project: EngineRepo, limit: dict[str, object]
) -> None:
    task = project.script(
        script(
            first(began(), "echo half > half.txt"),
            f'test "$CORRAL_RESUME" = th-1 || {{ {fact("finished", **limit)}; exit 1; }}',
            'test "$(cat half.txt)" = half || exit 9',
            WORK,
            DONE,
        )
    )
    project.configure(CONFIG + "commit = true\n")
    project.once()
    assert project.verdicts() == ["limited", "proved"], project.detail(task)
    assert project.task(task)["state"] == "review"
    (parked,) = project.of_type("task.parked")
    (met,) = project.of_type("session.limited")
    assert met["data"]["trouble"] == limit["trouble"]
    assert parked["data"]["until_at"] >= met["data"]["until_at"] >= met["at"] + 1000
    assert project.of_type("task.delayed") == []
    said = project.git("log", "--format=%s", f"main..{project.task(task)['commit']}")
    assert said.split("\n") == ["work", "Unfinished: work"]


def test_an_engine_that_waits_for_hours_is_ended_and_its_task_parked(project: EngineRepo) -> None:
    project.configure(CONFIG + '[engine.spare]\ntype = "command"\noutput = "facts"\n')
    task = project.script(
        script(began(), fact("limited", trouble="rate", retry_s=3600), "sleep 300")
    )
    with project.witness():
        assert project.until_ended(task) == "limited"
        said = project.here("why", task, code=0).out
        assert "no attempt was used up" in said
        other = project.script(WORK)
        project.until(
            lambda: "'command:default' is limited (rate)" in project.here("why", other).out
        )
        # The server says the same, by all that the witness decides by.
        with serve(project) as served:
            told = served.get(f"/api/tasks/{other}/why").data
            assert "'command:default' is limited (rate)" in told["obstacles"][0]["text"]
            assert served.get(f"/api/sessions/{task}.1").data["verdict"] == "limited"
        # Another account is not touched by it.
        free = project.script(script(WORK, DONE), "--engine", "spare")
        project.until(lambda: project.task(free)["state"] == "review")
    assert project.leftovers() == []


def test_another_profile_stands_in_while_the_account_is_limited(project: EngineRepo) -> None:
    spare = '[engine.spare]\ntype = "command"\noutput = "facts"\n'
    project.configure(CONFIG + f'fallback = "spare"\n{spare}')
    limited = fact("finished", trouble="quota", text="usage limit", retry_s=3600)
    full = project.path.parent / "full"
    meets = f"test -e {full} || {{ touch {full}; {limited}; exit 0; }}"
    parked = project.script(script(meets, WORK, DONE))
    with project.witness():
        project.until(lambda: project.of_type("session.limited"))
        task = project.script(script(WORK, DONE))
        # Who met the limit does not wait for an hour either.
        project.until(lambda: {project.task(one)["state"] for one in (parked, task)} == {"review"})
    assert project.session(f"{parked}.1")["profile"] == "default"
    assert project.session(f"{parked}.2")["profile"] == "spare"
    assert project.session(f"{task}.1")["profile"] == "spare"


def test_a_conversation_goes_on_in_the_tree_that_it_knows_or_is_told_of_another(
    project: EngineRepo,
) -> None:
    """Agents remember absolute paths, and a tree that was given back may be somebody else's."""
    limited = fact("finished", trouble="rate", text="429", retry_s=2)
    meets = first(began(), 'pwd > "$HOME/before"', limited, "exit 1")
    again = script(meets, 'pwd > "$HOME/after"', 'cat > "$HOME/told"', WORK, DONE)
    tasks = [project.script(again) for _ in range(3)]
    project.once()
    for task in tasks:
        home = project.room(f"{task}.2") / "home"
        assert (home / "before").read_text() == (home / "after").read_text()
        assert "another one now" not in (home / "told").read_text()

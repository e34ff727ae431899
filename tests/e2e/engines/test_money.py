"""Budgets stop a running session, token counts are exact, and unknown costs are not zero."""

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, fact, script

TURN = fact("spent", fresh=1000, cached=10, output=50, cost_usd=0.03)


def turns(quick: int) -> str:
    """Return some turns one right after the other, then turns that take long.

    So a budget that the quick ones use up is noticed in the middle of a turn on any machine.
    """
    return f"for n in $(seq 9); do {TURN}; test $n -lt {quick} || sleep 20; done"


def test_a_budget_of_ten_cents_stops_within_a_turn_and_the_report_is_right(
    project: EngineRepo,
) -> None:
    project.configure(CONFIG + "[budget]\ntask_usd = 0.1\n")
    task = project.script(script(began(), turns(4), WORK, DONE))
    project.once()
    assert (project.verdict(task), project.task(task)["state"]) == ("over_budget", "failed")
    total = project.spent()
    assert total["cost_usd"] in (0.12, 0.15), "four turns are over it, a fifth may have begun"
    made = round(total["cost_usd"] / 0.03)
    assert (total["fresh"], total["cached"], total["output"]) == (
        1000 * made,
        10 * made,
        50 * made,
    )
    # The task is not started again by `retry`: the money is gone.
    project.here("task", "retry", task, code=0)
    project.once()
    assert "is over budget" in project.here("why", task, code=0).out
    assert len(project.of_type("session.started")) == 1


def test_the_budget_of_a_day_holds_all_and_uses_up_no_attempt(project: EngineRepo) -> None:
    project.configure(CONFIG + "[budget]\nday_usd = 0.05\n")
    one = project.script(script(began(), turns(2), WORK, DONE))
    project.once()
    two = project.script(script(WORK, DONE))
    project.once()
    assert project.verdicts() == ["over_budget"]
    assert {project.task(task)["state"] for task in (one, two)} == {"todo"}
    assert "today has cost" in project.here("why", two, code=0).out


def test_cost_by_price_list_and_unknown_cost(project: EngineRepo) -> None:
    prices = '[budget.prices."m-1"]\ninput = 2.0\noutput = 10.0\ncached = 0.5\n'
    project.configure(CONFIG + prices)
    used = fact("spent", fresh=1_000_000, cached=2_000_000, output=100_000)
    known = project.script(script(began(), used, WORK, DONE))
    project.once()
    assert project.verdict(known) == "proved"
    assert project.spent()["cost_usd"] == 4.0
    project.script(script(began(model="m-2"), used, WORK, DONE))
    project.once()
    assert (project.spent()["cost_usd"], project.spent()["known_usd"]) == (None, 4.0)
    models = {line["name"]: line for line in project.here("cost", "--json").data["models"]}
    assert (models["m-1"]["cost_usd"], models["m-2"]["cost_usd"]) == (4.0, None)
    shown = project.here("cost", code=0).out
    assert "$4.0000 and more (unknown)" in shown


def test_the_budget_of_a_convoy_stops_all_that_run_in_it_and_no_other(project: EngineRepo) -> None:
    project.configure(CONFIG + "[budget]\nconvoy_usd = 0.1\n")
    go = project.path.parent / "go"
    both = [project.script(script(began(), turns(2), WORK, DONE)) for _ in range(2)]
    project.here("convoy", "create", "Other", code=0)
    spend = fact("spent", fresh=1, output=1, cost_usd=0.05)
    other = project.script(
        script(began(), spend, f"until test -e {go}; do sleep 0.1; done", WORK, DONE),
        *("--convoy", "other"),
    )
    with project.witness():
        for task in both:
            assert project.until_ended(task) == "over_budget"
        assert project.verdict(other) == "", "it has money of its own"
        go.touch()
        assert project.until_ended(other) == "proved"
        late = project.script(script(WORK, DONE), "--convoy", "project")
        waits = "is over budget: the convoy project has cost"
        project.until(lambda: waits in project.here("why", late, code=0).out)
    assert {project.task(task)["state"] for task in both} == {"todo"}, "paused, not failed"
    assert project.of_type("task.delayed") == []
    convoys = {line["name"]: line for line in project.here("cost", "--json").data["convoys"]}
    made = round(convoys["project"]["cost_usd"] / 0.03)
    assert 4 <= made <= 7, "four turns of both are over it; each may have begun another"
    assert (convoys["project"]["fresh"], convoys["project"]["output"]) == (1000 * made, 50 * made)
    assert convoys["other"]["cost_usd"] == 0.05
    # What was paused goes on with its conversation once there is money again.
    project.configure(CONFIG + "[budget]\nconvoy_usd = 100\n")
    with project.witness():
        project.until(lambda: len(project.of_type("session.started")) >= 6)
        for task in both:
            project.here("session", "stop", f"{task}.2", code=0)
        project.until(lambda: all(one["verdict"] for one in project.sessions()))
    resumed = [e["data"] for e in project.of_type("session.started") if e["data"]["task"] in both]
    assert [one.get("resume", "") for one in resumed] == ["", "", "th-1", "th-1"]


def test_an_engine_that_does_not_name_its_model_costs_what_that_of_its_profile_does(
    project: EngineRepo,
) -> None:
    prices = '[budget.prices."m-9"]\ninput = 2.0\noutput = 10.0\n'
    project.configure(CONFIG + 'model = "m-9"\n' + prices)
    spends = fact("spent", fresh=1000, output=100)
    project.script(script(began(model=""), spends, WORK, DONE))
    project.once()
    assert project.spent()["cost_usd"] == 0.003
    assert [line["name"] for line in project.here("cost", "--json").data["models"]] == ["m-9"]


def test_a_session_that_was_over_too_soon_to_be_stopped_still_needs_a_required_model(
    project: EngineRepo,
) -> None:
    project.configure(CONFIG + '[budget]\nrequire_model = ["big-*"]\n')
    spends = fact("spent", fresh=1000, output=100)
    small = project.script(script(began(model="small-1"), spends, WORK, DONE))
    unnamed = project.script(script(began(model=""), spends, WORK, DONE))
    big = project.script(script(began(model="big-1"), spends, WORK, DONE))
    project.once()
    assert project.verdict(big) == "proved", project.detail(big)
    assert (project.verdict(small), project.task(small)["state"]) == ("wrong_model", "failed")
    assert project.detail(small) == "it uses small-1, which budget.require_model does not allow"
    assert project.verdict(unnamed) == "wrong_model"
    assert project.detail(unnamed) == (
        "it did not report its model, as budget.require_model needs: set one in its profile"
    )

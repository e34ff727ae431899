"""R28: budgets stop while it runs, figures are right to the token, unknown is not nothing."""

from tests.e2e.engines.ranch import CONFIG, DONE, WORK, Ranch, began, fact, script

TURN = fact("spent", fresh=1000, cached=10, output=50, cost_usd=0.03)


def turns(quick: int) -> str:
    """Return some turns one right after the other, then turns that take long.

    So a budget that the quick ones use up is noticed in the middle of a turn on any machine.
    """
    return f"for n in $(seq 9); do {TURN}; test $n -lt {quick} || sleep 20; done"


def test_a_budget_of_ten_cents_stops_within_a_turn_and_the_report_is_right(ranch: Ranch) -> None:
    ranch.configure(CONFIG + "[budget]\ntask_usd = 0.1\n")
    task = ranch.script(script(began(), turns(4), WORK, DONE))
    ranch.once()
    assert (ranch.verdict(task), ranch.task(task)["state"]) == ("over_budget", "failed")
    total = ranch.spent()
    assert total["cost_usd"] in (0.12, 0.15), "four turns are over it, a fifth may have begun"
    made = round(total["cost_usd"] / 0.03)
    assert (total["fresh"], total["cached"], total["output"]) == (
        1000 * made,
        10 * made,
        50 * made,
    )
    # The task is not started again by `retry`: the money is gone.
    ranch.here("task", "retry", task, code=0)
    ranch.once()
    assert "waits for money" in ranch.here("why", task, code=0).out
    assert len(ranch.of_type("session.started")) == 1


def test_the_budget_of_a_day_holds_all_and_uses_up_no_attempt(ranch: Ranch) -> None:
    ranch.configure(CONFIG + "[budget]\nday_usd = 0.05\n")
    one = ranch.script(script(began(), turns(2), WORK, DONE))
    ranch.once()
    two = ranch.script(script(WORK, DONE))
    ranch.once()
    assert ranch.verdicts() == ["over_budget"]
    assert {ranch.task(task)["state"] for task in (one, two)} == {"todo"}
    assert "this day has cost" in ranch.here("why", two, code=0).out


def test_cost_by_price_list_and_unknown_cost(ranch: Ranch) -> None:
    prices = '[budget.prices."m-1"]\ninput = 2.0\noutput = 10.0\ncached = 0.5\n'
    ranch.configure(CONFIG + prices)
    used = fact("spent", fresh=1_000_000, cached=2_000_000, output=100_000)
    known = ranch.script(script(began(), used, WORK, DONE))
    ranch.once()
    assert ranch.verdict(known) == "proved"
    assert ranch.spent()["cost_usd"] == 4.0
    ranch.script(script(began(model="m-2"), used, WORK, DONE))
    ranch.once()
    assert (ranch.spent()["cost_usd"], ranch.spent()["known_usd"]) == (None, 4.0)
    models = {line["name"]: line for line in ranch.here("cost", "--json").data["models"]}
    assert (models["m-1"]["cost_usd"], models["m-2"]["cost_usd"]) == (4.0, None)
    shown = ranch.here("cost", code=0).out
    assert "$4.0000 and more (unknown)" in shown


def test_the_budget_of_a_convoy_stops_all_that_run_in_it_and_no_other(ranch: Ranch) -> None:
    ranch.configure(CONFIG + "[budget]\nconvoy_usd = 0.1\n")
    go = ranch.path.parent / "go"
    both = [ranch.script(script(began(), turns(2), WORK, DONE)) for _ in range(2)]
    ranch.here("convoy", "create", "Other", code=0)
    spend = fact("spent", fresh=1, output=1, cost_usd=0.05)
    other = ranch.script(
        script(began(), spend, f"until test -e {go}; do sleep 0.1; done", WORK, DONE),
        *("--convoy", "other"),
    )
    with ranch.witness():
        for task in both:
            assert ranch.until_ended(task) == "over_budget"
        assert ranch.verdict(other) == "", "it has money of its own"
        go.touch()
        assert ranch.until_ended(other) == "proved"
        late = ranch.script(script(WORK, DONE), "--convoy", "farm")
        waits = "waits for money: the convoy farm has cost"
        ranch.until(lambda: waits in ranch.here("why", late, code=0).out)
    assert {ranch.task(task)["state"] for task in both} == {"todo"}, "paused, not failed"
    assert ranch.of_type("task.delayed") == []
    convoys = {line["name"]: line for line in ranch.here("cost", "--json").data["convoys"]}
    made = round(convoys["farm"]["cost_usd"] / 0.03)
    assert 4 <= made <= 7, "four turns of both are over it; each may have begun another"
    assert (convoys["farm"]["fresh"], convoys["farm"]["output"]) == (1000 * made, 50 * made)
    assert convoys["other"]["cost_usd"] == 0.05
    # What was paused goes on with its conversation once there is money again.
    ranch.configure(CONFIG + "[budget]\nconvoy_usd = 100\n")
    with ranch.witness():
        ranch.until(lambda: len(ranch.of_type("session.started")) >= 6)
        for task in both:
            ranch.here("session", "stop", f"{task}.2", code=0)
        ranch.until(lambda: all(one["verdict"] for one in ranch.sessions()))
    resumed = [e["data"] for e in ranch.of_type("session.started") if e["data"]["task"] in both]
    assert [one.get("resume", "") for one in resumed] == ["", "", "th-1", "th-1"]


def test_an_engine_that_does_not_name_its_model_costs_what_that_of_its_profile_does(
    ranch: Ranch,
) -> None:
    prices = '[budget.prices."m-9"]\ninput = 2.0\noutput = 10.0\n'
    ranch.configure(CONFIG + 'model = "m-9"\n' + prices)
    spends = fact("spent", fresh=1000, output=100)
    ranch.script(script(began(model=""), spends, WORK, DONE))
    ranch.once()
    assert ranch.spent()["cost_usd"] == 0.003
    assert [line["name"] for line in ranch.here("cost", "--json").data["models"]] == ["m-9"]


def test_a_session_that_was_over_too_soon_to_be_stopped_still_needs_a_required_model(
    ranch: Ranch,
) -> None:
    ranch.configure(CONFIG + '[budget]\nrequire_model = ["big-*"]\n')
    spends = fact("spent", fresh=1000, output=100)
    small = ranch.script(script(began(model="small-1"), spends, WORK, DONE))
    unnamed = ranch.script(script(began(model=""), spends, WORK, DONE))
    big = ranch.script(script(began(model="big-1"), spends, WORK, DONE))
    ranch.once()
    assert ranch.verdict(big) == "proved", ranch.detail(big)
    assert (ranch.verdict(small), ranch.task(small)["state"]) == ("wrong_model", "failed")
    assert ranch.detail(small) == "it uses small-1, which budget.require_model does not allow"
    assert ranch.verdict(unnamed) == "wrong_model"
    assert ranch.detail(unnamed) == (
        "it does not say which model it used: name one in its profile, for budget.require_model"
    )

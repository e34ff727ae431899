"""R28: budgets stop while it runs, figures are right to the token, unknown is not nothing."""

from tests.e2e.engines.ranch import CONFIG, DONE, WORK, Ranch, began, fact, script

TURN = fact("spent", fresh=1000, cached=10, output=50, cost_usd=0.03)


def turns(number: int) -> str:
    return f"for n in $(seq {number}); do {TURN}; sleep 0.4; done"


def test_a_budget_of_ten_cents_stops_within_a_turn_and_the_report_is_right(ranch: Ranch) -> None:
    ranch.configure(CONFIG + "[budget]\ntask_usd = 0.1\n")
    task = ranch.script(script(began(), turns(60), WORK, DONE))
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
    one = ranch.script(script(began(), turns(60), WORK, DONE))
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

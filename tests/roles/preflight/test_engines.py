"""Budgets that are missing, that cannot hold, or that are used up."""

from corral.core.config import BudgetSettings, Config, EngineSettings
from corral.core.engine.bill import DAY_MS, NANO, Bill, Price
from corral.core.log.state import State
from corral.roles.preflight.engines import budget
from corral.world import clock

CLAUDE = EngineSettings(type="claude-code")
CODEX = EngineSettings(type="codex", model="some-model")


def found(
    budgets: BudgetSettings, state: State | None = None, **engines: EngineSettings
) -> list[tuple[str, str]]:
    config = Config(engine=engines, budget=budgets)
    return [(one.state, one.text) for one in budget(config, state)]


def test_without_any_budget_there_is_a_note() -> None:
    ((state, said),) = found(BudgetSettings(), default=CLAUDE)
    assert (state, said[:16]) == ("note", "no budget is set")
    assert found(BudgetSettings()) == []
    assert found(BudgetSettings(), default=EngineSettings(type="shell")) == []


def test_a_budget_of_the_profile_counts() -> None:
    own = EngineSettings(type="claude-code", budget_usd=3)
    assert found(BudgetSettings(), default=own) == []


def test_a_model_without_a_price_cannot_be_stopped() -> None:
    day = BudgetSettings(day_usd=5)
    assert found(day, default=CLAUDE) == []  # it reports its cost
    ((state, said),) = found(day, default=CODEX, fast=CODEX)
    assert state == "bad"
    assert said.startswith("default, fast: the price of some-model is not known")
    priced = BudgetSettings(day_usd=5, prices={"some-model": Price(1, 2)})
    assert found(priced, default=CODEX) == []


def test_a_limit_within_a_smaller_one_is_noted() -> None:
    ((state, said),) = found(BudgetSettings(task_usd=9, day_usd=5), default=CLAUDE)
    assert (state, said) == ("note", "task_usd ($9) can never be reached: day_usd is $5")
    assert found(BudgetSettings(task_usd=1, convoy_usd=4, day_usd=5), default=CLAUDE) == []


def test_the_budget_of_the_day_may_be_used_up() -> None:
    today = clock.now() // DAY_MS
    spent = State(days={day: Bill(nano_usd=5 * NANO) for day in (today, today + 1)})
    ((state, said),) = found(BudgetSettings(day_usd=5), spent, default=CLAUDE)
    assert state == "bad"
    assert said.startswith("today's budget is used up ($5.00 of $5)")
    assert found(BudgetSettings(day_usd=6), spent, default=CLAUDE) == []

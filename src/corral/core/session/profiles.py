"""The limits on starting sessions that follow from the configured engine profiles."""

from corral.core.config import Config, EngineSettings
from corral.core.engine.governor import Accounts
from corral.core.engine.money import Budgets
from corral.core.session.slots import Limits


def account_of(name: str, profile: EngineSettings) -> str:
    """Return the account that a profile counts against; empty if its limits are not reported."""
    if profile.account or profile.type == "shell":
        return profile.account
    if profile.type == "command":
        tells = profile.output or profile.lines or profile.transport == "acp"
        return f"command:{name}" if tells else ""
    return f"{profile.type}:{profile.env[0]}" if profile.env else profile.type


def budgets_of(config: Config) -> Budgets:
    budget = config.budget
    profiles = {name: engine.budget_usd for name, engine in config.engine.items()}
    return Budgets(budget.task_usd, budget.convoy_usd, budget.day_usd, profiles)


def limits_of(config: Config) -> Limits:
    """Return everything that limits how many sessions may run."""
    engines = config.engine
    return Limits(
        total=config.slots.total,
        reserve=config.slots.reserve,
        pools=config.slots.pools,
        accounts=Accounts(
            of={name: account_of(name, engine) for name, engine in engines.items()},
            fallback={name: engine.fallback for name, engine in engines.items() if engine.fallback},
        ),
        budgets=budgets_of(config),
        hold=config.radar.enabled and config.radar.hold,
    )

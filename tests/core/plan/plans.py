"""Plans for the tests of this folder."""

from typing import Any

from corral.core.plan.check import Surroundings, problems
from corral.core.plan.read import read
from corral.core.plan.schema import ConvoyPlan, Plan, PlanPolicy, TaskPlan

HEAD = '[convoy]\ntitle = "Auth fix"\n'
AROUND = Surroundings(
    engines=frozenset({"default", "tests"}), roles=frozenset({"worker", "observer"})
)


def task(key: str, *needs: str, **more: Any) -> TaskPlan:
    return TaskPlan(**{"key": key, "title": key.title(), "needs": needs, "unproved": True, **more})


def plan(*tasks: TaskPlan, title: str = "Auth fix", **policy: Any) -> Plan:
    return Plan(convoy=ConvoyPlan(title=title), tasks=tasks, policy=PlanPolicy(**policy))


def said(content: str | bytes, name: str = "plan.toml", around: Surroundings = AROUND) -> list[str]:
    """Return what `corral plan check` would say about a text."""
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return [
        f"warning: {problem}" if problem.warning else str(problem)
        for problem in problems(read(raw, name), around)
    ]

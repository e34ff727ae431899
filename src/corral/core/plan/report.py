"""Everything about a plan before it is applied: the answer of `corral plan check`."""

from msgspec import Struct

from corral.core.plan.check import Surroundings, problems
from corral.core.plan.edges import Graph, PathOverlap, graph_of
from corral.core.plan.order import Critical, critical, waves
from corral.core.plan.problems import Problem, errors
from corral.core.plan.schema import Plan
from corral.core.plan.shape import Shaped


class PlanReport(Struct, frozen=True):
    """A plan is sound if it has no errors; only then does it have a graph."""

    plan: Plan | None
    problems: tuple[Problem, ...]
    graph: Graph | None = None
    waves: tuple[tuple[str, ...], ...] = ()
    critical: Critical | None = None

    @property
    def sound(self) -> bool:
        return self.graph is not None


def examine(shaped: Shaped, around: Surroundings | None = None) -> PlanReport:
    """Check a plan, and compute its graph if it has no errors."""
    found = problems(shaped, around)
    if shaped.plan is None or errors(found):
        return PlanReport(shaped.plan, found)
    graph = graph_of(shaped.plan)
    numbers = {task.key: number for number, task in enumerate(shaped.plan.tasks)}
    beside = [_beside(shaped, overlap, numbers[overlap.second]) for overlap in graph.overlaps]
    warned = problems(shaped, around, beside)
    return PlanReport(shaped.plan, warned, graph, waves(graph), critical(shaped.plan, graph))


def of_plan(plan: Plan) -> PlanReport:
    """Return the report of a plan that was checked before."""
    graph = graph_of(plan)
    return PlanReport(plan, (), graph, waves(graph), critical(plan, graph))


def _beside(shaped: Shaped, overlap: PathOverlap, number: int) -> Problem:
    one, other = overlap.paths
    which = one if one == other else f"{one} and {other} overlap"
    said = f"it may run beside {overlap.first} and change the same file ({which})"
    line = shaped.source.line((*shaped.place(number), "paths"))
    return Problem(line, f"{shaped.spelling}.{overlap.second}.paths", said, True)

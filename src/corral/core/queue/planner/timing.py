"""How long a check run may take and how many may run at once, learned from measurements."""

from corral.core.queue.planner.learning import Learned

DEFAULT_S = 300.0  # the assumed mean before any measurement
_ENOUGH = 5
_FLOOR_S, _CEILING_S, _UNKNOWN_S = 60.0, 6 * 3600.0, 3600.0
_SLOWER = 1.4


def mean_s(learned: Learned) -> float:
    """Return the mean time of a green run."""
    times = learned.green_s
    return max(0.001, sum(times) / len(times)) if times else DEFAULT_S


def deadline_s(learned: Learned) -> float:
    """Return when a run counts as red: after 1.5 times the 95th percentile of green ones."""
    times = sorted(learned.green_s)
    if len(times) < _ENOUGH:
        return _UNKNOWN_S
    usual = times[min(len(times) - 1, int(0.95 * len(times)))]
    return min(_CEILING_S, max(_FLOOR_S, 1.5 * usual))


def check_slots(learned: Learned, cores: int) -> int:
    """Return how many runs to allow at once.

    It starts with one, and tries one more after enough green runs. A level is kept while its runs
    are at most 40 % slower than those of the level below; beyond that, batching lands more than
    another run does. There are never more than cores.
    """
    slots = 1
    while slots < max(1, cores):
        here, more = learned.levels.get(slots), learned.levels.get(slots + 1)
        if here is None or here.runs < _ENOUGH:
            return slots
        if more is not None and more.runs >= _ENOUGH and more.mean_s > _SLOWER * here.mean_s:
            return slots
        slots += 1
    return slots

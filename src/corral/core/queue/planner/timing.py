"""How long a check run may take, and how many may go on at once: from what was measured."""

from corral.core.queue.planner.learning import Learned

DEFAULT_S = 300.0  # the mean that is assumed before anything was measured
_ENOUGH = 5
_FLOOR_S, _CEILING_S, _UNKNOWN_S = 60.0, 6 * 3600.0, 3600.0
_SLOWER = 1.4


def mean_s(learned: Learned) -> float:
    """Return the mean time of a green run."""
    times = learned.green_s
    return max(0.001, sum(times) / len(times)) if times else DEFAULT_S


def deadline_s(learned: Learned) -> float:
    """Return after how long a run counts as red: half as long again as nearly all green ones."""
    times = sorted(learned.green_s)
    if len(times) < _ENOUGH:
        return _UNKNOWN_S
    usual = times[min(len(times) - 1, int(0.95 * len(times)))]
    return min(_CEILING_S, max(_FLOOR_S, 1.5 * usual))


def check_slots(learned: Learned, cores: int) -> int:
    """Return how many runs should go on at once.

    It starts with one, and tries one more when enough green runs were measured. A level is kept
    while its runs are at most 40 % slower than those with one fewer beside them. Beyond that,
    batching lands more than another run does. Never more than there are cores.
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

"""Run one function in many processes that start together."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

Ready = Callable[[], object]
Work = Callable[..., Any]

_PATIENCE_S = 120.0  # how long the others wait for one that fails before it is ready
_barrier: Barrier | None = None


def together(count: int, work: Work, *given: Any) -> list[Any]:
    """Call `work(ready, number, *given)` in each process; return what they return, by number.

    Each calls `ready()` when it has imported and opened what it needs; it returns in all at once.
    """
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count, timeout=_PATIENCE_S)
    with ProcessPoolExecutor(count, context, _meet_at, (barrier,)) as pool:
        futures = [pool.submit(_run, work, number, given) for number in range(count)]
        return [future.result() for future in futures]


def _meet_at(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - a barrier can be inherited, but not be sent
    _barrier = barrier


def _run(work: Work, number: int, given: tuple[Any, ...]) -> Any:
    assert _barrier is not None
    return work(_barrier.wait, number, *given)

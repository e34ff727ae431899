"""Boards to measure on: a small one, and one with a long history."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.store.port import Request, Store
from corral.store.sqlite import SqliteStore

CORRAL = str(Path(sys.executable).with_name("corral"))

_CONVOY = ConvoyId("bench")
_NEVER = 2**41
_HISTORY = 9  # events per task after the one that added it


def task_id(number: int) -> TaskId:
    return TaskId(f"B-{number}")


def append(store: Store, events: Sequence[e.Event]) -> None:
    """Append events unchanged, in one transaction."""
    store.transaction(Request("bench", lambda state, now: events, lambda state, stored: None))


def small(store: Store, tasks: int) -> None:
    """Put tasks that are ready on an empty board."""
    append(store, [e.ConvoyCreated(convoy=_CONVOY, title="Bench", prefix="B")])
    append(store, [_added(number, needs=False) for number in range(1, tasks + 1)])


def large(root: Path, tasks: int) -> Path:
    """Make a repository with a board and ten events per task, mirrored; return the log's folder."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    subprocess.run([CORRAL, "init", "--repo", str(root)], check=True, stdout=subprocess.DEVNULL)
    folder = root / ".git" / "corral"
    store = SqliteStore(str(folder))
    append(store, [e.ConvoyCreated(convoy=_CONVOY, title="Bench", prefix="B")])
    append(store, [_added(number, needs=True) for number in range(1, tasks + 1)])
    append(store, list(_histories(tasks)))
    store.save()
    store.close()
    subprocess.run(
        [CORRAL, "status", "--json", "--repo", str(root)], check=True, stdout=subprocess.DEVNULL
    )
    return folder


def _added(number: int, *, needs: bool) -> e.TaskAdded:
    return e.TaskAdded(
        task=task_id(number),
        convoy=_CONVOY,
        title=f"Task number {number} of the board",
        priority=number % 4,
        needs=(task_id(number - 1),) if needs and number % 3 == 0 else (),
        paths=(f"src/part{number % 50}/**",),
        accept=("pytest -q",),
    )


def _histories(tasks: int) -> Iterator[e.Event]:
    """Yield the history of the tasks: four in five have landed, most of the others are ready."""
    for number in range(1, tasks + 1):
        task = task_id(number)
        holder, token = f"agent-{number % 30}", Token(f"{number}")
        yield e.TaskClaimed(task=task, holder=holder, token=token, expires_at=_NEVER)
        for beat in range(_HISTORY - 5):
            yield e.TaskRenewed(task=task, token=token, expires_at=_NEVER + beat)
        yield e.TaskCommented(task=task, text=f"{holder}: the first half is done, tests pass")
        yield e.TaskSubmitted(task=task, token=token, commit=f"{number:040x}")
        yield e.TaskCommented(task=task, text="reviewed: looks good")
        if number <= tasks * 4 // 5:
            yield e.TaskLanded(task=task)
        elif number % 10 == 0:
            yield e.TaskBlocked(task=task, reason="waits for an answer")
        else:
            yield e.TaskRetried(task=task, reason="a check failed")

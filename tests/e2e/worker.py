"""A process of its own that writes to a log: run as `python worker.py JOB FOLDER NAME …`.

It says "ready", waits until its standard input ends, and then does its job. Each line it prints
afterwards is an acknowledgement: what it tells about was stored before.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from corral.core.board.commands import AcquireLease, ClaimTask, CommentTask, RenewLease, SubmitTask
from corral.core.errors import CorralError
from corral.core.ids import TaskId, Token
from corral.store.service import perform
from corral.store.sqlite import SqliteStore


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def append(store: SqliteStore, name: str, task: str, first: str, last: str) -> None:
    """Comment on a task, and acknowledge each comment with its number in the log."""
    for number in range(int(first), int(last) + 1):
        text = f"{name}/{number}"
        comment = CommentTask(task=TaskId(task), text=text)
        seq = perform(store, comment, name, lambda state, stored: stored[-1].seq)
        say(f"{seq} {text}")


def claim(store: SqliteStore, name: str) -> None:
    """Claim whatever is next until nothing is."""
    while True:
        try:
            seq = perform(store, ClaimTask(ttl_s=3600), name, lambda state, stored: stored[-1].seq)
        except CorralError as error:
            say(error.code)
            return
        say(str(seq))


def hold(store: SqliteStore, name: str, task: str, resource: str) -> None:
    """Hold a task and a lease for a second; after a word on stdin, write with both tokens."""
    claimed = perform(
        store, ClaimTask(task=TaskId(task), ttl_s=1), name, lambda state, stored: stored[-1].seq
    )
    leased = perform(
        store, AcquireLease(resource=resource, ttl_s=1), name, lambda state, stored: stored[-1].seq
    )
    say("holding")
    os.read(0, 1)
    commands = (
        SubmitTask(task=TaskId(task), token=Token(str(claimed))),
        RenewLease(resource=resource, token=Token(str(leased))),
    )
    for command in commands:
        try:
            perform(store, command, name, lambda state, stored: None)
            say("accepted")
        except CorralError as error:
            say(error.code)


JOBS: dict[str, Callable[..., None]] = {"append": append, "claim": claim, "hold": hold}


if __name__ == "__main__":
    job, folder, own_name, *more = sys.argv[1:]
    log = SqliteStore(Path(folder))
    if job != "hold":
        say("ready")
        os.read(0, 1)
    JOBS[job](log, own_name, *more)
    log.close()

"""A repository with a movable clock, real trees and processes, and a deacon."""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from corral.core.board import commands as c
from corral.core.chores import ChoreOutcome
from corral.core.config import Config
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import State
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits
from corral.roles.deacon.loop import Deacon
from corral.roles.records.rooms import Room
from corral.store.port import Request
from corral.store.service import perform
from corral.store.sqlite import SqliteStore
from corral.world import clock, processes
from corral.world.processes import Launch
from corral.world.repository import find
from corral.world.trees import Tree, Trees
from tests.patience import PATIENCE_S
from tests.world.processes.sessions import await_in
from tests.world.trees.tree_repo import git

SLEEP = "import signal; print('up', flush=True); signal.pause()"
PROGRAM = [sys.executable, "-I", "-S", "-c", SLEEP]


class DeaconRepo:
    """A repository with a board, whose time is ours, and a deacon."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.ahead = 0
        self._launched: list[str] = []
        self.repository = find(str(repo))
        self.store = SqliteStore(self.repository.folder, self.clock)
        self.config = Config()
        self.trees = Trees(self.repository, now=self.clock)
        self.do(c.CreateConvoy(title="Auth fix"))

    def clock(self) -> int:
        return clock.now() + self.ahead

    def do(self, command: c.Command, actor: str = "ana") -> None:
        perform(self.store, command, actor, lambda state, stored: None)

    def record(self, *events: e.Event) -> None:
        self.store.transaction(Request("test", lambda s, now: events, lambda s, stored: None))

    def state(self) -> State:
        return self.store.state()

    def begin(self) -> SessionId:
        """Add a task and start a session on it, as the log sees it."""
        self.do(c.AddTask(title="Fix login"))
        task = list(self.state().tasks)[-1]
        self.store.transaction(
            Request(
                "witness",
                lambda state, now: session_rules.start(
                    state,
                    task,
                    profile="default",
                    pool="",
                    base=git(self.repo, "rev-parse", "main"),
                    limits=Limits(100, 0, {}),
                    ttl_s=60,
                    wall_s=0,
                    now=now,
                ),
                lambda state, stored: None,
            )
        )
        return self.state().tasks[task].session

    def end(self, session: SessionId) -> None:
        task = self.state().sessions[session].task
        self.record(
            e.SessionEnded(session=session, verdict="crashed"),
            e.TaskFailed(task=task, reason="crashed"),
        )

    def tree(self, session: SessionId) -> Tree:
        found = self.state().sessions[session]
        return self.trees.make(session, found.branch, found.base)

    def launch(self, session: SessionId) -> str:
        """Start the program of a session, under its shim; return its folder."""
        folder = Room(self.repository.folder, session).next("run")
        self._launched.append(folder)
        env = {"CORRAL_RUN": self.repository.git_dir, "CORRAL_SESSION": session}
        processes.start(
            f"{self.repository.folder}/run",
            Launch(
                session=session,
                argv=PROGRAM,
                cwd=str(self.repo),
                env=env,
                folder=folder,
                grace_s=0.1,
            ),
        )
        return folder

    def once(self) -> dict[str, ChoreOutcome]:
        return Deacon(self.store, self.repository, self.config, self.clock).once()

    def alerts(self) -> dict[str, str]:
        return {alert.kind: alert.subject for alert in self.state().alerts.values()}

    def close(self) -> None:
        for folder in self._launched:
            processes.ask_stop(folder)
            await_in(folder, partial(processes.outcome, folder))
        while left := processes.strays(self.repository.git_dir, live=()):
            processes.end(left)
        self.store.close()


def marked(project: DeaconRepo, **env: str) -> "subprocess.Popen[bytes]":
    """Start a process outside of any shim, with these marks, and wait until it is up."""
    process = subprocess.Popen(PROGRAM, env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    return process


def end_all(*started: "subprocess.Popen[bytes]") -> None:
    for process in started:
        process.kill()
        process.wait()


def until(project: DeaconRepo, true: Callable[[State], bool], limit_s: float = PATIENCE_S) -> None:
    """Wait for the log to say so."""
    deadline = time.monotonic() + limit_s
    while not true(state := project.state()):
        left = deadline - time.monotonic()
        assert left > 0, f"not within {limit_s} s"
        project.store.wait(state.seq, left)

"""Run commands for a session: its own program, and those of the harness in its tree."""

import os
import threading
from os.path import isfile, join

from corral.core.access import session_key
from corral.core.brief import Sources, compose
from corral.core.codec import decode, event_of
from corral.core.config import Config, Engine
from corral.core.errors import NotFound
from corral.core.ids import SessionId
from corral.core.session_rules import port_leases
from corral.core.state import Session, Task
from corral.roles.files import Room, launched
from corral.roles.log import Log
from corral.world import keys, processes, serving
from corral.world.processes import Exit, Launch
from corral.world.repository import Repository
from corral.world.trees import Tree
from corral.world.watch import Watch

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR")
_LOOK_AGAIN_S = 1.0  # for a shim and a keeper that were both killed, and for our own end


class Abandoned(Exception):
    """The witness ends: the step is left where it is, and the next witness takes it up."""


class Launcher:
    def __init__(self, log: Log, repository: Repository, config: Config) -> None:
        self._log = log
        self._repository = repository
        self._config = config
        self.stopping = threading.Event()

    def room(self, session: SessionId) -> Room:
        return Room(self._repository.folder, session)

    def argv(self, task: Task) -> list[str]:
        """Return the program of a task; an error names what is missing."""
        name = task.engine or "default"
        profile = self._config.engine.get(name)
        if profile is None and (task.engine or not task.run):
            raise NotFound(f"there is no engine {name!r} in .corral/config.toml")
        argv = task.run or (profile or Engine(type="shell")).command
        if not argv:
            raise NotFound(f"the engine {name!r} has no command")
        return list(argv)

    def start(self, session: Session, task: Task, tree: Tree) -> None:
        """Write the brief and start the program."""
        room = self.room(session.id)
        os.makedirs(room.path, exist_ok=True)
        with open(room.brief, "w", encoding="utf-8") as file:
            file.write(compose(task, session.id, session.branch, self._sources(task)))
        processes.start(
            join(self._repository.folder, "run"),
            Launch(
                session=session.id,
                argv=self.argv(task),
                cwd=tree.path,
                env=self._environment(session, room) | self._access(session),
                folder=room.next("run"),
                stdin=room.brief,
                wall_s=session.wall_s or None,
                grace_s=self._config.watch.grace_s,
                output_bytes=self._config.watch.output_mb << 20,
            ),
        )

    def to_end(
        self, session: Session, kind: str, argv: list[str], tree: Tree, wall_s: int, **env: str
    ) -> tuple[Exit, str]:
        """Run one command of the harness in a session's tree; return its end and last words."""
        room = self.room(session.id)
        folder = room.next(kind)
        with Watch() as watch:
            watch.add_complete(folder)
            processes.start(
                join(self._repository.folder, "run"),
                Launch(
                    session=session.id,
                    argv=argv,
                    cwd=tree.path,
                    env=self._environment(session, room) | env,
                    folder=folder,
                    wall_s=wall_s,
                    grace_s=min(5, self._config.watch.grace_s),
                ),
            )
            ended = self._wait(folder, watch)
        return ended, last_words(folder)

    def end_helpers(self, session: SessionId) -> None:
        """End what a witness that was killed had started in the tree of this session."""
        for folder in self.room(session).helpers():
            if launched(folder):
                with Watch() as watch:
                    watch.add_complete(folder)
                    processes.ask_stop(folder)
                    self._wait(folder, watch)
            else:
                processes.withdraw(folder)

    def end_strays(self, session: SessionId) -> None:
        """End what is left of a session that lost its shim and its keeper."""
        found = processes.strays(self._repository.git_dir, ())
        processes.end(stray for stray in found if stray.session == session)

    def _wait(self, folder: str, watch: Watch) -> Exit:
        while (ended := processes.outcome(folder)) is None:
            if self.stopping.is_set():
                raise Abandoned
            watch.wait(_LOOK_AGAIN_S)
        return ended

    def _environment(self, session: Session, room: Room) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        who = {"NAME": f"corral {session.id}", "EMAIL": mail_of(session.id)}
        identity = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in who.items()
        }
        ports = port_leases(self._log.look(), session)
        return {
            **passed,
            **identity,
            **{f"CORRAL_PORT_{n}": name.partition(":")[2] for n, name in enumerate(ports, 1)},
            "CORRAL_TASK": session.task,
            "CORRAL_SESSION": session.id,
            "CORRAL_BRIEF": room.brief,
            "CORRAL_RUN": self._repository.git_dir,
        }

    def _access(self, session: Session) -> dict[str, str]:
        """Return what a session shows: to the rules its token, to the server a key of its own."""
        folder = self._repository.folder
        key = session_key(keys.secret(folder), self._log.look().log, session)
        server = serving.published(folder)
        url = {"CORRAL_URL": server.url} if server else {}
        return {"CORRAL_TOKEN": session.token, "CORRAL_KEY": key, **url}

    def _sources(self, task: Task) -> Sources:
        asked = ""
        if task.brief_seq:
            stored = next(self._log.store.read(task.brief_seq - 1, 1))
            asked = str(getattr(event_of(decode(stored.line)), "brief", "") or "")
        templates = join(self._repository.main_worktree, ".corral", "roles")
        return Sources(
            asked=asked,
            role=_text(join(templates, f"{task.role}.md")) if task.role else "",
            rules=_text(join(templates, "shared-rules.md")),
            before=task.before,
            protocol=_text(join(templates, "beat-protocol.md")),
            beat_s=self._config.watch.beat_s,
        )


def mail_of(session: SessionId) -> str:
    """Return the address by which a session's git knows it."""
    return f"{session}@corral.invalid".lower()


def last_words(folder: str | None, lines: int = 3) -> str:
    words = " / ".join(processes.tail(folder, lines)) if folder else ""
    return "".join(c if c.isprintable() else " " for c in words)[-300:].strip()


def _text(path: str) -> str:
    if not isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20)

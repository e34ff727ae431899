"""Run a session's program, and Corral's own commands in its tree."""

import os
import threading
from os.path import isabs, isfile, join

from msgspec import Struct
from msgspec.structs import replace

from corral.core.access import session_key
from corral.core.config import Config, EngineSettings
from corral.core.engine import money
from corral.core.engine.fold import AFRESH, MESSAGE
from corral.core.engine.money import Sums
from corral.core.errors import CorralError, NotFound
from corral.core.faults import FailedCommand
from corral.core.ids import SessionId, mail_of, session_before
from corral.core.log.codec import decode, event_of
from corral.core.log.state import Session, Task
from corral.core.redaction import redacted
from corral.core.session import rules as session_rules
from corral.core.session.brief import Sources, changes_nothing, compose, go_on, hear
from corral.core.session.fitness import program_of
from corral.core.session.profiles import budgets_of
from corral.core.session.rules import port_leases
from corral.core.session.verdict import Verdict
from corral.core.text import unstyled
from corral.roles.log import Log
from corral.roles.records.rooms import Room, launched
from corral.roles.witness.confinement import Confinement
from corral.roles.witness.engine_profile import EngineProfiles
from corral.roles.witness.returned_work import ReturnedWork
from corral.world import keys, processes
from corral.world import server as serving
from corral.world.checks.runner import disk_full
from corral.world.clock import now
from corral.world.engines.files import lay
from corral.world.engines.locate import program
from corral.world.engines.recipe import environment as engine_environment
from corral.world.environment import ProjectEnvironment
from corral.world.leads import leading
from corral.world.processes import Exit, Launch
from corral.world.repository import Repository
from corral.world.trees import Tree
from corral.world.watch import Watch

_LINES = 200  # of a check that failed, in which a fault is looked for
_LOOK_AGAIN_S = 1.0  # in case shim and keeper were both killed, or the witness is asked to stop
# The shim would kill it half-way; a clone has settings of its own. Not GIT_CONFIG_KEY_1 and so on:
# some engines withhold variables that sound like secrets, and git refuses half of these.
_NO_COLLECTION = {"GIT_CONFIG_PARAMETERS": "'gc.auto=0' 'maintenance.auto=false'"}


class Abandoned(Exception):
    """The witness is stopping: the step stays where it is, and the next witness takes it up."""


class Launcher(Struct, frozen=True):
    log: Log
    repository: Repository
    config: Config
    profiles: EngineProfiles
    returned_work: ReturnedWork
    confinement: Confinement
    environment: ProjectEnvironment
    stopping: threading.Event

    def room(self, session: SessionId) -> Room:
        return Room(self.repository.folder, session)

    def argv(self, task: Task, name: str) -> list[str]:
        """Return the command line of a plain program; an error names what is missing."""
        profile = self.config.engine.get(name)
        if profile is None and (name != "default" or not task.run):
            raise NotFound(f"there is no engine {name!r} in .corral/config.toml")
        argv = task.run or (profile or EngineSettings(type="shell")).command
        if not argv:
            raise NotFound(f"the engine {name!r} has no command")
        return [*argv, *(profile.args if profile and not task.run else ())]

    def check(self, session: Session, task: Task) -> None:
        """Refuse a session that could only fail before anything is created for it."""
        self.profiles.check(session.profile, task)
        if self.profiles.recipe(session.profile, task) is None:
            self.argv(task, session.profile)
        self.confinement.check()

    def start(
        self, session: Session, task: Task, tree: Tree, done: str = "", letters: str = ""
    ) -> None:
        """Write the brief and start the program, for the first time or again.

        `done` tells a new conversation what the launch before this one did; `letters` are the
        messages to include in the prompt.
        """
        room = self.room(session.id)
        os.makedirs(room.path, mode=0o700, exist_ok=True)
        prompt = room.prompt(session.launches)
        recipe = self.profiles.recipe(session.profile, task)
        session = self._with_home(session)
        write_prompt(prompt, self._told(session, task, done, letters))
        argv: list[str]
        env, stdin, more = self._environment(session, room, tree), prompt, ""
        env |= self.profiles.passed_on(session.profile)
        if recipe is None:
            argv = self.argv(task, session.profile)
        else:
            job = self.profiles.job(session, task, tree.path, prompt)
            job = replace(job, budget_usd=self._left(session, task))
            prepared = self.profiles.prepared(session, task, job)
            lay(prepared, job.home)
            os.makedirs(job.unpacked, mode=0o700, exist_ok=True)
            argv, stdin, more = prepared.argv, prepared.stdin or os.devnull, job.unpacked
            env |= engine_environment(prepared, os.environ)
        processes.start(
            join(self.repository.folder, "run"),
            Launch(
                session=session.id,
                argv=argv,
                cwd=tree.path,
                env=env | self._access(session) | {"CORRAL_BRIEF": prompt},
                folder=room.next("run"),
                stdin=stdin,
                wall_s=self._wall_s(session),
                grace_s=self.config.watch.grace_s,
                output_bytes=self.config.watch.output_mb << 20,
                split=recipe is not None,
                writable=self.confinement.of_session(
                    tree, room, more, read_only=self._reads(session, task)
                ),
            ),
        )

    def _reads(self, session: Session, task: Task) -> bool:
        """Say whether a session is read-only, by its role or by its profile."""
        profile = self.config.engine.get(session.profile)
        return changes_nothing(task) or (profile is not None and profile.permission == "read")

    def _left(self, session: Session, task: Task) -> float | None:
        """Return the remaining budget, which other sessions may be spending as well."""
        sums = Sums(self.log.look(), now())
        return money.left(sums, task, session.profile, budgets_of(self.config))

    def _with_home(self, session: Session) -> Session:
        """Move the earlier session's home here if its conversation continues and still exists."""
        if session.launches > 1 or not session.conversation:
            return session
        text = "the home with the conversation is gone"
        if self.room(session.id).tree != self.room(session_before(session.id)).tree:
            text = "the conversation belongs to a folder that another session uses"
        elif self.profiles.carry_home(session):
            return session
        self.log.note(session_rules.react, session.id, "lost_thread", AFRESH, text)
        return self.log.look().sessions.get(session.id, session)

    def _told(self, session: Session, task: Task, done: str, letters: str) -> str:
        if not session.conversation or not self.profiles.resumes(session.profile):
            sources = replace(self._sources(session, task, done), letters=letters)
            return compose(task, session.id, session.branch, sources)
        if letters and session.relaunched and session.relaunched[-1] == MESSAGE:
            return hear(task, letters)
        why = session.reactions[-1] if session.launches > 1 else self._before(session, task)
        answer = ""
        if session.relaunched and session.relaunched[-1] == Verdict.NEEDS_ANSWER:
            answer = self.profiles.profile(session.profile).answers
        return go_on(task, session.id, why, answer, letters)

    def _wall_s(self, session: Session) -> float | None:
        """Return the time limit of a launch: what is left of the session's own limit."""
        if not session.wall_s:
            return None
        if session.launches == 1:
            return session.wall_s
        return max(1.0, session.wall_s - (now() - session.started_at) / 1000)

    def to_end(
        self,
        session: Session,
        kind: str,
        argv: list[str],
        tree: Tree,
        wall_s: int,
        **env: str,
    ) -> tuple[Exit, str]:
        """Run a command in a session's tree; return its exit and last words.

        An acceptance command is confined: it can read neither the user's checkout nor other trees,
        and it can write only where the session can.
        """
        room = self.room(session.id)
        accepts = kind == "check"
        own = (room.path, tree.git_dir)
        hiding = self.environment.hiding(tree.path, *own) if accepts else None
        env = self._environment(session, room, tree, tools=kind != "commit") | env
        doubted = self.environment.doubted() if accepts else ()
        if said := leading(tree.path, argv[-1], env, doubted):
            argv = ["/bin/sh", "-c", 'echo "$1" >&2; exit 126', "sh", said]
        folder = room.next(kind)
        with Watch() as watch:
            watch.add_complete(folder)
            processes.start(
                join(self.repository.folder, "run"),
                Launch(
                    session=session.id,
                    argv=argv,
                    cwd=tree.path,
                    env=env | self.confinement.variables(room, hiding),
                    folder=folder,
                    wall_s=wall_s,
                    grace_s=min(5, self.config.watch.grace_s),
                    writable=self.confinement.of_checks(tree, room) if accepts else None,
                    hidden=hiding.hidden if hiding else (),
                    shown=hiding.shown if hiding else (),
                ),
            )
            ended = self._wait(folder, watch)
        return ended, last_words(folder)

    def failed(self, session: Session, tree: Tree, command: str, ended: Exit) -> FailedCommand:
        """Return what the newest acceptance command printed, and how it ended."""
        lines = processes.last_lines(self.room(session.id).newest("check"), _LINES)
        return FailedCommand(command, ended.code, lines, disk_full(tree.path))

    def unfit(self, name: str, task: Task | None = None) -> tuple[str, CorralError] | None:
        """Return why a profile cannot be run on this machine now, and what the fault is about.

        A task with a program of its own needs the profile's variables, but not its program.
        """
        try:
            self.confinement.check()
            self.profiles.check(name, task)
        except CorralError as error:
            return name, error
        try:
            if task is None or not task.run:
                self._need_program(name)
        except CorralError as error:
            return program_of(name), error
        return None

    def _need_program(self, name: str) -> None:
        profile, recipe = self.profiles.profile(name), self.profiles.recipe(name)
        if recipe is None and not profile.command:
            raise NotFound(f"the engine {name!r} has no command")
        word = (*profile.command, recipe.program if recipe else "")[0]
        if recipe is not None and profile.type != "command" and "/" not in word:
            program(recipe, profile.command, os.environ)
        elif isabs(word) and not os.access(word, os.X_OK):
            raise NotFound(f"the program {word!r} of the engine {name!r} cannot be run")

    def end_helpers(self, session: SessionId) -> None:
        """End commands that a killed witness had started in the tree of this session."""
        for folder in self.room(session).helpers():
            if launched(folder):
                with Watch() as watch:
                    watch.add_complete(folder)
                    processes.ask_stop(folder)
                    self._wait(folder, watch)
            else:
                processes.withdraw(folder)

    def end_strays(self, session: SessionId) -> None:
        """End the remaining processes of a session whose shim and keeper were killed."""
        found = processes.strays(self.repository.git_dir, ())
        processes.end(stray for stray in found if stray.session == session)

    def _wait(self, folder: str, watch: Watch) -> Exit:
        while (ended := processes.outcome(folder)) is None:
            if self.stopping.is_set():
                raise Abandoned
            watch.wait(_LOOK_AGAIN_S)
        return ended

    def _environment(
        self, session: Session, room: Room, tree: Tree, *, tools: bool = True
    ) -> dict[str, str]:
        ports = port_leases(self.log.look(), session)
        return {
            **self.environment.of_session(tree.path, tools=tools),
            **author(session.id),
            **(_NO_COLLECTION if tree.kind == "worktree" else {}),
            **{f"CORRAL_PORT_{n}": name.partition(":")[2] for n, name in enumerate(ports, 1)},
            "CORRAL_TASK": session.task,
            "CORRAL_SESSION": session.id,
            "CORRAL_BRIEF": room.brief,
            "CORRAL_RUN": self.repository.git_dir,
            **self.confinement.variables(room),
        }

    def _access(self, session: Session) -> dict[str, str]:
        """Return a session's credentials: its claim token, and its own key for the server."""
        folder = self.repository.folder
        key = session_key(keys.secret(folder), self.log.look().log, session)
        server = serving.published(folder)
        url = {"CORRAL_URL": server.url} if server else {}
        return {"CORRAL_TOKEN": session.token, "CORRAL_KEY": key, **url}

    def _asked(self, task: Task) -> str:
        """Return the task's brief as it was written."""
        if not task.brief_seq:
            return ""
        stored = next(self.log.store.read(task.brief_seq - 1, 1))
        return str(getattr(event_of(decode(stored.line)), "brief", "") or "")

    def _before(self, session: Session, task: Task) -> str:
        """Return what a new attempt needs to know about earlier attempts."""
        state = self.log.look()
        if task.id not in state.returned:
            return task.before
        text = self.returned_work.told(state, session, self.config.trees, self._asked)
        since = task.before if task.failures else ""  # an attempt after the return has failed
        return f"{text}\n\n{since}".strip()

    def _sources(self, session: Session, task: Task, done: str = "") -> Sources:
        before = self._before(session, task)
        return Sources(
            asked=self._asked(task),
            role=template(self.repository, task.role) if task.role else "",
            rules=template(self.repository, "shared-rules"),
            before=f"{before}\n\n{done}".strip(),
            protocol=template(self.repository, "beat-protocol"),
            beat_s=self.config.watch.beat_s,
        )


def write_prompt(path: str, text: str) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(opened, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def author(session: SessionId) -> dict[str, str]:
    """Return the variables that give a session its name in git."""
    who = {"NAME": f"corral {session}", "EMAIL": mail_of(session)}
    return {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}


def template(repository: Repository, name: str) -> str:
    """Return one of the texts in `.corral/roles`; empty if there is none."""
    path = join(repository.main_worktree, ".corral", "roles", f"{name}.md")
    if not isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20)


def last_words(folder: str | None, lines: int = 3) -> str:
    words = redacted(unstyled(" / ".join(processes.last_lines(folder, lines)))) if folder else ""
    return "".join(c if c.isprintable() else " " for c in words)[-300:].strip()

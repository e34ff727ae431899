"""One run of the mayor's engine: in its own working tree, read-only, and watched to its end.

The program is a child of the keeper, like that of every session. So it goes on if the process that
started it is killed, and the next one takes it over: a run is its folder,
`sessions/MAYOR/run-TURN`.
"""

import os
import threading
import time
from collections.abc import Callable
from os.path import isdir, join

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Config
from corral.core.engine import watchdog
from corral.core.engine.bill import Bill
from corral.core.engine.stream import Stream
from corral.core.engine.watchdog import Seen
from corral.core.errors import BadInput
from corral.core.ids import SessionId, TaskId, Token
from corral.core.log.state import Session
from corral.core.mayor.state import MayorConversation
from corral.core.plan.schema import MOST_BYTES
from corral.core.session.verdict import Verdict
from corral.roles.mayor.answer import Words
from corral.roles.records.facts import Reading
from corral.roles.records.rooms import Room, launched
from corral.roles.witness.engine_profile import EngineProfiles
from corral.roles.witness.launch import author, last_words, write_prompt
from corral.world import processes
from corral.world.clock import now
from corral.world.engines.files import lay
from corral.world.engines.recipe import EngineJob, Permission, environment
from corral.world.environment import ProjectEnvironment
from corral.world.processes import EndReason, Exit, Launch
from corral.world.repository import Repository
from corral.world.trees import Tree
from corral.world.trees.door import place_of
from corral.world.watch import Watch

_LOOK_S = 1.0
_LINGERS = "lingers"  # the engine has answered but does not end
_WITHDRAWN = "the asking process was killed before the engine started"
_STREAMED = ("gemini",)  # engines whose text arrives in pieces that belong together


class EngineRunEnd(Struct, frozen=True):
    """How a run ended. `trouble` is empty if there is an answer."""

    stream: Stream
    text: str
    trouble: str = ""


class EngineRunner:
    def __init__(self, repository: Repository, config: Config, stopping: threading.Event) -> None:
        self._repository = repository
        self._config = config
        self.profiles = EngineProfiles(config, repository.folder)
        self.stopping = stopping

    def check(self, name: str) -> None:
        """Refuse a profile whose answers cannot be read, before anything is asked."""
        profile = self.profiles.profile(name)
        recipe = self.profiles.recipe(name)
        if recipe is None or profile.type == "aider" or profile.transport == "tmux":
            raise BadInput(
                f"the engine {name!r} cannot give an answer that Corral can read as a plan",
                'corral mayor start --engine PROFILE, or engine = "…" in [mayor]',
            )
        self.profiles.check(name, None)

    def folder(self, mayor: MayorConversation) -> str:
        return join(self._room(mayor).path, f"run-{mayor.turn}")

    def begun(self, mayor: MayorConversation) -> bool:
        """Say whether the newest run was started; withdraw one that was only half started."""
        folder = self.folder(mayor)
        if isdir(folder) and not launched(folder):
            processes.withdraw(folder, _WITHDRAWN)
        return isdir(folder)

    def answers(self, mayor: MayorConversation) -> bool:
        """Say whether the newest run goes on, or has ended without being stopped."""
        if not self.begun(mayor):
            return False
        end = processes.outcome(self.folder(mayor))
        return end is None or end.reason is EndReason.EXITED

    def start(self, mayor: MayorConversation, tree: Tree, prompt: str) -> None:
        os.makedirs(self._room(mayor).path, mode=0o700, exist_ok=True)
        job = self._job(mayor, tree.path)
        write_prompt(job.prompt_file, prompt)
        prepared = self.profiles.prepared(self._session(mayor), None, job)
        lay(prepared, job.home)
        os.makedirs(job.unpacked, mode=0o700, exist_ok=True)
        folder = self.folder(mayor)
        os.mkdir(folder, mode=0o700)
        place = place_of(self._repository, self._config.trees.folder or None)
        ours = ProjectEnvironment(self._repository, self._config.environment, place)
        env = ours.of_session(tree.path, tools=True) | author(SessionId(mayor.id))
        env |= self.profiles.passed_on(mayor.profile)
        env |= {"CORRAL_SESSION": mayor.id, "CORRAL_RUN": self._repository.git_dir}
        processes.start(
            join(self._repository.folder, "run"),
            Launch(
                session=mayor.id,
                argv=prepared.argv,
                cwd=tree.path,
                env=env | environment(prepared, os.environ) | {"CORRAL_BRIEF": job.prompt_file},
                folder=folder,
                stdin=prepared.stdin or os.devnull,
                wall_s=self._config.watch.wall_s,
                grace_s=self._config.watch.grace_s,
                output_bytes=self._config.watch.output_mb << 20,
                split=True,
            ),
        )

    def finish(
        self, mayor: MayorConversation, tree: str, over: Callable[[Bill], str]
    ) -> EngineRunEnd | None:
        """Watch a run to its end; return None if we were asked to stop, and the run goes on.

        `over` names the budget that is used up, given the cost of the run so far.
        """
        profile = self.profiles.profile(mayor.profile)
        streams = profile.type in _STREAMED or profile.transport == "acp"
        words = Words("" if streams else "\n")
        reader = self.profiles.reader(mayor.profile, self._job(mayor, tree))
        stream, folder = Stream(prices=self._config.budget.prices), self.folder(mayor)
        reading = Reading(folder, reader, stream, now(), words.hear)
        stopped = ""
        try:
            with Watch() as watch:
                watch.add_complete(folder)
                watch.add_growing(folder)
                while (exit_ := processes.outcome(folder)) is None:
                    if self.stopping.is_set():
                        return None
                    reading.advance(now())
                    why = stopped or self._step_in(mayor, reading, over)
                    if why and not stopped:
                        stopped = why
                        processes.ask_stop(folder)
                    watch.wait(_LOOK_S)
            stream = reading.finish(now())
        finally:
            reading.close()
        return self._ended(mayor, stream, words.answer(), exit_, stopped)

    def stop(self, mayor: MayorConversation) -> None:
        """Stop the newest run if it goes on, and wait for its end."""
        folder = self.folder(mayor)
        if not mayor.turn or not self.begun(mayor) or processes.outcome(folder) is not None:
            return
        since = time.monotonic()
        with Watch() as watch:
            watch.add_complete(folder)
            while processes.outcome(folder) is None:
                processes.insist(folder, since, self._config.watch.grace_s)
                watch.wait(_LOOK_S)

    def _step_in(
        self, mayor: MayorConversation, reading: Reading, over: Callable[[Bill], str]
    ) -> str:
        """Return the trouble for which a run must be stopped now, if any."""
        stream = reading.stream
        if stream.asked is not None and self._config.watch.answer_s:
            return "asked"  # nobody can answer its question: it should answer with a plan
        if over(stream.bill):
            return str(Verdict.OVER_BUDGET)
        seen = Seen(
            now=now(),
            fact_at=reading.fact_at,
            begun=reading.begun,
            limited_at=reading.limited_at,
            finished_at=reading.finished_at,
        )
        found = watchdog.step(stream, seen, self.profiles.bounds(mayor.profile))
        if found is None:
            return ""
        if stream.finished is not None:
            return _LINGERS
        limited = stream.limited if found.verdict is Verdict.LIMITED else None
        return str(limited.trouble if limited else found.verdict)

    def _ended(
        self, mayor: MayorConversation, stream: Stream, text: str, exit_: Exit, stopped: str
    ) -> EngineRunEnd:
        if stopped and stopped != _LINGERS:
            return EngineRunEnd(stream, text, stopped)
        end = stream.finished
        if end is not None and end.trouble is not None:
            return EngineRunEnd(stream, end.text, str(end.trouble))
        if end is not None and stopped:
            return EngineRunEnd(stream, text or end.text)
        if exit_.reason in (EndReason.STOPPED, EndReason.LOST) or exit_.detail == _WITHDRAWN:
            return EngineRunEnd(stream, text, "interrupted")
        if exit_.reason is not EndReason.EXITED:
            return EngineRunEnd(stream, exit_.detail or text, str(exit_.reason))
        by_code = end is None and self.profiles.ends_by_code(mayor.profile)
        if (by_code and exit_.code != 0) or (end is None and not by_code):
            said = last_words(self.folder(mayor)) or f"exit code {exit_.code}"
            return EngineRunEnd(stream, said, "crashed")
        return EngineRunEnd(stream, text or (end.text if end else ""))

    def _job(self, mayor: MayorConversation, tree: str) -> EngineJob:
        prompt = self._room(mayor).prompt(mayor.turn)
        job = self.profiles.job(self._session(mayor), None, tree, prompt)
        return replace(job, permission=Permission.READ, longest=MOST_BYTES)

    def _session(self, mayor: MayorConversation) -> Session:
        """Return the run as a session: that is what engines are started from."""
        return Session(
            id=SessionId(mayor.id),
            task=TaskId(""),
            token=Token(""),
            profile=mayor.profile,
            pool="",
            branch="",
            base="",
            wall_s=0,
            started_at=mayor.started_at,
            resume=mayor.resume,
            thread=mayor.resume,
            launches=mayor.turn,
            talk=mayor.talk,
        )

    def _room(self, mayor: MayorConversation) -> Room:
        return Room(self._repository.folder, SessionId(mayor.id))

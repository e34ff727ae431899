"""Engine profiles of the configuration: the recipe, the job and the watchdog's bounds of each."""

import os
from os.path import dirname, isdir, join, lexists
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Config, EngineSettings
from corral.core.engine.facts import Spent
from corral.core.engine.stream import Stream
from corral.core.engine.watchdog import Bounds, model_allowed
from corral.core.errors import NotFound
from corral.core.ids import SessionId, session_before
from corral.core.log.state import Session, Task
from corral.roles.records.facts import Heard, Reading
from corral.roles.records.rooms import Room
from corral.world import server as serving
from corral.world.engines.agents import acp as acp_agents
from corral.world.engines.agents import terminal
from corral.world.engines.agents.described import recipe_of
from corral.world.engines.agents.self_reporting import FactsReader
from corral.world.engines.locate import need_transport
from corral.world.engines.recipe import EngineJob, Mcp, OutputReader, Permission, Prepared, Recipe
from corral.world.engines.relay import reader as relayed
from corral.world.engines.runners.orders import AcpOrder, PermissionPolicy, TmuxOrder, runner_argv

_GLOB = frozenset("*?[")
_PERMISSION = {"read": Permission.READ, "all": Permission.ALL}


class EngineProfiles(Struct, frozen=True):
    config: Config
    folder: str

    def profile(self, name: str) -> EngineSettings:
        found = self.config.engine.get(name)
        if found is None:
            raise NotFound(f"there is no engine {name!r} in .corral/config.toml")
        return found

    def recipe(self, name: str, task: Task | None = None) -> Recipe | None:
        """Return the recipe of a profile; None for a program whose output Corral does not parse.

        That includes a task's own program, unless the profile is for commands.
        """
        profile = self.config.engine.get(name)
        if profile is None or profile.type == "shell":
            return None
        own = task is not None and bool(task.run) and profile.type != "command"
        return None if own else recipe_of(profile)

    def reader(self, name: str, job: EngineJob) -> OutputReader:
        profile = self.profile(name)
        if profile.transport != "cli":
            return FactsReader(job)
        recipe = self.recipe(name)
        assert recipe is not None
        return relayed.reader(recipe, job)

    def reading(
        self, name: str, job: EngineJob, launch: str, at: int, heard: Heard | None = None
    ) -> Reading:
        """Return the reading of a launch (a folder), before anything is read."""
        stream = Stream(prices=self.config.budget.prices, size=self.profile(name).context)
        return Reading(launch, self.reader(name, job), stream, at, heard)

    def commits(self, name: str, task: Task) -> bool:
        """Say whether Corral commits the changes that the engine leaves uncommitted."""
        profile = self.config.engine.get(name)
        if self.config.watch.commit_dirty or profile is None:
            return self.config.watch.commit_dirty
        if profile.commit is not None:
            return profile.commit
        recipe = self.recipe(name, task)
        return recipe is not None and not recipe.commits

    def ends_by_code(self, name: str) -> bool:
        """Say whether a program is judged by its exit code because it reports no result."""
        profile = self.profile(name)
        plain = profile.type == "command" and not profile.output and not profile.lines
        return plain and profile.transport == "cli"

    def resumes(self, name: str) -> bool:
        """Say whether a conversation can be resumed even after the engine was killed."""
        recipe = self.recipe(name)
        return recipe is not None and recipe.resumes and recipe.resumes_killed

    def takes(self, name: str, task: Task) -> str:
        """Say how a session gets text while it runs; an empty text means that it cannot."""
        profile = self.config.engine.get(name)
        if profile is None or self.recipe(name, task) is None:
            return ""
        ways = {"acp": "turn", "tmux": "typed"}
        return ways.get(profile.transport) or ("resume" if self.resumes(name) else "")

    def check(self, name: str, task: Task | None) -> None:
        """Refuse a session that could only fail: a missing program or variable, a banned model."""
        profile = self.config.engine.get(name)
        if profile is None:
            return  # a task with a program of its own needs no profile
        if self.recipe(name, task) is not None:
            need_transport(profile, os.environ)
        for variable in profile.env:
            if variable not in os.environ:
                said = f"the engine {name!r} needs {variable}, which is not set for the witness"
                raise NotFound(said)
        required = self.config.budget.require_model
        if profile.model and not model_allowed(profile.model, required):
            said = f"the engine {name!r} has the model {profile.model!r}, which"
            raise NotFound(f"{said} budget.require_model does not allow")

    def _tools(self, recipe: Recipe | None) -> Mcp | None:
        """Return how to reach Corral's own tools, if its server runs and the engine can use MCP."""
        server = serving.published(self.folder) if recipe is not None and recipe.mcp else None
        return Mcp(url=f"{server.url}/mcp", token="CORRAL_KEY") if server else None

    def job(self, session: Session, task: Task | None, tree: str, prompt: str) -> EngineJob:
        """Return the job of a session's newest launch; repeated calls return the same job."""
        profile = self.profile(session.profile)
        recipe = self.recipe(session.profile, task)
        program = (task.run if task else ()) or profile.command
        if not program and recipe is not None and recipe.program:
            program = (recipe.program,)
        if not program:
            raise NotFound(f"the engine {session.profile!r} has no command")
        key = profile.env[0] if profile.env else ""
        resume = session.conversation if self.resumes(session.profile) else ""
        spent = session.talk
        before = Spent(spent.fresh, spent.cached, spent.output, spent.usd) if resume else None
        named = f"{self.folder} {session.id} {session.launches}"
        paths = (*task.inputs, *(p for p in task.paths if not _GLOB & set(p))) if task else ()
        return EngineJob(
            session=session.id,
            program=program,
            tree=tree,
            home=self.home(session.id),
            prompt_file=prompt,
            model=profile.model,
            resume=resume,
            before=before,
            mcp=self._tools(recipe),
            new_id=str(uuid5(NAMESPACE_URL, named)),
            base_url=profile.base_url,
            key=key,
            args=profile.args,
            permission=_PERMISSION.get(profile.permission, Permission.EDIT),
            as_root=os.geteuid() == 0,
            confined=self.config.confine.enabled,
            idle_s=profile.turn_s,
            unpacked=join(self.folder, "unpacked", profile.type),
            files=paths,
        )

    def prepared(self, session: Session, task: Task | None, job: EngineJob) -> Prepared:
        """Return what to run: the recipe's own command, or a runner that drives the agent."""
        profile = self.profile(session.profile)
        recipe = self.recipe(session.profile, task)
        assert recipe is not None
        if profile.transport == "cli":
            return relayed.prepared(recipe, job)
        room = Room(self.folder, session.id).path
        order: AcpOrder | TmuxOrder
        if profile.transport == "tmux":
            order, base = terminal.prepare(profile.type, job, recipe.prepare, room=room)
        else:
            policy = PermissionPolicy.ASK if profile.permission == "ask" else None
            order, base = acp_agents.prepare(
                profile.type, job, recipe.prepare, room=room, policy=policy
            )
            order = replace(order, answer_s=self.config.watch.answer_s)
        command, env = runner_argv(order)
        return replace(base, argv=command, env=base.env | env, stdin=job.prompt_file)

    def home(self, session: SessionId) -> str:
        return join(Room(self.folder, session).path, "home")

    def carry_home(self, session: Session) -> bool:
        """Give a session that resumes a conversation the home of the session before it."""
        home, before = self.home(session.id), self.home(session_before(session.id))
        if not isdir(home) and isdir(before):
            os.makedirs(Room(self.folder, session.id).path, mode=0o700, exist_ok=True)
            os.rename(before, home)
        if isdir(home) and not lexists(before) and isdir(dirname(before)):
            # Some engines store absolute paths to the files of a conversation.
            os.symlink(home, before)
        return isdir(home)

    def bounds(self, name: str) -> Bounds:
        watch, profile = self.config.watch, self.profile(name)
        recipe = self.recipe(name)
        return Bounds(
            # A plain program may be silent while it works, and so may a person at a terminal.
            turn_s=0 if self.ends_by_code(name) or profile.transport == "tmux" else profile.turn_s,
            first_s=recipe.first_output_s if recipe else 0,
            park_s=watch.park_s,
            answer_s=watch.answer_s,
            window=watch.window,
            loop=watch.loop,
            models=self.config.budget.require_model,
        )

    def passed_on(self, name: str) -> dict[str, str]:
        """Return the variables that a profile passes through, with their values. Never log them."""
        profile = self.config.engine.get(name)
        return {v: os.environ[v] for v in profile.env if v in os.environ} if profile else {}

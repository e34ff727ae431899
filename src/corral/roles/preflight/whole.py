"""The whole preflight, for `corral check`, and what of it must be fine before anything starts."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from corral.core.config import Config
from corral.core.log.state import State
from corral.roles.preflight import machine
from corral.roles.preflight.base import BaseCheck
from corral.roles.preflight.engines import budget, engines
from corral.roles.preflight.finding import BAD, NOTE, Finding, blocking, setting
from corral.roles.preflight.gate import BaseBranch, Say
from corral.roles.preflight.landing import landing
from corral.world.environment import ProjectEnvironment
from corral.world.repository import Repository
from corral.world.trees.door import place_of


class Preflight:
    def __init__(
        self, repository: Repository, config: Config, say: Say = lambda text: None
    ) -> None:
        self._repository = repository
        self._config = config
        self._say = say
        place = place_of(repository, config.trees.folder or None)
        self._project = ProjectEnvironment(repository, config.environment, place)

    @cached_property
    def _base(self) -> BaseCheck:
        return BaseCheck(self._repository, self._config, self._say)

    def all(self, bases: Sequence[BaseBranch], state: State | None = None) -> Iterator[Finding]:
        """Yield everything that is found about this machine, the settings, and these branches."""
        config = self._config
        space = list(machine.disk(self._project.place, config.trees))
        yield from space
        yield from machine.identity(self._repository)
        yield from machine.environment(self._project)
        if config.engine:
            self._say("looking at the engines")
        yield from engines(config)
        yield from budget(config, state)
        yield from landing(self._repository, config)
        if not config.refinery.checks and config.refinery.require_ci:
            said = "no checks are set, so each task is checked by its own acceptance commands"
            yield Finding("checks", NOTE, said, setting("refinery", 'checks = ["make test"]'))
        for base in bases:
            yield from self._base.start(base.name)[1] if blocking(space) else self.base(base)

    def base(self, base: BaseBranch) -> Iterator[Finding]:
        """Yield the findings about a branch, its set-up and its checks."""
        commit, found = self._base.start(base.name)
        yield from found
        if commit and not blocking(found):
            tried = self._base.tried(base.name, commit, base.commands, base.accepts)
            yield from tried
            if not blocking(tried):
                yield from self._base.proved(base.name, commit, base.commands)

    def checked(self, name: str, commit: str, commands: Sequence[str]) -> Finding | None:
        """Run the checks on a commit; None if there are none."""
        found = self._base.tried(name, commit, commands) if commands else ()
        return next((one for one in found if one.state == BAD), None)

    def faults(self, base: BaseBranch, profiles: Collection[str]) -> list[Finding]:
        """Return why work on a base with these profiles cannot start."""
        full = blocking(machine.disk(self._project.place, self._config.trees))
        if full:
            return full
        found = [*engines(self._config, profiles)] if profiles else []
        return blocking([*found, *self.base(base)])

    @property
    def folder(self) -> str:
        """Return the folder in which trees are made."""
        return machine.room(self._project.place)[0]

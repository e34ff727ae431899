"""The faults because of which work must not start; nothing is looked at twice.

This module is loaded at each start of `corral up`, so it imports the rest only if it is needed.
"""

import os
from collections.abc import Callable, Collection

from msgspec import Struct

from corral.core.config import Config
from corral.roles.preflight.finding import Finding
from corral.roles.preflight.memory import Memory, key_of, surroundings
from corral.world.git.tree import read_branch
from corral.world.repository import Repository

_MB = 1_000_000

Say = Callable[[str], None]


class BaseBranch(Struct, frozen=True):
    """A branch, or any commit, that work starts from, and the checks that must pass there."""

    name: str
    commands: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()


def faults(
    repository: Repository, config: Config, base: BaseBranch, profiles: Collection[str], say: Say
) -> list[Finding]:
    """Return why work on a base with these profiles cannot start.

    What was fine is not looked at again for a day, unless something has changed.
    """
    memory = Memory(repository.folder)
    commit = read_branch(repository.git_dir, base.name) if base.name else None
    around = surroundings(config, os.environ)
    key = key_of(base, commit, sorted(profiles), *around) if commit else ""  # else it may move
    if key and memory.is_clear(key, config.trees.free_mb * _MB):
        return []
    from corral.roles.preflight.engines import programs
    from corral.roles.preflight.whole import Preflight

    preflight = Preflight(repository, config, say)
    found = preflight.faults(base, profiles)
    if key and not found:
        memory.clear(key, preflight.folder, programs(config, profiles))
    return found

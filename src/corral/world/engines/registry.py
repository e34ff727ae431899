"""Every engine that Corral knows."""

from corral.core.errors import NotFound
from corral.world.engines.recipe import Recipe
from corral.world.engines.told import COMMAND

ENGINES: dict[str, Recipe] = {COMMAND.type: COMMAND}


def find(type: str) -> Recipe:
    if type not in ENGINES:
        raise NotFound(f"there is no engine of type {type!r}", f"one of {', '.join(ENGINES)}")
    return ENGINES[type]

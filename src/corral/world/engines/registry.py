"""Every engine that Corral knows."""

from corral.core.errors import NotFound
from corral.world.engines.aider import AIDER
from corral.world.engines.claude_code import CLAUDE_CODE
from corral.world.engines.codex import CODEX
from corral.world.engines.command import COMMAND
from corral.world.engines.continuing import CONTINUE
from corral.world.engines.copilot import COPILOT
from corral.world.engines.gemini import GEMINI
from corral.world.engines.opencode import OPENCODE
from corral.world.engines.recipe import Recipe

ENGINES: dict[str, Recipe] = {
    recipe.type: recipe
    for recipe in (CLAUDE_CODE, CODEX, OPENCODE, GEMINI, COPILOT, CONTINUE, AIDER, COMMAND)
}


def find(type: str) -> Recipe:
    if type not in ENGINES:
        raise NotFound(f"there is no engine of type {type!r}", f"one of {', '.join(ENGINES)}")
    return ENGINES[type]

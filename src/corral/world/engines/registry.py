"""Every engine that Corral supports."""

from corral.core.errors import NotFound
from corral.world.engines.agents.aider import AIDER
from corral.world.engines.agents.claude_code import CLAUDE_CODE
from corral.world.engines.agents.codex import CODEX
from corral.world.engines.agents.command import COMMAND
from corral.world.engines.agents.continue_cli import CONTINUE
from corral.world.engines.agents.copilot import COPILOT
from corral.world.engines.agents.gemini import GEMINI
from corral.world.engines.agents.opencode import OPENCODE
from corral.world.engines.recipe import Recipe

ENGINES: dict[str, Recipe] = {
    recipe.type: recipe
    for recipe in (CLAUDE_CODE, CODEX, OPENCODE, GEMINI, COPILOT, CONTINUE, AIDER, COMMAND)
}


def find(type: str) -> Recipe:
    if type not in ENGINES:
        raise NotFound(f"there is no engine of type {type!r}", f"one of {', '.join(ENGINES)}")
    return ENGINES[type]

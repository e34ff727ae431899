"""What the demo runs in its repository: git without the user's settings, and corral itself."""

import io
import os
from contextlib import redirect_stdout

from corral.core.errors import Failed
from corral.world.git.command import own_environment, run


def git(*words: str, cwd: str) -> None:
    """Run git as somebody without any settings of their own."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    run(["git", *words], cwd, own_environment() | settings)


def corral(*words: str, repo: str) -> bytes:
    """Run a command of Corral and return what it prints."""
    from corral.interfaces.cli import main

    content = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(content, "utf-8", write_through=True)) as out:
        code = main.run([*words, "--repo", repo])
        out.flush()
        printed = content.getvalue()
    if code:
        raise Failed(f"corral {' '.join(words)} ended with exit code {code}")
    return printed

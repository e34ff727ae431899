"""What the demo runs in its repository: git without the user's settings, and corral itself."""

import io
import os
import subprocess
from contextlib import redirect_stdout

from corral.core.errors import Failed
from corral.world.git.refs import GitFailed


def git(*words: str, cwd: str) -> None:
    """Run git as somebody without any settings of their own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Corral", f"GIT_{role}_EMAIL": "corral@localhost"}
    done = subprocess.run(["git", *words], cwd=cwd, env=env, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {words[0]} failed: {said[-1] if said else 'no reason given'}")


def corral(*words: str, repo: str) -> bytes:
    """Run a command of Corral and return what it prints."""
    from corral.interfaces.cli.main import run

    content = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(content, "utf-8", write_through=True)) as out:
        code = run([*words, "--repo", repo])
        out.flush()
        printed = content.getvalue()
    if code:
        raise Failed(f"corral {' '.join(words)} ended with exit code {code}")
    return printed

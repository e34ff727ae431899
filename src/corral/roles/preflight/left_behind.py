"""What a set-up leaves in every tree that git does not ignore, or changes that git tracks."""

from collections.abc import Sequence

from corral.roles.preflight.finding import NOTE, Finding

_NAMED = 3


def left_behind(new: Sequence[str], changed: Sequence[str]) -> list[Finding]:
    """Return notes with remedies: an agent may commit such files by accident."""
    found = []
    if new:
        said = f"the set-up leaves {_names(new)} in every tree, which git does not ignore"
        found.append(
            Finding("set-up", NOTE, said, f"add {_names(new)} to .gitignore and commit it")
        )
    if changed:
        said = f"the set-up changes {_names(changed)}, which git tracks: no session starts clean"
        mend = "commit the change, or use a command that makes none (npm ci, not npm install)"
        found.append(Finding("set-up", NOTE, said, mend))
    return found


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more

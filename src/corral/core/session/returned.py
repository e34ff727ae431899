"""What the next attempt needs to know about work that the queue returned."""

from collections.abc import Sequence

from msgspec import Struct

from corral.core.queue.state import Returned

_BRIEF = 2000  # characters of another task's brief
_SHOWN = 30  # paths


class Other(Struct, frozen=True):
    """A task whose work conflicts with this one."""

    id: str
    title: str
    brief: str = ""
    commit: str = ""  # where it has landed


def told(returned: Returned, others: Sequence[Other], diff: str, log: Sequence[str]) -> str:
    """Return what helps to fix it: what happened, what the other side changed, what failed."""
    parts = [
        f"Your work (commit {returned.commit[:12]}) came back from the merge queue:"
        f" {returned.why}. {returned.detail}",
        _state(returned),
        *(_other(other) for other in others),
    ]
    if diff.strip():
        parts.append(f"What landed in these files since you started:\n\n{diff.rstrip()}")
    if log:
        parts.append("The end of the check's output:\n\n" + "\n".join(log))
    return "\n\n".join(part for part in parts if part)


def _state(returned: Returned) -> str:
    if returned.why != "conflict":
        return (
            "Your branch is now based on the newest trunk, with your work on top. Find out why it"
            " fails there, fix it, and commit."
        )
    paths = "\n".join(f"    {path}" for path in returned.paths[:_SHOWN])
    return (
        "Your branch is now at the newest trunk, and your work is in the files, uncommitted, with"
        " conflict markers (<<<<<<< HEAD is what landed) in:\n\n"
        f"{paths}\n\nKeep the intent of both sides, remove all markers, make sure that everything"
        " works, including files without markers, and commit."
    )


def _other(other: Other) -> str:
    where = f", landed as {other.commit[:12]}" if other.commit else ""
    head = f"The other side is {other.id}{where}: {other.title}"
    return f"{head}\n\n{other.brief[:_BRIEF].rstrip()}" if other.brief.strip() else head

"""What the next attempt needs to know about work that the queue returned."""

from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never

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


class Undecided(Struct, frozen=True):
    """A path in conflict without markers, and the files with each side (empty: deleted there)."""

    path: str
    landed: str = ""
    yours: str = ""


class WorkPlace(StrEnum):
    """Where the next attempt finds the work that came back."""

    SHOWN = "shown"  # in the files, uncommitted, as a conflict on the newest trunk
    ON_TOP = "on_top"  # in commits on the newest trunk
    APART = "apart"  # not on the branch, which starts at the newest trunk


def told(
    returned: Returned,
    others: Sequence[Other],
    diff: str,
    log: Sequence[str],
    *,
    place: WorkPlace,
    trunk: str,
    undecided: Sequence[Undecided] = (),
) -> str:
    """Return what helps to fix it: what happened, what the other side changed, what failed."""
    parts = [
        f"Your work (commit {returned.commit[:12]}) came back from the merge queue:"
        f" {returned.why}. {returned.detail}",
        _state(returned, place, trunk, undecided),
        *(_other(other) for other in others),
    ]
    if diff.strip():
        parts.append(f"What landed in these files since you started:\n\n{diff.rstrip()}")
    if log:
        parts.append("The end of the check's output:\n\n" + "\n".join(log))
    return "\n\n".join(part for part in parts if part)


def _state(returned: Returned, place: WorkPlace, trunk: str, undecided: Sequence[Undecided]) -> str:
    todo = "Find out why it fails there, fix it, and commit."
    if returned.why == "conflict":
        todo = "Keep the intent of both sides, make sure that everything works, and commit."
    match place:
        case WorkPlace.SHOWN:
            return _shown(returned, undecided)
        case WorkPlace.ON_TOP:
            return f"Your branch is now based on the newest trunk, with your work on top. {todo}"
        case WorkPlace.APART:
            where = f"Your branch starts at the newest trunk, {trunk}, without your work. First"
            where += " bring your work in"
            return f"{where}:\n\n    git merge --squash {returned.commit}\n\n{todo}"
    assert_never(place)


def _shown(returned: Returned, undecided: Sequence[Undecided]) -> str:
    without = {one.path for one in undecided}
    marked = [path for path in returned.paths if path not in without]
    parts = [
        "Your branch is now at the newest trunk, and your work is in the files, uncommitted, with"
        " conflicts."
    ]
    if marked:
        parts.append(
            "Conflict markers (<<<<<<< HEAD is what landed) are in:\n\n"
            + "\n".join(f"    {path}" for path in marked[:_SHOWN])
        )
    if undecided:
        parts.append(
            "These cannot be shown with markers. Each file was taken away, and what each side has"
            " lies beside it (~landed is what landed, ~yours is your work). Write the file as it"
            " should be, or leave it deleted; then delete the files beside it:\n\n"
            + "\n".join(f"    {_sides(one)}" for one in undecided[:_SHOWN])
        )
    parts.append(
        "Keep the intent of both sides, remove all markers, make sure that everything works,"
        " including files without markers, and commit."
    )
    return "\n\n".join(parts)


def _sides(one: Undecided) -> str:
    if one.landed and one.yours:
        return f"{one.path}: {one.landed}, {one.yours}"
    return f"{one.path}: {one.landed or one.yours}, and the other side has no such file"


def _other(other: Other) -> str:
    where = f", landed as {other.commit[:12]}" if other.commit else ""
    head = f"The other side is {other.id}{where}: {other.title}"
    return f"{head}\n\n{other.brief[:_BRIEF].rstrip()}" if other.brief.strip() else head

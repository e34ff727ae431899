"""Find API keys that a session has written into its work before that work can land.

The values that profiles pass through (`roles/secrets`) are searched for in every line and message
that the session's commits add, even if a later commit removes it again: a rebase lands each commit.
The search covers a bounded amount, because a session may write as much as it likes.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from corral.world.git.view import View

_LOOKED_AT = 16 << 20  # bytes of added text
_ADDED = (
    *("-c", "core.quotePath=false", "log", "--patch", "--unified=0", "--text", "--no-color"),
    # A session must not choose programs; a merge adds what its first parent does not have.
    *("--no-ext-diff", "--no-textconv", "--no-renames", "--no-prefix", "--submodule=short"),
    *("--diff-merges=first-parent", "--format=%w(0,2,2)%B"),
)


class Leak(Struct, frozen=True):
    name: str  # of the variable
    where: str


def find(
    view: View, base: str, commit: str, keys: Iterable[tuple[str, str]], borrow: Sequence[str] = ()
) -> Leak | None:
    """Return a key (a value and its name) that the commits add and their base does not have."""
    known = list(keys)
    if not known:
        return None
    added = view.first(_LOOKED_AT, *_ADDED, f"{base}..{commit}", "--", borrow=borrow)
    for value, name in known:
        at = _place(added, value.encode())
        if at is not None and not _is_in(view, base, value, borrow):
            return Leak(name, _where(added, at))
    return None


def _place(added: bytes, value: bytes) -> int | None:
    """Return the position of a value in a line that was not removed."""
    at = added.find(value)
    while at >= 0:
        if added[added.rfind(b"\n", 0, at) + 1 : at + 1][:1] != b"-":
            return at
        at = added.find(value, at + 1)
    return None


def _where(added: bytes, at: int) -> str:
    """Return the file at a position, or say that it is a commit message."""
    start = added.rfind(b"\n", 0, at) + 1
    if added[start : start + 1] == b" ":
        return "the message of a commit"
    header = added.rfind(b"\n+++ ", 0, at) + len(b"\n+++ ")
    return added[header : added.find(b"\n", header)].decode("utf-8", "replace").strip("\t")


def _is_in(view: View, base: str, value: str, borrow: Sequence[str]) -> bool:
    # Any user can read a command line, so the value goes through a pipe.
    said = view.run(
        *("grep", "--name-only", "--text", "--fixed-strings", "-f", "-", base, "--"),
        stdin=f"{value}\n".encode(),
        borrow=borrow,
        fine=(0, 1),
    )
    return bool(said)

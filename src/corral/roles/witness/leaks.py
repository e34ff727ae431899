"""Keys that a session has written into its work, found before that can land.

Looked for are the values that profiles pass on (`roles/secrets`), in every line and message that
the session's commits add: also in one that a later commit takes out again, for a rebase lands each.
It is cut off at a bound, like all that a session may write as much of as it likes.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from corral.world.git.view import View

_LOOKED_AT = 16 << 20  # bytes of what was added
_ADDED = (
    *("-c", "core.quotePath=false", "log", "--patch", "--unified=0", "--text", "--no-color"),
    # What a session wrote must not choose programs; a merge adds what its first parent has not.
    *("--no-ext-diff", "--no-textconv", "--no-renames", "--no-prefix", "--submodule=short"),
    *("--diff-merges=first-parent", "--format=%w(0,2,2)%B"),
)


class Leak(Struct, frozen=True):
    name: str  # of the variable
    where: str


def find(
    view: View, base: str, commit: str, keys: Iterable[tuple[str, str]], borrow: Sequence[str] = ()
) -> Leak | None:
    """Return a key (a value and its name) that commits add and their base does not have already."""
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
    """Return where a value is in a line that was not taken away."""
    at = added.find(value)
    while at >= 0:
        if added[added.rfind(b"\n", 0, at) + 1 : at + 1][:1] != b"-":
            return at
        at = added.find(value, at + 1)
    return None


def _where(added: bytes, at: int) -> str:
    """Return the file of a place, or say that it is a message."""
    start = added.rfind(b"\n", 0, at) + 1
    if added[start : start + 1] == b" ":
        return "the message of a commit"
    header = added.rfind(b"\n+++ ", 0, at) + len(b"\n+++ ")
    return added[header : added.find(b"\n", header)].decode("utf-8", "replace").strip("\t")


def _is_in(view: View, base: str, value: str, borrow: Sequence[str]) -> bool:
    # Everybody can read a command line, so the value goes through a pipe.
    said = view.run(
        *("grep", "--name-only", "--text", "--fixed-strings", "-f", "-", base, "--"),
        stdin=f"{value}\n".encode(),
        borrow=borrow,
        fine=(0, 1),
    )
    return bool(said)

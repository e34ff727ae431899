"""Kept work as a value, and how it is stored in a commit.

A kept commit is built like a stash: its tree is the working tree, byte for byte, with all untracked
files; its parents are HEAD, a commit of the index, one of the unmerged entries (below `1/`, `2/`
and `3/`), and the commits that nothing else references. The message says in one line of JSON which
parent is which. The ref is `refs/corral/keep/<session>/<number>`.
"""

import msgspec
from msgspec import Struct


class KeptRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The line of JSON in a kept commit's message."""

    session: str
    task: str = ""
    branch: str = ""
    base: str = ""
    reason: str = ""
    at: int
    head: str = ""
    on: str = ""  # the branch that HEAD pointed to
    index: str = ""
    unmerged: str = ""
    others: tuple[str, ...] = ()

    @property
    def parents(self) -> list[str]:
        named = (self.head, self.index, self.unmerged, *self.others)
        return list(dict.fromkeys(commit for commit in named if commit))

    def message(self) -> bytes:
        title = f"Kept from {self.session}: {self.reason}".encode()
        return title.replace(b"\n", b" ") + b"\n\n" + msgspec.json.encode(self) + b"\n"


class Kept(Struct, frozen=True):
    """Work that was pinned."""

    ref: str
    commit: str
    record: KeptRecord

    @property
    def session(self) -> str:
        return self.record.session

    @property
    def at(self) -> int:
        return self.record.at


class Shown(Struct, frozen=True):
    """The content of a kept commit: its commits beyond the base, and paths by status."""

    kept: Kept
    commits: tuple[str, ...]
    staged: tuple[str, ...]
    unstaged: tuple[str, ...]
    untracked: tuple[str, ...]
    unmerged: tuple[str, ...]


def read_record(message: bytes) -> KeptRecord | None:
    """Parse the message of a kept commit; None if it is not one of ours."""
    last = message.strip().rpartition(b"\n")[2]
    try:
        return msgspec.json.decode(last, type=KeptRecord)
    except msgspec.MsgspecError:
        return None

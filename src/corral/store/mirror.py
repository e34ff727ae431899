"""The log as a git ref that can be pushed and fetched, and from which a log can be rebuilt.

`refs/corral/log` is a line of commits. Each holds one chunk of the log as `events.jsonl` (the lines
of `corral log --json`) and says in its message which log it is, its last event, and the hash there.
A chunk is never rewritten. Its commit depends only on its events and its parent, so two clones that
mirror the same chunk make the same commit, and clones that have diverged share their first ones.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from msgspec import Struct

from corral.core.errors import LogDamaged, Refused
from corral.core.log.codec import Stored, decode, mirrored, unmirrored
from corral.core.refs import MIRROR_REF
from corral.store.pace import Pace
from corral.store.port import Store
from corral.world.git import Commit, Git, GitFailed

CHUNK = 100
FILE = "events.jsonl"


class Tip(Struct, frozen=True):
    commit: str
    log: str
    seq: int
    hash: str


class Relation(Struct, frozen=True):
    """How another copy of the log relates to ours: both share the first `common` events."""

    common: int
    ours: int  # events that only we have
    theirs: int  # events that only they have


class Mirror:
    def __init__(self, git: Git, store: Store, folder: str) -> None:
        self.git = git
        self._store = store
        self._lock = f"{folder}/mirror.lock"
        self._pace = Pace(folder)

    def tip(self, ref: str = MIRROR_REF) -> Tip | None:
        found = self.git.tip(ref)
        if found is None:
            return None
        commit, message = found
        facts = dict(line.split(": ", 1) for line in message.splitlines() if ": " in line)
        try:
            return Tip(commit, facts["log"], int(facts["seq"]), facts["hash"])
        except (KeyError, ValueError) as error:
            raise GitFailed(f"{ref} is not a mirror of a log", f"git show {ref}") from error

    def flush(self, *, wait: bool, again: bool = True) -> int | None:
        """Mirror the events that are not mirrored yet; return the number of the last one.

        Without `wait`, return None if another process is mirroring: it checks for new events before
        it stops. A caller that comes back anyway need not check `again`.
        """
        while True:
            with _exclusive(self._lock, wait) as mine:
                if not mine:
                    return None
                last = self._flush()
                self._pace.note(last)
            if not again or self._store.state().seq == last:
                return last

    def _flush(self) -> int:
        tip = self.tip()
        if tip is not None:
            self.must_be_ours(tip)
        after = tip.seq if tip else 0
        commits, last = [], after
        log = self._store.state().log
        records = self._store.read(after)
        while chunk := list(islice(records, CHUNK)):
            commits.append(_commit(log, chunk))
            last = chunk[-1].seq
        if commits:
            self.git.append(MIRROR_REF, tip.commit if tip else None, commits)
        return last

    def must_be_ours(self, tip: Tip) -> None:
        """Refuse to build on a mirror that is not a prefix of our log."""
        ours = next(self._store.read(tip.seq - 1, 1), None)
        if tip.seq and (ours is None or ours.hash.hex() != tip.hash):
            raise Refused(
                f"{MIRROR_REF} has events that this log does not have; both are kept unchanged",
                "corral rebuild --from-mirror imports them, or explains why it cannot",
                code="mirror_differs",
            )

    def records(self, ref: str = MIRROR_REF, after: int = 0) -> Iterator[Stored]:
        """Yield the events of a mirror, in order."""
        commits = self.git.history(ref)
        expected = 1
        for content in self.git.files(f"{commit}:{FILE}" for commit in commits):
            for line in content.splitlines():
                try:
                    stored = unmirrored(line)
                except ValueError as error:
                    raise LogDamaged(0, f"of the mirror cannot be read ({error})") from error
                if stored.seq != expected:
                    said = f"{ref} is incomplete: events before {stored.seq} were not fetched"
                    raise GitFailed(said, "git fetch --unshallow, or corral log fetch REMOTE")
                expected += 1
                if stored.seq > after:
                    yield stored

    def relation(self, ref: str) -> Relation:
        """Compare a mirror with our log by the hashes of the chain."""
        length = self._store.state().seq
        ours = self._store.read()
        common = theirs = 0
        alike = True
        for theirs, stored in enumerate(self.records(ref), 1):  # noqa: B007 - counted to the end
            mine = next(ours, None) if alike else None
            alike = mine is not None and mine.hash == stored.hash
            common += alike
        return Relation(common, length - common, theirs - common)


@contextmanager
def _exclusive(path: str, wait: bool) -> Iterator[bool]:
    """Hold a lock file; the value says whether it was free."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "ab") as file:
        free = False
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            free = True
        yield free


def _commit(log: str, chunk: list[Stored]) -> Commit:
    first, last = chunk[0], chunk[-1]
    return Commit(
        message=(
            f"Log {first.seq} to {last.seq}\n\n"
            f"log: {log}\nseq: {last.seq}\nhash: {last.hash.hex()}\n"
        ),
        at_s=decode(last.line).at // 1000,
        files={FILE: b"".join(mirrored(stored) + b"\n" for stored in chunk)},
    )

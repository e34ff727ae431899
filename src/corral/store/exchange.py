"""Exchange the log with other clones. Neither side is ever overwritten.

fetch → theirs equals ours or is a part of it   nothing to do
        theirs continues ours                   imported, event by event
        both have events the other lacks        refused and explained; theirs stays in its own ref
"""

import os
from hashlib import sha256
from itertools import count, islice

from msgspec import Struct

from corral.core.errors import BadInput, CorralError, LogDamaged, LogTooNew, NotFound, Refused
from corral.core.log.state import State
from corral.core.refs import MIRROR_REF, remote_log_ref, replaced_mirror_ref
from corral.core.text import counted
from corral.store.mirror import Mirror, Relation
from corral.store.replay import extend
from corral.store.sqlite import SqliteStore

_PAGE = 10_000


class ExchangeOutcome(Struct, frozen=True):
    """The result of an exchange: how long the log is now, and what it gained."""

    seq: int
    taken: int
    ahead: int  # events that the other side does not have
    lost: int = 0  # events of a damaged log that could not be restored
    kept: str = ""  # where the damaged files are


class Exchange:
    def __init__(self, mirror: Mirror, store: SqliteStore) -> None:
        self._mirror = mirror
        self._git = mirror.git
        self._store = store

    def push(self, remote: str) -> int:
        """Push the mirror; return the last event that the remote now has."""
        _check_remote(remote)
        if not self._store.state().seq:
            raise NotFound("the log is empty: there is nothing to push", "corral convoy create")
        seq = self._mirror.flush(wait=True) or 0
        if not self._git.push(remote, MIRROR_REF):
            said = f"{remote} has events that this clone does not have; nothing was overwritten"
            raise Refused(said, f"corral log fetch {remote}", code="remote_ahead")
        return seq

    def fetch(self, remote: str) -> ExchangeOutcome:
        """Fetch a remote's log and import the events that continue ours."""
        _check_remote(remote)
        if self._store.state().seq:
            self._mirror.flush(wait=True)
        tracking = remote_log_ref(_ref_part(remote))
        if not self._git.fetch(remote, MIRROR_REF, f"{tracking}.incoming"):
            hint = f"in the clone that has one: corral log push {remote}"
            raise NotFound(f"{remote} has no log", hint)
        self._track(tracking)
        return self._take_in(tracking, remote)

    def rebuild(self) -> State:
        """Check the log, delete everything that is derived from it, and derive it again."""
        self.verify()
        self._store.forget()
        self._store.save()
        return self._store.state()

    def verify(self) -> State:
        """Check every event, and that the mirror has no more events than the log."""
        tip = self._mirror.tip()  # first: other processes may write and mirror events meanwhile
        state = self._store.verify()
        if tip is not None and tip.seq > state.seq:
            missing = f"is missing here, but the mirror has it ({MIRROR_REF})"
            raise LogDamaged(state.seq + 1, missing)
        if tip is not None:
            self._mirror.must_be_ours(tip)
        return state

    def rebuild_from_mirror(self) -> ExchangeOutcome:
        """Import the mirror's events. A damaged log is restored from it; its files are kept."""
        if self._mirror.tip() is None:
            raise NotFound(f"there is no {MIRROR_REF} in this clone", "corral log fetch REMOTE")
        try:
            healthy = self._store.verify().seq
        except LogDamaged as damage:
            return self._restore(damage.seq)
        except LogTooNew:
            return self._restore(1)
        if not healthy:
            records = list(self._mirror.records())
            self._store.adopt(records)
            self._store.save()
            return ExchangeOutcome(len(records), len(records), 0)
        taken = self._take_in(MIRROR_REF, "the mirror")
        self.rebuild()
        return taken

    def _restore(self, first_bad: int) -> ExchangeOutcome:
        restored = State()
        good = list(self._mirror.records())
        extend(restored, good)
        taken = len(good)
        last = 0
        for stored in self._store.salvage(restored.seq):
            last = max(last, stored.seq)
            try:
                extend(restored, [stored])
            except CorralError:
                break
            good.append(stored)
        last = max(last, self._store.sealed_seq, first_bad)
        folders = (f"{self._store.folder}/damaged/{number}" for number in count(1))
        aside = next(folder for folder in folders if not os.path.exists(folder))
        self._store.replace(good, aside, if_damaged=True)
        self._store.save()
        return ExchangeOutcome(restored.seq, taken, 0, lost=last - restored.seq, kept=aside)

    def _track(self, tracking: str) -> None:
        """Move a remote's ref forward; keep the commits that a rewritten remote no longer has."""
        incoming = f"{tracking}.incoming"
        new, old = self._git.resolve(incoming), self._git.resolve(tracking)
        if new is None:
            raise NotFound(f"{incoming} is gone", "try again")
        if old and not self._git.contains(new, old):
            self._keep(old)
        self._git.move(tracking, new, old)
        self._git.delete(incoming)

    def _take_in(self, ref: str, name: str) -> ExchangeOutcome:
        relation = self._mirror.relation(ref)
        if relation.ours and relation.theirs:
            raise _diverged(ref, name, relation)
        records = self._mirror.records(ref, relation.common)
        while page := list(islice(records, _PAGE)):
            self._store.adopt(page)
        self._continue_from(ref)
        self._store.settle()
        return ExchangeOutcome(self._store.state().seq, relation.theirs, relation.ours)

    def _continue_from(self, ref: str) -> None:
        """Let our mirror continue theirs, so that the next push is a fast-forward."""
        theirs, ours = self._git.resolve(ref), self._git.resolve(MIRROR_REF)
        if theirs is None or ours == theirs or (ours and self._git.contains(ours, theirs)):
            return
        if ours and not self._git.contains(theirs, ours):
            self._keep(ours)  # the same events in other chunks
        self._git.move(MIRROR_REF, theirs, ours)
        self._mirror.flush(wait=True)

    def _keep(self, commit: str) -> None:
        ref = replaced_mirror_ref(commit)
        if self._git.resolve(ref) is None:
            self._git.move(ref, commit, None)


def _diverged(ref: str, name: str, relation: Relation) -> Refused:
    story = "it is a different log, with no event in common"
    if relation.common:
        story = (
            f"after event {relation.common}, this one has {counted(relation.ours, 'more event')}"
            f" and that one has {counted(relation.theirs, 'more event')}"
        )
    return Refused(
        f"the log of {name} has diverged from this one: {story};"
        f" both are kept: this one is unchanged, the other is in {ref}",
        f"git log {ref}",
        code="diverged",
    )


def _check_remote(remote: str) -> None:
    if not remote or remote.startswith("-") or not remote.isprintable():
        raise BadInput(f"{remote!r} is not the name or address of a remote", "git remote")


def _ref_part(remote: str) -> str:
    """Return the part of a ref's name that stands for a remote."""
    plain = remote.replace("-", "").replace("_", "").isalnum() and remote.isascii()
    return remote if plain else "at-" + sha256(remote.encode()).hexdigest()[:12]

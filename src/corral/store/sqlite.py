"""The log in one SQLite file, shared by any number of processes. The default.

`corral/log.db` is a table of lines and hashes (WAL mode, synchronous=FULL); `corral/derived/` has
snapshot and seal, which may be deleted at any time.
Writers queue at the turnstile, so SQLite's busy handler (unfair, polling) is never reached. The
file changes only under that lock, even in checkpoints, so that the seal can be trusted.
"""

import os
from _thread import RLock  # most commands do not need threading itself
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from corral.core.errors import CorralError, LogBusy, LogDamaged, Refused, StoreFailed
from corral.core.log.codec import Stored
from corral.core.log.state import State
from corral.core.text import counted
from corral.store import schema, seal, snapshot
from corral.store.turnstile import Turnstile
from corral.world.clock import Clock, now

if TYPE_CHECKING:
    from corral.store.port import Request
    from corral.store.replay import Row
    from corral.world.watch import Watch

T = TypeVar("T")

_CHECKPOINT_PAGES = 256  # of 4 KiB: a process that opens the file reads the whole WAL once
_PAGE = 1000
_BUSY_MS = 10_000  # never reached while every process uses the turnstile
_SELECT = "SELECT seq, line, hash FROM event WHERE seq > ? ORDER BY seq LIMIT ?"


class SqliteStore:
    def __init__(
        self,
        folder: str | os.PathLike[str],
        clock: Clock = now,
        *,
        anchor: Callable[[], seal.Mark | None] = lambda: None,
        vfs: str | None = None,
    ) -> None:
        """`anchor` says how long the log was at least, for when the seal is gone."""
        self.folder = os.fspath(folder)
        self.path = f"{self.folder}/log.db"
        self.derived = f"{self.folder}/derived"
        self._snapshot = f"{self.derived}/snapshot"
        self._seal = f"{self.derived}/seal"
        self._clock = clock
        self._anchor = anchor
        self._vfs = vfs
        self._turnstile = Turnstile(self.folder)
        self._mine = RLock()
        self._connection: apsw.Connection | None = None
        self._inode = 0
        self._state: State | None = None
        self._saved = 0
        self._wal_pages = 0
        self._watches: list[Watch] = []

    # Writing

    def transaction(self, request: "Request[T]") -> T:
        (answer,) = self.batch([request])
        if isinstance(answer, CorralError):
            raise answer
        return answer  # type: ignore[no-any-return]  # batch answers each request with its own T

    def batch(self, requests: "Sequence[Request[Any]]") -> list[Any]:
        if not self._present():
            rows, answers = self._play(State(), requests)
            if not rows:
                return answers  # nothing to store: do not create the file
        with self._writing() as connection:
            rows, answers = self._play(self._current(connection), requests)
            self._insert(connection, rows)
        return answers

    def _play(
        self, state: State, requests: "Sequence[Request[Any]]"
    ) -> tuple[list[Stored], list[Any]]:
        """Run requests one by one on a state; return the records to store and the answers."""
        from corral.store.port import attempt

        rows: list[Stored] = []
        answers = []
        for request in requests:
            log = state.log or os.urandom(8).hex()
            stored, answer = attempt(state, request, self._clock(), log)
            rows.extend(stored)
            answers.append(answer)
        return rows, answers

    def adopt(self, records: Sequence[Stored]) -> None:
        from corral.store import foreign

        if not self._present():
            foreign.extend(State(), records)  # create nothing for records that do not fit
        with self._writing() as connection:
            foreign.extend(self._current(connection), records)
            self._insert(connection, records)

    # Reading

    def state(self) -> State:
        with self._reading() as connection:
            return State() if connection is None else self._current(connection)

    def detached(self) -> State:
        """Return the state for the caller to keep and extend; the store makes another one."""
        with self._mine:
            state, self._state = self.state(), None
            return state

    def saved(self, most: int) -> State:
        """Return the newest state that is at hand without a replay and not past an event."""
        with self._reading() as connection:
            found = State() if connection is None else self._from_snapshot(connection)
        return found if found.seq <= most else State()

    def read(self, after: int = 0, limit: int | None = None) -> Iterator[Stored]:
        left = limit
        while left is None or left > 0:
            with self._reading() as connection:
                if connection is None:
                    return
                size = _PAGE if left is None else min(left, _PAGE)
                page = list(_stored(connection, after, size))
            yield from page
            if len(page) < size:
                return
            after = page[-1].seq
            left = None if left is None else left - len(page)

    def wait(self, after: int, timeout_s: float | None = None) -> bool:
        from corral.world.watch import Watch

        with suppress(OSError):  # another process may be deleting it: the watch looks again
            os.makedirs(self.derived, exist_ok=True)
        deadline = None if timeout_s is None else monotonic() + timeout_s
        # Closing a watch can take the kernel many milliseconds, so keep it for the next wait.
        watch = self._watches.pop() if self._watches else Watch(self.derived)
        try:
            while self.length() <= after:
                left = None if deadline is None else deadline - monotonic()
                if left is not None and left <= 0:
                    return False
                watch.wait(left)
        finally:
            self._watches.append(watch)
        return True

    def verify(self) -> State:
        """Check every stored event, and that none is missing that was sealed."""
        if not self._present():
            return State()
        with self._mine, _translated(), self._turnstile.held():
            self._drop()
            return self._audit(self._open(), self._mark())

    def length(self) -> int:
        """Return the number of the newest event."""
        with self._reading() as connection:
            if connection is None:
                return 0
            (length,) = connection.execute("SELECT max(seq) FROM event").fetchone() or (0,)
            return int(length or 0)

    def exists(self) -> bool:
        """Return whether anything was ever written."""
        return os.path.exists(self.path)

    # Housekeeping

    def settle(self) -> None:
        with self._mine:
            if self._state is not None and self._state.seq - self._saved >= snapshot.EVERY:
                self.save()

    def save(self) -> None:
        """Write a snapshot of the current state."""
        with self._mine:
            state = self.state()
            snapshot.save(self._snapshot, state)
            self._saved = state.seq

    def forget(self) -> None:
        """Delete everything that is derived from the log."""
        with self._mine:
            self._state = None
            if os.path.isdir(self.derived):
                for entry in os.scandir(self.derived):
                    with suppress(FileNotFoundError):  # another process may be deleting it as well
                        os.unlink(entry.path)

    @property
    def sealed_seq(self) -> int:
        """How long the log was when it was last sealed; 0 if unknown."""
        sealed = seal.read(self._seal)
        return sealed.mark.seq if sealed else 0

    @property
    def known_seq(self) -> int:
        """How long the log was when it was last read; 0 if it was not."""
        return self._state.seq if self._state else 0

    def salvage(self, after: int) -> Iterator[Stored]:
        """Yield what can be read of a damaged log after an event, up to the first fault."""
        with self._mine:
            try:
                yield from _stored(self._connection or self._connect(), after)
            except (apsw.Error, CorralError):
                return

    def replace(self, records: Sequence[Stored], aside: str, *, if_damaged: bool = False) -> None:
        """Replace this log with another; its files are moved to the folder `aside`."""
        with self._mine, _translated(), self._turnstile.held():
            self._drop()
            if if_damaged and self._sound():
                said = "the log is sound: another process has restored it; nothing was changed"
                raise Refused(said, "corral log verify", code="log_sound")
            os.makedirs(aside)
            for entry in os.scandir(self.folder):
                if entry.name.startswith("log.db"):
                    os.rename(entry.path, f"{aside}/{entry.name}")
            self.forget()
            connection = self._open(create=True)
            with connection:
                self._insert(connection, records)
            self._audit(connection, None)

    def close(self) -> None:
        with self._mine:
            self._drop()
            self._turnstile.close()
            while self._watches:
                self._watches.pop().close()

    # Inside

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """Give the caller a transaction; it commits unless something is raised."""
        with self._mine, _translated():
            _make_folder(self.folder)
            with self._turnstile.held():
                connection = self._trusted(create=True)
                before = connection.total_changes()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    # The state may be ahead of the log now: read it again next time.
                    self._state = None
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                if connection.total_changes() != before:
                    self._after_commit(connection)

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection | None]:
        with self._mine, _translated():
            if not self._present():
                yield None
                return
            connection = (self._connection or self._open_to_read()) if self._intact() else None
            if connection is None or not self._at_seal(connection):
                with self._turnstile.held():
                    connection = self._trusted()
            yield connection

    def _present(self) -> bool:
        """Return whether there is a log; one that is gone is damaged, not empty."""
        if self.exists():
            return True
        if self.sealed_seq:
            what = f"is missing, like all others: the log had {counted(self.sealed_seq, 'event')}"
            raise LogDamaged(1, what)
        return False

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._state = None

    def _open(self, *, create: bool = False) -> apsw.Connection:
        """Open the file if necessary, in the newest version; the caller holds the lock."""
        if self._connection is not None:
            return self._connection
        connection = self._connect(create=create)
        schema.upgrade(connection, self.path)
        return self._keep(connection)

    def _open_to_read(self) -> apsw.Connection | None:
        """Open a sealed file without the lock, unless it must be upgraded first."""
        connection = self._connect()
        if schema.version_of(connection) != schema.NEWEST:
            connection.close()
            return None
        return self._keep(connection)

    def _keep(self, connection: apsw.Connection) -> apsw.Connection:
        self._connection, self._inode = connection, os.stat(self.path).st_ino
        return connection

    def _connect(self, *, create: bool = False) -> apsw.Connection:
        schema.check_library()
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        connection = apsw.Connection(self.path, flags=flags, vfs=self._vfs)
        connection.set_busy_timeout(_BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.set_wal_hook(self._count_pages)
        return connection

    def _count_pages(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _intact(self) -> bool:
        """Return whether the files look as they did when sealed, and are those that we opened."""
        sealed = seal.read(self._seal)
        if sealed is None or sealed.looks != seal.look(self.path):
            return False
        return self._connection is None or sealed.looks[0][0] == self._inode

    def _at_seal(self, connection: apsw.Connection) -> bool:
        """Return whether the newest event is the sealed one: files can rot and look unchanged."""
        sealed = seal.read(self._seal)
        newest = connection.execute("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1")
        row = newest.fetchone() or (0, State().head)
        return sealed is not None and row == (sealed.mark.seq, sealed.mark.head)

    def _trusted(self, *, create: bool = False) -> apsw.Connection:
        """Open the log and verify, under the lock, that it is as Corral wrote it."""
        if not self._intact() or not self._at_seal(self._open(create=create)):
            self._drop()
            mark = self._mark() if self.exists() else None
            self._audit(self._open(create=create), mark)
        return self._open(create=create)

    def _audit(self, connection: apsw.Connection, mark: seal.Mark | None) -> State:
        """Check every event, and that the log still has the events up to the mark; then seal it."""
        state = State()
        try:
            from corral.store.replay import extend

            rows = _rows(connection, 0)
            extend(state, islice(rows, mark.seq if mark else 0))
            if mark is not None:
                mark.must_be_in(state.seq, state.head)
            extend(state, rows)
        except (apsw.Error, LogDamaged) as error:
            with suppress(OSError):  # then the next command finds the damage too
                seal.broken(self._seal, mark or seal.Mark(0, State().head))
            if isinstance(error, LogDamaged):
                raise
            raise LogDamaged(state.seq + 1, f"cannot be read ({error})") from error
        with suppress(OSError):  # then it is checked again next time
            self._write_seal(state)
        return state

    def _mark(self) -> seal.Mark | None:
        """Return the point that the log is known to have reached, by the seal or the anchor."""
        sealed = seal.read(self._seal)
        marks = [mark for mark in (sealed and sealed.mark, self._anchor()) if mark]
        return max(marks, key=lambda mark: mark.seq, default=None)

    def _sound(self) -> bool:
        try:
            self._audit(self._open(), self._mark())
        except (CorralError, apsw.Error):
            self._drop()
            return False
        return True

    def _current(self, connection: apsw.Connection) -> State:
        """Return the state up to the newest stored event."""
        if self._state is None:
            self._state = self._from_snapshot(connection)
            self._saved = self._state.seq
        try:
            rows = _rows(connection, self._state.seq)
            first = next(rows, None)
            if first is not None:
                from corral.store.replay import extend

                extend(self._state, chain((first,), rows))
        except BaseException:
            self._state = None
            raise
        return self._state

    def _from_snapshot(self, connection: apsw.Connection) -> State:
        found = snapshot.load(self._snapshot)
        if found is None:
            return State()
        row = next(_stored(connection, found.seq - 1, 1), None)
        fits = row is not None and row.seq == found.seq and row.hash == found.head
        return found if fits else State()

    def _insert(self, connection: apsw.Connection, rows: Sequence[Stored]) -> None:
        connection.executemany(
            "INSERT INTO event VALUES (?, ?, ?)", ((row.seq, row.line, row.hash) for row in rows)
        )

    def _after_commit(self, connection: apsw.Connection) -> None:
        """Seal the log. The events are durable: no failure here may look like a refusal.

        An unsealed log is only checked again; a WAL that could not be moved is moved later.
        """
        with suppress(OSError, apsw.Error):
            if self._wal_pages >= _CHECKPOINT_PAGES:
                self._checkpoint(connection)
            if self._state is not None:
                self._write_seal(self._state)

    def _checkpoint(self, connection: apsw.Connection) -> None:
        """Move the WAL into the file without waiting for readers; truncate it if it is long."""
        long = self._wal_pages >= 4 * _CHECKPOINT_PAGES
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if long else apsw.SQLITE_CHECKPOINT_PASSIVE
        connection.set_busy_timeout(0)
        try:
            connection.wal_checkpoint(mode=mode)
            self._wal_pages = 0
        except apsw.BusyError:
            pass  # a reader still needs the WAL; the next append tries again
        finally:
            connection.set_busy_timeout(_BUSY_MS)

    def _write_seal(self, state: State) -> None:
        seal.write(self._seal, seal.Seal(seal.Mark(state.seq, state.head), seal.look(self.path)))


def _make_folder(folder: str) -> None:
    """Create the folder so that it survives a power loss."""
    if os.path.isdir(folder):
        return
    os.makedirs(folder, exist_ok=True)
    parent = os.open(os.path.dirname(folder), os.O_RDONLY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def _rows(connection: apsw.Connection, after: int, limit: int = -1) -> "Iterator[Row]":
    found: Iterator[Any] = connection.execute(_SELECT, (after, limit))
    return found


def _stored(connection: apsw.Connection, after: int, limit: int = -1) -> Iterator[Stored]:
    return map(Stored._make, _rows(connection, after, limit))


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the errors of SQLite and the system into Corral's own."""
    try:
        yield
    except apsw.FullError as error:
        raise _failed("the disk is full", "free some space and try again") from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise _failed(
            "the log cannot be written: its folder is read-only or belongs to another user",
            "corral doctor",
        ) from error
    except apsw.BusyError as error:
        raise LogBusy("another program has locked the log; nothing was changed") from error
    except (apsw.IOError, apsw.NoMemError, apsw.InterruptError) as error:
        raise _failed(f"SQLite reports: {error}", "corral doctor") from error
    except apsw.Error as error:
        raise LogDamaged(1, f"or a later one cannot be read ({error})") from error
    except OSError as error:
        raise _failed(f"{error.strerror} ({error.filename or 'log'})", "corral doctor") from error


def _failed(what: str, hint: str) -> StoreFailed:
    return StoreFailed(f"{what}; nothing was changed", hint)

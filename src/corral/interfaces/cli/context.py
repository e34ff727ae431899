"""What a command works with: the repository, its log, the actor, and the way to answer."""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from corral.core.errors import BadInput, CorralError, Failed, NotInitialised, Refused
from corral.core.text import cut
from corral.interfaces.cli import output
from corral.world import clock, repository

if TYPE_CHECKING:
    from corral.core.config import Config
    from corral.core.log.state import State
    from corral.store.mirror import Mirror
    from corral.store.seal import Mark
    from corral.store.sqlite import SqliteStore


T = TypeVar("T")

_LONGEST = 4 << 20  # bytes to read of a file; no text may be that long


class Context:
    def __init__(self, repo: str | None, actor: str | None, *, as_json: bool) -> None:
        self._start = repo
        self._actor = actor
        self.as_json = as_json
        self._opened: SqliteStore | None = None
        self.wrote = False

    @cached_property
    def repository(self) -> repository.Repository:
        return repository.find(self._start)

    @cached_property
    def config(self) -> "Config":
        from corral.world import settings

        return settings.of_repository(self.repository)

    @cached_property
    def session(self) -> str:
        """The session that this process belongs to, if it is one of this repository."""
        run = os.environ.get("CORRAL_RUN", "")
        here = run and os.path.realpath(run) == os.path.realpath(self.repository.git_dir)
        return os.environ.get("CORRAL_SESSION", "") if here else ""

    def for_people(self, what: str) -> None:
        """Refuse what no session may do."""
        if self.session:
            from corral.core.errors import NotYours

            raise NotYours(f"{self.session} is a session and may not {what}; nothing was changed")

    @property
    def actor(self) -> str:
        """The name of the caller: --as, the session that we run in, or the user."""
        names = (os.environ.get(name) for name in ("CORRAL_SESSION", "USER", "LOGNAME"))
        return self._actor or next(filter(None, names), f"uid-{os.getuid()}")

    def now(self) -> int:
        return clock.now()

    @property
    def log(self) -> "SqliteStore":
        """The log, whether or not the repository was initialised."""
        if self._opened is None:
            from corral.store.sqlite import SqliteStore

            self._opened = SqliteStore(self.repository.folder, anchor=self.mirrored)
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    @property
    def store(self) -> "SqliteStore":
        """The log of an initialised repository, whose configuration is sound."""
        log = self.log
        if not log.exists() or not log.state().seq:
            self._must_begin_here()
        self._must_be_configured()
        return log

    def ask(self, here: "Callable[[State], T]", path: str, *kinds: Any, **query: object) -> T:
        """Return a view from the server if one answers, else what `here` finds in the state.

        `path` and `query` name the view in the HTTP API; it has one of the `kinds`. A refusal of
        the server is not shown: the log gives the same one, and an old server may lack the view.
        """
        if self.served:
            from corral.interfaces.cli import remote

            self._must_be_configured()
            found: T | None = remote.get(self.repository.folder, path, kinds, query)
            if found is not None:
                return found
        return here(self.store.state())

    @property
    def served(self) -> bool:
        """Whether the socket of a server exists here; the server may be dead."""
        return os.path.exists(f"{self.repository.folder}/run/server.sock")

    @property
    def writable(self) -> "SqliteStore":
        """The log, for a command of a person that appends to it."""
        self.for_people("do this")
        return self.appended

    @property
    def appended(self) -> "SqliteStore":
        """The log, for a command whose caller is checked when it is carried out."""
        self.wrote = True
        return self.store

    @cached_property
    def mirror(self) -> "Mirror":
        from corral.store.mirror import Mirror
        from corral.world.git import Git

        place = self.repository
        return Mirror(Git(place.git_dir, place.worktree), self.log, place.folder)

    def answer(self, data: Any, human: Callable[[], str]) -> None:
        if self.as_json:
            output.say_json(data)
        else:
            output.say(human())

    def read_text(self, name: str) -> str:
        """Read a file that the user named; `-` is standard input."""
        try:
            with open(0 if name == "-" else name, "rb", closefd=name != "-") as file:
                content = file.read(_LONGEST).decode("utf-8")
            return content.replace("\r\n", "\n")
        except OSError as error:
            raise BadInput(f"{cut(name, 400)!r} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"{cut(name, 400)!r} is not UTF-8 text") from error

    def settle(self) -> None:
        """After the answer, do what is due: write a snapshot, update the mirror."""
        store = self._opened
        if store is None or not store.exists():
            return
        try:
            store.settle()
            from corral.store.pace import Pace

            if Pace(self.repository.folder).due(store.known_seq, writing=self.wrote):
                self.mirror.flush(wait=False)
        except (CorralError, OSError) as error:
            output.warn(f"the command was carried out, but then: {error}")

    def _must_be_configured(self) -> None:
        from corral.world import settings

        if path := self.repository.config_file():
            settings.check(path, f"{self.repository.folder}/derived/config")

    def _must_begin_here(self) -> None:
        """Refuse to begin a log in a repository that is not set up or has an unread mirror."""
        from corral.core.refs import MIRROR_REF

        if self.repository.has_ref(MIRROR_REF):
            said = "this clone has a mirrored log that has not been imported yet"
            hint = "corral rebuild --from-mirror"
            raise Refused(f"{said}; nothing was changed", hint, code="mirror_unread")
        if self.repository.config_file() is None:
            raise NotInitialised("Corral is not set up in this repository yet", "corral init")

    def mirrored(self) -> "Mark | None":
        """Return the last event of the mirror: the log cannot be shorter than that."""
        from corral.core.refs import MIRROR_REF
        from corral.store.seal import Mark

        if not self.repository.has_ref(MIRROR_REF):
            return None
        try:
            tip = self.mirror.tip()
        except Failed:
            return None  # an unreadable mirror proves nothing about the log
        return Mark(tip.seq, bytes.fromhex(tip.hash)) if tip else None

"""What a command has at hand: the repository, its log, who is asking, and how to answer."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corral.core import config
from corral.core.errors import BadConfig, BadInput, CorralError, NotInitialised, Refused
from corral.interfaces.cli import output
from corral.store.pace import Pace
from corral.store.sqlite import SqliteStore
from corral.world import clock, repository

if TYPE_CHECKING:
    from corral.store.mirror import Mirror


class Context:
    def __init__(self, repo: str | None, actor: str | None, *, as_json: bool) -> None:
        self._start = Path(repo) if repo else None
        self._actor = actor
        self.as_json = as_json
        self._opened: SqliteStore | None = None
        self.wrote = False

    @cached_property
    def repository(self) -> repository.Repository:
        return repository.find(self._start)

    @cached_property
    def config(self) -> config.Config:
        path = self.repository.config_file()
        if path is None:
            return config.Config()
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfig(f"{path.name} cannot be read: {error}") from error
        return config.parse(text, f".corral/{path.name}")

    @property
    def actor(self) -> str:
        """Who is asking: --as, the session that we run in, or the user."""
        environment = os.environ
        return (
            self._actor
            or environment.get("CORRAL_SESSION")
            or environment.get("USER")
            or environment.get("LOGNAME")
            or f"uid-{os.getuid()}"
        )

    def now(self) -> int:
        return clock.now()

    @property
    def log(self) -> SqliteStore:
        """The log, whether or not the repository was initialised."""
        if self._opened is None:
            self._opened = SqliteStore(self.repository.folder)
        return self._opened

    @property
    def store(self) -> SqliteStore:
        """The log of an initialised repository, whose configuration is sound."""
        log = self.log
        if not log.path.exists() and self.repository.config_file() is None:
            raise NotInitialised("Corral is not set up in this repository yet", "corral init")
        _ = self.config
        return log

    @property
    def writable(self) -> SqliteStore:
        """The log, for a command that appends to it."""
        store = self.store
        if not store.path.exists() and self._has_mirror():
            raise Refused(
                "this clone has a mirrored log that was not read in yet; nothing was changed",
                "corral rebuild --from-mirror",
                code="mirror_unread",
            )
        self.wrote = True
        return store

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
        import sys

        try:
            content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
            return content.decode("utf-8")
        except OSError as error:
            raise BadInput(f"{name!r} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"{name!r} is not UTF-8 text") from error

    def settle(self) -> None:
        """Do, behind the answer, what is due: a snapshot, the mirror."""
        store = self._opened
        if store is None or not store.path.exists():
            return
        try:
            store.settle()
            self._mirror_if_due(store)
        except (CorralError, OSError) as error:
            output.warn(f"the answer above holds, but afterwards: {error}")

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def _has_mirror(self) -> bool:
        git_dir = self.repository.git_dir
        if (git_dir / "refs" / "corral" / "log").exists():
            return True
        packed = git_dir / "packed-refs"
        return packed.exists() and b" refs/corral/log\n" in packed.read_bytes()

    def _mirror_if_due(self, store: SqliteStore) -> None:
        if Pace(self.repository.folder).due(store.known_seq, writing=self.wrote):
            self.mirror.flush(wait=False)

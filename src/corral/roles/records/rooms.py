"""The rooms of sessions: a folder for each, `<git directory>/corral/sessions/<session>/`.

brief.md      the session's prompt, verbatim; brief-2.md at its second launch, …
run-1/        its program: process.json, output, errors, exit.json (`world/processes`); run-2/ …
home/         the private home of its engine, which only its owner may read
tree          the path of its tree: engines find a conversation only where it took place
left          the untracked files that its set-up left in its tree
setup-1/ …    the set-up commands      check-1/ …   the acceptance commands
"""

import os
from collections.abc import Iterable, Iterator
from os.path import isdir, isfile, join

from corral.core.ids import SessionId
from corral.world import processes
from corral.world.git.view import put

_OURS = ("setup", "check", "commit")


class Room:
    def __init__(self, folder: str, session: SessionId) -> None:
        self.path = join(folder, "sessions", session)

    @property
    def brief(self) -> str:
        return join(self.path, "brief.md")

    def prompt(self, launch: int) -> str:
        """Return the file with the prompt of a launch, counted from 1."""
        return self.brief if launch <= 1 else join(self.path, f"brief-{launch}.md")

    @property
    def tree(self) -> str:
        """Return where the session's tree is or was; empty if that is unknown."""
        try:
            with open(join(self.path, "tree"), encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def note_tree(self, path: str) -> None:
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        put(join(self.path, "tree"), path)

    @property
    def left(self) -> tuple[str, ...]:
        """Return what the set-up of the session's tree left there that git does not track."""
        try:
            with open(join(self.path, "left"), encoding="utf-8", errors="surrogateescape") as file:
                return tuple(filter(None, file.read().split("\0")))
        except FileNotFoundError:
            return ()

    def note_left(self, paths: Iterable[str]) -> None:
        put(join(self.path, "left"), "\0".join(paths))

    def ran(self) -> int:
        """Return how many times the program was actually started."""
        return sum(processes.ran(folder) for _, folder in self.launches())

    def launch(self) -> str | None:
        """Return the folder of the program's newest launch."""
        return self.newest("run") if self._last("run") else None

    def newest(self, kind: str) -> str:
        """Return the folder of the newest launch of a kind; there must be one."""
        return join(self.path, f"{kind}-{self._last(kind)}")

    def launches(self) -> list[tuple[int, str]]:
        """Return the folders of all launches of the program, with their numbers."""
        return [(n, join(self.path, f"run-{n}")) for n in range(1, self._last("run") + 1)]

    def helpers(self) -> Iterator[str]:
        """Yield the folders of Corral's own commands for this session."""
        for kind in _OURS:
            for number in range(1, self._last(kind) + 1):
                yield join(self.path, f"{kind}-{number}")

    def next(self, kind: str) -> str:
        """Make a new folder; each launch needs its own."""
        folder = join(self.path, f"{kind}-{self._last(kind) + 1}")
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        os.mkdir(folder, mode=0o700)
        return folder

    def _last(self, kind: str) -> int:
        number = 0
        while isdir(join(self.path, f"{kind}-{number + 1}")):
            number += 1
        return number


def launched(folder: str) -> bool:
    """Say whether a program was started in this folder, or never will be started."""
    return isfile(join(folder, "process.json"))

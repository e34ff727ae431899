"""The state of each tree, in `<git dir>/corral/trees/<slot>/`, where no session writes.

A slot is a folder in the place where trees live, and the desk (our own HEAD and index) with which
its files are checked out and cleaned. Its session changes, its path does not, so data that tools
store about absolute paths stays valid. All changes are made under the repository's lock. A slot
whose tree is being created has its own lock, so that a killed creator is detected.
"""

import fcntl
import os
import re
from collections.abc import Collection
from os.path import basename, isdir, islink, join
from typing import Literal

import msgspec
from msgspec import Struct

from corral.world.git.tree import Tree, read_plain
from corral.world.git.view import put
from corral.world.git.worktrees import remove
from corral.world.locks import is_held

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")


def is_safe(name: str) -> bool:
    """Say whether a name can be a part of refs and paths."""
    return _NAME.fullmatch(name) is not None and not name.endswith((".lock", "."))


class Slot(Struct, frozen=True):
    number: int
    state: Literal["making", "live", "parked"]
    tree: Tree


class TreeSlots:
    def __init__(self, git_dir: str, place: str) -> None:
        self._folder = join(git_dir, "corral", "trees")
        self._place = place

    def path(self, number: int) -> str:
        return join(self._place, f"tree-{number}")

    def desk(self, tree: Tree) -> str:
        return join(self._folder, basename(tree.path))

    def all(self) -> list[Slot]:
        found = []
        for name in os.listdir(self._folder) if isdir(self._folder) else ():
            content = read_plain(join(self._folder, name, "slot.json"))
            if content is not None:
                found.append(msgspec.json.decode(content, type=Slot))
        return sorted(found, key=lambda slot: slot.number)

    def live(self) -> list[Slot]:
        return [slot for slot in self.all() if slot.state == "live"]

    def parked(self) -> list[Slot]:
        return [slot for slot in self.all() if slot.state == "parked"]

    def abandoned(self) -> list[Slot]:
        """Return the slots whose creator was killed."""
        making = [slot for slot in self.all() if slot.state == "making"]
        let_go = [slot for slot in making if not is_held(self._lock(slot))]
        # A creator unlocks after saving the tree as live, so what we read before may be stale.
        still = self.all() if let_go else []
        return [slot for slot in let_go if slot in still]

    def empty_folders(self) -> list[str]:
        """Return trees that were added and not saved: their creator was killed in between."""
        ours = {slot.tree.path for slot in self.all()}
        names = os.listdir(self._place) if isdir(self._place) else []
        paths = {join(self._place, name) for name in names if name.startswith("tree-")}
        return [path for path in sorted(paths - ours) if _is_empty(path)]

    def number(self, path: str) -> int:
        """Return the number of a tree by its path; 0 if it is not ours."""
        number = basename(path).removeprefix("tree-")
        known = number.isdecimal() and self.path(int(number)) == path
        return int(number) if known else 0

    def free_number(self, at: str = "", leave: Collection[str] = ()) -> int:
        """Return an unused number.

        The one of the path `at` if that is free, else the first whose path is not reserved.
        """
        used = {slot.number for slot in self.all()}  # also those of another place
        wanted = self.number(at)
        if wanted and wanted not in used and not os.path.lexists(at):
            return wanted
        number = 1
        while number in used or self.path(number) in leave or os.path.lexists(self.path(number)):
            number += 1
        return number

    def save(self, slot: Slot) -> None:
        desk = self.desk(slot.tree)
        os.makedirs(desk, exist_ok=True)
        put(join(desk, "HEAD"), f"{slot.tree.base}\n")
        put(join(desk, "slot.json"), msgspec.json.encode(slot).decode())

    def drop(self, slot: Slot) -> None:
        remove(self.desk(slot.tree))

    def hold(self, slot: Slot) -> int:
        """Hold a slot until the returned file is closed or this process ends."""
        os.makedirs(self.desk(slot.tree), exist_ok=True)
        file = os.open(self._lock(slot), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def _lock(self, slot: Slot) -> str:
        return join(self.desk(slot.tree), "making.lock")


def _is_empty(path: str) -> bool:
    return isdir(path) and not islink(path) and set(os.listdir(path)) <= {".git"}

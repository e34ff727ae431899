"""The refinery's own refs hold the commits that the queue needs. Nobody else writes them."""

import os
from collections.abc import Iterable, Mapping

from corral.world.git.view import View


class Pins:
    def __init__(self, view: View, place: str) -> None:
        self._view = view
        self._place = place
        self._known: dict[str, str] | None = None

    def all(self) -> dict[str, str]:
        """Return the pinned commits by name."""
        if self._known is None:
            said = self._view.run("for-each-ref", "--format=%(objectname) %(refname)", self._place)
            pairs = (os.fsdecode(line).split(" ", 1) for line in said.splitlines())
            self._known = {ref.removeprefix(self._place): oid for oid, ref in pairs}
        return self._known

    def hold(self, commits: Mapping[str, str]) -> None:
        """Pin commits by name, each in place of what its name pinned before."""
        known = self.all()
        new = {name: commit for name, commit in commits.items() if known.get(name) != commit}
        self._update(f"update {self._place}{name} {commit}\n" for name, commit in new.items())
        known |= new

    def let_go(self, names: Iterable[str]) -> None:
        """Release these pins; the caller has made sure that nothing is lost."""
        gone = [name for name in names if name in self.all()]
        self._update(f"delete {self._place}{name}\n" for name in gone)
        for name in gone:
            del self.all()[name]

    def _update(self, lines: Iterable[str]) -> None:
        said = os.fsencode("".join(lines))
        if said:
            self._view.run("update-ref", "--no-deref", "--stdin", stdin=said)

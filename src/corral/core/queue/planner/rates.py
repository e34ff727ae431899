"""How often changes fail, and why: by their own fault, a clash with what landed, or a flake.

A red run does not say which. But clashes become more likely with the number of overlapping changes
that landed since the fork point, and a change's own faults do not. So judged changes are counted by
that number, and expectation maximization (of a noisy "or") finds the rates that best explain the
counts: a few steps per verdict, starting from the last rates.
"""

from msgspec import Struct
from msgspec.structs import replace

_EDGES = (1, 3, 6, 11, 21)  # met 0, 1-2, 3-5, 6-10, 11-20, more
_STEPS = 3
PROVEN = 0.01  # remaining risk of a change that was green on the target

OWN, UNCHECKED, AGAIN = range(3)  # kinds of judged changes; AGAIN: green before


class Tally(Struct, frozen=True):
    judged: int = 0
    red: int = 0
    met: int = 0


class Rates(Struct, frozen=True):
    own: float = 0.07  # a change is bad
    unchecked: float = 0.4  # the same, if its own acceptance did not pass
    clash: float = 0.02  # two overlapping changes are red together, though each is good
    runs: float = 30.0
    flakes: float = 0.5
    tallies: tuple[Tally, ...] = (Tally(),) * (3 * (len(_EDGES) + 1))

    @property
    def flake(self) -> float:
        """Return how often a run is red for no reason."""
        return min(0.5, self.flakes / self.runs)

    def of(self, kind: int) -> float:
        return (self.own, self.unchecked, PROVEN)[kind]

    def judged(self, kind: int, met: int, *, red: bool) -> "Rates":
        """Return the rates after a verdict on a change that overlaps `met` landed ones."""
        place = kind * (len(_EDGES) + 1) + sum(met >= edge for edge in _EDGES)
        old = self.tallies[place]
        new = Tally(old.judged + 1, old.red + red, old.met + met)
        found = replace(self, tallies=(*self.tallies[:place], new, *self.tallies[place + 1 :]))
        for _ in range(_STEPS):
            found = found._step()
        return found

    def ran(self, flakes: float) -> "Rates":
        return replace(self, runs=self.runs + 1, flakes=self.flakes + flakes)

    def _step(self) -> "Rates":
        """Share the blame by the current rates, and return the rates that follow."""
        # The prior: [hits, trials].
        own, unchecked, clash = [1.0, 14.0], [2.8, 7.0], [0.25, 12.0]
        for place, tally in enumerate(self.tallies):
            if not tally.judged:
                continue
            kind = place // (len(_EDGES) + 1)
            mean = tally.met / tally.judged
            fault = self.of(kind)
            red = max(1 - (1 - fault) * (1 - self.clash) ** mean, 1e-9)
            if kind != AGAIN:
                share = own if kind == OWN else unchecked
                share[0] += tally.red * fault / red
                share[1] += tally.judged
            clash[0] += tally.red * mean * self.clash / red
            clash[1] += tally.met
        return replace(
            self,
            own=min(0.95, own[0] / own[1]),
            unchecked=min(0.95, unchecked[0] / unchecked[1]),
            clash=min(0.6, clash[0] / clash[1]),
        )

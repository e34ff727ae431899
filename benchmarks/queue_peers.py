"""Other merge queues in the same world: serial, batch and bisect, windows, and an oracle.

Each is the simplest form of the published idea that never lands an untested tree.
"""

from collections.abc import Iterable

from benchmarks.queue_world import Check, World


class Waiting:
    """The common part: a line of branches, and sending back those that conflict with the target."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.line: list[int] = []

    def arrived(self, branch: int) -> None:
        self.line.append(branch)

    def bounce(self) -> None:
        for branch in [b for b in self.line if self.world.conflicts_with_target(b)]:
            self.line.remove(branch)
            self.world.send_back(branch, conflict=True)

    def compatible(self, line: Iterable[int], below: Iterable[int] = ()) -> list[int]:
        """Return the branches that conflict with none before them."""
        taken = set(below)
        found = []
        for branch in line:
            if not self.world.text[branch] & taken:
                taken.add(branch)
                found.append(branch)
        return found


class Serial(Waiting):
    """One branch after another."""

    def ended(self, check: Check) -> None:
        (branch,) = check.members
        self.line.remove(branch)
        if check.green:
            self.world.land([branch])
        else:
            self.world.send_back(branch, conflict=False)

    def decide(self) -> None:
        if self.world.going:
            return
        self.bounce()
        if self.line:
            self.world.start([self.line[0]])


class Bisect(Waiting):
    """Batch everything, and halve a red batch. Like bors-ng, let arrivals join the next waiting
    batch, even if it is half of a red one."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.batches: list[list[int]] = []

    def arrived(self, branch: int) -> None:
        super().arrived(branch)
        if not self.batches:
            self.batches.append([])
        self.batches[-1].append(branch)

    def ended(self, check: Check) -> None:
        members = list(check.members)
        if check.green:
            for branch in members:
                self.line.remove(branch)
            self.world.land(members)
        elif len(members) == 1:
            self.line.remove(members[0])
            self.world.send_back(members[0], conflict=False)
        else:
            half = len(members) // 2
            self.batches[:0] = [members[:half], members[half:]]

    def decide(self) -> None:
        if self.world.going:
            return
        self.bounce()
        inside = set(self.line)
        self.batches = [[b for b in batch if b in inside] for batch in self.batches]
        self.batches = [batch for batch in self.batches if batch]
        if not self.batches:
            return
        batch = self.batches.pop(0)
        chosen = self.compatible(batch)
        left = [b for b in batch if b not in chosen]
        if left:
            self.batches.append(left)
        self.world.start(chosen)


class Windows(Waiting):
    """Check each change on top of all before it, as many at once as slots and window allow. Set a
    red one aside, restart those behind it, and send it back when all before it have landed. The
    window grows by one with each landing and is halved by each red run."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.window = 20
        self.checks: dict[int, Check] = {}  # branch -> its current run
        self.result: dict[int, tuple[tuple[int, ...], bool]] = {}  # branch -> stack, green

    def ended(self, check: Check) -> None:
        branch = check.members[-1]
        del self.checks[branch]
        self.result[branch] = (check.members, check.green)

    def decide(self) -> None:
        while self._step():
            pass

    def _step(self) -> bool:
        self.bounce()
        self._forget_what_does_not_fit()
        if self._settle_head():
            return True
        ahead: list[int] = []
        for place, branch in enumerate(self.line):
            if place >= self.window or self.world.free() <= 0:
                break
            if branch in self.result and not self.result[branch][1]:
                continue
            if self.world.text[branch] & set(ahead):
                continue
            ahead.append(branch)
            if branch not in self.checks and branch not in self.result:
                self.checks[branch] = self.world.start(ahead)
        return False

    def _forget_what_does_not_fit(self) -> None:
        """Drop runs and results whose stack no longer matches the line."""
        ahead: tuple[int, ...] = ()
        inside = set(self.line)
        for branch in [b for b in self.checks if b not in inside]:
            self.world.cancel(self.checks.pop(branch).id)
        self.result = {b: found for b, found in self.result.items() if b in inside}
        for branch in self.line:
            stack = self._now(self.checks[branch].members) if branch in self.checks else None
            if stack is not None and stack != (*ahead, branch):
                self.world.cancel(self.checks.pop(branch).id)
            if branch in self.result and self._now(self.result[branch][0]) != (*ahead, branch):
                del self.result[branch]
            held = bool(self.world.text[branch] & set(ahead))
            red = branch in self.result and not self.result[branch][1]
            if not held and not red:
                ahead = (*ahead, branch)

    def _now(self, members: tuple[int, ...]) -> tuple[int, ...]:
        """Return a stack without the landed changes at its bottom."""
        return tuple(b for b in members if b not in self.world.landed)

    def _settle_head(self) -> bool:
        if not self.line or self.line[0] not in self.result:
            return False
        head = self.line.pop(0)
        _, green = self.result.pop(head)
        if green:
            self.world.land([head])
            self.window += 1
        else:
            self.world.send_back(head, conflict=False)
            self.window = max(3, self.window // 2)
        return True


class Oracle(Waiting):
    """Knows every outcome and stacks only good changes, but must check each tree that lands."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.chain: list[int] = []

    def ended(self, check: Check) -> None:
        # The oracle knows that the tree is good, so it ignores a flake.
        members = [b for b in check.members if b not in self.world.landed]
        if members and self.chain[: len(members)] == members:
            del self.chain[: len(members)]
            self.world.land(members)
        for other in list(self.world.going.values()):
            if all(b in self.world.landed for b in other.members):
                self.world.cancel(other.id)

    def decide(self) -> None:
        world = self.world
        self.bounce()
        for branch in list(self.line):
            if not world.good([branch], len(world.landed)):
                self.line.remove(branch)
                world.send_back(branch, conflict=False)
        while world.free() > 0:
            chosen = list(self.chain)
            for branch in self.compatible(self.line, self.chain):
                if not world.semantic[branch] & set(chosen):
                    chosen.append(branch)
            fresh = chosen[len(self.chain) :]
            if not fresh:
                return
            self.line = [b for b in self.line if b not in fresh]
            self.chain = chosen
            world.start(chosen)

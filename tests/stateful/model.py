"""The board again, as simply as possible: the model that the real one is compared with.

It shares nothing with `corral.core` but the commands: no table of moves, no fold, no graph.
`verdict` says what must happen ("" or the code of the refusal), `accept` makes it so.
"""

from dataclasses import dataclass, field

from msgspec import UnsetType

from corral.core.board import commands as c
from corral.core.text import CLAIM_TTL_S

# From which states a command may be given, and to which it leads ("": the task stays there).
MOVES: dict[type[c.Command], tuple[str, str]] = {
    c.RenewTask: ("doing", ""),
    c.SubmitTask: ("doing", "review"),
    c.FailTask: ("doing", "failed"),
    c.BlockTask: ("todo doing", "blocked"),
    c.HandOffTask: ("todo doing", "todo"),
    c.UnblockTask: ("blocked", "todo"),
    c.RetryTask: ("blocked review failed cancelled", "todo"),
    c.LandTask: ("review", "done"),
    c.CancelTask: ("todo doing blocked review failed", "cancelled"),
    c.CommentTask: ("todo doing blocked review done failed cancelled", ""),
}
MUST_SHOW = (c.RenewTask, c.SubmitTask, c.FailTask, c.BlockTask, c.HandOffTask)
CLASHES = [{"file:src/**", "file:src/a.py"}]
LONGEST_S = 30 * 24 * 3600


@dataclass
class Held:
    holder: str
    token: str
    until: int


@dataclass
class Item:
    order: int
    priority: int
    needs: list[str]
    assignee: str
    state: str = "todo"
    held: Held | None = None
    comments: int = 0


@dataclass
class Model:
    convoys: list[str] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)
    leases: dict[str, Held] = field(default_factory=dict)
    alerts: dict[str, tuple[str, str]] = field(default_factory=dict)
    granted: list[str] = field(default_factory=list)

    def verdict(self, command: c.Command, actor: str, now: int) -> str:
        match command:
            case c.CreateConvoy():
                return "bad_input" if not command.title.strip() else ""
            case c.AddTask():
                return self._add(command)
            case c.EditTask():
                return self._edit(command)
            case c.ClaimTask():
                return self._claim(command, actor, now)
            case c.AcquireLease():
                return self._acquire(command, now)
            case c.RenewLease() | c.ReleaseLease():
                return self._lease(command)
            case c.RaiseAlert():
                return "bad_input" if not command.text.strip() else ""
            case c.ClearAlert():
                return "" if command.alert in self.alerts else "not_found"
            case _:
                return self._move(command)

    def next_for(self, actor: str, now: int) -> str | None:
        """Return whose turn it is: handed to the actor first, then urgent, then old."""
        ready = [task for task in self.items if not self.obstacle(task, actor, now)]
        return min(ready, key=self._rank, default=None)

    def obstacle(self, task: str, actor: str, now: int) -> str:
        item = self.items[task]
        if item.state not in ("todo", "doing"):
            return "wrong_state"
        for need in item.needs:
            if self.items[need].state != "done":
                return "need_cancelled" if self._lost(need) else "needs_not_landed"
        if item.held and now < item.held.until:
            return "already_claimed"
        return "reserved" if item.assignee not in ("", actor) else ""

    def _rank(self, task: str) -> tuple[bool, int, int]:
        item = self.items[task]
        return not item.assignee, -item.priority, item.order

    def _lost(self, task: str) -> bool:
        item = self.items[task]
        if item.state in ("done", "cancelled"):
            return item.state == "cancelled"
        return any(self._lost(need) for need in item.needs)

    def _reaches(self, start: str, goal: str) -> bool:
        needs = self.items[start].needs if start in self.items else []
        return start == goal or any(self._reaches(need, goal) for need in needs)

    def _add(self, command: c.AddTask) -> str:
        if not command.convoy and len(self.convoys) != 1:
            return "bad_input"
        if command.convoy and command.convoy not in self.convoys:
            return "not_found"
        if not command.title.strip() or command.priority < 0:
            return "bad_input"
        return "not_found" if any(need not in self.items for need in command.needs) else ""

    def _edit(self, command: c.EditTask) -> str:
        item = self.items.get(command.task)
        if item is None:
            return "not_found"
        if item.state not in ("todo", "blocked", "failed"):
            return "wrong_state"
        if command.priority is None and not command.needs and not command.drop_needs:
            return "bad_input"
        if command.priority is not None and command.priority < 0:
            return "bad_input"
        if any(need not in self.items for need in command.drop_needs):
            return "not_found"
        if any(need not in item.needs for need in command.drop_needs):
            return "not_needed"
        if any(need not in self.items for need in command.needs):
            return "not_found"
        return "cycle" if any(self._reaches(need, command.task) for need in command.needs) else ""

    def _claim(self, command: c.ClaimTask, actor: str, now: int) -> str:
        if not 1 <= _ttl_s(command) <= LONGEST_S:
            return "bad_input"
        if command.task is None:
            return "" if self.next_for(actor, now) else "nothing_ready"
        return (
            self.obstacle(command.task, actor, now) if command.task in self.items else "not_found"
        )

    def _move(self, command: c.Command) -> str:
        task: str = getattr(command, "task", "")
        token: str = getattr(command, "token", "")
        item = self.items.get(task)
        if item is None:
            return "not_found"
        if token and (item.held is None or token != item.held.token):
            return "stale_token"
        if item.state not in MOVES[type(command)][0].split():
            return "wrong_state"
        forced = getattr(command, "force", False)
        if isinstance(command, MUST_SHOW) and item.held and not token and not forced:
            return "token_needed"
        ttl_s = _ttl_s(command)
        blank = isinstance(command, c.CommentTask) and not command.text.strip()
        return "bad_input" if blank or not 1 <= ttl_s <= LONGEST_S else ""

    def _acquire(self, command: c.AcquireLease, now: int) -> str:
        if command.resource == "nonsense" or not 1 <= _ttl_s(command) <= LONGEST_S:
            return "bad_input"
        live = any(now < self.leases[name].until for name in self.clashing(command.resource))
        return "lease_held" if live else ""

    def clashing(self, resource: str) -> list[str]:
        return [n for n in self.leases if n == resource or {n, resource} in CLASHES]

    def _lease(self, command: c.RenewLease | c.ReleaseLease) -> str:
        if command.resource == "nonsense":
            return "bad_input"
        lease = self.leases.get(command.resource)
        if lease is None or lease.token != command.token:
            return "stale_token"
        ttl_s = _ttl_s(command)
        return "" if 1 <= ttl_s <= LONGEST_S else "bad_input"

    def accept(self, command: c.Command, actor: str, now: int, made: str, seq: int) -> None:
        """Carry out a command that made a thing of this name, with the event of this number."""
        match command:
            case c.CreateConvoy():
                self.convoys.append(made)
            case c.AddTask():
                needs: list[str] = list(dict.fromkeys(command.needs))
                self.items[made] = Item(seq, command.priority, needs, command.assignee)
            case c.EditTask():
                item = self.items[command.task]
                item.priority = item.priority if command.priority is None else command.priority
                kept = [need for need in item.needs if need not in command.drop_needs]
                item.needs = list(dict.fromkeys([*kept, *command.needs]))
            case c.ClaimTask():
                self.items[made].state = "doing"
                self.items[made].assignee = ""
                self.items[made].held = self._grant(actor, seq, now + _ttl_s(command) * 1000)
            case c.AcquireLease():
                for name in self.clashing(command.resource):
                    del self.leases[name]
                until = now + _ttl_s(command) * 1000
                self.leases[command.resource] = self._grant(actor, seq, until)
            case c.RenewLease():
                self.leases[command.resource].until = now + _ttl_s(command) * 1000
            case c.ReleaseLease():
                del self.leases[command.resource]
            case c.RaiseAlert():
                self.alerts[made] = (command.kind, command.subject)
            case c.ClearAlert():
                del self.alerts[command.alert]
            case _:
                self._moved(command, now)

    def _grant(self, actor: str, seq: int, until: int) -> Held:
        self.granted.append(str(seq))
        return Held(actor, str(seq), until)

    def _moved(self, command: c.Command, now: int) -> None:
        item = self.items[getattr(command, "task", "")]
        if isinstance(command, c.RenewTask) and item.held:
            item.held.until = now + _ttl_s(command) * 1000
        elif isinstance(command, c.CommentTask):
            item.comments += 1
        else:
            item.state, item.held = MOVES[type(command)][1], None
        if isinstance(command, c.HandOffTask):
            item.assignee = command.to


def _ttl_s(command: c.Command) -> int:
    ttl_s: int | UnsetType = getattr(command, "ttl_s", CLAIM_TTL_S)
    return CLAIM_TTL_S if isinstance(ttl_s, UnsetType) else ttl_s

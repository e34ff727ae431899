"""The governor: how many sessions an account bears, learned from the limits that were met.

An account is an engine and its key: whatever limits one of its sessions limits all. Nothing is
known of it until a limit is met. Then a fifth fewer may run, and no more than were still fine (the
decrease); one more for each round that goes well (the increase); long quiet makes it forget.
All of it is folded from the log: a witness that was just started knows the same.

A fleet that was limited together does not come back together: parked tasks wait for times that are
spread by their sessions' names, and once an account is free it is opened one by one, whoever comes.
"""

from collections.abc import Iterator, Mapping
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace

from corral.core.board.claims import Obstacle
from corral.core.engine.facts import Trouble
from corral.core.log.state import Account, State, Task

REFUSED = "account_refused"  # the kind of alert that holds an account until a person clears it
_FORGET_MS = 600_000  # so long without a limit, and twice as many may run
_MOST = 10_000.0
_KEPT = 0.8  # of those that run, when a limit is met
_CAREFUL = 4  # times as long, from the number on that was too many
_FIRST_S = 5.0  # the rest after a limit that does not say how long it lasts; doubled each time
_LONGEST_S = 3600.0
_SPREAD = 0.2  # of the wait, by which resumption is spread
_LEAST_SPREAD_S, _MOST_SPREAD_S = 0.5, 60.0


class Accounts(Struct, frozen=True):
    """Whose limits each profile counts against, and who stands in for it."""

    of: Mapping[str, str] = field(default_factory=dict)
    fallback: Mapping[str, str] = field(default_factory=dict)


def cut(
    account: Account,
    *,
    still_fine: int,
    running: int,
    until_at: int,
    at: int,
    why: tuple[str, str],
    again: bool = False,
) -> Account:
    """Return an account after a limit was met: how many ran, and how many of them were still fine.

    All limits until it is free again are one round, which takes away its fifth only once; so are
    those of a session that only tries `again`. A quota
    that is used up hits everybody alike: it says nothing about how many were too many.
    """
    new_round = at >= account.until_at and not again
    known = min(account.allowed or _MOST, float(max(1, running))) if new_round else account.allowed
    fewer = known * (_KEPT if new_round else 1)
    if why[0] != Trouble.QUOTA:
        # Some of those that wait will get through: never fewer than half of all that are there.
        fewer = min(fewer, max(float(still_fine), running / 2))
    fewer = max(1.0, fewer)
    return replace(
        account,
        allowed=fewer,
        ceiling=max(fewer + 1, known if new_round else 0),
        until_at=max(account.until_at, until_at),
        limited_at=at,
        strikes=account.strikes + new_round,
        trouble=why[0],
        text=why[1],
    )


def grow(account: Account) -> Account:
    """Return an account after a session on it went well: about one more for each round.

    Where it was limited before, more slowly: every try there costs somebody a refusal.
    """
    if not account.allowed:
        return account
    share = 1 / account.allowed
    if account.allowed + 1 >= account.ceiling:
        share /= _CAREFUL
    return replace(account, allowed=min(_MOST, account.allowed + share), strikes=0)


def allowed(account: Account, now: int) -> int | None:
    """Return how many sessions the account bears at once; None if nothing limits it."""
    if not account.allowed:
        return None
    quiet = max(0, now - max(account.limited_at, account.until_at)) // _FORGET_MS
    found = account.allowed * 2 ** min(quiet, 20)
    return None if found >= _MOST else int(found)


def opened(account: Account, now: int) -> int | None:
    """Return how many may run so soon after a limit was over; None once that limits nobody."""
    late, lasts = now - account.until_at, _spread_ms(account.until_at - account.limited_at)
    if late >= lasts:
        return None
    turn = max(0, late) * int(account.allowed) // lasts
    return turn + (now >= _turn_at(account, turn))


def opening(state: State, now: int) -> bool:
    """Say whether an account was limited until just now, and is opened one by one."""
    accounts = state.accounts.values()
    return any(one.until_at <= now and opened(one, now) is not None for one in accounts)


def wakes(state: State, now: int) -> Iterator[int]:
    """Yield when more may start on each account that was limited, although nothing happens."""
    for account in state.accounts.values():
        if account.until_at > now:
            yield account.until_at
        elif (number := opened(account, now)) is not None:
            yield _turn_at(account, number)


def _turn_at(account: Account, turn: int) -> int:
    """Return when one more may start: each within its own part of the time, and that by chance."""
    lasts = _spread_ms(account.until_at - account.limited_at)
    chance = crc32(f"{account.name} {account.until_at} {turn}".encode()) / (1 << 32)
    return account.until_at + int(lasts * (turn + chance) / max(1, int(account.allowed)))


def _spread_ms(wait_ms: int) -> int:
    return int(min(_MOST_SPREAD_S, max(_LEAST_SPREAD_S, wait_ms / 1000 * _SPREAD)) * 1000)


def free_at(
    account: Account | None, *, reset_at: int | None, retry_s: float | None, now: int
) -> int:
    """Return when an account may be used again: as it was told, or after a growing rest."""
    longest = now + 7 * 86_400_000
    if reset_at is not None and reset_at > now:
        return min(reset_at, longest)
    if retry_s is not None and retry_s > 0:
        return min(now + int(retry_s * 1000), longest)
    if account is not None and account.until_at > now:
        return account.until_at  # all who are limited together are one round
    strikes = account.strikes if account else 0
    return now + int(min(_LONGEST_S, _FIRST_S * 2 ** min(strikes, 20)) * 1000)


def staggered(free: int, now: int, name: str) -> int:
    """Return when a parked task may start: not before the account is free, nor all at once."""
    return free + int(_spread_ms(free - now) * crc32(name.encode()) / (1 << 32))


def profile_for(state: State, task: Task, accounts: Accounts, now: int) -> str:
    """Return the profile that a task would start with now: its own, or one that stands in."""
    return stand_in(state, task.engine or "default", accounts, now)


def stand_in(state: State, own: str, accounts: Accounts, now: int) -> str:
    """Return a profile, or the one that stands in for it while its account is held."""
    seen: set[str] = set()
    name = own
    while name not in seen:
        seen.add(name)
        if held(state, accounts.of.get(name, ""), now) is None:
            return name
        name = accounts.fallback.get(name, name)
    return own


def obstacle(
    state: State, task: Task, account: str, *, now: int, running: Mapping[str, int]
) -> Obstacle | None:
    """Return what keeps a task from being started on an account now."""
    why = held(state, account, now)
    if why is not None:
        return Obstacle("account_limited", f"{task.id} waits: {why[0]}", why[1])
    known = state.accounts.get(account)
    most = allowed(known, now) if known else None
    taken = running.get(account, 0)
    if known is None or most is None:
        return None
    so_far = opened(known, now)
    if taken < most and (so_far is None or taken < so_far):
        return None
    text = f"{task.id} waits: the account {account!r} was limited ({known.trouble})"
    if taken < most:
        text, hint = f"{text} until now, and is opened one by one", "wait: it starts by itself"
    else:
        text, hint = (
            f"{text}, {taken} of {most} may run",
            "wait: the number rises while all goes well",
        )
    return Obstacle("account_limited", text, hint)


def held(state: State, account: str, now: int) -> tuple[str, str] | None:
    """Say why nothing at all may start on an account, and what helps."""
    if not account:
        return None
    for alert in state.alerts.values():
        if (alert.kind, alert.subject) == (REFUSED, account):
            mend = f"mend it, then: corral alert clear {alert.id}"
            return f"the account {account!r} was refused", mend
    known = state.accounts.get(account)
    if known is None or known.until_at <= now:
        return None
    left = (known.until_at - now + 999) // 1000
    return (
        f"the account {account!r} is limited ({known.trouble}) for another {left} s",
        "wait: it starts by itself",
    )

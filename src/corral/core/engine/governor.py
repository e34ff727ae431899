"""The limits of accounts: the governor learns from rate limits how many sessions one can sustain.

An account is an engine and its key: a limit on one of its sessions limits all. Nothing is known
until a limit is met. Then the number of sessions drops by a fifth, and to at most those that were
still fine; it rises by one for each round that succeeds; after a long quiet time it is forgotten.
All of this is folded from the log, so a witness that just started knows the same.

Sessions that were limited together do not come back together: parked tasks resume at times spread
by a hash of their session's name, and an account that is free again admits sessions one by one.
"""

from collections.abc import Iterator, Mapping
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace

from corral.core.board.claims import Obstacle
from corral.core.engine.facts import Trouble
from corral.core.log.state import Account, State, Task

REFUSED = "account_refused"  # the alert that blocks an account until a person clears it
_FORGET_MS = 600_000  # without a limit, after which twice as many may run
_MOST = 10_000.0
_KEPT = 0.8  # share of sessions kept when a limit is met
_CAREFUL = 4  # times slower growth near the number that was too many
_FIRST_S = 5.0  # the delay after a limit of unknown length; doubles each time
_LONGEST_S = 3600.0
_SPREAD = 0.2  # share of the delay over which resumption is spread
_LEAST_SPREAD_S, _MOST_SPREAD_S = 0.5, 60.0
_WAIT = "wait: it starts automatically"


class Accounts(Struct, frozen=True):
    """The account of each profile, and its fallback profile."""

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
    """Return an account after a rate limit, given how many sessions ran and were still fine.

    All limits until it is free again are one round, and reduce it once; so do those of a session
    that only retries (`again`). An exhausted quota affects all sessions alike: it says nothing
    about how many were too many.
    """
    new_round = at >= account.until_at and not again
    known = min(account.allowed or _MOST, float(max(1, running))) if new_round else account.allowed
    fewer = known * (_KEPT if new_round else 1)
    if why[0] != Trouble.QUOTA:
        # Some of the limited sessions will get through, so keep at least half.
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
    """Return an account after a session on it succeeded: about one more per round.

    Growth slows near the number where it was limited, because each attempt there costs a refusal.
    """
    if not account.allowed:
        return account
    share = 1 / account.allowed
    if account.allowed + 1 >= account.ceiling:
        share /= _CAREFUL
    return replace(account, allowed=min(_MOST, account.allowed + share), strikes=0)


def allowed(account: Account, now: int) -> int | None:
    """Return how many sessions the account allows at once; None if there is no limit."""
    if not account.allowed:
        return None
    quiet = max(0, now - max(account.limited_at, account.until_at)) // _FORGET_MS
    found = account.allowed * 2 ** min(quiet, 20)
    return None if found >= _MOST else int(found)


def opened(account: Account, now: int) -> int | None:
    """Return how many may run this soon after a limit ended; None once that is long enough ago."""
    late, lasts = now - account.until_at, _spread_ms(account.until_at - account.limited_at)
    if late >= lasts:
        return None
    turn = max(0, late) * int(account.allowed) // lasts
    return turn + (now >= _turn_at(account, turn))


def opening(state: State, now: int) -> bool:
    """Say whether an account was limited until recently, and admits sessions one by one."""
    accounts = state.accounts.values()
    return any(one.until_at <= now and opened(one, now) is not None for one in accounts)


def wakes(state: State, now: int) -> Iterator[int]:
    """Yield when more sessions may start on accounts that were limited, even without an event."""
    for account in state.accounts.values():
        if account.until_at > now:
            yield account.until_at
        elif (number := opened(account, now)) is not None:
            yield _turn_at(account, number)


def _turn_at(account: Account, turn: int) -> int:
    """Return when the next session may start: at a random moment within its share of the time."""
    lasts = _spread_ms(account.until_at - account.limited_at)
    chance = crc32(f"{account.name} {account.until_at} {turn}".encode()) / (1 << 32)
    return account.until_at + int(lasts * (turn + chance) / max(1, int(account.allowed)))


def _spread_ms(wait_ms: int) -> int:
    return int(min(_MOST_SPREAD_S, max(_LEAST_SPREAD_S, wait_ms / 1000 * _SPREAD)) * 1000)


def free_at(
    account: Account | None, *, reset_at: int | None, retry_s: float | None, now: int
) -> int:
    """Return when an account may be used again: as reported, or after a growing delay."""
    longest = now + 7 * 86_400_000
    if reset_at is not None and reset_at > now:
        return min(reset_at, longest)
    if retry_s is not None and retry_s > 0:
        return min(now + int(retry_s * 1000), longest)
    if account is not None and account.until_at > now:
        return account.until_at  # sessions limited together are one round
    strikes = account.strikes if account else 0
    return now + int(min(_LONGEST_S, _FIRST_S * 2 ** min(strikes, 20)) * 1000)


def staggered(free: int, now: int, name: str) -> int:
    """Return when a parked task may start: after the account is free, and not all at once."""
    return free + int(_spread_ms(free - now) * crc32(name.encode()) / (1 << 32))


def profile_for(state: State, task: Task, accounts: Accounts, now: int) -> str:
    """Return the profile that a task would start with now: its own, or a fallback."""
    return stand_in(state, task.engine or "default", accounts, now)


def stand_in(state: State, own: str, accounts: Accounts, now: int) -> str:
    """Return a profile, or its fallback while its account is blocked."""
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
    """Return what keeps a task from starting on an account now."""
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
        return Obstacle("account_limited", f"{text} and admits sessions one by one", _WAIT)
    hint = "wait: the number rises with each success"
    return Obstacle("account_limited", f"{text}; sessions running: {taken} of {most}", hint)


def held(state: State, account: str, now: int) -> tuple[str, str] | None:
    """Return why nothing at all may start on an account, and what helps."""
    if not account:
        return None
    for alert in state.alerts.values():
        if (alert.kind, alert.subject) == (REFUSED, account):
            hint = f"fix its credentials, then: corral alert clear {alert.id}"
            return f"the account {account!r} was refused", hint
    known = state.accounts.get(account)
    if known is None or known.until_at <= now:
        return None
    left = (known.until_at - now + 999) // 1000
    return f"the account {account!r} is limited ({known.trouble}) for another {left} s", _WAIT

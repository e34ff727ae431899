"""The part of the fold about engines: conversations, money, and the limits of accounts."""

from msgspec.structs import replace

from corral.core.engine.bill import DAY_MS, Bill
from corral.core.log import events as e
from corral.core.log.state import Account, Session, Spending, State

RESUME, RESTART, AFRESH, WAIT = "resume", "restart", "afresh", "wait"
MESSAGE, QUESTION = "message", "question"  # causes that are not verdicts
_DAYS = 40  # whose spending the state keeps; the log has all
_REACTIONS = 10


def engaged(state: State, event: e.SessionEngaged, seq: int, at: int) -> None:
    session = state.sessions[event.session]
    thread, model = event.thread or session.thread, event.model or session.model
    state.sessions[event.session] = replace(session, thread=thread, model=model)


def spent(state: State, event: e.SessionSpent, seq: int, at: int) -> None:
    session = state.sessions[event.session]
    bill = Bill(event.fresh, event.cached, event.output, event.nano_usd, event.unpriced)
    new = bill - session.bill
    state.sessions[event.session] = replace(
        session,
        bill=bill,
        turns=event.turns,
        model=event.model or session.model,
        limited=False,  # it goes on, so the limit is over
    )
    _enter(state, session, event.model, new)
    spent_on(state, new, at)


def spent_on(state: State, new: Bill, at: int) -> None:
    """Add to a day's spending."""
    day = at // DAY_MS
    state.days[day] = state.days.get(day, Bill()) + new
    for old in [known for known in state.days if known <= day - _DAYS]:
        del state.days[old]


def _enter(state: State, session: Session, model: str, new: Bill) -> None:
    key = f"{session.task} {session.profile} {model}"
    entry = state.ledger.get(key) or Spending(session.task, session.profile, model, Bill())
    first = session.bill == Bill()
    state.ledger[key] = replace(entry, bill=entry.bill + new, sessions=entry.sessions + first)


def limited(state: State, event: e.SessionLimited, seq: int, at: int) -> None:
    from corral.core.engine import governor

    account = state.accounts.get(event.account) or Account(event.account)
    session = state.sessions[event.session]
    live = [s for s in state.sessions.values() if s.live and s.account == event.account]
    if at >= account.until_at:  # those still running have waited it out
        for other in live:
            state.sessions[other.id] = replace(other, limited=other.limited and other is session)
        live = [state.sessions[other.id] for other in live]
    state.accounts[event.account] = governor.cut(
        account,
        still_fine=sum(s.id != event.session and not s.limited for s in live),
        running=len(live),
        until_at=event.until_at,
        at=at,
        why=(event.trouble, event.text),
        again=session.limited,
    )
    state.sessions[event.session] = replace(session, limited=True)


def reacted(state: State, event: e.SessionReacted, seq: int, at: int) -> None:
    session = state.sessions[event.session]
    said = f"{event.cause}: {event.action}"
    session = replace(session, reactions=(*session.reactions, said)[-_REACTIONS:])
    if event.action in (RESUME, RESTART):
        session = replace(
            session,
            launches=session.launches + 1,
            relaunched=(*session.relaunched, event.cause),
            fresh=event.action == RESTART,
            talk=session.talked if event.action == RESUME else Bill(),
            bill_before=session.bill,
            turns_before=session.turns,
            stop="",
            detail="",
            asked="",
            asked_call="",
            idle_at=0,
        )
    elif event.action == WAIT:
        session = replace(session, idle_at=at)
    elif event.action == AFRESH:
        session = replace(session, fresh=True, talk=Bill())
    state.sessions[event.session] = session


def ended(state: State, event: e.SessionEnded) -> None:
    """Raise an account's limit after a session on it succeeded."""
    session = state.sessions[event.session]
    account = state.accounts.get(session.account)
    if account is not None and event.verdict == "proved":
        from corral.core.engine import governor

        state.accounts[session.account] = governor.grow(account)

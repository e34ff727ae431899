"""The fold of the mayor's events: `core/log/fold` takes these functions into its table."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from corral.core.copies import filled
from corral.core.engine import governor
from corral.core.engine.bill import Bill
from corral.core.engine.fold import spent_on
from corral.core.log import events as e
from corral.core.log.state import Account, State
from corral.core.mayor import events as m
from corral.core.mayor.state import REMEMBERED, MayorConversation, MayorState

LOST = ("session", "overflow")  # the engine's conversation cannot be continued
AGAIN = ("wrong", "again")  # causes that repeat the previous question


def _started(state: State, event: m.MayorStarted, seq: int, at: int) -> None:
    about = {"state": MayorState.OPEN, "goal_seq": seq, "started_at": at, "changed_at": at}
    state.mayors[event.mayor] = filled(MayorConversation, event, id=event.mayor, **about)


def _asked(state: State, event: m.MayorAsked, seq: int, at: int) -> None:
    mayor = state.mayors[event.mayor]
    anew = event.cause not in AGAIN
    _change(
        state,
        event.mayor,
        at,
        state=MayorState.ASKING,
        turn=event.turn,
        used=0 if anew else mayor.used,
        cause=event.cause if anew else mayor.cause,
        task=event.task if anew else mayor.task,
        told=(*mayor.told, event.task) if event.task and anew else mayor.told,
        asked_seq=seq,
        profile=event.profile,
        resume=event.resume,
        talk=mayor.talk if event.resume else Bill(),
        reason="",
        said=(*mayor.said, seq)[-REMEMBERED:],
    )


def _answered(state: State, event: m.MayorAnswered, seq: int, at: int) -> None:
    mayor = state.mayors[event.mayor]
    new = Bill(event.fresh, event.cached, event.output, event.nano_usd, event.unpriced)
    rest = MayorState.OPEN if event.problems or event.trouble else _rest(mayor)
    lost = event.trouble in LOST
    _change(
        state,
        event.mayor,
        at,
        state=mayor.state if mayor.over else rest,
        used=mayor.used + event.used_up,
        answered_seq=seq,
        thread="" if lost else event.thread or mayor.thread,
        place="" if lost else event.place or mayor.place,
        model=event.model or mayor.model,
        bill=mayor.bill + new,
        talk=mayor.talk + new,
        reason=mayor.reason if mayor.over else event.trouble or "".join(event.problems[:1]),
        said=(*mayor.said, seq)[-REMEMBERED:],
    )
    spent_on(state, new, at)
    if event.account:
        _limit(state, event, at)


def _rest(mayor: MayorConversation) -> MayorState:
    """Return the state of a conversation once no question is open."""
    return MayorState.PROPOSED if mayor.pending else MayorState.IDLE


def _limit(state: State, event: m.MayorAnswered, at: int) -> None:
    account = state.accounts.get(event.account) or Account(event.account)
    live = [s for s in state.sessions.values() if s.live and s.account == event.account]
    state.accounts[event.account] = governor.cut(
        account,
        still_fine=sum(not session.limited for session in live),
        running=len(live) + 1,
        until_at=event.until_at,
        at=at,
        why=(event.trouble, event.text[:300]),
    )


_ENDS = {"stopped": MayorState.STOPPED, "gave_up": MayorState.GAVE_UP}


def _ended(state: State, event: m.MayorEnded, seq: int, at: int) -> None:
    end = _ENDS.get(event.how) or _rest(state.mayors[event.mayor])
    _change(state, event.mayor, at, state=end, reason=event.reason)


def _approved(state: State, event: m.PlanApproved, seq: int, at: int) -> None:
    changes: dict[str, Any] = {"approved_seq": event.proposal, "convoy": event.convoy}
    _change(state, event.mayor, at, state=MayorState.IDLE, pending=False, **changes)


def _change(board: State, mayor: str, at: int, /, **changes: Any) -> None:
    board.mayors[mayor] = replace(board.mayors[mayor], changed_at=at, **changes)


APPLY: dict[type[e.Event], Callable[[State, Any, int, int], None]] = {
    m.MayorStarted: _started,
    m.MayorAsked: _asked,
    m.MayorAnswered: _answered,
    m.MayorEnded: _ended,
    m.PlanProposed: lambda state, event, seq, at: _change(
        state, event.mayor, at, state=MayorState.PROPOSED, proposed_seq=seq, pending=True
    ),
    m.PlanApproved: _approved,
    m.PlanRejected: lambda state, event, _, at: _change(
        state, event.mayor, at, state=MayorState.IDLE, pending=False, reason=event.reason
    ),
}

"""The watchdog: when to step in while an engine runs, from its facts alone.

Each rule has a bound in time or in number, and leads to one reaction at a time, the gravest first.
What happens after a session was stopped (start its program again, park, give up) is the table in
`core/session/verdict`. Whether the tree changes is not a fact of the engine: a loop is one only if
the tree is the same when it is alarmed about and when it is ended.
"""

from fnmatch import fnmatchcase

from msgspec import Struct

from corral.core.engine.stream import Stream
from corral.core.session.verdict import BY_TROUBLE, RESULT, Verdict

_RARELY_MS = 60_000
_TOOL_TURNS = 6  # a tool may be silent for so many times as long as the model


class Bounds(Struct, frozen=True):
    """What one engine may do before somebody steps in."""

    turn_s: int = 600  # silent for so long; 0: for any time
    first_s: int = 0  # and for so long at least, before it has said anything: it has to start
    park_s: int = 60  # in a limit that it waits for by itself
    answer_s: int = 900  # waiting for an answer
    window: int = 90  # per cent of the model's context
    loop: int = 20  # the same call in a row; at twice as many it is stopped
    models: tuple[str, ...] = ()  # patterns; empty: any


class Seen(Struct, frozen=True):
    """What is known of a session that runs, besides its facts."""

    now: int
    fact_at: int  # when the last fact came
    begun: bool = True  # one came at all
    limited_at: int = 0  # since when it waits for a limit
    asked_at: int = 0
    finished_at: int = 0  # since when it has said its last word
    over: str = ""  # the budget that it has used up
    waits: bool = False  # for an answer to a message that it sent


class WatchdogStep(Struct, frozen=True):
    """End the session, for this verdict; for `RESULT`, its work decides."""

    verdict: str
    text: str


def step(stream: Stream, seen: Seen, bounds: Bounds) -> WatchdogStep | None:
    """Say whether a session has to be ended now, and why."""
    if stream.finished is not None:
        return _lingering(stream, seen, bounds)
    if seen.over:
        return WatchdogStep(Verdict.OVER_BUDGET, seen.over)
    if wrong := wrong_model(stream.model, bounds.models):
        return WatchdogStep(Verdict.WRONG_MODEL, wrong)
    return (
        _limited(stream, seen, bounds)
        or _unanswered(stream, seen, bounds)
        or _full(stream, bounds)
        or _hung(stream, seen, bounds)
    )


def wrong_model(model: str, patterns: tuple[str, ...], *, spent: bool = False) -> str:
    """Say what is wrong with a session's model; empty: nothing.

    One that has spent something and is over will not say any more which model it was.
    """
    if model and not model_allowed(model, patterns):
        return f"it uses {model}, which budget.require_model does not allow"
    if not model and spent and patterns:
        return (
            "it does not say which model it used: name one in its profile, for budget.require_model"
        )
    return ""


def model_allowed(model: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


def due_at(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    """Return when to look again although nothing comes: the earliest of the bounds in time."""
    times = []
    if stream.finished is not None:
        return _lingers_until(stream, seen, bounds)
    if stream.limited is not None:
        times.append(seen.limited_at + bounds.park_s * 1000)
    if stream.asked is not None:
        times.append(seen.asked_at + bounds.answer_s * 1000)
    if bounds.turn_s and not times and not seen.waits:
        times.append(seen.fact_at + _patience_s(stream, seen, bounds) * 1000)
    return min(times, default=seen.now + _RARELY_MS)


def _limited(stream: Stream, seen: Seen, bounds: Bounds) -> WatchdogStep | None:
    limit = stream.limited
    if limit is None:
        return None
    until = limit.reset_at or 0
    if limit.retry_s is not None:
        until = max(until, seen.fact_at + int(limit.retry_s * 1000))
    park = bounds.park_s * 1000
    if until - seen.now <= park and seen.now - seen.limited_at < park:
        return None
    verdict = BY_TROUBLE[limit.trouble]
    # Whatever it is that the engine tries again for: it is not the engine that broke.
    verdict = Verdict.UPSTREAM if verdict is Verdict.CRASHED else verdict
    return WatchdogStep(verdict, limit.text or str(limit.trouble))


def _lingering(stream: Stream, seen: Seen, bounds: Bounds) -> WatchdogStep | None:
    """End what has said its last word and does not end by itself."""
    if stream.finished is None or seen.now < _lingers_until(stream, seen, bounds):
        return None
    trouble = stream.finished.trouble
    text = " ".join(stream.finished.text.split()) or "it said that it was done, and did not end"
    return WatchdogStep(BY_TROUBLE[trouble] if trouble else RESULT, text)


def _lingers_until(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    """Return when a session that says it is over is ended: after trouble soon, else in silence."""
    if stream.finished is not None and stream.finished.trouble:
        return seen.finished_at + bounds.park_s * 1000
    return seen.fact_at + bounds.turn_s * 1000 if bounds.turn_s else seen.now + _RARELY_MS


def _unanswered(stream: Stream, seen: Seen, bounds: Bounds) -> WatchdogStep | None:
    if stream.asked is None or seen.now - seen.asked_at < bounds.answer_s * 1000:
        return None
    return WatchdogStep(Verdict.NEEDS_ANSWER, stream.asked.text)


def _full(stream: Stream, bounds: Bounds) -> WatchdogStep | None:
    if not bounds.window or stream.full * 100 < bounds.window:
        return None
    return WatchdogStep(
        Verdict.HANDED_OVER,
        f"{stream.used:,} of {stream.size:,} tokens of its context are in use",
    )


def _hung(stream: Stream, seen: Seen, bounds: Bounds) -> WatchdogStep | None:
    if stream.asked is not None or stream.limited is not None or seen.waits or not bounds.turn_s:
        return None  # the first three have their own bounds
    silent = seen.now - seen.fact_at
    if silent < _patience_s(stream, seen, bounds) * 1000:
        return None
    what = "its tool" if stream.busy else "its model" if seen.begun else "it, not even a sign,"
    return WatchdogStep(Verdict.HUNG, f"nothing came from {what} for {silent // 1000} s")


def _patience_s(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    if not seen.begun:
        return max(bounds.turn_s, bounds.first_s)
    return bounds.turn_s * (_TOOL_TURNS if stream.busy else 1)


class Loop(Struct, frozen=True):
    """What is known of a possible loop: the tree as it was, and when in the row of calls."""

    tree: str = ""
    since: int = 0  # repeats by then
    alarmed: bool = False


class LoopFound(Struct, frozen=True):
    loop: Loop
    alarm: bool = False
    stop: bool = False


def suspicious(stream: Stream, bounds: Bounds) -> bool:
    """Say whether it is worth a look at the tree."""
    return bool(bounds.loop) and stream.repeats >= bounds.loop // 2


def watch_loop(loop: Loop, repeats: int, tree: str, bounds: Bounds) -> LoopFound:
    """Alarm once the same call was made `loop` times with the tree unchanged; then stop."""
    if tree != loop.tree or repeats < loop.since:
        return LoopFound(Loop(tree, repeats))
    same = repeats - loop.since
    if same >= 2 * bounds.loop:
        return LoopFound(loop, stop=True)
    if same >= bounds.loop and not loop.alarmed:
        return LoopFound(Loop(loop.tree, loop.since, alarmed=True), alarm=True)
    return LoopFound(loop)

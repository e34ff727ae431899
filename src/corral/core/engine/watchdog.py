"""The watchdog: when to intervene in a running session, from its engine's facts alone.

Each rule has a limit in time or number and leads to one reaction at a time, the gravest first. The
table in `core/session/verdict` says what follows a stop (relaunch, park, give up). Whether the tree
changes is not a fact of the engine: repeated calls are a loop only if the tree is the same at the
alert and at the stop.
"""

from fnmatch import fnmatchcase

from msgspec import Struct

from corral.core.engine.stream import Stream
from corral.core.session.pulse import Stop
from corral.core.session.verdict import BY_TROUBLE, RESULT, Verdict

_RARELY_MS = 60_000
_TOOL_TURNS = 6  # a tool may be silent this many times longer than the model


class Bounds(Struct, frozen=True):
    """What one engine may do before the watchdog intervenes."""

    turn_s: int = 600  # of silence; 0: no limit
    first_s: int = 0  # of silence before its first output, if that is longer: it has to start
    park_s: int = 60  # waiting for a rate limit on its own
    answer_s: int = 900  # waiting for an answer
    window: int = 90  # percent of the model's context
    loop: int = 20  # identical calls in a row for an alert; it is stopped at twice as many
    models: tuple[str, ...] = ()  # patterns; empty: any


class Seen(Struct, frozen=True):
    """What is known about a running session besides its facts."""

    now: int
    fact_at: int  # when the last fact came
    begun: bool = True  # at least one came
    limited_at: int = 0  # when it began to wait for a rate limit
    asked_at: int = 0
    finished_at: int = 0  # when it reported its end
    over: str = ""  # the budget that it has exceeded
    waits: bool = False  # for an answer to a message that it sent


def step(stream: Stream, seen: Seen, bounds: Bounds) -> Stop | None:
    """Return whether a session must be ended now, and why."""
    if stream.finished is not None:
        return _lingering(stream, seen, bounds)
    if seen.over:
        return Stop(Verdict.OVER_BUDGET, seen.over)
    if wrong := wrong_model(stream.model, bounds.models):
        return Stop(Verdict.WRONG_MODEL, wrong)
    return (
        _limited(stream, seen, bounds)
        or _unanswered(stream, seen, bounds)
        or _full(stream, bounds)
        or _hung(stream, seen, bounds)
    )


def wrong_model(model: str, patterns: tuple[str, ...], *, spent: bool = False) -> str:
    """Return what is wrong with a session's model, or nothing.

    A session that has ended with costs (`spent`) will no longer say which model it used.
    """
    if model and not model_allowed(model, patterns):
        return f"it uses {model}, which budget.require_model does not allow"
    if not model and spent and patterns:
        return "it did not report its model, as budget.require_model needs: set one in its profile"
    return ""


def model_allowed(model: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


def due_at(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    """Return when to look again if no fact comes: the earliest of the time limits."""
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


def _limited(stream: Stream, seen: Seen, bounds: Bounds) -> Stop | None:
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
    # Whatever the engine retries for, the engine itself did not crash.
    verdict = Verdict.UPSTREAM if verdict is Verdict.CRASHED else verdict
    return Stop(verdict, limit.text or str(limit.trouble))


def _lingering(stream: Stream, seen: Seen, bounds: Bounds) -> Stop | None:
    """End a session that has reported its end and does not exit on its own."""
    if stream.finished is None or seen.now < _lingers_until(stream, seen, bounds):
        return None
    trouble = stream.finished.trouble
    text = " ".join(stream.finished.text.split()) or "it reported its end but did not exit"
    return Stop(BY_TROUBLE[trouble] if trouble else RESULT, text)


def _lingers_until(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    """Return when to end such a session: soon after an error, else after silence."""
    if stream.finished is not None and stream.finished.trouble:
        return seen.finished_at + bounds.park_s * 1000
    return seen.fact_at + bounds.turn_s * 1000 if bounds.turn_s else seen.now + _RARELY_MS


def _unanswered(stream: Stream, seen: Seen, bounds: Bounds) -> Stop | None:
    if stream.asked is None or seen.now - seen.asked_at < bounds.answer_s * 1000:
        return None
    return Stop(Verdict.NEEDS_ANSWER, stream.asked.text)


def _full(stream: Stream, bounds: Bounds) -> Stop | None:
    if not bounds.window or stream.full * 100 < bounds.window:
        return None
    said = f"{stream.used:,} of {stream.size:,} tokens of its context are used"
    return Stop(Verdict.HANDED_OVER, said)


def _hung(stream: Stream, seen: Seen, bounds: Bounds) -> Stop | None:
    if stream.asked is not None or stream.limited is not None or seen.waits or not bounds.turn_s:
        return None  # the first three have their own limits
    silent = seen.now - seen.fact_at
    if silent < _patience_s(stream, seen, bounds) * 1000:
        return None
    whose = " from its tool" if stream.busy else " from its model" if seen.begun else " at all"
    return Stop(Verdict.HUNG, f"no output{whose} for {silent // 1000} s")


def _patience_s(stream: Stream, seen: Seen, bounds: Bounds) -> int:
    if not seen.begun:
        return max(bounds.turn_s, bounds.first_s)
    return bounds.turn_s * (_TOOL_TURNS if stream.busy else 1)


class Loop(Struct, frozen=True):
    """A possible loop: the tree when it was first seen, and the repeats by then."""

    tree: str = ""
    since: int = 0
    alarmed: bool = False


class LoopFound(Struct, frozen=True):
    loop: Loop
    alarm: bool = False
    stop: bool = False


def suspicious(stream: Stream, bounds: Bounds) -> bool:
    """Say whether the tree should be examined for changes."""
    return bool(bounds.loop) and stream.repeats >= bounds.loop // 2


def looping(stream: Stream) -> Stop:
    """Return what is said about a loop, and the verdict if it goes on."""
    last = stream.calls[-1]
    text = f"{last.tool} {last.what}: {stream.repeats} times in a row, nothing changed"
    return Stop(Verdict.LOOPING, text)


def watch_loop(loop: Loop, repeats: int, tree: str, bounds: Bounds) -> LoopFound:
    """Raise an alert after `loop` identical calls without a change to the tree; then stop."""
    if tree != loop.tree or repeats < loop.since:
        return LoopFound(Loop(tree, repeats))
    same = repeats - loop.since
    if same >= 2 * bounds.loop:
        return LoopFound(loop, stop=True)
    if same >= bounds.loop and not loop.alarmed:
        return LoopFound(Loop(loop.tree, loop.since, alarmed=True), alarm=True)
    return LoopFound(loop)

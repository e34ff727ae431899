"""A session's output in words: what an engine said, which tools it called, what it used."""

from collections import deque
from typing import Any

from corral.core.config import Config
from corral.core.engine import facts as f
from corral.core.engine.stream import Stream
from corral.core.errors import CorralError
from corral.core.log.state import Session, State
from corral.core.text import shown
from corral.roles.records.facts import Heard, Reading
from corral.roles.records.rooms import Room
from corral.roles.witness.engine_profile import EngineProfiles
from corral.world.clock import now

_LINE = 300


def summary(state: State, session: Session, config: Config, folder: str) -> Stream | None:
    """Return a summary of a session's newest launch; None for a plain program."""
    reading = _read(state, session, config, folder, None)
    return reading.stream if reading else None


def in_words(
    state: State, session: Session, config: Config, folder: str, lines: int
) -> list[str] | None:
    """Return the last facts as lines of text; None for a plain program."""
    last: deque[str] = deque(maxlen=max(0, lines))

    def heard(fact: f.Fact) -> None:
        last.extend(line for line in _words(fact) if line)

    reading = _read(state, session, config, folder, heard)
    return list(last) if reading else None


def facts(
    state: State, session: Session, config: Config, folder: str, most: int
) -> list[Any] | None:
    """Return the last facts that an engine reported; None for a plain program."""
    last: deque[f.Fact] = deque(maxlen=most)
    reading = _read(state, session, config, folder, last.append)
    return list(last) if reading else None


def _read(
    state: State, session: Session, config: Config, folder: str, heard: Heard | None
) -> Reading | None:
    room = Room(folder, session.id)
    launch = room.launch()
    profiles = EngineProfiles(config, folder)
    task = state.tasks[session.task]
    try:
        if launch is None or profiles.recipe(session.profile, task) is None:
            return None
        job = profiles.job(session, task, "", room.prompt(session.launches))
        reading = profiles.reading(session.profile, job, launch, now(), heard)
    except CorralError:
        return None  # its profile has changed since, so the raw output is shown
    if session.live:
        reading.catch_up(now())
    else:
        reading.finish(now())
    reading.close()
    return reading


def _words(fact: f.Fact) -> list[str]:
    match fact:
        case f.Began():
            return [f"began: {_flat(' '.join((fact.model, fact.version, fact.session)))}"]
        case f.Said():
            return [shown(line.rstrip()[:_LINE]) for line in fact.text.strip().split("\n")]
        case f.Used():
            return [f"> {_flat(f'{fact.tool} {fact.what}')}"]
        case f.Answered():
            return [f"{'<' if fact.ok else '< failed:'} {_flat(fact.text)}"]
        case f.Spent():
            cost = "" if fact.cost_usd is None else f", ${fact.cost_usd:.4f}"
            what = "in all" if fact.total else "tokens"
            return [f"{what}: {fact.fresh:,} in, {fact.cached:,} cached, {fact.output:,} out{cost}"]
        case f.Window():
            return [f"context: {fact.used:,} of {fact.size or '?'}"]
        case f.Compacted():
            return ["the conversation was shortened"]
        case f.Limited():
            wait = f", again in {fact.retry_s:g} s" if fact.retry_s is not None else ""
            return [f"limited ({fact.trouble}): {_flat(fact.text)}{wait}"]
        case f.Asked():
            return [f"asks: {_flat(fact.text)}"]
        case f.Told():
            return [f"was told: {_flat(fact.text)}"]
        case f.Ready():
            return ["between two turns"]
        case f.Denied():
            return [f"not permitted: {_flat(f'{fact.tool} {fact.what}')}"]
        case f.Finished():
            how = str(fact.trouble) if fact.trouble else "well"
            return [f"finished: {_flat(f'{how} {fact.text}')}"]
    return []


def _flat(text: str) -> str:
    return shown(" ".join(text.split())[:_LINE])

"""What `corral session show` tells about a session: its view, its processes, its engine."""

from msgspec import Struct

from corral.core.config import Config
from corral.core.copies import filled
from corral.core.engine.facts import Asked, Finished
from corral.core.engine.stream import ToolCall
from corral.core.log.state import Session, State
from corral.core.show.views import SessionView, session_view
from corral.world.processes.model import Usage


class EngineSummary(Struct, frozen=True):
    """What an engine has done; its costs are in the view of the session."""

    said: str
    calls: tuple[ToolCall, ...]
    called: int
    files: tuple[str, ...]
    context_used: int
    context_size: int
    compacted: int
    limits: int
    denied: int
    asked: Asked | None
    finished: Finished | None


class SessionPage(SessionView, frozen=True):
    usage: Usage | None  # what the processes of a running session use
    engine: EngineSummary | None  # None: a plain program


def session_page(state: State, session: Session, config: Config, folder: str) -> SessionPage:
    """Read what a session's room and the process table say about it, which is slow."""
    from corral.roles.records.rooms import Room
    from corral.world import processes

    launch = Room(folder, session.id).launch()
    used = processes.usage([launch]).get(launch) if launch and session.live else None
    engine = _engine(state, session, config, folder)
    return filled(SessionPage, session_view(session), usage=used, engine=engine)


def _engine(state: State, session: Session, config: Config, folder: str) -> EngineSummary | None:
    engine = config.engine.get(session.profile)
    if engine is None or engine.type == "shell":
        return None
    from corral.roles.records.words import summary

    stream = summary(state, session, config, folder)
    if stream is None:
        return None
    return filled(EngineSummary, stream, context_used=stream.used, context_size=stream.size)

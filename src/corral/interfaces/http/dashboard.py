"""What the dashboard asks for once: the whole board, now or at an earlier event, and its health."""

import os
from typing import TYPE_CHECKING
from typing import Annotated as A

from msgspec import Meta, Raw, Struct

from corral.core.errors import BadInput
from corral.core.log.state import State
from corral.core.show.rows import Board
from corral.core.show.tables import board_of
from corral.interfaces.http.exchange import Call, Reply, asked, ok
from corral.interfaces.http.pages import Running, marked, running, unchanged
from corral.interfaces.http.routes import for_people
from corral.store.port import record_at

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api


class BoardQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    at: A[int | None, Meta(description="the board after this event; without it: now")] = None


class Health(Struct, frozen=True):
    """What is not in the log: the running roles, the size of the log, the configured limits."""

    seq: int
    roles: list[Running]
    store_bytes: int
    slots: int
    reserve: int
    pools: dict[str, int]
    check_slots: int  # check runs at once; 0: as many as measurements show to be useful
    day_usd: float  # the budget of one day; 0: none
    engines: dict[str, str]  # the type of each configured profile
    streams: int


async def board(api: "Api", call: Call) -> Reply:
    query: BoardQuery = asked(call, BoardQuery)
    if query.at is None:
        reply = unchanged(api, call)
        return reply or ok(Raw(api.live.encoded()), marked(api, call))
    return ok(board_of((await moment(api, query))[0]))


async def moment(api: "Api", query: BoardQuery) -> tuple[State, int]:
    """Return the state at the event in the query and the time of that event; without one, now."""
    if query.at is None:
        return api.feed.state, api.clock()
    if not 0 <= query.at <= api.feed.state.seq:
        raise BadInput(f"there is no event {query.at}: the newest is {api.feed.state.seq}")
    state = await api.history.at(query.at)
    return state, record_at(api.feed.store, query.at).at if query.at else 0


async def health(api: "Api", call: Call) -> Reply:
    config, folder = api.config, api.repository.folder
    return ok(
        Health(
            seq=api.feed.state.seq,
            roles=running(api),
            store_bytes=sum(_size(f"{folder}/{name}") for name in ("log.db", "log.db-wal")),
            slots=config.slots.total,
            reserve=config.slots.reserve,
            pools=config.slots.pools,
            check_slots=config.refinery.slots,
            day_usd=config.budget.day_usd,
            engines={name: engine.type for name, engine in config.engine.items()},
            streams=len(api.streams.open),
        )
    )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


ROUTES = (
    for_people("/api/board", "the whole board, now or earlier", board, Board, BoardQuery),
    for_people("/api/health", "running roles, the log's size, the limits", health, Health),
)

"""`GET /api/log`: the events themselves, page by page."""

import asyncio
from typing import TYPE_CHECKING

from corral.interfaces.http.exchange import Call, Reply, asked, ok
from corral.interfaces.http.routes import for_people
from corral.roles.records.log_pages import LogPage, LogQuery, log_page

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api


async def log(api: "Api", call: Call) -> Reply:
    query: LogQuery = asked(call, LogQuery)
    return ok(await asyncio.to_thread(log_page, api.feed.store, api.feed.state, query))


ROUTES = (for_people("/api/log", "events, oldest first", log, LogPage, LogQuery),)

"""`corral serve` and `corral link`."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from corral.core.errors import NotFound
from corral.core.text import number
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.world.server import Published


def serve(context: Context, options: Options) -> None:
    from corral.interfaces.http.server import run

    _ = context.store  # refuse here if there is no log, or if it is damaged
    port = number(options.port, "the port", 0, 65_535)

    def ready(url: str) -> None:
        context.answer({"url": url}, lambda: f"Corral serves {url} (to open it: corral link)")
        sys.stdout.flush()

    run(context.repository, context.config, context.mirrored, port=port, ready=ready)


def link(context: Context, options: Options) -> None:
    found = ticket(context)
    if found is None:
        from corral.roles.supervisor import is_up

        if is_up(context.repository.folder):
            said = "the server of this repository is still being started"
            raise NotFound(said, "corral link, in a moment", code="no_server")
        raise NotFound("no server is running for this repository", "corral up", code="no_server")
    context.answer(found, lambda: str(found["url"]))


def ticket(context: Context) -> Any:
    """Return what opens a browser once; None if no server answers."""
    from corral.interfaces.cli import remote

    with suppress(remote.Unanswered):
        return remote.post(context.repository.folder, "/api/tickets", context.actor)
    return None


def server_of(context: Context) -> "Published | None":
    """Return where the server of this repository is, if one runs."""
    from corral.world.server import published

    return published(context.repository.folder)

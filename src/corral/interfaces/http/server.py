"""Run the server: one for a repository, on the loop-back address unless the configuration says so.

It listens before it publishes its address, and withdraws the address before it ends. After it has
acknowledged an event it mirrors the log, as commands do when no server runs.
"""

import asyncio
import gc
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from socket import socket

import uvicorn

from corral.core.config import Config
from corral.core.config import ServerSettings as Settings
from corral.core.errors import CorralError
from corral.interfaces.http.api import Api, Application
from corral.interfaces.http.current import CurrentSettings
from corral.interfaces.http.exchange import Receive, Scope, Send
from corral.interfaces.http.feed import Feed
from corral.interfaces.http.guard import Guard
from corral.interfaces.http.protocol import Protocol, room_for_connections
from corral.roles.locks import only_one
from corral.store.mirror import Mirror
from corral.store.pace import Pace
from corral.store.seal import Mark
from corral.store.sqlite import SqliteStore
from corral.store.writer import Writer
from corral.world import keys
from corral.world import server as serving
from corral.world.git import Git
from corral.world.repository import Repository

ROLE = "server"
_KEEP_ALIVE_S = 75
_GRACE_S = 3
_MIRROR_S = 1.0
_USUAL = {"http": 80, "https": 443}


def run(
    repository: Repository,
    config: Config,
    anchor: Callable[[], Mark | None],
    *,
    port: int = 0,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until asked to stop; call `ready` with the address once requests are answered."""
    settings, folder = config.server, repository.folder
    serving.check(settings)
    with only_one(folder, ROLE), ExitStack() as stack:
        stack.callback(serving.withdraw, folder)
        # Before anyone can connect: commands read the token once they are connected.
        known = keys.token(folder), keys.secret(folder)
        serving.make_place(folder)  # before there is anything to close
        last = serving.last_port(folder)
        tcp = serving.listen_tcp(settings.bind, port or settings.port, last)
        local = serving.listen_local(folder)
        place = _Place(repository, config, anchor, ready, known, tcp.getsockname()[1])
        with suppress(KeyboardInterrupt):
            gc.enable()  # unlike commands, the server is long-lived
            Protocol.most = room_for_connections()
            _Server(place, settings, local).run(sockets=[tcp])


@dataclass(eq=False)
class _Place:
    """The parts of a running server, created when the loop starts and closed when it ends."""

    repository: Repository
    config: Config
    anchor: Callable[[], Mark | None]
    ready: Callable[[str], None]
    keys: tuple[str, bytes]
    port: int
    application: Application | None = None

    async def start(self, fail: Callable[[], None]) -> None:
        folder, server = self.repository.folder, self.config.server
        scheme = "https" if server.tls_cert else "http"
        known = hosts([*server.hosts, *_names(server.bind)], self.port, scheme)
        self._url = f"{scheme}://{known[0]}"
        self._writing = SqliteStore(folder, anchor=self.anchor)
        self._writer = Writer(self._writing)
        self._feed = Feed(SqliteStore(folder, anchor=self.anchor), fail)
        guard = Guard(*self.keys, known, scheme)
        self.api = Api(self._feed, self._writer, guard, self.repository, self.config, self._url)
        self.application = Application(self.api)
        self.api.mayors.take_over()
        self._settings = CurrentSettings(self.repository, self.config, self.anchor, self.api.use)
        self._mirroring = asyncio.get_running_loop().create_task(self._mirror())

    def publish(self) -> None:
        serving.publish(self.repository.folder, self._url, self.port, self._feed.state.log)
        self.ready(self._url)

    async def stop(self) -> None:
        # Here, because uvicorn raises the signal again once this returns.
        serving.withdraw(self.repository.folder)
        self._mirroring.cancel()
        self._settings.stop()
        if self.application is not None:
            await self.application.stop()
        self._feed.stop()
        await asyncio.to_thread(self._writer.close)
        self._writing.close()

    async def _mirror(self) -> None:
        """Mirror the log as often as commands do, without delaying requests."""
        place = self.repository
        mirror = Mirror(Git(place.git_dir, place.worktree), self._writing, place.folder)
        pace = Pace(place.folder)
        while True:
            tick = self._feed.tick
            with suppress(CorralError, OSError):  # retried at the next event or by the next command
                if pace.due(self._feed.state.seq, writing=True):
                    await asyncio.to_thread(mirror.flush, wait=False, again=False)
            await tick.wait()
            await asyncio.sleep(_MIRROR_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.application is not None:
            await self.application(scope, receive, send)


class _Server(uvicorn.Server):
    def __init__(self, place: _Place, settings: Settings, local: socket) -> None:
        super().__init__(
            uvicorn.Config(
                place,
                http=Protocol,
                ws="none",
                lifespan="off",
                log_level="critical",  # we report errors ourselves
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
                ssl_certfile=settings.tls_cert or None,
                ssl_keyfile=settings.tls_key or None,
            )
        )
        self._place = place
        self._local = local

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await self._place.start(self._fail)
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        protocol = partial(
            Protocol,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            _loop=loop,
        )
        self.servers.append(await loop.create_unix_server(protocol, sock=self._local))
        self._place.publish()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        await self._place.api.mayors.stop()
        self._place.api.live.stop()
        self._place.api.streams.stop()
        await super().shutdown(sockets)
        await self._place.stop()

    def _fail(self) -> None:
        self.should_exit = True


def hosts(names: list[str], port: int, scheme: str) -> list[str]:
    """Return the hosts that a client may name; browsers leave out the default port."""
    said = [f"{name}:{port}" for name in names]
    return said + names if port == _USUAL[scheme] else said


def _names(bind: str) -> list[str]:
    if bind in ("127.0.0.1", "0.0.0.0", "::"):
        return ["127.0.0.1", "localhost", *(["[::1]"] if bind == "::" else [])]
    return [f"[{bind}]" if ":" in bind else bind]

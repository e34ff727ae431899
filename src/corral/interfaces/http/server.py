"""Run the server: one for a repository, on the loop-back address unless the configuration says so.

It listens before it publishes its address, and withdraws the address before it ends. After it has
acknowledged an event it mirrors the log, as commands do when no server runs.
"""

import asyncio
import gc
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from socket import socket

import uvicorn

from corral.core.config import Config
from corral.core.config import ServerSettings as Settings
from corral.core.errors import CorralError
from corral.interfaces.http.api import Api, Application
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
    serving.check(config.server)
    with only_one(repository.folder, ROLE), ExitStack() as stack:
        stack.callback(serving.withdraw, repository.folder)
        settings = config.server
        # Before anyone can connect: commands read the token once they are connected.
        token, secret = keys.token(repository.folder), keys.secret(repository.folder)
        serving.make_place(repository.folder)  # before there is anything to close
        last = serving.last_port(repository.folder)
        tcp = serving.listen_tcp(settings.bind, port or settings.port, last)
        local = serving.listen_local(repository.folder)
        place = _Place(
            repository, config, anchor, keys=(token, secret), sockets=(tcp, local), ready=ready
        )
        with suppress(KeyboardInterrupt):
            place.run()


class _Place:
    """The parts of a running server, created when the loop starts and closed when it ends."""

    def __init__(
        self,
        repository: Repository,
        config: Config,
        anchor: Callable[[], Mark | None],
        *,
        keys: tuple[str, bytes],
        sockets: tuple[socket, socket],
        ready: Callable[[str], None],
    ) -> None:
        self._repository = repository
        self._config = config
        self._token, self._secret = keys
        self._tcp, self._local = sockets
        self._anchor = anchor
        self._ready = ready
        self._application: Application | None = None
        self.port: int = self._tcp.getsockname()[1]
        self.scheme = "https" if config.server.tls_cert else "http"
        names = [*config.server.hosts, *_names(config.server.bind)]
        self.hosts = hosts(names, self.port, self.scheme)
        self.url = f"{self.scheme}://{self.hosts[0]}"

    def run(self) -> None:
        gc.enable()  # unlike commands, the server is long-lived
        Protocol.most = room_for_connections()
        server = _Server(self, self._config.server, self._local)
        server.run(sockets=[self._tcp])

    async def start(self, fail: Callable[[], None]) -> None:
        folder = self._repository.folder
        self._writing = SqliteStore(folder, anchor=self._anchor)
        self._reading = SqliteStore(folder, anchor=self._anchor)
        self._writer = Writer(self._writing)
        self._feed = Feed(self._reading, fail)
        guard = Guard(self._token, self._secret, self.hosts, self.scheme)
        self.api = Api(
            self._feed,
            self._writer,
            guard,
            repository=self._repository,
            config=self._config,
            url=self.url,
        )
        self._application = Application(self.api)
        self.api.mayors.take_over()
        self._mirroring = asyncio.get_running_loop().create_task(self._mirror())

    def publish(self) -> None:
        serving.publish(self._repository.folder, self.url, self.port, self._feed.state.log)
        self._ready(self.url)

    async def stop(self) -> None:
        # Here, because uvicorn raises the signal again once this returns.
        serving.withdraw(self._repository.folder)
        self._mirroring.cancel()
        if self._application is not None:
            await self._application.stop()
        self._feed.stop()
        await asyncio.to_thread(self._writer.close)
        self._writing.close()

    async def _mirror(self) -> None:
        """Mirror the log as often as commands do, without delaying requests."""
        place = self._repository
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
        if scope["type"] == "http" and self._application is not None:
            await self._application(scope, receive, send)


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
    """Return what a client may say that it asks: browsers leave the usual port out."""
    said = [f"{name}:{port}" for name in names]
    return said + names if port == _USUAL[scheme] else said


def _names(bind: str) -> list[str]:
    if bind in ("127.0.0.1", "0.0.0.0", "::"):
        return ["127.0.0.1", "localhost", *(["[::1]"] if bind == "::" else [])]
    return [f"[{bind}]" if ":" in bind else bind]

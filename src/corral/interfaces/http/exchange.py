"""One request and its answer, on bare ASGI, and the one envelope that every answer has."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from corral.core.access import Principal
from corral.core.errors import BadInput, CorralError, Refused

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

BODY_BYTES = 1 << 20
BODY_S = 10.0
JSON = b"application/json"

# On every answer: not cached, not interpreted as another type, and not framed by other pages.
SAFE: Headers = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class TooLarge(BadInput, code="too_large", http_status=413):
    """The body or the headers of a request are too long."""


class TooSlow(BadInput, code="too_slow", http_status=408):
    """A request did not arrive in time."""


class NotJson(BadInput, code="not_json", http_status=415):
    """The body of a request is not JSON."""


class Misdirected(Refused, code="misdirected", http_status=421):
    """The Host header of a request does not name this server."""


class Call:
    """A request, after the guard has let it in."""

    __slots__ = ("headers", "method", "params", "path", "principal", "query", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])
        self.query: bytes = scope["query_string"]
        self.params: Mapping[str, str] = {}
        self.principal = Principal("")

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").strip(b" \t").decode("latin-1")

    @property
    def over_socket(self) -> bool:
        """Whether it came through the socket in the git directory, and not over the network."""
        server = self.scope.get("server")
        return server is not None and server[1] is None

    async def body(self) -> bytes:
        """Return the whole body; refuse one that is too long, or takes too long to come."""
        try:
            async with asyncio.timeout(BODY_S):
                return await self._read()
        except TimeoutError:
            raise TooSlow(f"the body did not come within {BODY_S:g} s") from None

    async def received(self) -> Receive:
        """Read the whole body, within its limits, and return a `receive` that yields it."""
        body: bytes | None = await self.body()

        async def receive() -> MutableMapping[str, Any]:
            nonlocal body
            if body is None:
                return await self.receive()
            whole, body = body, None
            return {"type": "http.request", "body": whole, "more_body": False}

        return receive

    def abort(self) -> None:
        """Cut the connection: a client that does not read would keep us from closing it."""
        self.scope["state"]["abort"]()

    async def gone(self) -> None:
        """Wait until the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _read(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise TooSlow("the body was cut off")
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > BODY_BYTES:
                raise TooLarge(f"the body is longer than {BODY_BYTES:,} bytes")
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)


class Reply(Struct, frozen=True):
    body: bytes
    status: int = 200
    headers: Headers = ()
    kind: bytes = JSON


def asked(call: Call, kind: type[Struct]) -> Any:
    """Return the query of a request as a value of the given kind; unknown names are refused."""
    try:
        pairs = parse_qsl(
            call.query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50
        )
    except (UnicodeDecodeError, ValueError) as error:
        raise BadInput("the query string of the URL is not valid") from error
    if len(dict(pairs)) != len(pairs):
        raise BadInput("a name appears twice in the query of the address")
    try:
        return msgspec.convert(dict(pairs), kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"the query of the address is bad: {_in_words(error)}") from error


async def wanted(call: Call, kind: type[Struct]) -> Any:
    """Return the body of a request as a value of the given kind; an empty body means `{}`."""
    body = (await call.body()).strip() or b"{}"
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadInput(f"the body is bad: {_in_words(error)}") from error


def request_key(call: Call) -> str:
    """Return the key of a request, empty if it has none; refuse a header without a value."""
    if call.headers.get(b"idempotency-key", b"-").strip() == b"":
        raise BadInput("the idempotency key is empty", "leave it out, or make one up")
    return call.header(b"idempotency-key")


def _in_words(error: Exception) -> str:
    said = str(error).replace("`", "").replace("$.", "").replace(" - at $", "")
    clean = "".join(char if char.isprintable() else "?" for char in said)
    return clean[:300] if clean.startswith("JSON") else clean[:1].lower() + clean[1:300]


def has_already(call: Call, mark: bytes) -> bool:
    """Say whether the client already has what it asks for, by the entity tag that it sends."""
    said = call.headers.get(b"if-none-match", b"").strip()
    return said == b"*" or mark in [one.strip().removeprefix(b"W/") for one in said.split(b",")]


def ok(data: Any, headers: Headers = ()) -> Reply:
    return Reply(b'{"ok":true,"data":' + msgspec.json.encode(data) + b"}", headers=headers)


def failed(error: CorralError) -> Reply:
    body = {"code": error.code, "message": error.message, "hint": error.hint}
    headers: Headers = ()
    if error.http_status == 401:
        headers = ((b"www-authenticate", b"Bearer"),)
    elif error.http_status == 405:
        headers = ((b"allow", getattr(error, "allowed", b"")),)
    elif error.http_status == 429:
        headers = ((b"retry-after", b"1"),)
    return Reply(msgspec.json.encode({"ok": False, "error": body}), error.http_status, headers)


async def answer(send: Send, reply: Reply, *, close: bool = False) -> None:
    own = {name for name, _ in reply.headers}
    headers = [
        (b"content-type", reply.kind),
        (b"content-length", str(len(reply.body)).encode()),
        *(pair for pair in SAFE if pair[0] not in own),
        *reply.headers,
    ]
    if close:
        headers.append((b"connection", b"close"))
    if reply.status == 304:
        headers = [pair for pair in headers if pair[0] not in (b"content-type", b"content-length")]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})

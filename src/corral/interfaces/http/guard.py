"""Who is let in. Every request passes here, before any route is looked for.

Host       a name of ours: a page that was rebound to our address (DNS rebinding) is refused
Origin     ours or none: no other site's page gets anything, and there is no CORS
token      `Authorization: Bearer …`, or the cookie that a one-time link left in a browser
rate       at most N requests per second per session, and N failed attempts from all of them
"""

import hmac
import os
from collections.abc import Iterable
from time import monotonic, time

from corral.core.access import SESSION_PREFIX, Principal, session_of
from corral.core.errors import BadInput, NoToken, NotYours, TooMany
from corral.core.log.state import State
from corral.core.text import NAME, line
from corral.interfaces.http.exchange import BODY_BYTES, Call, Misdirected, NotJson, TooLarge

ACTOR = b"corral-actor"
SOCKET_HOST = "corral.local"  # what clients call us through the socket in the git directory
TICKET_S = 120
COOKIE_S = 7 * 24 * 3600
LOGIN = "/login"
# Requests per second, and burst: of one session, and failed ones of all callers.
_REQUESTS = (50.0, 200)
_FAILURES = (20.0, 100)
_WRONG = "the token is missing or wrong"
_HINT = "send 'Authorization: Bearer …' with the content of .git/corral/token, or: corral link"


class Bucket:
    """A token bucket: fills at a rate per second, up to its size."""

    __slots__ = ("_at", "_left", "_most", "_rate")

    def __init__(self, rate: float, most: int) -> None:
        self._rate, self._most = rate, most
        self._left, self._at = float(most), monotonic()

    def take(self) -> bool:
        now = monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Guard:
    def __init__(self, token: str, secret: bytes, hosts: Iterable[str], scheme: str) -> None:
        self._token = token.encode()
        self._secret = secret
        self._run = os.urandom(16)  # a ticket is valid for this run of the server only
        # Cookies ignore ports, so the name tells the servers of one machine apart.
        self._cookie = f"corral_{self._mac('name', '')[:12]}"
        self._used: dict[str, float] = {}
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(f"{scheme}://{host}" for host in self._hosts)
        self._secure = "; Secure" if scheme == "https" else ""
        self._failures = Bucket(*_FAILURES)
        self._sessions: dict[str, Bucket] = {}

    def check_place(self, call: Call) -> None:
        """Refuse requests for another host, and requests from pages of other sites."""
        hosts = [value for name, value in call.scope["headers"] if name == b"host"]
        said = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
        if said not in self._hosts and not (call.over_socket and said == SOCKET_HOST):
            what = "the Host header does not name this server"
            raise Misdirected(what, "use the address that corral link prints")
        origin = call.header(b"origin")
        if origin and origin.lower() not in self._origins:
            raise NotYours("requests from pages of other sites are refused", code="foreign_origin")

    def check_body(self, call: Call) -> None:
        if call.method == "POST":
            kind = call.header(b"content-type").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise NotJson("the body must be JSON", "Content-Type: application/json")
        length = call.header(b"content-length")
        if length and (not length.isdigit() or len(length) > 12 or int(length) > BODY_BYTES):
            raise TooLarge(f"the body is longer than {BODY_BYTES:,} bytes")

    def identify(self, call: Call, state: State) -> Principal:
        """Return the caller; raise NoToken if it cannot be identified."""
        said = call.header(b"authorization")
        try:
            who = self._bearer(call, state, said) if said else self._browser(call)
        except NoToken:
            if not self._failures.take():
                raise TooMany("too many wrong tokens", "wait a moment") from None
            raise
        if who.session:
            self._limit(who)
        return who

    def _bearer(self, call: Call, state: State, said: str) -> Principal:
        scheme, _, shown = said.partition(" ")
        if scheme.lower() != "bearer":
            raise NoToken(_WRONG, _HINT)
        shown = shown.strip()
        if shown.startswith(SESSION_PREFIX):
            return session_of(state, self._secret, shown)
        if not hmac.compare_digest(shown.encode("utf-8", "replace"), self._token):
            raise NoToken(_WRONG, _HINT)
        return Principal(_actor(call))

    def _browser(self, call: Call) -> Principal:
        for part in call.header(b"cookie").split(";"):
            key, _, value = part.strip().partition("=")
            if key == self._cookie and self._genuine(value, "cookie"):
                break
        else:
            raise NoToken(_WRONG, _HINT)
        if call.method not in ("GET", "HEAD") and not call.header(b"origin"):
            raise NotYours("a browser must send the Origin header", code="foreign_origin")
        return Principal(_actor(call))

    def _limit(self, who: Principal) -> None:
        bucket = self._sessions.get(who.session)
        if bucket is None:
            if len(self._sessions) > 10_000:
                self._sessions.clear()
            bucket = self._sessions[who.session] = Bucket(*_REQUESTS)
        if not bucket.take():
            raise TooMany(f"{who.session} sends too many requests", "wait a moment")

    # The one-time link: the ticket in its address is exchanged for a cookie.

    def ticket(self) -> str:
        return self._signed("ticket", int(time()) + TICKET_S)

    def redeem(self, ticket: str) -> str:
        """Return the cookie for a ticket, once."""
        now = time()
        self._used = {used: until for used, until in self._used.items() if until > now}
        if not self._genuine(ticket, "ticket") or ticket in self._used:
            if not self._failures.take():
                raise TooMany("too many wrong tickets", "wait a moment")
            raise NoToken("this link has been used or has expired", "corral link makes a new one")
        self._used[ticket] = now + TICKET_S
        return self._signed("cookie", int(now) + COOKIE_S)

    def cookie(self, value: str) -> bytes:
        """Return the header that sets the cookie."""
        bounds = f"Path=/; Max-Age={COOKIE_S}; HttpOnly; SameSite=Strict{self._secure}"
        return f"{self._cookie}={value}; {bounds}".encode()

    def _signed(self, kind: str, until: int) -> str:
        body = f"{until}.{os.urandom(12).hex()}"
        return f"{body}.{self._mac(kind, body)}"

    def _genuine(self, value: str, kind: str) -> bool:
        body, _, mac = value.rpartition(".")
        until = body.partition(".")[0]
        return (
            hmac.compare_digest(self._mac(kind, body).encode(), mac.encode("utf-8", "replace"))
            and until.isdigit()
            and int(until) > time()
        )

    def _mac(self, kind: str, body: str) -> str:
        # A cookie outlives the server. A ticket does not, so it cannot be reused after a restart.
        run = self._run if kind == "ticket" else b""
        return hmac.digest(self._secret, run + f"{kind}\n{body}".encode(), "sha256").hex()[:40]


def _actor(call: Call) -> str:
    """Return the name that a person goes by."""
    said = call.header(ACTOR)
    if not said:
        return "person"
    try:
        return line(said.encode("latin-1").decode("utf-8"), "the name", NAME)
    except UnicodeDecodeError as error:
        raise BadInput("the name in Corral-Actor is not UTF-8") from error

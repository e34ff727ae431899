"""The table of routes: what is served, looked up, and described by the OpenAPI document."""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from corral.core.errors import NotFound
from corral.interfaces.http.exchange import Call, Reply

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

Handler = Callable[["Api", Call], Awaitable[Reply]]


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """No query parameters."""


class WrongMethod(NotFound, code="wrong_method", http_status=405):
    """The address exists, but does not support this method."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__("this address has no such method", f"it has {', '.join(allowed)}")
        self.allowed = ", ".join(allowed).encode()


class Route(Struct, frozen=True):
    """One operation; the variable parts of its path are names in braces."""

    path: str
    summary: str
    handler: Handler
    answer: Any = dict[str, Any]  # what `data` is, in the envelope
    query: type[Struct] = NoQuery
    body: type[Struct] | None = None  # None: it only reads
    kind: str = "json"  # or the content type of an answer without an envelope
    people_only: bool = False
    keyed: bool = False  # a repeated request with the same key is carried out once

    @property
    def method(self) -> str:
        return "POST" if self.body else "GET"

    @property
    def names(self) -> list[str]:
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


for_people = partial(Route, people_only=True)


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._exact = {(r.path, r.method): r for r in self.routes if not r.names}
        self._patterns = [(r.path.split("/"), r) for r in self.routes if r.names]

    def find(self, call: Call) -> Route:
        """Return the route of a request, and set its parameters."""
        found = self._exact.get((call.path, call.method))
        if found is not None:
            return found
        parts = call.path.split("/")
        fitting = [
            (params, route)
            for pattern, route in self._patterns
            if (params := _fit(pattern, parts)) is not None
        ]
        for params, route in fitting:
            if route.method == call.method:
                call.params = params
                return route
        allowed = {route.method for _, route in fitting}
        allowed |= {route.method for route in self.routes if route.path == call.path}
        if allowed:
            raise WrongMethod(sorted(allowed))
        raise NotFound("there is nothing at this address", "GET /api/openapi.json")


def _fit(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    params = {}
    for wanted, found in zip(pattern, parts, strict=True):
        if wanted.startswith("{"):
            if not found:
                return None
            params[wanted[1:-1]] = found
        elif wanted != found:
            return None
    return params

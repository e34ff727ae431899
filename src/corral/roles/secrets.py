"""Values that must not get into the log: those of environment variables that profiles pass on."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from corral.core.config import Config
from corral.core.environment import is_secret
from corral.core.log.events import Event

_SHORTEST = 6  # shorter values are no keys, and would match everywhere
_SHORTEST_KEY = 8


class Secrets:
    def __init__(self, config: Config, environment: Mapping[str, str]) -> None:
        names = {name for engine in config.engine.values() for name in engine.env}
        passed = config.environment.pass_
        known = {name: environment.get(name, "") for name in names} | {
            name: value
            for name, value in environment.items()
            if any(fnmatchcase(name, one) for one in passed) and is_secret(name, value)
        }
        # Longest first: one value may be part of another.
        self._values = sorted(
            ((value, name) for name, value in known.items() if len(value) >= _SHORTEST),
            key=lambda pair: -len(pair[0]),
        )

    def hide(self, text: str) -> str:
        """Return a text with the name of each variable in place of its value."""
        for value, name in self._values:
            text = text.replace(value, f"[{name}]")
        return text

    def keys(self) -> list[tuple[str, str]]:
        """Return the values, with their names, that no work may have: of a key, its longest line.

        Not every variable that is passed on is a key: its name or its value has to look like one.
        """
        found = [
            (max(value.splitlines(), key=len).strip(), name)
            for value, name in self._values
            if is_secret(name, value)
        ]
        return [(value, name) for value, name in found if len(value) >= _SHORTEST_KEY]

    def hidden(self, events: Iterable[Event]) -> list[Event]:
        """Return events without the values of secrets."""
        return [self._clean(event) for event in events] if self._values else list(events)

    def _clean(self, event: Event) -> Event:
        changes: dict[str, Any] = {}
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if isinstance(value, str):
                changes[name] = self.hide(value)
            elif isinstance(value, tuple):
                parts = (self.hide(part) if isinstance(part, str) else part for part in value)
                changes[name] = tuple(parts)
        return replace(event, **changes)

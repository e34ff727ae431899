"""Values that must not get into the log: those of the variables that profiles pass on."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import fields, replace

from corral.core.config import Config
from corral.core.events import Event

_SHORTEST = 6  # shorter ones are no keys, and would be found everywhere


class Secrets:
    def __init__(self, config: Config, environment: Mapping[str, str]) -> None:
        names = {name for engine in config.engine.values() for name in engine.env}
        known = {name: environment.get(name, "") for name in names}
        # The longest first: one may be a part of another.
        self._values = sorted(
            ((value, name) for name, value in known.items() if len(value) >= _SHORTEST),
            key=lambda pair: -len(pair[0]),
        )

    def hide(self, text: str) -> str:
        """Return a text with the name of each variable in place of its value."""
        for value, name in self._values:
            text = text.replace(value, f"[{name}]")
        return text

    def hidden(self, events: Iterable[Event]) -> list[Event]:
        """Return events as they may be stored."""
        return [self._clean(event) for event in events] if self._values else list(events)

    def _clean(self, event: Event) -> Event:
        changes: dict[str, Any] = {}
        for field in fields(event):
            value = getattr(event, field.name)
            clean = value
            if isinstance(value, str):
                clean = self.hide(value)
            elif isinstance(value, tuple):
                clean = tuple(self.hide(part) if isinstance(part, str) else part for part in value)
            if clean != value:
                changes[field.name] = clean
        return replace(event, **changes) if changes else event

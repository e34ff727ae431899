"""One result of the preflight: what was looked at, what was found, and what helps."""

from collections.abc import Iterable

from msgspec import Struct

OK, BAD, NOTE = "ok", "bad", "note"
# Faults of something that is needed only later, when work is finished or paid for.
_LATER = frozenset(("remote", "budget"))


class Finding(Struct, frozen=True):
    name: str
    state: str
    text: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.text}"


def setting(section: str, line: str) -> str:
    """Return a remedy: a line of the configuration file."""
    return f"in .corral/config.toml, under [{section}]: {line}"


def blocking(found: Iterable[Finding]) -> list[Finding]:
    """Return the faults because of which nothing should be started."""
    return [one for one in found if one.state == BAD and one.name not in _LATER]

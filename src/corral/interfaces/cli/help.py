"""What `corral help` prints: the first commands, all of them, a group, or the help of one."""

from corral.core.errors import BadInput
from corral.core.text import printable
from corral.interfaces.cli.catalogue import ENTRIES, FIRST, CommandEntry, summary
from corral.interfaces.cli.output import columns, cut, paint
from corral.interfaces.cli.parser import help_of

_WHAT = "Corral runs many coding agents in parallel on one git repository and lands their work."
_USAGE = "usage: corral COMMAND [options]"


def overview(words: list[str]) -> str:
    """Return the commands that a newcomer needs, or the help that the words ask for."""
    if not words:
        return _first()
    name = " ".join(words)
    if name == "all":
        return _all()
    if name in ENTRIES:
        return help_of(ENTRIES[name])
    family = [entry for entry in ENTRIES.values() if entry.name.startswith(f"{name} ")]
    if not family:
        raise BadInput(f"there is no command {printable(name)!r}", "corral help all")
    return "\n".join([f"usage: corral {name} COMMAND [options]", "", *map(_line, family)])


def _first() -> str:
    lines = [_WHAT, "", _USAGE, "", paint("The first commands to know", "bold")]
    lines += [*(_line(ENTRIES[name]) for name in FIRST), ""]
    lines += [f"All {len(ENTRIES)} commands: corral help all", "One command: corral help COMMAND"]
    return "\n".join(lines)


def _all() -> str:
    lines = [_WHAT, "", _USAGE]
    group = ""
    for entry in ENTRIES.values():
        if entry.group != group:
            group = entry.group
            lines += ["", paint(group, "bold")]
        lines.append(_line(entry))
    lines += ["", "Every command takes --json, --repo FOLDER, --as NAME and --help."]
    return "\n".join(lines)


def _line(entry: CommandEntry) -> str:
    return f"  {entry.name:<18}{cut(summary(entry), max(20, columns() - 21))}"

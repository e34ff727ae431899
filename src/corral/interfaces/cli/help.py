"""The overview of all commands."""

from corral.core.errors import BadInput
from corral.interfaces.cli.catalogue import ENTRIES, CommandEntry, summary
from corral.interfaces.cli.output import columns, cut, paint
from corral.interfaces.cli.parser import help_of


def overview(words: list[str]) -> str:
    """Return the list of commands, or the help of one of them."""
    if words:
        name = " ".join(words)
        if name in ENTRIES:
            return help_of(ENTRIES[name])
        family = [entry for entry in ENTRIES.values() if entry.name.startswith(f"{name} ")]
        if not family:
            raise BadInput(f"there is no command {name!r}", "corral help")
        return "\n".join([f"usage: corral {name} …", "", *map(_line, family)])
    lines = ["Corral: many agents, one repository, one log.", "", "usage: corral COMMAND …"]
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

"""Parse the words of a command by the options in its entry.

It is our own parser, because loading argparse takes a tenth of a command's time and we need little
of it: `--flag`, `--option value`, `--option=value`, repeated options, and `--` before words that
look like options.
"""

from types import SimpleNamespace as Options
from typing import Any

from corral.core.errors import BadInput
from corral.core.text import printable
from corral.interfaces.cli.catalogue import COMMON, CommandEntry, Option, options_of, summary
from corral.interfaces.cli.output import columns, cut, paint

__all__ = ["Options", "help_of", "parse"]

_VALUES = {"as": "NAME", "junit": "FILE", "repo": "FOLDER", "summary": "FILE"}  # shown in help
# For these, an empty variable in a script must not mean "not given".
_NEVER_EMPTY = ("--repo", "--as", "--token", "--convoy", "--to", "--for")


def parse(entry: CommandEntry, words: list[str]) -> Options | None:
    """Return the values of all options, or None if help is wanted; BadInput says what is wrong."""
    options = options_of(entry)
    by_flag = {option.flag: option for option in options if option.flag.startswith("-")}
    values: dict[str, Any] = {name_of(o): False if o.kind == "flag" else o.default for o in options}
    loose: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            loose += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            loose.append(word)
            continue
        if word in ("--help", "-h"):
            return None
        flag, equals, inline = word.partition("=")
        option = by_flag.get(flag)
        if option is None:
            raise _bad(entry, f"there is no option {printable(flag)}")
        if equals and option.kind == "flag":
            raise _bad(entry, f"{flag} takes no value")
        _set(entry, values, option, [inline] if equals else rest, by_flag)
    _place(entry, values, [o for o in options if not o.flag.startswith("-")], loose)
    return Options(**values)


def name_of(option: Option) -> str:
    """Return the attribute that holds an option's value."""
    return option.flag.lstrip("-").replace("-", "_")


def _set(
    entry: CommandEntry,
    values: dict[str, Any],
    option: Option,
    source: list[str],
    by_flag: dict[str, Option],
) -> None:
    name = name_of(option)
    if option.kind == "flag":
        values[name] = True
        return
    if not source or source[-1] in by_flag or (not source[-1] and option.flag in _NEVER_EMPTY):
        raise _bad(entry, f"{option.flag} needs a value")
    value = _value(entry, option, source.pop())
    values[name] = [*(values[name] or ()), value] if option.kind == "list" else value


def _place(
    entry: CommandEntry, values: dict[str, Any], wanted: list[Option], loose: list[str]
) -> None:
    """Assign the words that belong to no option to the positional arguments, in order."""
    if wanted and wanted[-1].kind == "list" and len(loose) >= len(wanted):
        place = len(wanted) - 1
        values[name_of(wanted[-1])] = [_value(entry, wanted[-1], word) for word in loose[place:]]
        wanted, loose = wanted[:-1], loose[:place]
    for option, word in zip(wanted, loose, strict=False):
        values[name_of(option)] = _value(entry, option, word)
    if len(loose) > len(wanted):
        word = printable(loose[len(wanted)])
        named = not wanted and any(option.flag == "--convoy" for option in options_of(entry))
        meant = f"; did you mean --convoy {word}?" if named else ""
        raise _bad(entry, f"unexpected argument {word!r}{meant}")
    for option in wanted[len(loose) :]:
        if not option.optional:
            raise _bad(entry, f"{option.flag.upper()} is missing")


def _value(entry: CommandEntry, option: Option, text: str) -> Any:
    if option.kind == "number":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise _bad(entry, f"{option.flag} is {printable(text)!r}: it must be a whole number")
        return int(text)
    if option.choices and text not in option.choices:
        kinds = ", ".join(option.choices)
        raise _bad(entry, f"{option.flag} is {printable(text)!r}: it must be one of {kinds}")
    return text


def _bad(entry: CommandEntry, what: str) -> BadInput:
    return BadInput(f"corral {entry.name}: {what}", f"corral {entry.name} --help")


def help_of(entry: CommandEntry) -> str:
    """Return the help page of a command."""
    options = options_of(entry)
    positional = [option for option in options if not option.flag.startswith("-")]
    shape = " ".join(f"[{_shown(o)}]" if o.optional else _shown(o) for o in positional)
    text = summary(entry)
    lines = [f"usage: corral {entry.name} {shape}".rstrip() + " [options]", ""]
    lines += [text[:1].upper() + text[1:] + "."]
    own = [o for o in options if o.flag.startswith("-") and o not in COMMON]
    groups = (("Arguments", positional), ("Options", own), ("For every command", list(COMMON)))
    left = max(len(_shown(option)) for option in options)
    for title, group in groups:
        if group:
            lines += ["", paint(title, "bold")]
            lines += [_described(option, left) for option in group]
    return "\n".join(lines)


def _described(option: Option, left: int) -> str:
    repeated = option.kind == "list" and option.flag.startswith("-")
    about = option.help + (" (may be repeated)" if repeated else "")
    return f"  {_shown(option):<{left}}  {cut(about, max(20, columns() - left - 4))}"


def _shown(option: Option) -> str:
    if not option.flag.startswith("-"):
        return option.flag.upper()
    if option.kind == "flag":
        return option.flag
    if option.choices:
        return f"{option.flag} {'|'.join(option.choices[:3])}{'|…' * (len(option.choices) > 3)}"
    name = name_of(option)
    return f"{option.flag} {'N' if option.kind == 'number' else _VALUES.get(name, name.upper())}"

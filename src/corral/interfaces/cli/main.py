"""Find the command, run it, and turn any failure into one sentence and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input, 3 refused by a rule, 4 not found, 130 interrupted.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module

from corral.core.errors import BadInput, CorralError, Failed
from corral.core.text import closest, printable, shown
from corral.interfaces.cli import output
from corral.interfaces.cli.catalogue import ENTRIES, FOR_PEOPLE, CommandEntry
from corral.interfaces.cli.context import Context

# What the last command opened, until the process ends: the system frees it faster than we would,
# and SQLite need not be closed (its files survive a kill).
_kept: list[Context] = []


def main() -> None:
    """Run `corral` with the words of the command line, and exit."""
    _open_streams()
    code = run(sys.argv[1:], leaving=True)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _unanswered(error)
    os._exit(code)  # everything is written; freeing ten thousand tasks would be wasted time


def run(words: list[str], *, leaving: bool = False) -> int:
    """Carry out one command and return its exit code; before `leaving`, nothing is closed."""
    try:
        return _answered(words)
    finally:
        while _kept and not leaving:
            _kept.pop().close()


def _answered(words: list[str]) -> int:
    as_json = "--json" in words
    try:
        return _run(words)
    except CorralError as error:
        return _reported(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is not None:
            said = f"{shown(str(error.filename))}: {error.strerror}"
            return _reported(Failed(said, "corral doctor"), as_json=as_json)
        return _unanswered(error)  # an error without a file is about standard output
    except Exception as error:
        if os.environ.get("CORRAL_DEBUG"):
            raise
        unexpected = CorralError(
            f"unexpected {type(error).__name__}: {printable(str(error))}",
            "run it again with CORRAL_DEBUG=1 and report what it prints",
            code="unexpected",
        )
        return _reported(unexpected, as_json=as_json)


def _reported(error: CorralError, *, as_json: bool) -> int:
    with suppress(OSError):  # nobody can read it; the exit code still tells
        output.report(error, as_json=as_json)
        sys.stdout.flush()
        sys.stderr.flush()
    return error.exit_code


def _unanswered(error: OSError) -> int:
    """Return 1 for an answer that cannot be written; 0 if its reader has gone (`| head`)."""
    # Discard all further output, so that Python does not complain at exit.
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)
    if isinstance(error, BrokenPipeError):
        return 0
    done = "the command was carried out, but " if _kept and _kept[0].wrote else ""
    with suppress(OSError):
        output.warn(f"{done}the answer could not be written: {error.strerror or error}")
        sys.stderr.flush()
    return 1


def _open_streams() -> None:
    """Make sure that both streams can be written to, whatever the character."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the whole process
        getattr(sys, name).reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    leading, rest = _leading(words)
    asks = not rest or rest[0] in ("help", "-h", "--help")
    if asks or (rest[0] not in ENTRIES and rest[1:] in (["--help"], ["-h"])):
        from corral.interfaces.cli.help import overview

        output.say(overview(rest[1:] if asks else rest[:1]))
    elif rest[0] in ("--version", "-V", "version"):
        from corral.version import text

        output.say(f"corral {text()}")
    elif rest[0] == "__complete":
        from corral.interfaces.cli.commands.completion import candidates

        for candidate in candidates(rest[1:]):
            output.say(candidate)
    else:
        entry, arguments = _find(rest)
        return _carry_out(entry, leading + arguments)
    return 0


def _carry_out(entry: CommandEntry, arguments: list[str]) -> int:
    from corral.interfaces.cli.parser import help_of, parse

    options = parse(entry, arguments)
    if options is None:
        output.say(help_of(entry))
        return 0
    context = Context(options.repo, getattr(options, "as"), as_json=options.json)
    _kept[:] = [context]
    if entry.name in FOR_PEOPLE:
        context.for_people(entry.name)
    module, _, function = entry.code.partition(":")
    code = import_module(f"corral.interfaces.cli.commands.{module}")
    options.command = entry.name
    result = getattr(code, function)(context, options)
    sys.stdout.flush()
    context.settle()
    return int(result or 0)


def _leading(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off the common options that come before the command."""
    at = 0
    while at < len(words) and words[at].startswith("--"):
        if words[at] == "--json" or words[at].startswith(("--repo=", "--as=")):
            at += 1
        elif words[at] in ("--repo", "--as") and at + 1 < len(words):
            at += 2
        else:
            break
    return words[:at], words[at:]


def _find(words: list[str]) -> tuple[CommandEntry, list[str]]:
    for length in (2, 1):
        entry = ENTRIES.get(" ".join(words[:length]))
        if entry is not None and len(words) >= length:
            return entry, words[length:]
    group = [name for name in ENTRIES if name.split()[0] == words[0]]
    if group:
        tried = f" {printable(words[1])!r}" if len(words) > 1 else ""
        kinds = ", ".join(name.split()[1] for name in group)
        said = f"corral {words[0]}{tried}: the command must be one of {kinds}"
        raise BadInput(said, f"corral help {words[0]}")
    close = closest(words[0], {name.split()[0] for name in ENTRIES})
    meant = f"; did you mean {close!r}?" if close else ""
    raise BadInput(f"there is no command {printable(words[0])!r}{meant}", "corral help all")

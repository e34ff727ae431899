"""Find the command, run it, turn what went wrong into one sentence and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input, 3 refused by a rule, 4 not found, 130 interrupted.
"""

import os
import sys
from importlib import import_module

from corral.core.errors import BadInput, CorralError
from corral.core.text import printable
from corral.interfaces.cli import output
from corral.interfaces.cli.catalogue import ENTRIES, Entry

# The last command's things, until the process ends: the system takes them apart faster than we do,
# and SQLite needs no farewell (its files are as sound after a kill).
_kept: list[object] = []


def main() -> None:
    """Run `corral` with the words of the command line, and exit."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a bar must not be fatal
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _quiet_pipe()
    except OSError as error:
        _quiet_pipe()
        code = 1
        output.warn(f"the answer could not be written: {error.strerror}")
    sys.stderr.flush()
    os._exit(code)  # all is written; taking ten thousand tasks apart would be for nothing


def run(words: list[str]) -> int:
    """Carry out one command and return its exit code."""
    as_json = "--json" in words
    try:
        return _run(words)
    except CorralError as error:
        output.report(error, as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        _quiet_pipe()
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        _quiet_pipe()
        failed = CorralError(f"the system says: {error.strerror or error}", "corral doctor")
        output.report(failed, as_json=False)
        return failed.exit_code
    except Exception as error:
        if os.environ.get("CORRAL_DEBUG"):
            raise
        unexpected = CorralError(
            f"unexpected {type(error).__name__}: {printable(str(error))}",
            "run it again with CORRAL_DEBUG=1 and report what it prints",
            code="unexpected",
        )
        output.report(unexpected, as_json=as_json)
        return unexpected.exit_code


def _run(words: list[str]) -> int:
    leading, rest = _leading(words)
    if not rest or rest[0] in ("help", "-h", "--help"):
        from corral.interfaces.cli.help import overview

        output.say(overview(rest[1:]))
        return 0
    if rest[0] not in ENTRIES and rest[1:] in (["--help"], ["-h"]):
        from corral.interfaces.cli.help import overview

        output.say(overview(rest[:1]))
        return 0
    if rest[0] in ("--version", "-V", "version"):
        from corral import __version__

        output.say(f"corral {__version__}")
        return 0
    if rest[0] == "__complete":
        from corral.interfaces.cli.completion import candidates

        output.say("\n".join(candidates(rest[1:])))
        return 0
    entry, arguments = _find(rest)
    return _carry_out(entry, leading + arguments)


def _carry_out(entry: Entry, arguments: list[str]) -> int:
    from corral.interfaces.cli.context import Context
    from corral.interfaces.cli.parser import help_of, parse

    if "--help" in arguments or "-h" in arguments:
        output.say(help_of(entry))
        return 0
    options = parse(entry, arguments)
    context = Context(options.repo, getattr(options, "as"), as_json=options.json)
    module, _, function = entry.code.partition(":")
    code = import_module(f"corral.interfaces.cli.{module}")
    options.command = entry.name
    _kept[:] = [context]
    result = getattr(code, function)(context, options)
    sys.stdout.flush()
    context.settle()
    return int(result or 0)


def _leading(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off common options that stand before the command."""
    at = 0
    while at < len(words) and words[at].startswith("--"):
        if words[at] == "--json" or words[at].startswith(("--repo=", "--as=")):
            at += 1
        elif words[at] in ("--repo", "--as") and at + 1 < len(words):
            at += 2
        else:
            break
    return words[:at], words[at:]


def _find(words: list[str]) -> tuple[Entry, list[str]]:
    for length in (2, 1):
        entry = ENTRIES.get(" ".join(words[:length]))
        if entry is not None and len(words) >= length:
            return entry, words[length:]
    group = [name for name in ENTRIES if name.split()[0] == words[0]]
    if group:
        tried = f" {printable(words[1])!r}" if len(words) > 1 else ""
        kinds = ", ".join(name.split()[1] for name in group)
        raise BadInput(f"corral {words[0]}{tried}: say one of {kinds}", f"corral {group[0]} --help")
    raise BadInput(
        f"there is no command {printable(words[0])!r}{_nearest(words[0])}", "corral help"
    )


def _nearest(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, {name.split()[0] for name in ENTRIES}, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _quiet_pipe() -> None:
    """The reader has gone (`corral log | head`): nothing more to say, and no complaint at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())

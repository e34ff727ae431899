"""Whose fault it is that a command failed: faults of the machine, found in what it printed.

An acceptance command tests what a task is to build, so it fails on the untouched base as well: that
alone says nothing. A failure is the machine's only if it shows a fault of this module, and shows
the same one on the base. `find` answers the first; a role asks the second by running it there.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from corral.core.text import cut

DISK, NETWORK = "disk", "network"  # what no command can do without
_MOST = 100  # characters of a command that stands for itself
_WORDS = re.compile(r"[^\s;&|()<>'\"`$]+")
FULL = ("No space left on device", "ENOSPC", "Disk quota exceeded")
# Not "connection refused": the server that a task is to build refuses connections, too.
_OFFLINE = (
    *("Temporary failure in name resolution", "Name or service not known", "EAI_AGAIN"),
    *("Could not resolve host", "Could not resolve proxy", "getaddrinfo ENOTFOUND"),
    *("Network is unreachable", "ENETUNREACH", "No route to host", "EHOSTUNREACH"),
    *("CERTIFICATE_VERIFY_FAILED", "SELF_SIGNED_CERT", "unable to get local issuer certificate"),
)
_NOT_FOUND = re.compile(r"(?:^|[: ])([^\s:]+): (?:command )?not found")
_NO_RUNNER = re.compile(r"python[\d.]*: No module named '?([\w.]+)")
_NO_MODULE = re.compile(r"No module named '?([\w.]+)|Cannot find (?:module|package) '([^']+)'")
_UNSET = ("KeyError", "not set", "unset", "undefined", "not defined", "missing", "required")
_MADE = (".venv/", "node_modules/")  # by a set-up, never by a task
_INSTALL = "install the project and its tools in each tree with trees.setup"


class Fault(Struct, frozen=True):
    about: str  # the program, the resource, or the command that cannot be run while it lasts
    name: str  # what is missing or in the way
    text: str = ""  # what happened
    remedy: str = ""

    @property
    def said(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


class FailedCommand(Struct, frozen=True):
    """A command that failed, with the last lines that it printed."""

    command: str
    code: int | None
    lines: Sequence[str]
    disk_full: bool = False

    @property
    def program(self) -> str:
        words = (word for word in _WORDS.findall(self.command) if "=" not in word)
        return next(words, self.command)

    def line_with(self, words: Sequence[str]) -> str:
        return next((line for line in self.lines if any(word in line for word in words)), "")


def find(
    failed: FailedCommand,
    *,
    unset: Sequence[str],
    checkouts: Sequence[str],
    offered: Callable[[str], str],
    owned: Sequence[str] = (),
) -> Fault | None:
    """Return the fault of the machine that a failed command shows.

    `unset` are the variables of the user's shell that are not passed on. `offered` returns where
    something by this name was before it was taken out of the environment. What the task is to
    build, by the paths that it owns, is never missing.
    """
    if failed.disk_full or failed.line_with(FULL):
        return Fault(DISK, DISK, "the disk is full", "make room")
    return (
        _uses_checkout(failed, checkouts)
        or _lacks(failed, offered, owned)
        or _cannot_run(failed)
        or _unset(failed, unset)
        or _offline(failed)
    )


def concerns(about: str, command: str) -> bool:
    """Say whether a fault keeps a command from being run."""
    return about in (DISK, NETWORK, whole(command)) or about in _WORDS.findall(command)


def whole(command: str) -> str:
    """Return how a command is named in a fault that concerns no other."""
    return cut(command, _MOST)


def _uses_checkout(failed: FailedCommand, checkouts: Sequence[str]) -> Fault | None:
    for line in failed.lines:
        used = next((folder for folder in checkouts if folder in line), "")
        if used and ("denied" in line or "EACCES" in line):
            text = f"it uses files of your checkout {used}, which says nothing about this work"
            return Fault(failed.program, used, text, _INSTALL)
    return None


def _lacks(
    failed: FailedCommand, offered: Callable[[str], str], owned: Sequence[str]
) -> Fault | None:
    """Find a program or module that is not there, and that no task is to make."""
    runner = _runner(failed)
    names = [runner] if runner else _absent(failed)
    for name in names:
        if any(name in re.split(r"[/.]", path) for path in owned):
            return None
        if gone := offered(name):
            text = (
                f"{name} is missing, because the environment is without what points into your"
                f" checkout ({gone})"
            )
            return Fault(failed.program if name != runner else name, name, text, _INSTALL)
    if not runner and failed.code == 127:
        names = [name for name in names if name.startswith(("/", *_MADE)) or "/" not in name]
        runner = next(iter(names), "")
    if not runner:
        return None
    about = runner if runner in _WORDS.findall(failed.command) else whole(failed.command)
    remedy = "install it, or have trees.setup install it in each tree"
    return Fault(about, runner, f"{runner} is not installed", remedy)


def missing_module(lines: Sequence[str]) -> str:
    """Return the package that the last of these lines calls missing, unless it is a file."""
    found = next(filter(None, map(_NO_MODULE.search, reversed(lines))), None)
    name = (found[1] or found[2]) if found else ""
    return "" if name.startswith((".", "/")) else name


def _runner(failed: FailedCommand) -> str:
    """Return the module that the command itself tells Python to run, if it is missing."""
    found = next(filter(None, map(_NO_RUNNER.search, failed.lines)), None)
    module = found[1].split(".")[0] if found else ""
    return module if module and f"-m {module}" in failed.command else ""


def _absent(failed: FailedCommand) -> list[str]:
    """Return what the last lines call missing, the last first."""
    found = []
    for line in reversed(failed.lines):
        if match := _NO_MODULE.search(line):
            found.append((match[1] or match[2]).split(".")[0])
        elif failed.code == 127 and (match := _NOT_FOUND.search(line)):
            found.append(match[1])
    return [name for name in found if name]


def _cannot_run(failed: FailedCommand) -> Fault | None:
    """Find an installed program that cannot be run: no permission, or of another machine.

    A file of the tree is not one: a task, or the base, has to make it executable.
    """
    name = failed.program
    if failed.code != 126 or ("/" in name and not name.startswith(("/", *_MADE))):
        return None
    text = f"{name} cannot be run (exit code 126)"
    return Fault(whole(failed.command), name, text, "make it executable, or install it again")


def _unset(failed: FailedCommand, unset: Sequence[str]) -> Fault | None:
    """Find a variable that the command asks for, and that only the user's shell has."""
    asks = [line for line in failed.lines if any(word in line for word in _UNSET)]
    for name in unset:
        used = re.search(rf"\$\{{?{re.escape(name)}\b", failed.command)
        if used or any(re.search(rf"\b{re.escape(name)}\b", line) for line in asks):
            text = f"it asks for {name}, which your shell has, and which is not passed on"
            remedy = f'to pass it on: pass = ["{name}"] in [environment]'
            return Fault(whole(failed.command), name, text, remedy)
    return None


def _offline(failed: FailedCommand) -> Fault | None:
    line = failed.line_with(_OFFLINE)
    text = f"the network does not work here ({cut(line, 200)})"
    remedy = "check the network; proxies and certificates are passed on"
    return Fault(NETWORK, NETWORK, text, remedy) if line else None

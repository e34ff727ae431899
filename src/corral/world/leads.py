"""What leads a program into the user's checkout, where the system cannot hide it.

Known ways in are found by their files: editable installs of Python, linked packages of Node, and
programs that are links. What can be taken out of the environment is; for the rest, the command is
refused. Other ways may remain. This module imports nothing of ours: a check's runner loads it as a
file.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from glob import iglob
from os.path import dirname, expanduser, isabs, join, normpath, realpath

_MOST_BYTES = 1 << 16
_SYSTEM = ("/", "/usr", "/usr/local")  # without their programs, nothing runs
_KINDS = ("site-packages", "dist-packages")
_WORDS = re.compile(r"[^\s;&|()<>'\"`$=]+")


def imports_from(folder: str, tree: str, elsewhere: Sequence[str]) -> str:
    """Return where an environment imports from that has these programs, if that is elsewhere."""
    return _linked(dirname(normpath(folder)), tree, elsewhere)


def taken_out(
    tree: str, variables: Mapping[str, str], elsewhere: Sequence[str]
) -> tuple[str, list[str]]:
    """Return PATH without environments that import from elsewhere, and what was taken out."""
    entries = variables.get("PATH", "").split(":")
    gone = [
        entry
        for entry in entries
        if dirname(normpath(entry)) not in _SYSTEM and imports_from(entry, tree, elsewhere)
    ]
    return ":".join(entry for entry in entries if entry not in gone), gone


def user_packages(tree: str, variables: Mapping[str, str], elsewhere: Sequence[str]) -> str:
    """Return where the user's own packages of Python import from, if that is elsewhere."""
    return _linked(join(variables.get("HOME", "~"), ".local"), tree, elsewhere)


def leading(tree: str, command: str, variables: Mapping[str, str], elsewhere: Sequence[str]) -> str:
    """Say what leads a command that is run in a tree elsewhere; empty if nothing is known to."""
    found = next(_leads(tree, command, variables, elsewhere), None)
    if found is None:
        return ""
    what, where = found
    return f"access denied: {what} leads to {where}, which cannot be hidden on this system"


def _leads(
    tree: str, command: str, variables: Mapping[str, str], elsewhere: Sequence[str]
) -> Iterator[tuple[str, str]]:
    path = variables.get("PATH", "")
    for word in _WORDS.findall(command):
        if "/" in word:
            program: str | None = normpath(join(tree, expanduser(word)))
        else:
            program = shutil.which(word, path=path)
        if not program:
            continue
        where = _outside(program, tree, elsewhere) or imports_from(
            dirname(program), tree, elsewhere
        )
        if where:
            yield program, where
    for entry in (*path.split(":"), join(tree, ".venv", "bin")):
        if dirname(normpath(entry)) in _SYSTEM or entry.startswith(f"{tree}/"):
            where = imports_from(entry, tree, elsewhere)
            if where:
                yield entry, where
    for link in _node_links(tree, variables):
        where = _outside(link, tree, elsewhere)
        if where:
            yield link, where


def _node_links(tree: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the links among the packages that Node finds from a tree."""
    folders = [path for path in variables.get("NODE_PATH", "").split(":") if isabs(path)]
    folder = tree
    while True:
        folders.append(join(folder, "node_modules"))
        if folder == dirname(folder):
            break
        folder = dirname(folder)
    for found in folders:
        for path in (*iglob(join(found, "*")), *iglob(join(found, "@*", "*"))):
            if os.path.islink(path):
                yield path


def _linked(prefix: str, tree: str, elsewhere: Sequence[str]) -> str:
    """Return where packages are imported from: a path in a `.pth` file, or in a module that finds
    the package."""
    packages = [path for kind in _KINDS for path in iglob(join(prefix, "lib", "python*", kind))]
    paths = [
        *(p for folder in packages for file in iglob(join(folder, "*.pth")) for p in _lines(file)),
        *(
            p
            for folder in packages
            for file in iglob(join(folder, "__editable__*.py"))
            for p in re.findall(r"['\"](/[^'\"]+)['\"]", read(file))
        ),
    ]
    return next(filter(None, (_outside(path, tree, elsewhere) for path in paths)), "")


def _lines(path: str) -> list[str]:
    return [line.strip() for line in read(path).splitlines() if isabs(line)]


def read(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_MOST_BYTES)
    return ""


def _outside(path: str, tree: str, elsewhere: Sequence[str]) -> str:
    """Return the folder of those elsewhere that a path is in or leads to, unless it is the tree."""
    for found in (normpath(path), realpath(path)):
        if tree and (found == tree or found.startswith(f"{tree}/")):
            continue
        for folder in elsewhere:
            if found == folder or found.startswith(f"{folder}/"):
                return folder
    return ""

"""Chooses the files that are broken on purpose, to see whether the checks notice broken code.

Only paths and modes are known, so each choice is a guess. Files that run the tests or configure
tools stay as they are at first: without them, every check would fail for the wrong reason.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from corral.core.plan.modules import is_test

# No program in any language: PHP would print anything that does not begin as its code.
BROKEN = b'<?php )]} Corral broke this file, to see whether the checks notice it. {[( "\n'

_CODE = frozenset(
    (
        *("py", "pyx", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte"),
        *("rs", "go", "java", "kt", "groovy", "scala", "clj", "rb", "php", "c", "cc", "cpp", "cxx"),
        *("h", "hpp", "hh", "m", "mm", "cs", "fs", "vb", "ex", "erl", "swift", "dart", "lua"),
        *("pl", "pm", "hs", "ml", "jl", "r", "nim", "zig", "sh", "bash", "zsh"),
    )
)
_DATA_FOLDERS = {"fixtures", "testdata", "test_data", "test-data", "mocks"}
_TOOLS = (
    *("conftest.py", "setup.py", "noxfile.py", "tasks.py", "fabfile.py", "dodo.py", "manage.py"),
    *("conf.py", "versioneer.py", "*_build.py", "build.rs", "extconf.rb", "gruntfile.js"),
    *("gulpfile.*", "webpack.*", "*.config.*", "*.conf.*", "*.setup.*", "setuptests.*"),
)
# Names that say nothing about the project: a test may contain them as words.
_GENERIC = {"src", "lib", "main", "__main__", "__init__", "init", "index", "mod", "run", "python"}
_PLAIN, _EXECUTABLE = "100644", "100755"
_LEAST = 3  # the letters of a name that can be looked for


class Targets(Struct, frozen=True):
    """The files with code: the sources, and those that belong to tests or are run by checks."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def targets(modes: Mapping[str, str], commands: Sequence[str]) -> Targets:
    """Choose from the files of a commit (path to mode) for checks with these commands."""
    words = {word.removeprefix("./") for command in commands for word in _words(command)}
    sources, tests, run = [], [], []
    for path, mode in modes.items():
        *folders, name = path.split("/")
        if mode not in (_PLAIN, _EXECUTABLE) or not _is_code(name, mode):
            continue
        hidden = any(part.startswith(".") for part in (*folders, name))
        data = any(part.lower().strip("_") in _DATA_FOLDERS for part in folders)
        if is_test(path) or name == "conftest.py":
            tests.append(path)
        elif path in words:
            run.append(path)
        elif not hidden and not data and not _is_tool(name):
            sources.append(path)
    # A program that a check runs is what it tests, if there is nothing else.
    return Targets(tuple(sources or run), (*tests, *(run if sources else ())))


def names(sources: Iterable[str]) -> set[str]:
    """Return the names by which tests would refer to these files."""
    parts = {part.rpartition(".")[0] or part for path in sources for part in path.split("/")}
    return {part for part in parts if len(part) >= _LEAST and part.lower() not in _GENERIC}


def mentions(text: str, wanted: Iterable[str]) -> bool:
    """Say whether a text contains one of these names as a word."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in wanted)


def packages(sources: Iterable[str]) -> dict[str, str]:
    """Return names that Python may import these files by, each with one file below it."""
    found: dict[str, str] = {}
    for path in sources:
        *folders, file = path.split("/")
        if not file.endswith(".py"):
            continue
        for number, name in enumerate(folders):
            found.setdefault(name, "/".join((*folders[number + 1 :], file)))
        if file != "__init__.py" and all(folder in _GENERIC for folder in folders):
            found.setdefault(file.removesuffix(".py"), file)
    return {name: rest for name, rest in found.items() if name.isidentifier()}


def _words(command: str) -> list[str]:
    return re.split(r"[\s;&|()<>\"'=]+", command)


def _is_code(name: str, mode: str) -> bool:
    _, dot, ending = name.rpartition(".")
    return ending.lower() in _CODE if dot else mode == _EXECUTABLE


def _is_tool(name: str) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in _TOOLS)

"""The key under which the result of a set-up is kept and given to the next tree.

Commands that only install dependencies depend on lock files and the like. All others may build
something from the sources, so their result is valid for exactly one tree: tests that use a stale
build would say nothing about the work.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import basename

from corral.core import paths

_FORM = 1
_INPUTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("pnpm-workspace.yaml", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc*", ".nvmrc"),
    *("pyproject.toml", "uv.lock", "uv.toml", "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock"),
    *("setup.py", "setup.cfg", "*requirements*.txt", "*constraints*.txt", "*requirements*.in"),
    *(".python-version", ".tool-versions", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock"),
    *("rust-toolchain*", "Gemfile", "Gemfile.lock", ".ruby-version", "composer.json"),
    *("composer.lock", "mix.exs", "mix.lock"),
)
_NODE = (
    *(("npm", "ci"), ("npm", "install"), ("pnpm", "install"), ("yarn", "install")),
    ("bun", "install"),
)
_PYTHON = (
    *(("python", "-m", "venv"), ("virtualenv",), ("python", "-m", "pip", "install")),
    *(("pip", "install"), ("uv", "venv"), ("uv", "sync"), ("uv", "pip", "install")),
    *(("uv", "pip", "sync"), ("poetry", "install"), ("pdm", "install"), ("pdm", "sync")),
    *(("pipenv", "install"), ("pipenv", "sync")),
)
_OTHERS = (
    *(("bundle", "install"), ("go", "mod", "download"), ("cargo", "fetch")),
    *(("composer", "install"), ("mix", "deps.get")),
)
_SCRIPTS = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_COMPILED = ("*.c", "*.cc", "*.cpp", "*.cxx", "*.pyx", "*.rs", "*.f", "*.f90")


def key(
    setup: Sequence[Sequence[str]],
    locks: Sequence[str],
    tree: str,
    files: Mapping[str, str],
    read: Callable[[str], str],
) -> str:
    """Return the key of a set-up on a tree with these files (path to blob).

    `locks` are patterns of the files that alone decide, if a person says so; `read` returns the
    text of a file.
    """
    if locks:
        inputs = [path for path in files if any(paths.matches(lock, path) for lock in locks)]
    elif all(_installs_only(command, files, read) for command in setup):
        inputs = [path for path in files if _is_input(path)]
    else:
        inputs = []
    decides: object = {path: files[path] for path in sorted(inputs)} if inputs else tree
    asked = [_FORM, [list(command) for command in setup], list(locks), decides]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]


def _is_input(path: str) -> bool:
    return any(fnmatchcase(basename(path), pattern) for pattern in _INPUTS)


def _installs_only(
    command: Sequence[str], files: Mapping[str, str], read: Callable[[str], str]
) -> bool:
    program = basename(command[0])
    program = "python" if program.startswith("python") else program.removesuffix("3")
    words = (program, *command[1:])
    if any(words[: len(known)] == known for known in _NODE):
        return "--ignore-scripts" in words or not any(
            _has_scripts(read(path)) for path in files if basename(path) == "package.json"
        )
    if any(words[: len(known)] == known for known in _PYTHON):
        compiled = any(fnmatchcase(path, one) for path in files for one in _COMPILED)
        copied = any(
            word == "--no-editable" or (word[:1] in "./" and before not in _BEFORE_A_PATH)
            for before, word in zip(words, (*words[1:], "-"), strict=True)
            if "install" in words or word == "--no-editable"
        )
        return not compiled and not copied
    return any(words[: len(known)] == known for known in _OTHERS)


_BEFORE_A_PATH = ("-e", "--editable", "-r", "--requirement", "-c", "--constraint", "--find-links")


def _has_scripts(package: str) -> bool:
    try:
        found = json.loads(package).get("scripts", {})
    except (ValueError, AttributeError):
        return True
    return any(name in found for name in _SCRIPTS)

"""Which files of the repository an acceptance command starts: the judges of a session's work.

Only a file that a command runs counts, as its program or as the script of an interpreter. A file
that a command merely reads or tests is usually what the task is to change.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import takewhile
from posixpath import basename, isabs, join, normpath

from corral.core.paths import matches

_SHELL = re.compile(r"(?:ba|da|k|z)?sh")
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|php)[\d.]*")
_CODE = re.compile(r"-[A-Za-z]*[cemp]")  # of an interpreter: what it runs is no file
_BEFORE = frozenset({"!", "exec", "env", "time", "nice", "command", "then", "do", "if", "("})
_SOURCE = frozenset({".", "source"})
_OPERATOR = re.compile(r"[;&|()<>\n]+")


def scripts(commands: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that shell commands run, relative to the repository."""
    return tuple(dict.fromkeys(path for command in commands for path in _run_by(command)))


def protected(commands: Iterable[str], owned: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that a session may not change: none of the task's paths names them."""
    return tuple(path for path in scripts(commands) if not any(matches(one, path) for one in owned))


def _run_by(line: str) -> Iterator[str]:
    folder = ""
    for words in _simple_commands(line):
        program, rest = words[0], words[1:]
        if program == "cd" and rest:
            folder = join(folder, rest[0])
        elif program in _SOURCE:
            yield from _inside(folder, rest[:1])
        elif _SHELL.fullmatch(basename(program)):
            yield from _inside(folder, _of_shell(rest))
        elif _INTERPRETER.fullmatch(basename(program)):
            options = list(takewhile(lambda word: word.startswith("-"), rest))
            if not any(map(_CODE.fullmatch, options)):
                yield from _inside(folder, rest[len(options) :][:1])
        elif "/" in program:
            yield from _inside(folder, [program])


def _of_shell(words: list[str]) -> list[str]:
    """Return the script of a shell, or what its `-c` runs."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return [word]
        if word.endswith("c"):
            return list(scripts([next(rest, "")]))
        if word.endswith("o"):
            next(rest, "")  # the name of an option
    return []


def _inside(folder: str, words: list[str]) -> Iterator[str]:
    for word in words:
        path = normpath(join(folder, word))
        if not isabs(path) and not path.startswith(".."):
            yield path


def _simple_commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, without what only precedes its program."""
    reader = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    reader.commenters = ""
    words: list[str] = []
    try:
        for word in reader:
            if _OPERATOR.fullmatch(word):
                if words:
                    yield words
                words = []
            elif words or not (word in _BEFORE or re.match(r"\w+=", word)):
                words.append(word)
    except ValueError:
        return  # an open quote: the shell will refuse it
    if words:
        yield words

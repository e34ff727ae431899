"""Finds tasks that test what another task changes, by the names of test files.

`tests/test_x.py`, `x_test.go`, `x.spec.ts`, `XTest.java`, `spec/x_spec.rb`, `tests/x/**` and so on.
Only names are compared, so each result is a guess with a reason, and can be removed.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from corral.core import paths
from corral.core.plan.schema import TaskPlan

_TEST_FOLDERS = {"test", "tests", "spec", "specs", "__tests__", "testing", "e2e", "unit"}
_SOURCE_FOLDERS = {"src", "lib", "app", "main", "pkg", "source", "internal", "packages"}
# The tested module's name in the name of a test file, without its extension.
_SPELLINGS = (
    re.compile(r"test_(?P<name>.+)"),
    re.compile(r"(?P<name>.+)[_.-](?:test|tests|spec|specs)"),
    re.compile(r"(?P<name>[A-Z]\w*?)(?:Tests?|Spec|IT)"),
)
# Extensions of one language: x.test.tsx also tests x.ts.
_FAMILIES = (
    {"js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"},
    {"c", "cc", "cpp", "cxx", "h", "hpp"},
    {"java", "kt", "groovy", "scala"},
    {"ex", "exs"},
    {"py", "pyx", "pyi"},
)


class _Name(Struct, frozen=True):
    """A path, reduced to what naming conventions use."""

    path: str
    name: str  # of the module, in lower case
    ending: str  # its family; empty for a folder
    folders: frozenset[str]


def tested(tasks: Sequence[TaskPlan]) -> Iterator[tuple[int, int, str]]:
    """Yield (test task, task that changes the tested module, reason), with tasks by number."""
    subjects: dict[str, list[tuple[int, _Name]]] = defaultdict(list)
    tests: list[tuple[int, _Name]] = []
    for number, task in enumerate(tasks):
        for path in map(str.strip, task.paths):
            name = _test(path)
            if name:
                tests.append((number, name))
            elif module := _module(path):
                subjects[module.name].append((number, module))
    for number, test in tests:
        fitting = [
            (other, module)
            for other, module in subjects.get(test.name, ())
            if other != number and (not test.ending or module.ending in ("", test.ending))
        ]
        # A name may occur more than once: the folders show which one is meant.
        best = max((len(test.folders & module.folders) for _, module in fitting), default=0)
        for other, module in fitting:
            if len(test.folders & module.folders) == best:
                yield number, other, f"{test.path} has the tests of {module.path}"


def is_test(path: str) -> bool:
    """Say whether a file belongs to tests, by its folders or by its name."""
    *folders, name = path.split("/")
    stem, ending = _split(name)
    inside = any(part.lower() in _TEST_FOLDERS for part in folders)
    return inside or (bool(ending) and any(s.fullmatch(stem) for s in _SPELLINGS))


def _test(path: str) -> _Name | None:
    """Parse a path as that of a test file, if it is one."""
    parts = paths.fixed(path)
    if not parts:
        return None
    stem, ending = _split(parts[-1])
    folders = parts[:-1]
    inside = any(part.lower() in _TEST_FOLDERS for part in folders)
    spelt = next((m["name"] for s in _SPELLINGS if (m := s.fullmatch(stem))), "") if ending else ""
    if not spelt and inside and stem.lower() not in _TEST_FOLDERS:
        spelt = stem  # tests/x.rs, tests/auth/
    return _Name(path, _folded(spelt), _family(ending), _meaning(folders)) if spelt else None


def _module(path: str) -> _Name | None:
    parts = paths.fixed(path)
    if not parts or any(part.lower() in _TEST_FOLDERS for part in parts):
        return None
    stem, ending = _split(parts[-1])
    if stem in ("__init__", "index", "mod") and len(parts) > 1:
        parts = parts[:-1]
        stem = parts[-1]
    return _Name(path, _folded(stem), _family(ending), _meaning(parts[:-1]))


def _split(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    return (stem, ending.lower()) if dot and stem else (name, "")


def _folded(name: str) -> str:
    return name.replace("-", "_").lower()


def _family(ending: str) -> str:
    return next((min(family) for family in _FAMILIES if ending in family), ending)


def _meaning(folders: Sequence[str]) -> frozenset[str]:
    plain = _TEST_FOLDERS | _SOURCE_FOLDERS
    return frozenset(part.lower() for part in folders) - plain

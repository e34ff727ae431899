"""Which make target runs which tests: `make targets` lists it, conftest.py selects by it.

A test belongs to the first target that names it, its file or one of its folders; a test or a case
with the mark `long` is left to `make test-long`.
"""

from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

# Paths below tests/, each a folder, a file, a test (`file::name`) or one of its cases (`…[id]`).
PLACES: dict[str, tuple[str, ...]] = {
    "long": ("world/git/test_same_as_git.py::test_real_histories",),
    "engines": (
        "engines",
        "world/engines/agents/test_acp.py",
        "world/engines/runners/test_tmux_claude.py",
    ),
    "browser": ("web",),
    "test": (
        "compat",
        "contract",
        "core",
        "docs",
        "e2e",
        "roles",
        "standin",
        "stateful",
        "tools",
        "world",
    ),
}


def command(target: str) -> str:
    """Return what a person types to run it."""
    return "make test" if target == "test" else f"make test-{target}"


def files() -> list[str]:
    """Return every test file, as a path below tests/."""
    return sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def is_within(test: str, place: str) -> bool:
    """Say whether a test or a file is what a place names, or in it."""
    return test == place or test.startswith((f"{place}/", f"{place}::", f"{place}["))


def target_of(test: str, *, long: bool = False) -> str | None:
    """Return the target that runs a test, named as `file::name[case]`, or the rest of a file."""
    for target, places in PLACES.items():
        if any(is_within(test, place) for place in places):
            return "long" if long else target
    return None


def parts(target: str, file: str) -> Iterator[str]:
    """Yield what a target runs of a file: all of it, or the tests that the table names."""
    if target_of(file) == target:
        yield file
    else:
        yield from (place for place in PLACES[target] if place.startswith(f"{file}::"))
        if target == "long" and "mark.long" in (TESTS / file).read_text("utf-8"):
            yield f"{file} (what is marked long)"


def main() -> None:
    for target in reversed(PLACES):
        print(f"{command(target)}:")
        for file in files():
            print(*(f"  tests/{part}\n" for part in parts(target, file)), sep="", end="")


if __name__ == "__main__":
    main()

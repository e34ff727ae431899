"""The order of the house: sizes, names and docstrings that keep the folder listing readable."""

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "corral"
PLACES = (SOURCE, ROOT / "tests", ROOT / "benchmarks", ROOT / "tools")
WEB = ROOT / "web" / "src"
MOST_MODULES, MOST_LINES, LONGEST_FUNCTION, WIDEST = 25, 500, 60, 120

# Class names that two modules may share, each with the reason why.
SHARED_CLASS_NAMES: dict[str, str] = {}

# A requirement or invariant by its number on a page that is not in the repository. A check run has
# a name of the same form: prose that needs one as an example says R42.
TAG = re.compile(r"\b(?:R(?:[1-9]|[1-3]\d|40)|I[1-9])\b")


def modules(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*.py") if "__pycache__" not in path.parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_folder_holds_more_modules_than_a_reader_can_take_in() -> None:
    held = Counter(
        name(path.parent)
        for place in PLACES
        for path in modules(place)
        if path.name != "__init__.py"
    )
    assert {folder: n for folder, n in held.items() if n > MOST_MODULES} == {}


def test_no_module_is_too_long() -> None:
    lines = {
        name(path): len(path.read_text("utf-8").splitlines())
        for place in PLACES
        for path in modules(place)
    }
    assert {path: n for path, n in lines.items() if n > MOST_LINES} == {}


def test_no_line_of_the_dashboard_is_too_wide() -> None:
    """The formatter leaves some alone: a space at the end of a line, a long word."""
    sources = [path for path in WEB.rglob("*") if path.suffix in (".ts", ".tsx", ".css")]
    wide = {
        f"{name(path)}:{number}": len(line)
        for path in sources
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > WIDEST
    }
    assert len(sources) > 50
    assert wide == {}


def test_no_function_is_too_long() -> None:
    long = {
        f"{name(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in modules(SOURCE)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {place: n for place, n in long.items() if n > LONGEST_FUNCTION} == {}


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(set)
    for path in modules(SOURCE):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(name(path))
    shared = {known: where for known, where in places.items() if len(where) > 1}
    assert {
        known: where for known, where in shared.items() if known not in SHARED_CLASS_NAMES
    } == {}
    assert set(SHARED_CLASS_NAMES) <= set(shared), "an exception that nothing needs any more"


def test_every_module_says_what_it_is() -> None:
    silent = [
        name(path)
        for place in PLACES
        for path in modules(place)
        if not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_every_word_of_the_glossary_is_defined_once() -> None:
    (glossary,) = (ROOT / "docs").rglob("glossary.md")
    terms = re.findall(r"^\| \**([^|*]+?)\** +\|", glossary.read_text("utf-8"), re.MULTILINE)
    words = Counter(term.lower() for term in terms if term.strip("- ") and term != "word")
    assert len(words) > 20
    assert [word for word, n in words.items() if n > 1] == []


@pytest.mark.parametrize("place", [*PLACES, ROOT / "docs"], ids=name)
def test_nothing_points_to_a_page_that_is_not_here(place: Path) -> None:
    found = [
        f"{name(path)}:{line}: {text.strip()}"
        for path in [*modules(place), *sorted(place.rglob("*.md"))]
        for line, text in prose(path)
        if TAG.search(text)
    ]
    assert found == []


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of comments and docstrings, or of a page without what is shown as code."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        shown = re.sub(r"^```.*?^```", _blank, text, flags=re.MULTILINE | re.DOTALL)
        shown = re.sub(r"`[^`\n]+`", "", shown)
        yield from enumerate(shown.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            said = re.sub(r"`[^`]+`", "", ast.get_docstring(node) or "")
            yield from enumerate(said.splitlines(), getattr(node, "lineno", 1))


def _blank(match: "re.Match[str]") -> str:
    return "\n" * match.group().count("\n")

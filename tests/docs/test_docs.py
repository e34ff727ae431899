"""The documentation is a contract: what it shows exists, and what exists is in it."""

import re
from importlib import import_module

import pytest

from corral.core.board.columns import COLUMNS
from corral.core.board.moves import MOVES
from corral.core.config import parse as parse_config
from corral.core.environment import PASSED
from corral.core.errors import CorralError
from corral.core.log.events import every_event
from corral.core.session.verdict import Verdict
from corral.interfaces.cli.catalogue import ENTRIES, options_of
from corral.interfaces.cli.parser import parse
from corral.interfaces.settings_text import settings, texts
from tests.docs.pages import FENCE, ROOT, blocks, commands_in, typed_lines
from tools.reference import codes, page
from tools.reference_words import CODES, ENVIRONMENT, EXITS, FILES

SOURCE = {path: path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py"))}
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
REFERENCE = (ROOT / "docs" / "reference.md").read_text("utf-8")

_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def shown_commands() -> list[tuple[str, list[str]]]:
    return [
        (name, words)
        for name, page in zip(NAMES, PAGES, strict=True)
        for line in typed_lines(page.read_text("utf-8"))
        for words in commands_in(line)
    ]


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_reference_is_what_the_generator_makes() -> None:
    assert page() == REFERENCE, "run `make reference`"


def test_every_command_and_option_is_in_the_reference() -> None:
    for entry in ENTRIES.values():
        assert f"#### `corral {entry.name}" in REFERENCE
        section = REFERENCE.split(f"#### `corral {entry.name}", 1)[1].split("\n#", 1)[0]
        shared = REFERENCE.split("### Start", 1)[0]
        for option in options_of(entry):
            shown = option.flag if option.flag.startswith("-") else option.flag.upper()
            assert shown in section or f"`{shown}" in shared


def test_every_event_with_its_fields_is_in_the_reference() -> None:
    for name, event in every_event().items():
        section = REFERENCE.split(f"### `{name}`", 1)[1].split("\n#", 1)[0]
        assert all(f"`{field}`" in section for field in event.__struct_fields__)


def test_every_move_and_column_is_in_the_reference() -> None:
    assert all(f"| `{move}` |" in REFERENCE for move in MOVES)
    assert all(f"| `{column}` |" in REFERENCE for column in COLUMNS)


def test_every_verdict_is_in_the_reference_and_in_the_guide() -> None:
    assert texts(Verdict).keys() == Verdict.__members__.keys()
    guide = (ROOT / "docs" / "how-to" / "sessions.md").read_text("utf-8")
    for verdict in Verdict:
        assert f"| `{verdict}` |" in REFERENCE
        assert f"| `{verdict}` |" in guide


def test_every_variable_that_is_passed_through_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "how-to" / "environment.md").read_text("utf-8")
    assert not [name for group in PASSED.values() for name in group if f"`{name}`" not in guide]


def test_every_setting_is_in_the_reference() -> None:
    named = {name for name, _, _ in settings()}
    assert {"watch.loop", "engine.NAME.lines[].fact", "budget.prices.NAME.input"} <= named
    assert all(f"| `{name}` |" in REFERENCE for name in named)


def test_every_error_code_is_in_the_reference() -> None:
    for path in SOURCE:  # so that every class of errors is known
        if path.name != "__main__.py":
            module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            import_module(module.removesuffix(".__init__"))
    raised = {
        code
        for text in SOURCE.values()
        for code in re.findall(r'\bcode="(\w+)"|Obstacle\(\s*"(\w+)"', text)
        for code in code
        if code
    }
    assert raised, "the pattern must find some"
    listed = set(codes())
    passed = [code for meanings in CODES.values() for code in meanings]
    assert len(passed) == len({*passed}), "one meaning for each"
    for text in SOURCE.values():
        for made in re.findall(r'\bcode=f"([^"]+)"', text):  # like f"{role}_runs"
            fitting = {
                code for code in listed if re.fullmatch(re.sub(r"{.*?}", r"\\w+", made), code)
            }
            assert fitting, f"no code is listed that fits {made}"
            raised |= fitting
    assert raised <= listed
    assert {*passed} <= raised, "nothing is listed that is never raised"
    assert all(
        f"| `{code}` | {exit} | {said} |" in REFERENCE for code, (exit, said) in codes().items()
    )
    assert {exit for exit, _ in codes().values()} <= set(EXITS)
    assert all(said for _, said in codes().values())


def test_every_environment_variable_is_in_the_reference() -> None:
    read = {
        name
        for text in SOURCE.values()
        for name in re.findall(r'environ(?:ment)?(?:\.get\(|\[)"(\w+)"', text)
    }
    assert read, "the pattern must find some"
    assert read <= set(ENVIRONMENT)
    ours = {
        re.sub(r"_$", "_N", name)
        for text in SOURCE.values()
        for name in re.findall(r'"(CORRAL_[A-Z_]+)', text)
    }
    assert {"CORRAL_TASK", "CORRAL_BRIEF"} <= ours, "the pattern must find some"
    assert ours <= set(ENVIRONMENT)


def test_every_ref_is_in_the_reference() -> None:
    used = {
        found for text in SOURCE.values() for found in re.findall(r'"refs/corral/(\w+)/?', text)
    } - {"none"}  # the one that is never there
    assert {"log", "keep"} <= used, "the pattern must find some"
    assert used == {match[1] for name in FILES if (match := re.match(r"refs/corral/(\w+)", name))}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    place = ROOT / name
    for found in _LINK.findall(place.read_text("utf-8")):
        link = "".join(found)
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = place.parent / file if file else place
        assert target.exists(), f"{name} links to {link}"
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), f"{name} links to {link}"


@pytest.mark.parametrize("name", ["AGENTS.md", "docs/architecture.md", "docs/dependencies.md"])
def test_modules_that_are_mentioned_exist(name: str) -> None:
    text = FENCE.sub("", (ROOT / name).read_text("utf-8"))
    for found in re.findall(r"`((?:core|store|world|roles|interfaces|tests|src)/[\w./-]+)`", text):
        places = [ROOT / found, *(ROOT / "src" / "corral" / f"{found}{end}" for end in ("", ".py"))]
        assert any(place.exists() for place in places), f"{name} mentions {found}"


def test_every_picture_is_shown_somewhere() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"pictures/{picture.name}" in text, f"no page shows {picture.name}: remove it"


def test_the_glossary_is_in_order_and_has_the_words_that_nobody_can_guess() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)[1:]
    assert len(words) > 80, "the pattern must find them"
    assert words == sorted(words), "in the order of the alphabet"
    unusual = "desk door feed governor keeper pace radar recipe relay room seal shim turnstile view"
    assert set(unusual.split()) <= set(words)


def test_commands_are_found_in_the_docs() -> None:
    assert len(shown_commands()) > 50
    assert list(
        commands_in('TOKEN=$(corral task claim --next --json | jq -r .data) && corral why "a b"')
    ) == [
        ["task", "claim", "--next", "--json"],
        ["why", "a b"],
    ]


@pytest.mark.parametrize(("name", "words"), shown_commands(), ids=str)
def test_commands_that_are_shown_exist_with_their_options(name: str, words: list[str]) -> None:
    while words[:1] and words[0] in ("--repo", "--as"):
        words = words[2:]
    if words[:1] == ["help"] or words == ["--version"] or words[-1:] == ["--help"]:
        return
    entry = ENTRIES.get(" ".join(words[:2])) or ENTRIES.get(words[0])
    assert entry, f"{name}: there is no command {words}"
    try:
        parse(entry, words[len(entry.name.split()) :])
    except CorralError as error:
        pytest.fail(f"{name}: {error.message}")


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_are_mentioned_exist(name: str) -> None:
    text = FENCE.sub("", (ROOT / name).read_text("utf-8"))
    groups = {entry.name.split()[0] for entry in ENTRIES.values()} | {"help"}
    for words in (found.split() for found in re.findall(r"`corral ([a-z][^`]*)`", text)):
        assert words[0] in groups, f"{name} mentions corral {words[0]}"
        alone = words[0] in ENTRIES or words[0] == "help"
        assert alone or " ".join(words[:2]) in ENTRIES or len(words) == 1, f"{name}: {words}"


@pytest.mark.parametrize("name", NAMES)
def test_configurations_that_are_shown_are_sound(name: str) -> None:
    for body in blocks((ROOT / name).read_text("utf-8"), "toml"):
        parse_config(body, name)


def test_the_readme_begins_with_the_two_commands() -> None:
    typed = list(typed_lines((ROOT / "README.md").read_text("utf-8")))
    assert typed[:2] == ["make demo", "make test"]

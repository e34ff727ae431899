"""What the pages of the documentation show: blocks, commands, and what a reader types and sees."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIG = ".corral/config.toml"

_EMPTY = """\
$ git init -q -b main shop
$ cd shop
"""
_REPOSITORY = f"""\
{_EMPTY}$ corral init >/dev/null
$ git add .
$ git commit -qm Begin
"""
_BOARD = f"""\
{_REPOSITORY}$ corral convoy create 'Auth fix' >/dev/null
$ corral task add 'Fix login' >/dev/null
$ corral task add 'Refuse expired tokens' >/dev/null
"""
_MIRRORED = f"""\
{_BOARD}$ git init -q --bare ../origin.git && corral log push ../origin.git >/dev/null
"""
_DAMAGE = (
    'import apsw; apsw.Connection(".git/corral/log.db").execute("DELETE FROM event WHERE seq=4")'
)
# What the reader of a page has done before: pages that begin with a repository are not here.
BEFORE = {
    "README.md": f"{_EMPTY}$ git commit -q --allow-empty -m Begin\n",
    "docs/how-to/agents.md": f"""\
{_BOARD}$ corral task add 'Explain it' >/dev/null
$ corral task add 'Announce it' --needs AF-2 >/dev/null
""",
    "docs/how-to/install.md": _MIRRORED,
    "docs/how-to/leases.md": _REPOSITORY,
    "docs/how-to/clones.md": f"""\
$ git init -q --bare -b main origin.git
{_BOARD}$ git remote add origin ../origin.git
$ git push -q origin main
""",
    "docs/how-to/recovery.md": f"""\
{_MIRRORED}$ python -c '{_DAMAGE}'
""",
    "docs/log-format.md": _MIRRORED,
}

# A file that the reader of a page writes has its name as a title: ```toml title="plan.toml"
FENCE = re.compile(r"^ *```(\w*)(?: title=\"([\w./-]+)\")?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_OPERATORS = re.compile(r"[|&;<>()]+")


def blocks(text: str, *languages: str) -> Iterator[str]:
    """Yield the blocks in these languages, but for files that are written."""
    for language, title, body in FENCE.findall(text):
        if language in languages and title in ("", CONFIG):
            yield body


def typed_lines(text: str) -> Iterator[str]:
    """Yield the lines that a reader would type, with continued ones joined."""
    for body in blocks(text, "sh", "bash", "zsh", "fish"):
        yield from body.replace("\\\n", " ").splitlines()
    for body in blocks(text, "console"):
        for line in body.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                yield line[2:]


def commands_in(line: str) -> Iterator[list[str]]:
    """Yield the words of each call of `corral` in a line of shell."""
    # What stands in `$(…)` is a call of its own; the quotes around it would hide that.
    opened = re.sub(r'"?\$\(([^)]*)\)"?', r" ; \1 ; ", line)
    lexer = shlex.shlex(opened, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if not _OPERATORS.fullmatch(word):
            words.append(word)
            continue
        while words and re.fullmatch(r"[A-Z_]+=.*|then|do|if|while|until|!|\$", words[0]):
            words.pop(0)
        if words[:1] == ["corral"]:
            yield words[1:]
        words = []


def session(body: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what is shown below it."""
    for part in f"\n{body}".split("\n$ ")[1:]:
        command, shown = "", part
        while not command or command.endswith("\\\n"):
            line, _, shown = shown.partition("\n")
            command += f"{line}\n"
        yield command.strip(), shown


def without_chance(text: str) -> str:
    """Put a mark in the place of all that differs from run to run, and from place to place."""
    # What is said only where a step takes a while:
    text = re.sub(r"(?m)^(?:setting up|running|looking at|trying) .* …\n", "", text)
    for varying in (
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
        r"(?m)^\d\d:\d\d:\d\d(?=  )",
        r"(?<=expires_at=)\d+",
        r"\b\d+ s\b *",
        r"[^\s']*(?=/shop[/-]|/saved\b)",
        r"\d+\.\d+\.\d+|\d+\.\d (?=[MG]B)",
        r"\b[0-9a-f]{7,}\b",
    ):
        text = re.sub(varying, "…", text)
    return text.strip("\n")


def steps(name: str) -> Iterator[tuple[str, str]]:
    """Yield what a reader of a page would type, and see; files to be written are typed as well."""
    found = FENCE.findall((ROOT / name).read_text("utf-8"))
    yield from session(BEFORE.get(name, ""))
    for language, title, body in found:
        if title:
            yield f"cat > {title} <<'EOF'\n{body}EOF", ""
        elif language == "console":
            yield from session(body)

"""Nasty histories, made from a seed: renames, modes, links, submodules, line ends, attributes, …"""

import random
import subprocess
from pathlib import Path

from msgspec import Struct

_LINES = [f"line {number} of a file that is long enough to be found again" for number in range(40)]
_ATTRIBUTES = (
    b"*.union merge=union\n",
    b"* merge=union\n",
    b"*.txt merge=union\n[attr]mine -merge\na/** mine\n",
    b"*.bin binary\n*.txt text\n",
    b"*.crlf text eol=crlf\n",
    b"*.txt -merge\n",
    b"sub/** merge=mine\n*.txt conflict-marker-size=11\n",
    b"* text=auto\n*.union merge=union\n",
)

Files = dict[str, tuple[str, bytes]]  # path to mode and content


class History(Struct, frozen=True):
    """A repository with a base, a target and a branch that was made from the base."""

    base: str
    target: str
    branch: str


def write(folder: Path, seed: int, count: int) -> list[History]:
    """Write `count` forks into one new repository, in one stream; the same for the same seed."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    chance = random.Random(seed)
    stream = _Stream()
    marks = []
    for _ in range(count):
        base_files = _first(chance)
        base = stream.commit(base_files, [], "base")
        sides = []
        for side in ("target", "branch"):
            files, tip = dict(base_files), base
            for number in range(chance.randint(1, 3)):
                files = _edited(chance, files)
                tip = stream.commit(files, [tip], f"{side} {number}")
                if side == "branch" and chance.random() < 0.1:
                    other = stream.commit(_edited(chance, files), [tip], "inner branch")
                    files = _edited(chance, files)
                    tip = stream.commit(files, [tip], "inner main")
                    tip = stream.commit(files, [tip, other], "an inner merge")
            sides.append(tip)
        marks.append((base, *sides))
    oids = stream.load(folder)
    return [History(*(oids[mark] for mark in three)) for three in marks]


def write_one_base(folder: Path, seed: int, count: int) -> tuple[str, list[str]]:
    """Write one base and `count` branches from it."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    chance = random.Random(seed)
    stream = _Stream()
    files = _first(chance)
    base = stream.commit(files, [], "base")
    marks = [stream.commit(_edited(chance, files), [base], f"branch {n}") for n in range(count)]
    oids = stream.load(folder)
    return oids[base], [oids[mark] for mark in marks]


class _Stream:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.mark = 0

    def commit(self, files: Files, parents: list[int], message: str) -> int:
        self.mark += 1
        person = b"Person %d <p%d@example.org> %d +0200" % (
            self.mark % 3,
            self.mark % 3,
            1700000000 + self.mark * 60,
        )
        text = message.encode()
        lines = [b"commit refs/heads/c%d" % self.mark, b"mark :%d" % self.mark]
        lines += [b"author " + person, b"committer " + person]
        lines += [b"data %d\n%s" % (len(text), text)]
        for number, parent in enumerate(parents):
            lines.append((b"merge :%d" if number else b"from :%d") % parent)
        lines.append(b"deleteall")
        for path, (mode, content) in sorted(files.items()):
            if mode == "160000":
                lines.append(b"M 160000 %s %s" % (content, path.encode()))
            else:
                lines.append(b"M %s inline %s" % (mode.encode(), path.encode()))
                lines.append(b"data %d\n%s" % (len(content), content))
        self.parts.append(b"\n".join(lines) + b"\n")
        return self.mark

    def load(self, folder: Path) -> dict[int, str]:
        marks = folder / ".git" / "marks"
        subprocess.run(
            ["git", "fast-import", "--quiet", f"--export-marks={marks}"],
            cwd=folder,
            input=b"".join(self.parts),
            check=True,
        )
        pairs = (line.split() for line in marks.read_text().splitlines())
        return {int(mark[1:]): oid for mark, oid in pairs}


def _first(chance: random.Random) -> Files:
    files: Files = {"README.txt": ("100644", _text(chance))}
    for folder in ("a", "b", "a/deep", "sub"):
        for number in range(chance.randint(1, 4)):
            kind = chance.choice(("txt", "txt", "union", "crlf", "bin"))
            content = _text(chance)
            if kind == "crlf" and chance.random() < 0.5:
                content = content.replace(b"\n", b"\r\n")
            if kind == "bin":
                content = b"\0" + content
            files[f"{folder}/f{number}.{kind}"] = ("100644", content)
    files["tool"] = ("100755", b"#!/bin/sh\n" + _text(chance))
    files["link"] = ("120000", b"a/f0.txt")
    files["module"] = ("160000", b"1" * 40)
    if chance.random() < 0.6:
        files[".gitattributes"] = ("100644", chance.choice(_ATTRIBUTES))
    if chance.random() < 0.2:
        files["a/.gitattributes"] = ("100644", chance.choice(_ATTRIBUTES))
    return files


def _text(chance: random.Random) -> bytes:
    start = chance.randint(0, 20)
    lines = _LINES[start : start + chance.randint(8, 20)]
    return "".join(f"{line} {chance.randint(0, 3)}\n" for line in lines).encode()


def _edited(chance: random.Random, files: Files) -> Files:
    files = dict(files)
    for _ in range(chance.randint(1, 4)):
        chance.choice(_EDITS)(chance, files)
    return files


def _plain(chance: random.Random, files: Files) -> str | None:
    paths = sorted(path for path, (mode, _) in files.items() if mode.startswith("100"))
    return chance.choice(paths) if paths else None


def _change(chance: random.Random, files: Files) -> None:
    if path := _plain(chance, files):
        mode, content = files[path]
        lines = content.split(b"\n")
        at = chance.randrange(len(lines))
        end = b"\r" if b"\r\n" in content else b""
        lines[at : at + chance.randint(0, 2)] = [b"changed %d%s" % (chance.randint(0, 9), end)]
        files[path] = (mode, b"\n".join(lines))


def _rename(chance: random.Random, files: Files) -> None:
    if path := _plain(chance, files):
        folder = chance.choice(("a", "b", "new", "a/deep"))
        target = f"{folder}/{chance.choice(('moved', path.rpartition('/')[2]))}"
        if _fits(files, target):
            files[target] = files.pop(path)


def _rename_folder(chance: random.Random, files: Files) -> None:
    old, new = chance.choice(("a", "b", "a/deep", "sub")), chance.choice(("c", "d", "a/e"))
    for path in [one for one in files if one.startswith(f"{old}/")]:
        target = new + path[len(old) :]
        if _fits(files, target):
            files[target] = files.pop(path)


def _add(chance: random.Random, files: Files) -> None:
    folder = chance.choice(("a", "b", "a/deep", "sub", "c", "new"))
    path = f"{folder}/n{chance.randint(0, 2)}.{chance.choice(('txt', 'union', 'crlf'))}"
    if _fits(files, path):
        files[path] = ("100644", _text(chance))


def _delete(chance: random.Random, files: Files) -> None:
    if len(files) > 3:
        files.pop(chance.choice(sorted(files)))


def _mode(chance: random.Random, files: Files) -> None:
    if path := _plain(chance, files):
        mode, content = files[path]
        files[path] = ("100644" if mode == "100755" else "100755", content)


def _link(chance: random.Random, files: Files) -> None:
    path = chance.choice(("link", "a/link", "tool"))
    if path in files or _fits(files, path):
        files[path] = ("120000", chance.choice((b"b", b"README.txt", b"nowhere")))


def _module(chance: random.Random, files: Files) -> None:
    path = chance.choice(("module", "sub2"))
    if path in files or _fits(files, path):
        files[path] = ("160000", str(chance.randint(2, 4)).encode() * 40)


def _file_to_folder(chance: random.Random, files: Files) -> None:
    if path := _plain(chance, files):
        mode, content = files.pop(path)
        files[f"{path}/inside"] = (mode, content)


def _folder_to_file(chance: random.Random, files: Files) -> None:
    folder = chance.choice(("a/deep", "b", "new"))
    for path in [one for one in files if one.startswith(f"{folder}/")]:
        del files[path]
    if _fits(files, folder):
        files[folder] = ("100644", _text(chance))


def _line_ends(chance: random.Random, files: Files) -> None:
    if path := _plain(chance, files):
        mode, content = files[path]
        plain = content.replace(b"\r\n", b"\n")
        files[path] = (mode, plain if plain != content else plain.replace(b"\n", b"\r\n"))


def _attributes(chance: random.Random, files: Files) -> None:
    path = chance.choice((".gitattributes", "a/.gitattributes"))
    if path in files or _fits(files, path):
        files[path] = ("100644", chance.choice(_ATTRIBUTES))


def _fits(files: Files, path: str) -> bool:
    parts = path.split("/")
    above = {"/".join(parts[:n]) for n in range(1, len(parts))}
    taken = path in files or any(one.startswith(f"{path}/") for one in files)
    return not taken and not above & files.keys()


_EDITS = (
    *(_change,) * 8,
    *(_rename,) * 3,
    *(_add,) * 3,
    *(_rename_folder, _delete, _mode, _link, _module),
    *(_file_to_folder, _folder_to_file, _line_ends, _attributes),
)

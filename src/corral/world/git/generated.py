"""Generated files instead of a conflict in them: what a command made is used in that merge only.

What it made is kept by path and by the whole merged tree, because it may depend on any other file.
It is a tree of blobs under one ref, so that a restarted refinery has it; what is no longer there is
generated again. `matching` says which paths match patterns.

Conflicts that agents have resolved are not learned from. A resolution is right in its place: git's
`rerere` applies it wherever the same lines meet. With a key of path, base and both sides it could
return only if the same work were handed in twice, because resolved work is built on the trunk.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from os.path import join

from msgspec import Struct

from corral.core.errors import Failed
from corral.core.refs import GENERATED_REF
from corral.world.git.attributes import pattern_line
from corral.world.git.command import GitFailed
from corral.world.git.merge import Merged, Merger
from corral.world.git.view import Desk, View

_PLAIN = ("100644", "100755")
_CONTENTS = "CONFLICT (contents)"
_MARKER = re.compile(rb"^(<{7,}|={7,}|>{7,}|\|{7,})( |\r?$)", re.MULTILINE)
_ATTEMPTS = 20
_MOST = 200  # files; if there are more, it starts again with the newest


class Riddle(Struct, frozen=True):
    """A conflict in the content of one file only."""

    path: str
    mode: str
    key: str


class GeneratedContents:
    def __init__(self, merger: Merger) -> None:
        self._merger = merger

    def apply(self, merged: Merged) -> Merged:
        """Put in what was generated for this merge; it is clean if that resolves all conflicts."""
        asked = riddles(merged)
        answers = self._merger.objects.read([f"{GENERATED_REF}:{one.key}" for one in asked])
        known = [
            (riddle, found[0])
            for riddle, found in zip(asked, answers, strict=True)
            if found is not None and found[1] == "blob"
        ]
        if not known:
            return merged
        tree = self._merger.with_files(
            merged.tree, [(one.mode, oid, one.path) for one, oid in known]
        )
        done = {riddle.path for riddle, _ in known}
        left = tuple(stage for stage in merged.conflicts if stage.path not in done)
        messages = tuple(
            one for one in merged.messages if not (one.conflict and done.issuperset(one.paths))
        )
        clean = not left and not any(one.conflict for one in messages)
        return Merged(tree, clean, left, messages)

    def remember(self, merged: Merged, made: str) -> tuple[str, ...]:
        """Keep the files of a tree that was made for a merge, without markers; return paths."""
        usable = [one for one in riddles(merged) if "\n" not in one.path]
        answers = self._merger.objects.read([f"{made}:{one.path}" for one in usable])
        learnt = [
            (one, found[0])
            for one, found in zip(usable, answers, strict=True)
            if found is not None and found[1] == "blob" and not _MARKER.search(found[2])
        ]
        self._change([("100644", oid, one.key) for one, oid in learnt])
        return tuple(one.path for one, _ in learnt)

    def _change(self, entries: Sequence[tuple[str, str, str]]) -> None:
        view = self._merger.view
        for _ in range(_ATTEMPTS if entries else 0):
            old = view.commit(GENERATED_REF)
            known = view.run("ls-tree", "-r", "--name-only", old) if old else b""
            few = old if known.count(b"\n") < _MOST else None
            tree = self._merger.with_files(few, entries)
            said = view.run("commit-tree", tree, stdin=b"Generated files\n")
            try:
                view.move(GENERATED_REF, said.decode().strip(), old)
            except GitFailed:
                if view.commit(GENERATED_REF) == old:
                    raise
                continue  # another process was faster
            return
        if entries:
            raise Failed(f"{GENERATED_REF} keeps changing; nothing was kept")


def riddles(merged: Merged) -> list[Riddle]:
    """Return the conflicts in content only, of regular files with the same mode."""
    found = []
    for path in dict.fromkeys(stage.path for stage in merged.conflicts):
        stages = {one.stage: one for one in merged.conflicts if one.path == path}
        about = [one for one in merged.messages if one.conflict and path in one.paths]
        if any(one.kind != _CONTENTS for one in about) or not {2, 3} <= stages.keys():
            continue
        modes = {one.mode for one in stages.values()}
        if len(modes) == 1 and modes <= set(_PLAIN):
            key = hashlib.sha256(os.fsencode(f"{merged.tree} {path}")).hexdigest()
            found.append(Riddle(path, modes.pop(), f"{key[:2]}/{key[2:]}"))
    return found


def matching(view: View, patterns: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that match any of the `.gitattributes` patterns."""
    if not patterns or not paths:
        return ()
    with view.desk() as desk, tempfile.TemporaryDirectory(prefix="corral-paths-") as folder:
        with open(join(folder, ".gitattributes"), "wb") as file:
            file.write(b"".join(pattern_line(pattern, "corral-rule") for pattern in patterns))
        said = Desk(view, desk.folder, folder).run(
            *("check-attr", "-z", "--stdin", "corral-rule"),
            stdin=b"".join(os.fsencode(path) + b"\0" for path in paths),
        )
    words = said.split(b"\0")
    found = {os.fsdecode(p) for p, v in zip(words[::3], words[2::3], strict=False) if v == b"set"}
    return tuple(path for path in paths if path in found)

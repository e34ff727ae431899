"""Whether the checks notice broken code, or test another copy of the project.

A commit is made in which the sources are broken, and the checks run on it, exactly as on any other:
a set-up that only installs is kept from the sound tree, any other one runs on the broken files.
Checks that pass all the same are tried with broken tests, too.
"""

import json
import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from os.path import basename

from msgspec import Struct

from corral.core import canary
from corral.core.canary import Targets
from corral.core.config import TreeSettings
from corral.roles.preflight.finding import BAD, NOTE, OK, Finding, setting
from corral.world import checks
from corral.world.checks import ChecksRun, RunOutcome
from corral.world.git.merge import Merger
from corral.world.git.objects import Objects
from corral.world.git.view import View

_MOST = 50  # packages that are looked for
_READ = 500  # test files that are read
_MARK = "copy: "
_LOOKING = ": looking for another copy of the project"
_EDITABLE = '[["python3", "-m", "venv", ".venv"], [".venv/bin/pip", "install", "-e", "."]]'
_NPM = '[["npm", "ci"]]'
_PYTHON = """\
import importlib.util, json, os, sys
here = os.path.realpath(".")
sys.path[:] = [p for p in sys.path if p and os.path.realpath(p) != here]
for name, rest in json.loads(sys.argv[1]).items():
    if name in getattr(sys, "stdlib_module_names", ()):
        continue
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        spec = None
    if spec is None:
        continue
    for place in spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]:
        path = os.path.realpath(os.path.join(place, rest))
        if os.path.isfile(path) and not path.startswith(here + os.sep):
            print("copy: Python imports " + name + " from " + os.path.realpath(place))
            sys.exit()
"""
_NODE = """\
const fs = require("fs"), path = require("path"), here = fs.realpathSync(".");
for (const name of JSON.parse(process.argv[1])) {
  for (const folder of require.resolve.paths(name) || []) {
    const found = path.join(folder, name);
    if (!fs.existsSync(found)) continue;
    const real = fs.realpathSync(found);
    if (real.startsWith(here + path.sep)) break;
    console.log("copy: Node loads " + name + " from " + real);
    process.exit();
  }
}
"""

Try = Callable[[str, str, Sequence[str]], tuple[ChecksRun, RunOutcome]]


class _Tracked(Struct, frozen=True):
    mode: str
    blob: str


class Canary:
    def __init__(self, view: View, attempt: Try, trees: TreeSettings) -> None:
        """`attempt` runs commands on a commit, which it calls by the name that is given first."""
        self._view = view
        self._try = attempt
        self._trees = trees

    def tried(self, base: str, commit: str, commands: Sequence[str]) -> tuple[Finding, ...]:
        """Return what is found about checks that pass on a commit."""
        files = self._files(commit)
        chosen = canary.targets({path: file.mode for path, file in files.items()}, commands)
        if not chosen.sources:
            return ()
        called = f"{base} with broken code, to see whether the checks notice"
        with Merger(self._view) as merger:
            broken = self._broken(merger, commit, files, chosen.sources)
            deaf = self._passing(called, broken, commands)
            both = self._broken(merger, broken, files, chosen.tests) if deaf else ""
        still = self._passing(called, both, deaf)
        if len(still) == len(commands):
            said = "the checks pass whatever the code contains, so they prove nothing about it"
            return (Finding("proof", NOTE, said, "set checks that run the project's tests"),)
        blind = [command for command in deaf if command not in still]
        copy = self._copy(called, broken, blind, chosen, files) if blind else ""
        if not copy and len(deaf) < len(commands):
            return (Finding("proof", OK, "the checks fail when the code is broken"),)
        if not copy and not self._used(chosen, files):
            said = "the checks pass although every source file is broken: no test uses any of them"
            return (Finding("proof", NOTE, said, "add a test that uses the code"),)
        return (self._elsewhere(commands, blind, copy),)

    def _files(self, commit: str) -> dict[str, _Tracked]:
        """Return the files of a commit that have any content."""
        listed = os.fsdecode(self._view.run("ls-tree", "-r", "-l", "-z", commit)).split("\0")
        found = {}
        for about, _, path in (line.partition("\t") for line in listed if line):
            mode, _, blob, size = about.split()
            if size != "0":
                found[path] = _Tracked(mode, blob)
        return found

    def _broken(
        self, merger: Merger, commit: str, files: dict[str, _Tracked], paths: Sequence[str]
    ) -> str:
        """Return a commit like this one in which these files are no programs."""
        blob = self._view.run("hash-object", "-w", "--stdin", stdin=canary.BROKEN).decode().strip()
        entries = [(files[path].mode, blob, path) for path in paths]
        tree = merger.with_files(f"{commit}^{{tree}}", entries)
        return merger.stand_in(tree, (commit,))

    def _passing(self, called: str, commit: str, commands: Sequence[str]) -> list[str]:
        """Return the commands that pass on a commit; those that fail are left out one by one."""
        left = list(commands)
        while left:
            _, ended = self._try(called, commit, left)
            if ended.green:
                break
            left = [one for one in left if one != ended.command] if ended.command in left else []
        return left

    def _used(self, chosen: Targets, files: dict[str, _Tracked]) -> bool:
        """Say whether a test mentions one of the sources."""
        wanted = canary.names(chosen.sources)
        blobs = [files[path].blob for path in chosen.tests[:_READ]]
        with Objects(self._view) as objects:
            texts = objects.contents(blobs, "blob")
        return any(canary.mentions(text.decode("utf-8", "replace"), wanted) for text in texts)

    def _copy(
        self,
        called: str,
        commit: str,
        commands: Sequence[str],
        chosen: Targets,
        files: dict[str, _Tracked],
    ) -> str:
        """Return where the project is installed outside of its tree, in words; empty if unknown."""
        asked = []
        if found := dict([*canary.packages(chosen.sources).items()][:_MOST]):
            asked.append(_ask_python(commands, found))
        if "package.json" in files:
            asked.append(f"node -e {shlex.quote(_NODE)} {shlex.quote(self._packages(files))}")
        if not asked:
            return ""
        asked = [f"{_LOOKING}\n({one}) 2>/dev/null; true" for one in asked]
        run, _ = self._try(called, commit, asked)
        said = (line for line in checks.tail(run.folder, 2 * _MOST) if line.startswith(_MARK))
        return next(said, "").removeprefix(_MARK).strip()

    def _packages(self, files: dict[str, _Tracked]) -> str:
        found = []
        manifests = [file.blob for path, file in files.items() if basename(path) == "package.json"]
        with Objects(self._view) as objects:
            for text in objects.contents(manifests[:_MOST], "blob"):
                with suppress(ValueError, AttributeError):
                    found.append(json.loads(text).get("name"))
        return json.dumps([name for name in found if isinstance(name, str)])

    def _elsewhere(self, commands: Sequence[str], blind: Sequence[str], copy: str) -> Finding:
        passes = "the checks pass" if len(blind) == len(commands) else f"{blind[0]!r} passes"
        test = "they test" if len(blind) == len(commands) else "it tests"
        said = f"{passes} although every source file is broken: {test} another copy of the project"
        example = _NPM if copy.startswith("Node") else _EDITABLE
        mend = "install the project in each tree, for example "
        if self._trees.setup:
            mend = "let trees.setup install the project in each tree, for example "
        return Finding(
            "proof",
            BAD,
            f"{said} ({copy})" if copy else said,
            mend + setting("trees", f"setup = {example}"),
        )


def _ask_python(commands: Sequence[str], packages: dict[str, str]) -> str:
    """Return a command that asks each Python that a check may use where it finds packages."""
    words = dict.fromkeys(word for command in commands for word in command.split()[:3])
    named = [word for word in words if not word.startswith("-") and "=" not in word]
    beside = [f'"$(dirname "$(command -v {shlex.quote(word)})")/python"' for word in named]
    exact = [shlex.quote(word) for word in named if basename(word).startswith("python")]
    code, asked = shlex.quote(_PYTHON), shlex.quote(json.dumps(packages))
    every = " ".join([*exact, *beside, "python", "python3"])
    return f'for p in {every}; do "$p" -c {code} {asked}; done'

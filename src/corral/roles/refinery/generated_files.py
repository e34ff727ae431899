"""Generated files: when they conflict, they are generated again instead of being merged.

A run of its own kind checks out the merge, with the trunk's side of these files, and runs the
command. The files that it generates are kept for this merge, which is clean from then on. The
result is checked and landed like any other change.
"""

from collections.abc import Sequence
from os.path import join, realpath

from corral.core.config import RegenerateSettings
from corral.core.errors import CorralError
from corral.core.log.state import State
from corral.core.queue.fold import trunk_of
from corral.core.queue.rules import CANCELLED, LOST, REGENERATE
from corral.core.queue.state import CheckRun
from corral.roles.refinery.stacks import COMMITTER, Misfit, Stack, Stacks
from corral.world.git.generated import matching, riddles
from corral.world.git.merge import Merged
from corral.world.git.messages import Text, commit_object
from corral.world.git.tree import read_plain

_MOST_BYTES = 64 << 20


class GeneratedFiles:
    def __init__(self, stacks: Stacks, rules: Sequence[RegenerateSettings]) -> None:
        self._stacks = stacks
        self._rules = rules

    def prepared(self, misfit: Misfit) -> Stack | None:
        """Return the commit to run the commands on; None if they cannot resolve this conflict."""
        if not self.commands_for(misfit.merged):
            return None
        tip, merged = misfit.tip, misfit.merged
        ours = [(one.mode, one.oid, one.path) for one in merged.conflicts if one.stage == 2]
        tree = self._stacks.with_files(merged.tree, ours)
        committer = COMMITTER.line(misfit.change.queued_at // 1000)
        text = Text(committer, b"to make files anew\n")
        content = commit_object(tree, [tip], text, committer)
        (commit,) = self._stacks.objects.write_commits([content])
        return Stack(tip, (commit,), tree, commit)

    def commands_for(self, merged: Merged) -> tuple[str, ...]:
        """Return the commands that generate all files in conflict, if there are any."""
        paths = [riddle.path for riddle in riddles(merged)]
        if not self._rules or not paths or set(paths) != set(merged.paths):
            return ()
        view = self._stacks.objects.view
        found = [(rule.command, matching(view, rule.paths, paths)) for rule in self._rules]
        if {path for _, matched in found for path in matched} >= {*paths}:
            return tuple(dict.fromkeys(command for command, matched in found if matched))
        return ()

    def commands(self, state: State, check: CheckRun) -> tuple[str, ...]:
        """Return the commands of an announced run, if its conflict still exists."""
        misfit = self._misfit(state, check)
        return self.commands_for(misfit.merged) if misfit else ()

    def take(self, state: State, check: CheckRun, folder: str) -> str:
        """Remember the files that a run has generated in a folder; say what is wrong with them."""
        misfit = self._misfit(state, check)
        if misfit is None:
            return ""  # nothing waits for it any more
        merged, view = misfit.merged, self._stacks.objects.view
        made = []
        try:
            for riddle in riddles(merged):
                content = _content(folder, riddle.path)
                blob = view.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content)
                made.append((riddle.mode, blob.decode().strip(), riddle.path))
            tree = self._stacks.with_files(merged.tree, made)
            learnt = self._stacks.generated.remember(merged, tree)
        except (CorralError, OSError) as error:
            return str(error)
        self._stacks.forget(misfit)
        left = [riddle.path for riddle in riddles(merged) if riddle.path not in learnt]
        return f"{left[0]!r} still has conflict markers" if left else ""

    def _misfit(self, state: State, check: CheckRun) -> Misfit | None:
        change = state.changes.get(check.members[0])
        if change is None or trunk_of(state, check.convoy).tip != check.tip:
            return None
        return next(iter(self._stacks.conflicts_with(state, check.tip, [change])), None)


def last_run(state: State, stack: Stack) -> CheckRun | None:
    """Return the run that tried this or is trying it; runs without a result do not count."""
    wanted = (REGENERATE, stack.commit)
    found = (one for one in reversed(state.checks.values()) if (one.kind, one.commit) == wanted)
    return next((check for check in found if check.result not in (LOST, CANCELLED)), None)


def _content(folder: str, path: str) -> bytes:
    place = join(realpath(folder), path)
    if realpath(place) != place:
        raise OSError(f"{path!r} is not a plain file any more")
    found = read_plain(place, _MOST_BYTES + 1)
    if found is None or len(found) > _MOST_BYTES:
        raise OSError(f"{path!r} is not there, or too long")
    return found

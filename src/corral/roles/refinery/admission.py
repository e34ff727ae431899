"""Admit submitted work to the queue: pin its commit, and find where it left the trunk."""

from collections.abc import Mapping, Sequence

from corral.core.ids import TaskId
from corral.core.log.state import State, Task
from corral.core.queue import rules as queue_rules
from corral.core.refs import QUEUE_REFS, task_branch
from corral.roles.log import Log
from corral.roles.refinery.pins import Pins
from corral.roles.refinery.stacks import COMMITTER
from corral.roles.trunks import SETTINGS, Trunks
from corral.world.git.messages import commit_object, reapplied
from corral.world.git.objects import Objects
from corral.world.git.paths import changed_paths
from corral.world.git.reverts import start_of_reverted
from corral.world.git.tree import read_branch
from corral.world.keep import Keep

NOTHING = "nothing_to_land"
_WALKED = 200


class Admission:
    def __init__(
        self, log: Log, objects: Objects, keep: Keep, trunks: Trunks, returns: int
    ) -> None:
        self._log = log
        self._trunks = trunks
        self._objects = objects
        self._view = objects.view
        self._keep = keep
        self._returns = returns
        self._pins = Pins(self._view, QUEUE_REFS)

    def admit(self, state: State, tasks: Sequence[Task], trunk: str) -> None:
        """Put the work of tasks into the queue; return work that cannot land at all."""
        found = self._commits(tasks)
        new = self._view.new_commits(trunk, [commit for _, commit in found])
        queued = {change.task: change.commit for change in state.changes.values()}
        queued |= {task.id: commit for task, commit in found}
        forked: list[tuple[Task, str, str]] = []
        for task, commit in found:
            fork = self._built_on(state, task, commit, queued)
            if fork is not None:
                forked.append((task, commit, fork))
                continue
            fork = self._left(trunk, commit, new)
            if fork is None:
                self._send_back(task, "its history has nothing in common with the trunk")
            else:
                forked.append((task, *self._again(task, commit, fork, trunk)))
        if not forked:
            return
        for task, commit, _ in forked:
            # An earlier attempt is kept if the new one was not built on it.
            former = self._pins.all().get(task.id)
            if former and former != commit and not self._view.surely_contains(commit, former):
                branch = task_branch(task.convoy, task.id)
                self._keep.hold(task.session or task.id, branch, former, "it was submitted again")
        self._pins.hold({task.id: commit for task, commit, _ in forked})
        changed = changed_paths(self._view, [(fork, commit) for _, commit, fork in forked])
        rule = queue_rules.queue_change
        for (task, commit, fork), one in zip(forked, changed, strict=True):
            paths = sorted(one.all)
            settings = self._trunks.settings_in(state, task.convoy, paths, commit, None)
            if settings:
                said = f"it changes {', '.join(settings[:5])}: only a person changes Corral's"
                said += " settings, on the base branch or on the trunk"
                self._send_back(task, said, "settings")
                self._log.alert(SETTINGS, task.id, f"{task.id} came back: {said}")
                continue
            self._log.over(SETTINGS, task.id)
            self._log.note(rule, task.id, task.commit, commit=commit, fork=fork, paths=paths)

    def release(self, state: State) -> None:
        """Release the pins of work that no longer waits; no commit becomes unreachable."""
        waiting = {task.id for task in queue_rules.waiting(state)}
        held = waiting | state.changes.keys() | state.returned.keys()
        tasks = {str(task.id): task for task in state.tasks.values()}
        gone = [name for name in self._pins.all() if name not in held]
        for name in gone:
            task, commit = tasks.get(name), self._pins.all()[name]
            if task is None:
                continue
            branch = task_branch(task.convoy, task.id)
            tip = self._view.tip(branch)
            if tip is None or not self._view.surely_contains(tip, commit):
                self._keep.hold(task.session or task.id, branch, commit, "it has left the queue")
        self._pins.let_go(gone)

    def _commits(self, tasks: Sequence[Task]) -> list[tuple[Task, str]]:
        """Return the submitted commits: the one that a task names, or else its branch."""
        branches = (read_branch(self._view.git_dir, task_branch(t.convoy, t.id)) for t in tasks)
        named = [task.commit or tip or "" for task, tip in zip(tasks, branches, strict=True)]
        # A name with a newline would be two questions to git; no commit's name has one.
        asked = [name if name and name.isprintable() else "-" for name in named]
        found = []
        for task, commit in zip(tasks, self._view.commits(*asked), strict=True):
            if commit is not None:
                self._log.over(NOTHING, task.id)
                found.append((task, commit))
            elif task.commit:
                self._send_back(task, f"the submitted commit {task.commit[:12]} does not exist")
            else:
                self._log.alert(
                    NOTHING,
                    task.id,
                    f"{task.id} was submitted without a commit and has no branch, so nothing can"
                    f" land: corral task land {task.id} if it is merged,"
                    f" corral task retry {task.id} if not",
                )
        return found

    def _built_on(
        self, state: State, task: Task, commit: str, queued: Mapping[TaskId, str]
    ) -> str | None:
        """Return the commit of another task that this work builds on, landed or not."""
        for need in task.needs:
            session = state.sessions.get(state.tasks[need].session)
            # It may have landed as another commit.
            for work in (session.commit if session else "", queued.get(need, "")):
                if work and work != commit and self._view.surely_contains(commit, work):
                    return work
        return None

    def _left(self, trunk: str, commit: str, new: set[str]) -> str | None:
        """Return where a history left the trunk; for a linear one, without asking git."""
        at = commit
        for _ in range(_WALKED):
            if at not in new:
                return at
            parents = self._objects.commit(at).parents
            if len(parents) != 1:
                break
            at = parents[0]
        return self._view.fork(trunk, commit)

    def _again(self, task: Task, commit: str, fork: str, trunk: str) -> tuple[str, str]:
        """Return the work and its fork point; reverted work as a commit that can land again.

        The trunk has the reverted commits in its history, so merging them would change nothing.
        """
        start = start_of_reverted(self._objects, commit, fork, trunk) if fork != trunk else None
        if start is None:
            return commit, fork
        work = self._objects.commit(commit)
        committer = COMMITTER.line(task.changed_at // 1000)
        content = commit_object(work.tree, [start], reapplied(work), committer)
        return self._objects.write_commits([content])[0], start

    def _send_back(self, task: Task, detail: str, why: str = "gone") -> None:
        self._log.note(
            queue_rules.send_back, task.id, task.commit, why, most=self._returns, detail=detail
        )

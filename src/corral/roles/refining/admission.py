"""Take work that was handed in into the queue: pin its commit, and find where it left the trunk."""

from corral.core import queue_rules
from corral.core.ids import ConvoyId
from corral.core.state import State, Task
from corral.roles.log import Log
from corral.world.git.landing import QUEUE, pin, pinned, unpin
from corral.world.git.paths import changed_paths
from corral.world.git.tree import read_branch
from corral.world.git.view import View
from corral.world.keep import Keep

NOTHING = "nothing_to_land"


class Admission:
    def __init__(self, log: Log, view: View, keep: Keep, returns: int) -> None:
        self._log = log
        self._view = view
        self._keep = keep
        self._returns = returns

    def admit(self, state: State, task: Task, trunk: str) -> None:
        """Put a task's work in the queue, or send it back if there is nothing that can land."""
        commit = self._commit(task)
        if commit is None:
            self._nothing(task)
            return
        self._log.over(NOTHING, task.id)
        fork = self._fork(state, task, commit, trunk)
        if fork is None:
            self._send_back(task, "its history has nothing in common with the trunk")
            return
        pin(self._view, QUEUE, task.id, commit)
        paths = sorted(changed_paths(self._view, [(fork, commit)])[0].all)
        self._log.record(
            lambda state, _: queue_rules.queue_change(
                state, task.id, task.commit, commit=commit, fork=fork, paths=paths
            )
        )

    def release(self, state: State) -> None:
        """Let go of the pins of work that does not wait any more; nothing becomes unreachable."""
        for name, commit in pinned(self._view, QUEUE).items():
            task = next((one for one in state.tasks.values() if one.id == name), None)
            if task is not None and (task.id in state.changes or task.id in state.returned):
                continue
            if task is not None and task in queue_rules.waiting(state):
                continue
            if task is not None:
                branch = _branch(task.convoy, task.id)
                if not self._reaches(branch, commit):
                    self._keep.hold(
                        task.session or task.id, branch, commit, "it has left the queue"
                    )
            unpin(self._view, QUEUE, name)

    def _commit(self, task: Task) -> str | None:
        """Return what was handed in: the commit that the task names, else its branch as it is."""
        branch = _branch(task.convoy, task.id)
        tip = read_branch(self._view.git_dir, branch)
        named = task.commit or tip
        return self._view.commits(named)[0] if named else None

    def _fork(self, state: State, task: Task, commit: str, trunk: str) -> str | None:
        """Return where the work begins: where it left the trunk, or what it was built on."""
        for need in task.needs:
            session = state.sessions.get(state.tasks[need].session)
            if session and session.commit and self._contains(commit, session.commit):
                return session.commit  # it may have landed as another commit
        said = self._view.run("merge-base", trunk, commit, fine=(0, 1)).decode().split()
        return said[0] if said else None

    def _nothing(self, task: Task) -> None:
        if not task.commit:
            self._log.alert(
                NOTHING,
                task.id,
                f"{task.id} was handed in without a commit and has no branch: nothing can land;"
                f" corral task land {task.id} if it is merged, corral task retry {task.id} if not",
            )
            return
        self._send_back(task, f"the commit {task.commit[:12]} that was handed in is not there")

    def _send_back(self, task: Task, detail: str) -> None:
        self._log.record(
            lambda state, _: queue_rules.send_back(
                state, task.id, task.commit, "gone", most=self._returns, detail=detail
            )
        )

    def _reaches(self, branch: str, commit: str) -> bool:
        tip = read_branch(self._view.git_dir, branch)
        return tip is not None and self._contains(tip, commit)

    def _contains(self, commit: str, part: str) -> bool:
        if None in self._view.commits(commit, part):
            return False
        return not self._view.run("rev-list", "-n1", part, "--not", commit).strip()


def _branch(convoy: ConvoyId, task: str) -> str:
    return f"convoy/{convoy}/{task}"

"""The next task to offer, without scanning the whole board: for a server, which is asked often.

`index` replaces the state's tasks by a dictionary that also keeps them ordered by rank. To all
other code it is the same dictionary. Without an index the tasks are scanned (`claims.next_offer`);
both must give the same answer. Entries of the heaps may be out of date and are checked against the
task when they come up: a task that is not available then is filed where it will be found once it
is.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from corral.core.ids import TaskId
from corral.core.log.state import State, Task, TaskState

Ready = Callable[[State, Task, int, str], bool]
_Ranked = tuple[int, int, TaskId]
_Timed = tuple[int, TaskId]


def index(state: State) -> None:
    """Keep the tasks of a state in order from now on."""
    if not isinstance(state.tasks, Ordered):
        state.tasks = Ordered(state.tasks)


class Ordered(dict[TaskId, Task]):
    def __init__(self, tasks: dict[TaskId, Task]) -> None:
        super().__init__(tasks)
        self._ranked: list[_Ranked] = []  # available to anyone, best first
        self._reserved: dict[str, set[TaskId]] = {}  # reserved for one claimer
        self._timed: list[_Timed] = []  # available from some time on: expiring claims, retry delays
        self._needing: dict[TaskId, list[TaskId]] = {}  # waiting for a task to land
        for task in tasks.values():
            self._file(task)

    def __setitem__(self, name: TaskId, task: Task) -> None:
        super().__setitem__(name, task)
        self._file(task)
        if task.state is TaskState.DONE:
            for waiting in self._needing.pop(name, ()):
                self._file(self[waiting])

    def best(self, state: State, now: int, claimer: str, ready: Ready) -> Task | None:
        """Return the task to claim next; `ready` says whether a task is available."""
        while self._timed and self._timed[0][0] <= now:
            _, name = heappop(self._timed)
            self._file(self[name], now)
        own = [task for name in self._reserved.pop(claimer, ()) if (task := self[name]).assignee]
        for task in own:
            self._reserved.setdefault(task.assignee, set()).add(task.id)
        mine = (t for t in own if t.assignee == claimer and ready(state, t, now, claimer))
        best = min(mine, key=_rank, default=None)
        if best is not None:
            return best
        while self._ranked:
            task = self[self._ranked[0][2]]
            if not task.assignee and _rank(task) == self._ranked[0]:
                if ready(state, task, now, claimer):
                    return task
                self._put_off(task, now)
            heappop(self._ranked)
        return None

    def _file(self, task: Task, now: int = 0) -> None:
        """File a task where it will be found."""
        if task.assignee:
            self._reserved.setdefault(task.assignee, set()).add(task.id)
        if task.state is TaskState.DOING and task.claim is not None:
            if task.claim.expires_at > now:
                heappush(self._timed, (task.claim.expires_at, task.id))
                return
        elif task.state is not TaskState.TODO:
            return
        if not task.assignee:
            heappush(self._ranked, _rank(task))

    def _put_off(self, task: Task, now: int) -> None:
        """File a task that came up but is not available where it will be found once it is."""
        if task.state not in (TaskState.TODO, TaskState.DOING):
            return
        if task.state is TaskState.DOING and task.claim and task.claim.expires_at > now:
            return  # it is in `_timed`
        if task.not_before_at > now:
            heappush(self._timed, (task.not_before_at, task.id))
            return
        for need in task.needs:
            found = self.get(need)
            if found is None or found.state is not TaskState.DONE:
                self._needing.setdefault(need, []).append(task.id)
                return


def _rank(task: Task) -> _Ranked:
    return -task.priority, task.order, task.id

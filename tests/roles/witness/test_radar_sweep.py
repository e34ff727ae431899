"""A radar sweep: what it reports, what it leaves to others, and what it costs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import State
from corral.core.queue.state import Trunk
from corral.roles.witness.radar_sweep import Sweeper, TaskWork
from corral.world.git.merge import Merger
from corral.world.git.view import View
from corral.world.trees import Tree, Trees
from tests.world.trees.tree_repo import git, opened, repository

SHOP, OTHER = ConvoyId("shop"), ConvoyId("other")


class SweptRepo:
    """A repository with branches; the radar's sweeps over it, with git's starts counted."""

    def __init__(self, folder: Path) -> None:
        self.repo = repository(folder)
        self.base = git(self.repo, "rev-parse", "main")
        self.trees: Trees = opened(self.repo)
        self.state = State()
        self.trunk(self.base)
        self.view = CountingView(str(self.repo / ".git"))
        self.sweeper = Sweeper(Merger(self.view), 5)

    def trunk(self, tip: str) -> None:
        self.state.trunks[SHOP] = Trunk(SHOP, tip)
        self.state.trunks[OTHER] = Trunk(OTHER, tip)

    def commit(self, name: str, content: str, start: str = "") -> str:
        """Commit one file outside of any branch; return the commit."""
        git(self.repo, "checkout", "--quiet", "--detach", start or self.base)
        (self.repo / name).write_text(content)
        git(self.repo, "add", name)
        git(self.repo, "commit", "--quiet", "-m", content)
        return git(self.repo, "rev-parse", "HEAD")

    def work(
        self,
        number: int,
        commit: str,
        *,
        at_work: bool = True,
        tree: Tree | None = None,
        **more: str,
    ) -> TaskWork:
        convoy, fork = ConvoyId(more.get("convoy", SHOP)), more.get("fork", self.base)
        session = SessionId(tree.name if tree else "")
        return TaskWork(TaskId(f"T-{number}"), convoy, commit, fork, at_work, session, tree)

    def sweep(
        self, works: Sequence[TaskWork], heard: set[str] | None = None, now: int = 0
    ) -> set[str]:
        found = self.sweeper.sweep(works, self.state, heard or set(), now)
        return {f"{one.name.strip()}: {','.join(one.paths)}" for one in found}


class CountingView(View):
    starts: list[str]

    def __init__(self, git_dir: str) -> None:
        super().__init__(git_dir)
        self.starts = []

    def run(self, *args: str, **options: object) -> bytes:
        self.starts.append(args[0])
        return super().run(*args, **options)  # type: ignore[arg-type]


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SweptRepo]:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    field = SweptRepo(tmp_path / "project")
    yield field
    field.sweeper.merger.close()


def test_two_of_one_convoy_if_somebody_is_at_it(field: SweptRepo) -> None:
    one, two, three = (field.commit("part0/file0.txt", f"{n}\n") for n in range(3))
    apart = field.commit("part1/file1.txt", "apart\n")
    works = [
        field.work(1, one),
        field.work(2, two),
        field.work(3, apart),
        field.work(4, three, convoy=OTHER),
        field.work(5, two, at_work=False),
        field.work(6, three, at_work=False),
        field.work(7, "0" * 40),  # a branch that names nothing
    ]
    where = "part0/file0.txt"
    assert field.sweep(works) == {
        f"T-1 T-2: {where}",
        f"T-1 T-5: {where}",
        f"T-1 T-6: {where}",
        f"T-2 T-6: {where}",
    }
    field.view.starts.clear()
    assert len(field.sweep(works)) == 4
    assert field.view.starts == [], "what did not change costs nothing"


def test_landed_work_is_reported_once_and_not_for_each_holder(field: SweptRepo) -> None:
    landed = field.commit("part0/file0.txt", "landed\n")
    field.trunk(landed)
    git(field.repo, "branch", "old", field.commit("part0/file0.txt", "old\n"))
    git(field.repo, "branch", "new", field.commit("part0/file0.txt", "landed\nnew\n", landed))
    git(field.repo, "checkout", "--quiet", "main")
    old = field.trees.make("T-1.1", "old", field.base)
    new = field.trees.make("T-2.1", "new", landed)
    works = [
        field.work(1, git(field.repo, "rev-parse", "old"), tree=old),
        field.work(2, git(field.repo, "rev-parse", "new"), tree=new, fork=landed),
    ]
    assert field.sweep(works) == {"T-1: part0/file0.txt"}


def test_a_quiet_tree_is_looked_at_ever_more_seldom(field: SweptRepo) -> None:
    git(field.repo, "checkout", "--quiet", "main")
    tree = field.trees.make("T-1.1", "one", field.base)
    works = [field.work(1, field.base, tree=tree)]
    looks = []
    for second in range(200):
        field.view.starts.clear()
        heard = {tree.path} if second == 150 else set()
        field.sweep(works, heard, second * 1000)
        looks += [second] * field.view.starts.count("status")
    assert looks == [0, 5, 15, 35, 75, 135, 150, 160, 180]
    assert field.sweeper.next_at() == (180 + 40) * 1000
    field.sweep([], now=200_000)
    assert field.sweeper.next_at() is None


def test_work_that_comes_near_nobody_is_not_written(field: SweptRepo) -> None:
    git(field.repo, "checkout", "--quiet", "main")
    one = field.trees.make("T-1.1", "one", field.base)
    two = field.trees.make("T-2.1", "two", field.base)
    works = [field.work(1, field.base, tree=one), field.work(2, field.base, tree=two)]
    (Path(one.path) / "part0" / "file0.txt").write_text("one\n")
    (Path(two.path) / "part1" / "file1.txt").write_text("two\n")
    assert field.sweep(works) == set()
    assert "write-tree" not in field.view.starts
    (Path(two.path) / "part0" / "file0.txt").write_text("two\n")
    assert field.sweep(works, {two.path}, 5000) == {"T-1 T-2: part0/file0.txt"}
    assert field.view.starts.count("write-tree") == 2

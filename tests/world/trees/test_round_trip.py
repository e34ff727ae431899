"""Whatever was done in a tree: pinned, removed and restored, it is the same."""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corral.world.trees import Tree, Trees
from tests.world.trees.tree_repo import git, opened, repository, working_files

NAMES = st.sampled_from(
    [
        b"part0/file0.txt",
        b"part1/file1.txt",
        b"run.sh",
        b"link",
        b".gitignore",
        b".gitattributes",
        b"new",
        b"new/in a folder",
        b"part0",
        b"caf\xe9",
        b"new\nline",
        b"x.log",
    ]
)
CONTENTS = st.sampled_from(
    [b"", b"a\n", b"a\r\nb\n", b"\0\xff", b"* text eol=crlf\n", b"* filter=x ident\n", b"*.log\n"]
)
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENTS),
    st.tuples(st.just("delete"), NAMES, st.none()),
    st.tuples(st.just("link"), NAMES, CONTENTS),
    st.tuples(st.just("mode"), NAMES, st.none()),
    st.tuples(st.just("stage"), NAMES, st.none()),
    st.tuples(st.sampled_from(["stage all", "commit", "amend", "step back"]), st.none(), st.none()),
    st.tuples(
        st.sampled_from(["unstage", "detach", "unborn", "stash", "merge"]), st.none(), st.none()
    ),
)
Step = tuple[str, bytes | None, bytes | None]

COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "stage all": [("add", "--all")],
    "commit": [("commit", "--quiet", "--allow-empty", "-m", "work")],
    "amend": [("commit", "--quiet", "--amend", "--allow-empty", "-m", "amended")],
    "step back": [("reset", "--quiet", "--soft", "HEAD~1")],
    "unstage": [("reset", "--quiet")],
    "detach": [("checkout", "--quiet", "--detach")],
    "unborn": [("symbolic-ref", "HEAD", "refs/heads/unborn")],
    "stash": [("stash", "--quiet"), ("stash", "apply", "--quiet", "--index")],
    "merge": [("merge", "--quiet", "--no-edit", "conflicting")],
}
ANY = tuple(range(256))


def perform(place: bytes, step: Step) -> None:
    """Do one thing; what cannot be done in this state is not done."""
    what, name, content = step
    if name is None:
        for command in COMMANDS[what]:
            git(os.fsdecode(place), *command, fine=ANY)
        return
    path = os.path.join(place, name)
    parent = os.path.dirname(path)
    if not os.path.isdir(parent) or os.path.islink(parent):
        _clear(parent)
        os.mkdir(parent)
    if what in ("write", "link", "delete"):
        _clear(path)
    if what == "write":
        Path(os.fsdecode(path)).write_bytes(content or b"")
    elif what == "link":
        os.symlink((content or b"").replace(b"\0", b"") or b"nowhere", path)
    elif what == "mode" and os.path.isfile(path) and not os.path.islink(path):
        os.chmod(path, 0o644 if os.stat(path).st_mode & 0o100 else 0o755)
    elif what == "stage":
        git(os.fsdecode(place), "add", "--", os.fsdecode(name), fine=ANY)


def _clear(path: bytes) -> None:
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        shutil.rmtree(path)


def seen(place: str) -> tuple[object, ...]:
    """Return all that has to come back: files that are not ignored, the index, HEAD."""
    git(place, "config", "core.quotePath", "false")
    ignored = set(git(place, "ls-files", "-oiz", "--exclude-standard").split("\0"))
    files = {
        path: value
        for path, value in working_files(place).items()
        if os.fsdecode(path) not in ignored
    }
    return files, git(place, "ls-files", "--stage", "-z"), head(place)


def head(place: str) -> str:
    return git(place, "rev-parse", "--verify", "--quiet", "HEAD", fine=(0, 1))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Trees]:
    repo = repository(tmp_path_factory.mktemp("round") / "project", files=4)
    git(repo, "checkout", "--quiet", "-b", "conflicting")
    (repo / "part1" / "file1.txt").write_text("another text\n")
    (repo / "new").write_text("a file here\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "conflicting")
    git(repo, "checkout", "--quiet", "main")
    return repo, opened(repo)


NUMBERS = count()


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, max_size=12), kind=st.sampled_from(["worktree", "clone"]))
def test_a_tree_comes_back_as_it_was(
    shared: tuple[Path, Trees], steps: list[Step], kind: str
) -> None:
    repo, trees = shared
    number = next(NUMBERS)
    tree: Tree = trees.make(
        f"s{number}", f"convoy/x/{number}", "main", kind="clone" if kind == "clone" else "worktree"
    )
    commits = set()
    for step in steps:
        perform(os.fsencode(tree.path), step)
        commits.add(head(tree.path))
    wanted = seen(tree.path)
    kept = trees.remove(tree)
    trees.sweep()
    assert not Path(tree.path).exists()
    for commit in commits - {""}:
        git(repo, "rev-parse", "--verify", f"{commit}^{{commit}}")
        assert git(repo, "for-each-ref", "--contains", commit), "nothing holds it"
    if kept is None:
        assert not wanted[2] or git(repo, "for-each-ref", "--contains", str(wanted[2]))
        return
    back = trees.keep.restore(kept, str(repo.parent / f"back{number}"))
    assert seen(back) == wanted
    shutil.rmtree(back)
    git(repo, "worktree", "prune")

"""Long-lived git processes give right answers, even after an error."""

from pathlib import Path

import pytest

from corral.world.git.command import GitFailed
from corral.world.git.messages import Text, commit_object
from corral.world.git.objects import Objects, commit_id
from corral.world.git.view import View
from tests.world.trees.tree_repo import git, repository


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("count", [1, 3, 200])
def test_commits_are_written_as_they_are(tmp_path: Path, form: str, count: int) -> None:
    git(tmp_path, "init", "--quiet", f"--object-format={form}", "repo")
    repo = tmp_path / "repo"
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "first")
    tree, first = git(repo, "rev-parse", "HEAD^{tree}", "HEAD").split()
    person = b"Ann <ann@example.org> 1700000000 +0000"
    contents = [
        commit_object(tree, [first], Text(person, b"x" * (number * 7 + 1)), person)
        for number in range(count)
    ]
    with Objects(View(str(repo / ".git"))) as objects:
        written = objects.write_commits(contents)
        assert written == [commit_id(content) for content in contents]
        assert [one.message for one in objects.commits(written)] == [
            b"x" * (number * 7 + 1) for number in range(count)
        ]
    git(repo, "fsck", "--strict")


def test_after_a_failure_the_answers_are_still_right(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    head, before = git(repo, "rev-parse", "HEAD", "HEAD^").split()
    with Objects(View(str(repo / ".git"))) as objects:
        with pytest.raises(GitFailed, match="there is no commit"):
            objects.commits([head, "0" * 40, before])
        assert objects.commit(before).oid == before
        with pytest.raises(GitFailed, match="refused"):
            objects.write_commits([b"tree nonsense\n"])
        person = b"Ann <ann@example.org> 1700000000 +0000"
        content = commit_object(objects.commit(head).tree, [head], Text(person, b"m"), person)
        assert objects.write_commits([content]) == [commit_id(content)]
        names = ["main:run.sh", "main:missing", "main:part0", head]
        assert objects.kinds(names) == ["blob", None, "tree", "commit"]

"""Every strategy gives git's own trees, and its own conflicts, on nasty and on real histories."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.world.git.agreement import compare
from tests.world.git.fetch_histories import folder
from tests.world.git.histories import History, write
from tests.world.git.reference import run

_EVERY = int(os.environ.get("CORRAL_EVERY", "6"))  # of the merges of a long history


@pytest.mark.parametrize(
    ("seed", "settings"),
    [
        (1, {}),
        pytest.param(2, {"merge.renormalize": "true"}, marks=pytest.mark.long),
        pytest.param(3, {"merge.directoryRenames": "true"}, marks=pytest.mark.long),
        (4, {"merge.renames": "false", "core.autocrlf": "input"}),
    ],
)
def test_nasty_histories(tmp_path: Path, seed: int, settings: dict[str, str]) -> None:
    repo = tmp_path / "repo"
    histories = write(repo, seed, 14)
    for key, value in settings.items():
        run(repo, "config", key, value)
    seen, differing = compare(repo, tmp_path / "clone", histories, settings)
    assert not differing, "\n".join(differing)
    assert seen["Candidate"] > 5
    assert seen["Conflict"] > 5
    assert seen["git refuses"] < 15


@pytest.mark.skipif(not folder().is_dir(), reason="no histories here: make histories")
def test_real_histories(tmp_path: Path) -> None:
    """About two hundred merges; CORRAL_EVERY=1 compares all five hundred."""
    compared = 0
    for number, source in enumerate(sorted(folder().iterdir())):
        repo = tmp_path / f"repo{number}"
        run(tmp_path, "clone", "--quiet", "--mirror", str(source), f"{repo}/.git")
        run(repo, "config", "core.bare", "false")
        found = list(_merges(repo))
        assert found
        histories = found[:: _EVERY if len(found) > 100 else 1]
        seen, differing = compare(repo, tmp_path / f"clone{number}", histories, {})
        print(source.name, len(histories), dict(seen))
        assert not differing, "\n".join(differing)
        compared += len(histories)
    assert compared >= 150


def _merges(repo: Path) -> list[History]:
    """Return the forks that merge commits joined, where they have one base."""
    said = run(repo, "rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents").stdout
    found = []
    for line in said.decode().splitlines():
        _, ours, theirs = line.split()
        bases = subprocess.run(
            ["git", "merge-base", "--all", ours, theirs],
            cwd=repo,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        if len(bases) == 1 and bases[0] != theirs:
            found.append(History(bases[0], ours, theirs))
    return found

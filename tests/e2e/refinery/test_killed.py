"""A refinery killed after every single write lands everything once and loses nothing."""

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.patience import until

ROOT = Path(__file__).parents[3]
CHECK = "if ls | grep -q '^bad-'; then echo bad; exit 1; fi\n"
_MOST = 400


def live(project: RefineryRepo, lives: int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.e2e.refinery.killed_refinery", str(project.path), str(lives)],
        cwd=ROOT,
        env=project.env,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_killed_after_every_write(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", CHECK, "slots = 2\nreturns = 1\n")
    good = [project.hand_in({f"file-{n}": "x\n"}) for n in range(4)]
    bad = project.hand_in({"bad-1": "x\n"})
    rivals = [project.hand_in({"same": f"{n}\n"}) for n in range(2)]
    before = project.checkout()
    done = live(project, _MOST)
    deaths = done.stderr.splitlines()
    assert done.returncode == 0, deaths[-20:]
    assert {word.split()[0] for word in deaths} >= {"log", "git", "check"}
    states = project.states()
    assert {states[task] for task in good} == {"done"}
    assert states[bad] == "failed"
    assert sorted(states[task] for task in rivals) == ["done", "failed"]
    assert project.checkout() == before
    _nothing_twice(project)
    _nothing_left(project, {task for task in (bad, *rivals) if states[task] == "failed"})
    assert project.here("log", "verify").code == 0


def test_killed_at_random_moments(tmp_path: Path) -> None:
    project = make_refinery_repo(
        tmp_path / "project", f"sleep 0.1\n{CHECK}", "slots = 2\nreturns = 1\n"
    )
    good = [project.hand_in({f"file-{n}": "x\n"}) for n in range(12)]
    bad = project.hand_in({"bad-1": "x\n"})
    chosen = random.Random(20)
    for _ in range(20):
        process = project.started("refinery", "run", stdout=subprocess.DEVNULL)
        time.sleep(chosen.uniform(0.2, 1.0))
        process.kill()
        process.wait()
    project.once()
    states = project.states()
    assert {states[task] for task in good} == {"done"}
    assert states[bad] == "failed"
    _nothing_twice(project)
    _nothing_left(project, {bad})
    assert project.here("log", "verify").code == 0


def test_a_push_between_green_and_landing_is_not_lost_and_nothing_unchecked_lands(
    tmp_path: Path,
) -> None:
    project = make_refinery_repo(tmp_path / "project", CHECK, "slots = 1\n")
    task = project.hand_in({"file-1": "x\n"})
    while project.events()[-1]["type"] != "landing.begun":
        assert live(project, 1).returncode == 1  # it had one life
    pushed = project.branch("pushed", {"pushed": "x\n"}, TRUNK)
    project.git("update-ref", f"refs/heads/{TRUNK}", pushed)
    project.once()
    assert project.states()[task] == "done"
    assert project.git("rev-parse", f"{TRUNK}^") == pushed
    ended = [e["data"] for e in project.events("landing.ended")]
    assert [one["landed"] for one in ended] == [False, True]
    assert "nothing has landed" in ended[0]["reason"]
    checked = [e["data"]["tip"] for e in project.events("check.started")]
    assert checked[-1] == pushed
    _nothing_twice(project, base=pushed)


def _nothing_twice(project: RefineryRepo, base: str = "main") -> None:
    landed = [e["data"]["task"] for e in project.events("task.landed")]
    assert len(landed) == len(set(landed))
    tip = project.git("rev-parse", TRUNK)
    assert tip == project.here("queue", "list", "--json").data["trunks"][0]["tip"]
    said = project.git(
        "log", "--format=%(trailers:key=Task,valueonly,separator=)", f"{base}..{TRUNK}"
    )
    assert sorted(said.split()) == sorted(landed)


def _nothing_left(project: RefineryRepo, returned: set[str]) -> None:
    """What came back stays pinned for its next attempt; no other ref and no process is left."""
    refs = project.git(
        "for-each-ref", "--format=%(refname)", "refs/corral/spec", "refs/corral/queue"
    )
    assert set(refs.split()) == {f"refs/corral/queue/{task}" for task in returned}
    until(lambda: not _processes(project), lambda: f"{_processes(project)} have ended")


def _processes(project: RefineryRepo) -> list[str]:
    """Return the checks of this repository that still run."""
    wanted = f"CORRAL_RUN={project.path / '.git'}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if wanted in variables and any(v.startswith(b"CORRAL_CHECK=") for v in variables):
            found.append(" ".join(words))
    return found

"""I2, I4, I5: killed after every single write, a refinery lands all once and loses nothing."""

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.refinery.yard import TRUNK, Yard, make_yard
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
CHECK = "if ls | grep -q '^bad-'; then echo bad; exit 1; fi\n"
_MOST = 400


def live(yard: Yard, lives: int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.e2e.refinery.mortal", str(yard.path), str(lives)],
        cwd=ROOT,
        env=yard.env,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_killed_after_every_write(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", CHECK, "slots = 2\nreturns = 1\n")
    good = [yard.hand_in({f"file-{n}": "x\n"}) for n in range(4)]
    bad = yard.hand_in({"bad-1": "x\n"})
    rivals = [yard.hand_in({"same": f"{n}\n"}) for n in range(2)]
    before = yard.checkout()
    done = live(yard, _MOST)
    deaths = done.stderr.splitlines()
    assert done.returncode == 0, deaths[-20:]
    assert {word.split()[0] for word in deaths} >= {"log", "git", "check"}
    states = yard.states()
    assert {states[task] for task in good} == {"done"}
    assert states[bad] == "failed"
    assert sorted(states[task] for task in rivals) == ["done", "failed"]
    assert yard.checkout() == before
    _nothing_twice(yard)
    _nothing_left(yard, {task for task in (bad, *rivals) if states[task] == "failed"})
    assert yard.here("log", "verify").code == 0


def test_killed_at_random_moments(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", f"sleep 0.1\n{CHECK}", "slots = 2\nreturns = 1\n")
    good = [yard.hand_in({f"file-{n}": "x\n"}) for n in range(12)]
    bad = yard.hand_in({"bad-1": "x\n"})
    chosen = random.Random(20)
    for _ in range(20):
        process = yard.started("refinery", "run", stdout=subprocess.DEVNULL)
        time.sleep(chosen.uniform(0.2, 1.0))
        process.kill()
        process.wait()
    yard.once()
    states = yard.states()
    assert {states[task] for task in good} == {"done"}
    assert states[bad] == "failed"
    _nothing_twice(yard)
    _nothing_left(yard, {bad})
    assert yard.here("log", "verify").code == 0


def test_a_push_between_green_and_landing_is_not_lost_and_nothing_unchecked_lands(
    tmp_path: Path,
) -> None:
    yard = make_yard(tmp_path / "project", CHECK, "slots = 1\n")
    task = yard.hand_in({"file-1": "x\n"})
    while yard.events()[-1]["type"] != "landing.begun":
        assert live(yard, 1).returncode == 1  # it had one life
    pushed = yard.branch("pushed", {"pushed": "x\n"}, TRUNK)
    yard.git("update-ref", f"refs/heads/{TRUNK}", pushed)
    yard.once()
    assert yard.states()[task] == "done"
    assert yard.git("rev-parse", f"{TRUNK}^") == pushed
    ended = [e["data"] for e in yard.events("landing.ended")]
    assert [one["landed"] for one in ended] == [False, True]
    assert "nothing has landed" in ended[0]["reason"]
    checked = [e["data"]["tip"] for e in yard.events("check.started")]
    assert checked[-1] == pushed
    _nothing_twice(yard, base=pushed)


def _nothing_twice(yard: Yard, base: str = "main") -> None:
    landed = [e["data"]["task"] for e in yard.events("task.landed")]
    assert len(landed) == len(set(landed))
    tip = yard.git("rev-parse", TRUNK)
    assert tip == yard.here("queue", "list", "--json").data["trunks"][0]["tip"]
    said = yard.git("log", "--format=%(trailers:key=Task,valueonly,separator=)", f"{base}..{TRUNK}")
    assert sorted(said.split()) == sorted(landed)


def _nothing_left(yard: Yard, returned: set[str]) -> None:
    """What came back stays pinned for its next attempt; no other ref and no process is left."""
    refs = yard.git("for-each-ref", "--format=%(refname)", "refs/corral/spec", "refs/corral/queue")
    assert set(refs.split()) == {f"refs/corral/queue/{task}" for task in returned}
    deadline = time.monotonic() + PATIENCE_S
    while _processes(yard) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _processes(yard) == []


def _processes(yard: Yard) -> list[str]:
    """Return the checks of this repository that still run."""
    wanted = f"CORRAL_RUN={yard.path / '.git'}".encode()
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

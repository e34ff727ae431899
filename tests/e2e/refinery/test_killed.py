"""I2, I4, I5: killed after every single write, a refinery lands all once and loses nothing."""

import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.refinery.yard import TRUNK, Yard, make_yard

ROOT = Path(__file__).parents[3]
CHECK = "if ls | grep -q '^bad-'; then echo bad; exit 1; fi\n"
_MOST = 400


def test_killed_after_every_write(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", CHECK, "slots = 2\nreturns = 1\n")
    good = [yard.hand_in({f"file-{n}": "x\n"}) for n in range(4)]
    bad = yard.hand_in({"bad-1": "x\n"})
    rivals = [yard.hand_in({"same": f"{n}\n"}) for n in range(2)]
    before = yard.checkout()
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.refinery.mortal", str(yard.path), str(_MOST)],
        cwd=ROOT,
        env=yard.env,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
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


def _nothing_twice(yard: Yard) -> None:
    landed = [e["data"]["task"] for e in yard.events("task.landed")]
    assert len(landed) == len(set(landed))
    tip = yard.git("rev-parse", TRUNK)
    assert tip == yard.here("queue", "list", "--json").data["trunks"][0]["tip"]
    said = yard.git("log", "--format=%(trailers:key=Task,valueonly,separator=)", f"main..{TRUNK}")
    assert sorted(said.split()) == sorted(landed)


def _nothing_left(yard: Yard, returned: set[str]) -> None:
    """What came back stays pinned for its next attempt; no other ref and no process is left."""
    refs = yard.git("for-each-ref", "--format=%(refname)", "refs/corral/spec", "refs/corral/queue")
    assert set(refs.split()) == {f"refs/corral/queue/{task}" for task in returned}
    deadline = time.monotonic() + 20
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

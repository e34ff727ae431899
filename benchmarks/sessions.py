"""Fifty agents at once on one repository, each committing for 20 s; then a witness with no work.

The harness is the witness, the keeper and the shims. Its git processes are counted separately: they
do what any tool would have to do (write and scan 5,000 files per tree), mostly before and after the
agents run. The agents begin together, once all of them have been started; the figures cover the
time from then until the first one ends.
"""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.report import Figure, Target

_TICKS = os.sysconf("SC_CLK_TCK")
_CORRAL = [sys.executable, "-m", "corral"]
_AGENT = (
    "while [ ! -e {go} ]; do sleep 0.2; done; end=$(($(date +%s) + {seconds})); n=0;"
    " while [ $(date +%s) -lt $end ]; do n=$((n + 1));"
    ' echo "$n $CORRAL_SESSION" >> part0/$CORRAL_TASK.txt; git add part0; git commit -qm "step $n";'
    ' echo "12:00 - step $n [outputs: $n]" >> progress.md; sleep 1; done'
)


def run(folder: Path, *, quick: bool) -> list[Figure]:
    agents, files, seconds, idle_s = (8, 300, 5, 10) if quick else (50, 5000, 20, 60)
    repo = _repository(folder / "project", files)
    _corral(repo, "init")
    config = f"[slots]\ntotal = {agents}\nreserve = 0\n[trees]\npool = 0\n[watch]\nattempts = 1\n"
    (repo / ".corral" / "config.toml").write_text(config)
    _corral(repo, "convoy", "create", "Bench")
    script = _AGENT.format(seconds=seconds, go=folder / "go")
    for number in range(agents):
        words = ["--run", f"sh -c {shlex.quote(script)}", "--accept", "test -d part0"]
        _corral(repo, "task", "add", f"agent {number}", *words)
    before = _digest(repo)
    witness = subprocess.Popen([*_CORRAL, "--repo", str(repo), "witness", "run"])
    try:
        figures = _busy(repo, witness.pid, agents, folder / "go")
        figures += _idle(witness.pid, idle_s)
    finally:
        witness.send_signal(signal.SIGTERM)
        witness.wait(30)
    verdicts = [s["verdict"] for s in _corral(repo, "session", "list")]
    proved = verdicts.count("proved")
    intact = float(_digest(repo) == before)
    return [
        Figure(
            what=f"proved, of {agents} agents",
            value=proved,
            unit="",
            target=Target("value", ">=", agents),
        ),
        Figure(
            what="the checkout is unchanged to the byte",
            value=intact,
            unit="",
            target=Target("value", ">=", 1),
        ),
        *figures,
    ]


def _busy(repo: Path, witness: int, agents: int, go: Path) -> list[Figure]:
    sessions = repo / ".git" / "corral" / "sessions"
    while len(list(sessions.glob("*/run-1/process.json"))) < agents:
        time.sleep(0.05)
    harness = _harness(witness, sessions)
    go.touch()
    start, cpu = time.monotonic(), sum(_cpu(pid) for pid in harness)
    children = _children_cpu(witness)
    memory = 0.0
    end, used = start, cpu
    git_used = children
    while not list(sessions.glob("*/run-1/exit.json")):
        memory = max(memory, sum(_pss(pid) for pid in harness) / 2**20)
        end, used = time.monotonic(), sum(_cpu(pid) for pid in harness)
        git_used = _children_cpu(witness)
        time.sleep(1)
    while any(not s["ended_at"] for s in _corral(repo, "session", "list")):
        time.sleep(0.5)
    lasted = end - start
    return [
        Figure(
            what=f"memory (PSS) of the harness with {agents} agents",
            value=memory,
            unit="MB",
            target=Target("value", "<", 150),
        ),
        Figure(
            what=f"share of a core while {agents} agents run ({lasted:.0f} s)",
            value=100 * (used - cpu) / lasted,
            unit="%",
            target=Target("value", "<", 25),
        ),
        Figure(
            what="the same for the witness's git processes",
            value=100 * (git_used - children) / lasted,
            unit="%",
        ),
    ]


def _idle(witness: int, seconds: int) -> list[Figure]:
    _wait_until_calm(witness)
    cpu, forked = _cpu(witness) + _children_cpu(witness), _children_cpu(witness)
    time.sleep(seconds)
    used = _cpu(witness) + _children_cpu(witness) - cpu
    return [
        Figure(
            what=f"share of a core with nothing to do ({seconds} s)",
            value=100 * used / seconds,
            unit="%",
            target=Target("value", "<", 1),
        ),
        Figure(
            what="CPU of the processes that it started meanwhile",
            value=_children_cpu(witness) - forked,
            unit="s",
            target=Target("value", "<=", 0),
        ),
    ]


def _wait_until_calm(witness: int) -> None:
    """Wait until the removed trees are deleted and the keeper has exited."""
    deadline = time.monotonic() + 300
    before = -1.0
    while (now := _cpu(witness)) - before > 0.02 and time.monotonic() < deadline:
        before = now
        time.sleep(8)


def _harness(witness: int, sessions: Path) -> list[int]:
    """Return the witness, the keeper and the shims."""
    records = [json.loads(p.read_text()) for p in sessions.glob("*/run-1/process.json")]
    return [witness, *{r["keeper_pid"] for r in records}, *(r["pid"] for r in records)]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 20


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _children_cpu(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[13]) + int(fields[14])) / _TICKS


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(li.split()[1]) * 1024 for li in lines if li.startswith("Pss:")), 0)


def _repository(path: Path, files: int) -> Path:
    path.mkdir(parents=True)
    for number in range(files):
        part = path / f"part{number % 50}"
        part.mkdir(exist_ok=True)
        (part / f"{number}.txt").write_text(f"line of {number}\n" * 20)
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@example.org"],
        ["add", "."],
        ["commit", "--quiet", "-m", "begin"],
    ):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path


def _corral(repo: Path, *words: str) -> list[dict[str, str]]:
    command = [*_CORRAL, "--repo", str(repo), "--json", *words]
    said = subprocess.run(command, check=True, capture_output=True).stdout
    data = json.loads(said)["data"]
    return data if isinstance(data, list) else [data]


def _digest(repo: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(repo.rglob("*")):
        if ".git" not in path.relative_to(repo).parts and path.is_file():
            found.update(f"{path} {path.stat().st_mtime_ns}".encode() + path.read_bytes())
    for name in ("HEAD", "index"):
        found.update((repo / ".git" / name).read_bytes())
    return found.hexdigest()

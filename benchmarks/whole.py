"""A plan of 200 tasks in a random graph, run by `corral run`, compared with an ideal scheduler.

The agents are shell scripts that sleep for a random time and commit one file each; the check is a
short sleep. The ideal scheduler has the same tasks, needs, slots and check slots, and knows every
duration beforehand. It starts the ready task with the longest remaining path as soon as a slot is
free, checks everything that waits in one run as soon as a check slot is free, and never waits for a
decision: what has landed is available to other tasks at once.

It is charged the cost of work that no scheduler can avoid, measured in the same run on tasks that
run one after another on an otherwise idle board (medians):
- for a session, besides the agent's own sleep: tree, brief, launch, end, verdict, hand-in;
- for a check: from the announcement of the run to the landing of its changes.
It is not charged for the load that sessions put on each other, for the time from a hand-in to the
announcement of its check, or for starting and stopping the roles.
"""

import heapq
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct

from benchmarks.report import Figure, Target

_CORRAL = [sys.executable, "-m", "corral"]
_CHECK_S = 0.3
_ALONE = 6
_SEED = 11

Event = dict[str, Any]


class Job(Struct, frozen=True):
    """A task: how long its agent takes, and the tasks that it needs, by position."""

    seconds: float
    needs: tuple[int, ...]


class Size(Struct, frozen=True):
    tasks: int
    slots: int
    checks: int
    shortest_s: float
    longest_s: float


FULL = Size(tasks=200, slots=8, checks=2, shortest_s=2.0, longest_s=6.0)
QUICK = Size(tasks=24, slots=6, checks=2, shortest_s=0.2, longest_s=1.0)


def run(folder: Path, *, quick: bool) -> list[Figure]:
    size = QUICK if quick else FULL
    jobs = draw(size, random.Random(_SEED))
    floors = measured_floors(folder / "alone", size)
    started = time.monotonic()
    events = landed(folder / "whole", size, jobs)
    wall_s = time.monotonic() - started
    faults = [*disorder(events, size)]
    took_s = _between(events)
    ideal_s = ideal(jobs, size, *floors)
    session_s, check_s = floors
    return [
        Figure(
            what=f"{size.tasks} tasks, {size.slots} slots, {size.checks} check slots: first start"
            " to last landing",
            value=took_s,
            unit="s",
            peer="ideal scheduler",
            peer_value=ideal_s,
            ratio=took_s / ideal_s,
            target=None if quick else Target("ratio", "<=", 1.25),
        ),
        Figure(what="the whole command", value=wall_s, unit="s"),
        Figure(
            what="the same, charged the measured time of each session",
            value=took_s,
            unit="s",
            peer="ideal scheduler",
            peer_value=(crowded := ideal(_as_they_took(jobs, events), size, 0.0, check_s)),
            ratio=took_s / crowded,
        ),
        Figure(what="a session alone, without its agent", value=session_s, unit="s"),
        Figure(what="a check alone, to the landing", value=check_s, unit="s"),
        *_gaps(events),
        Figure(
            what="starts before a need had landed, slots exceeded, landed twice",
            value=len(faults),
            unit="",
            target=Target("value", "<=", 0),
        ),
    ]


def draw(size: Size, chance: random.Random) -> list[Job]:
    """Draw a graph: each task needs up to three of those shortly before it."""
    jobs = []
    for place in range(size.tasks):
        near = range(max(0, place - 40), place)
        needs = chance.sample(near, min(len(near), chance.choice((0, 0, 1, 1, 2, 3))))
        jobs.append(Job(chance.uniform(size.shortest_s, size.longest_s), tuple(sorted(needs))))
    return jobs


def ideal(jobs: Sequence[Job], size: Size, session_s: float, check_s: float) -> float:
    """Return how long an ideal scheduler takes."""
    rank = _ways_to_the_end(jobs, session_s + check_s)
    waits = {place: set(job.needs) for place, job in enumerate(jobs)}
    ready = [(-rank[place], place) for place in waits if not waits[place]]
    heapq.heapify(ready)
    ends: list[tuple[float, int, tuple[int, ...]]] = []  # time, is it a check, tasks
    free, lanes, now, landed = size.slots, size.checks, 0.0, 0
    handed_in: list[int] = []
    while landed < len(jobs):
        while free and ready:
            _, place = heapq.heappop(ready)
            heapq.heappush(ends, (now + session_s + jobs[place].seconds, 0, (place,)))
            free -= 1
        if lanes and handed_in:
            heapq.heappush(ends, (now + check_s, 1, tuple(handed_in)))
            handed_in = []
            lanes -= 1
        now, kind, whose = heapq.heappop(ends)
        if kind == 0:
            free += 1
            handed_in += whose
            continue
        lanes += 1
        landed += len(whose)
        for place, needs in waits.items():
            if needs & set(whose):
                needs -= set(whose)
                if not needs:
                    heapq.heappush(ready, (-rank[place], place))
    return now


def _ways_to_the_end(jobs: Sequence[Job], more_s: float) -> list[float]:
    ways = [job.seconds + more_s for job in jobs]
    for place in reversed(range(len(jobs))):  # a task needs only earlier ones
        for need in jobs[place].needs:
            ways[need] = max(ways[need], jobs[need].seconds + more_s + ways[place])
    return ways


def measured_floors(folder: Path, size: Size) -> tuple[float, float]:
    """Return the median cost of a session and of a check on an otherwise idle board."""
    jobs = [Job(0.5, (place - 1,) if place else ()) for place in range(_ALONE)]
    events = landed(folder, size, jobs)
    starts, submits = _times(events, "session.started"), _times(events, "task.submitted")
    lands = _times(events, "task.landed")
    checks = {m: e["at"] for e in _of(events, "check.started") for m in e["data"]["members"]}
    names = list(starts)[1:]  # the first one bears one-time costs
    sessions = [(submits[name] - starts[name]) / 1000 - 0.5 for name in names]
    return median(sessions), median((lands[name] - checks[name]) / 1000 for name in names)


def landed(folder: Path, size: Size, jobs: Sequence[Job]) -> list[Event]:
    """Run the jobs as a plan until all have landed; return the log."""
    repo = folder / "project"
    repo.mkdir(parents=True)
    (repo / "README").write_text("A project.\n")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Bench"),
        ("config", "user.email", "bench@example.org"),
        ("add", "."),
        ("commit", "--quiet", "-m", "begin"),
    ):
        subprocess.run(["git", *words], cwd=repo, check=True)
    subprocess.run([*_CORRAL, "--repo", str(repo), "init"], check=True, capture_output=True)
    (repo / ".corral" / "config.toml").write_text(
        f"[slots]\ntotal = {size.slots}\nreserve = 0\n[trees]\npool = {size.slots}\n"
        f"[refinery]\nslots = {size.checks}\n"
    )
    plan = folder / "plan.toml"
    plan.write_text(_plan(jobs))
    command = [*_CORRAL, "--repo", str(repo), "run", str(plan), "--headless"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the run ended with {done.returncode}: {done.stdout[-2000:]}")
    log = [*_CORRAL, "--repo", str(repo), "log", "--json"]
    said = subprocess.run(log, capture_output=True, check=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


def _plan(jobs: Sequence[Job]) -> str:
    lines = ["[convoy]", 'title = "Bench"', 'prefix = "B"', f'checks = ["sleep {_CHECK_S}"]']
    for place, job in enumerate(jobs):
        script = f"sleep {job.seconds:.3f}; echo x > {place}.txt; git add .; git commit -qm x"
        words = json.dumps(["sh", "-c", script])
        needs = json.dumps([f"t{need}" for need in job.needs])
        lines += ["[[task]]", f'key = "t{place}"', f'title = "{place}"', f"run = {words}"]
        lines += [f"needs = {needs}", f'paths = ["{place}.txt"]', 'accept = ["true"]']
    return "\n".join(lines) + "\n"


def disorder(events: Sequence[Event], size: Size) -> list[str]:
    """Return violations of the order, checked after every event."""
    needs = {e["data"]["task"]: e["data"].get("needs", []) for e in _of(events, "task.added")}
    done: set[str] = set()
    live: set[str] = set()
    checks: set[str] = set()
    faults = []
    for event in events:
        data = event["data"]
        match event["type"]:
            case "session.started":
                live.add(data["session"])
                early = [need for need in needs[data["task"]] if need not in done]
                faults += [f"{data['task']} started before {need} had landed" for need in early]
            case "session.ended":
                live.discard(data["session"])
            case "check.started":
                checks.add(data["run"])
            case "check.ended":
                checks.discard(data["run"])
            case "task.landed":
                faults += [f"{data['task']} landed twice"] if data["task"] in done else []
                done.add(data["task"])
        if len(live) > size.slots or len(checks) > size.checks:
            faults.append(f"event {event['seq']}: {len(live)} sessions, {len(checks)} checks")
    return faults + [f"{task} never landed" for task in needs if task not in done]


def _as_they_took(jobs: Sequence[Job], events: Sequence[Event]) -> list[Job]:
    starts, submits = _times(events, "session.started"), _times(events, "task.submitted")
    place_of = {e["data"]["task"]: int(e["data"]["title"]) for e in _of(events, "task.added")}
    took = {place_of[name]: (submits[name] - starts[name]) / 1000 for name in place_of}
    return [Job(took[place], job.needs) for place, job in enumerate(jobs)]


def _gaps(events: Sequence[Event]) -> list[Figure]:
    """Return how long work waited for a decision, which is where a scheduler can lose time."""
    starts, submits = _times(events, "session.started"), _times(events, "task.submitted")
    lands = _times(events, "task.landed")
    checks: dict[str, int] = {}
    for event in _of(events, "check.started"):
        for member in event["data"]["members"]:
            checks[member] = event["at"]
    needs = {e["data"]["task"]: e["data"].get("needs", []) for e in _of(events, "task.added")}
    ready = {t: max((lands[n] for n in needs[t]), default=min(starts.values())) for t in needs}
    pairs = {
        "ready to started (including the wait for a slot)": (ready, starts),
        "hand-in to the check that landed it": (submits, checks),
        "that check's announcement to the landing": (checks, lands),
    }
    return [
        Figure(
            what=f"median from {what}",
            value=median((later[t] - sooner[t]) / 1000 for t in needs),
            unit="s",
        )
        for what, (sooner, later) in pairs.items()
    ]


def _of(events: Sequence[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def _times(events: Sequence[Event], kind: str) -> dict[str, int]:
    return {event["data"]["task"]: event["at"] for event in _of(events, kind)}


def _between(events: Sequence[Event]) -> float:
    begun = min(_times(events, "session.started").values())
    return (max(_times(events, "task.landed").values()) - begun) / 1000

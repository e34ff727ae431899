"""Runs every engine through every fault, under the witness, all at once.

A task meets one fault after the other: each launch of its engine has a fault of its own, which
lasts as long as the launch. So what became of the fault is what became of the launch, and the next
launch shows how the work goes on.
"""

import json
import time
from collections.abc import Callable, Sequence
from os import listdir
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.e2e.engines.engine_repo import EngineRepo, make_engine_repo
from tests.engines.engine_tree import KEY, MODELS, plan
from tests.standin.faults import Fault
from tests.standin.scenario import Record
from tests.standin.server import StandIn

PLAN = plan(
    *({"op": "write", "path": f"{name}.py", "content": "y = 2\n"} for name in "abcd"),
    {"op": "say", "text": "Done."},
)
# Only a conversation that goes on after a malformed call (instead of c.py) reaches d.py.
ACCEPT = "test -f a.py && test -f d.py"
NONE = "none"  # a launch beyond the faults of its chain
PARK_S = 5
GRACE_S = 2
CONFIG = f"""\
[slots]
total = 6
reserve = 0
[watch]
beat_s = 60
attempts = 3
backoff_s = 0
grace_s = {GRACE_S}
park_s = {PARK_S}
"""
PROFILE = """
[engine.{name}]
type = "{type}"
model = "{model}"
base_url = "{url}"
env = ["CORRAL_TEST_KEY"]
account = "{name}"
turn_s = {turn_s}
transport = "{transport}"
"""


class Chain(Struct, frozen=True):
    """A task that meets faults one after the other."""

    name: str  # of its profile, its account and its scenario
    engine: str
    faults: dict[str, Fault]
    turn_s: int = 60
    transport: str = "cli"


class Launch(Struct):
    """What became of one launch of an engine, as the log has it."""

    fault: str
    session: str
    resumed: str = ""  # the conversation that it went on with
    thread: str = ""
    verdict: str = ""
    detail: str = ""
    after: str = ""  # what was done then: in the session, or with the task
    until_at: int = 0
    ended_at: int = 0
    held_s: float = 0.0  # from the first request that met the fault
    records: list[Record] = []

    @property
    def said(self) -> str:
        """What the engine sent first."""
        return json.dumps(self.records[0].body) if self.records else ""


class Matrix:
    """A repository with a task for each chain, and what became of them."""

    def __init__(
        self, place: Path, programs: Path, standin: StandIn, chains: Sequence[Chain]
    ) -> None:
        profiles = "".join(_profile(chain, standin.url) for chain in chains)
        self.project: EngineRepo = make_engine_repo(place / "project", CONFIG + profiles)
        self.project.env["PATH"] = f"{programs}:{self.project.env['PATH']}"
        self.project.env["CORRAL_TEST_KEY"] = KEY
        self._standin = standin
        self._brief = place / "brief.md"
        self._brief.write_text(PLAN)
        self.chains = {self._add(chain): chain for chain in chains}

    def _add(self, chain: Chain) -> str:
        task = self.project.add(
            f"Write with {chain.name}",
            *("--engine", chain.name, "--brief-file", str(self._brief), "--accept", ACCEPT),
        )
        rooms = self.project.folder / "sessions"
        self._standin.scenario(chain.name).fail_in_stages(
            lambda: launches_of(rooms, task), list(chain.faults.values())
        )
        return task

    def run(self, limit_s: float) -> None:
        """Run the witness until every chain has met all of its faults."""
        deadline = time.monotonic() + limit_s
        open_tasks = dict(self.chains)
        with self.project.witness():
            while open_tasks:
                found = self.launches()
                for task, chain in list(open_tasks.items()):
                    if sum(bool(launch.after) for launch in found[task]) >= len(chain.faults):
                        del open_tasks[task]
                        self._leave(task, found[task][-1])
                left = {chain.name: found[task] for task, chain in open_tasks.items()}
                assert time.monotonic() < deadline, _shown(left)
                time.sleep(0.5)
            self.project.until(lambda: all(one["verdict"] for one in self.project.sessions()))

    def _leave(self, task: str, last: Launch) -> None:
        """See to it that a task whose faults are over is not tried again."""
        if last.verdict not in ("proved", "refused"):
            self.project.here("task", "cancel", task, code=0)

    def launches(self) -> dict[str, list[Launch]]:
        """Return what became of the launches of each task."""
        found: dict[str, list[Launch]] = {task: [] for task in self.chains}
        threads: dict[str, str] = {}
        for event in self.events():
            data, kind = event["data"], event["type"]
            task = data.get("task") or str(data.get("session", "")).rpartition(".")[0]
            if kind == "session.engaged":
                threads[data["session"]] = data.get("thread") or threads.get(data["session"], "")
            elif task in found:
                _take(self.chains[task], found[task], event, threads)
        for task, launches in found.items():
            records = self.records(self.chains[task].name)
            for number, launch in enumerate(launches, 1):
                launch.records = [record for record in records if record.stage == number]
                hit = [record.at for record in launch.records if record.fault]
                launch.held_s = launch.ended_at / 1000 - hit[0] if hit and launch.verdict else 0.0
        return found

    def records(self, name: str) -> list[Record]:
        return [r for r in self._standin.scenario(name).seen(bodies=True).requests if r.work]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.project.here("log", "--json").out.splitlines()]


def _take(
    chain: Chain, launches: list[Launch], event: dict[str, Any], threads: dict[str, str]
) -> None:
    """Carry what is known of a task's launches over one event."""
    data, session = event["data"], event["data"].get("session", "")

    def begin(resumed: str) -> None:
        faults = [*chain.faults, *([NONE] * (len(launches) + 1))]
        launches.append(Launch(faults[len(launches)], session, resumed))

    def close(verdict: str, detail: str, after: str = "") -> None:
        last = launches[-1]
        last.verdict, last.detail, last.after = verdict, detail, after
        last.thread, last.ended_at = threads.get(session, ""), event["at"]

    match event["type"], data.get("action"):
        case "session.started", _:
            begin(data.get("resume", ""))
        case "session.reacted", "afresh":
            launches[-1].resumed = ""
        case "session.reacted", "resume" | "restart":
            close(data["cause"], data["text"], data["action"])
            begin(threads.get(session, "") if data["action"] == "resume" else "")
        case "session.ended", _:
            close(data["verdict"], data.get("detail", ""))
        case "task.parked" | "task.delayed" | "task.failed" | "task.submitted" as kind, _:
            launches[-1].after = kind.partition(".")[2]
            launches[-1].until_at = data.get("until_at", 0)


def _profile(chain: Chain, url: Callable[[str], str]) -> str:
    return PROFILE.format(
        name=chain.name,
        type=chain.engine,
        model=MODELS[chain.engine],
        url=url(chain.name),
        turn_s=chain.turn_s,
        transport=chain.transport,
    )


def launches_of(rooms: Path, task: str) -> int:
    """Return how often the engine of a task was started."""
    names = [name for name in listdir(rooms) if name.rpartition(".")[0] == task]
    return sum(one.startswith("run-") for name in names for one in listdir(rooms / name))


def _shown(chains: dict[str, list[Launch]]) -> str:
    lines = []
    for name, launches in chains.items():
        lines.append(name)
        for one in launches:
            lines.append(f"  {one.fault}: {one.verdict} {one.after} ({one.detail[:200]})")
    return "\n".join(lines)

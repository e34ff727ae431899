"""Has every engine meet every fault, through the witness, all at once.

A task meets one fault after the other: each launch of its engine has a fault of its own, which
lasts as long as the launch. So what became of the fault is what became of the launch, and the next
launch shows how the work goes on.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from os import listdir
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.e2e.engines.ranch import Ranch
from tests.engines.running import MODELS, plan
from tests.standin.faults import Fault
from tests.standin.scenario import Record
from tests.standin.server import StandIn

PLAN = plan(
    *({"op": "write", "path": f"{name}.py", "content": "y = 2\n"} for name in "abcd"),
    {"op": "say", "text": "Done."},
)
# Only a conversation that goes on after a malformed call (instead of c.py) comes to d.py.
ACCEPT = "test -f a.py && test -f d.py"
PROFILE = """
[engine.{name}]
type = "{type}"
model = "{model}"
base_url = "{url}"
env = ["CORRAL_TEST_KEY"]
account = "{name}"
turn_s = {turn_s}
"""


class Chain(Struct, frozen=True):
    """A task that meets faults one after the other."""

    name: str  # of its profile, its account and its scenario
    engine: str
    faults: tuple[tuple[str, Fault | None], ...]
    turn_s: int = 60
    transport: str = "cli"


class Launch(Struct):
    """What became of one launch."""

    fault: str
    session: str
    verdict: str
    detail: str = ""
    action: str = ""  # what was done about it within the session
    thread: str = ""
    resumed: str = ""  # the conversation that it went on with
    from_s: float = 0.0
    ended_s: float = 0.0
    held_s: float = 0.0  # from its fault's first request to its end
    requests: int = 0


def launches_of(folder: Path, task: str) -> int:
    """Return how often the engine of a task was started."""
    rooms = folder / "sessions"
    names = [name for name in listdir(rooms) if name.rpartition(".")[0] == task]
    return sum(one.startswith("run-") for name in names for one in listdir(rooms / name))


class Matrix:
    """A repository with a task for each chain, and what became of them."""

    def __init__(self, ranch: Ranch, standin: StandIn, chains: Sequence[Chain]) -> None:
        self.ranch = ranch
        self.tasks: dict[str, str] = {}
        self._standin = standin
        self._chains = {chain.name: chain for chain in chains}

    def add(self, chain: Chain, brief: Path) -> None:
        task = self.ranch.add(
            f"Write with {chain.name}",
            *("--engine", chain.name, "--brief-file", str(brief)),
            *("--accept", ACCEPT),
        )
        self.tasks[chain.name] = task
        folder = self.ranch.folder
        self._standin.scenario(chain.name).fail_in_stages(
            lambda: launches_of(folder, task), [fault for _, fault in chain.faults]
        )

    def launches(self) -> dict[str, list[Launch]]:
        """Return what became of the launches of each chain, from the log."""
        names = {task: name for name, task in self.tasks.items()}
        found: dict[str, list[Launch]] = {name: [] for name in self.tasks}
        threads: dict[str, str] = {}
        for event in self.events():
            data, session = event["data"], event["data"].get("session", "")
            if not event["type"].startswith("session.") or not session:
                continue
            mine = found[names[session.rpartition(".")[0]]]
            chain = self._chains[names[session.rpartition(".")[0]]]

            def begin(resumed: str) -> None:
                number = len(mine)
                fault = chain.faults[number][0] if number < len(chain.faults) else "beyond"
                mine.append(Launch(fault, session, "", resumed=resumed, from_s=_seconds(event)))

            def close(verdict: str, detail: str) -> None:
                last = mine[-1]
                last.verdict, last.detail, last.ended_s = verdict, detail, _seconds(event)
                last.thread = threads.get(session, "")

            match event["type"]:
                case "session.started":
                    begin(data.get("resume", ""))
                case "session.engaged":
                    threads[session] = data.get("thread") or threads.get(session, "")
                case "session.reacted" if data["action"] == "afresh":
                    mine[-1].resumed = ""
                case "session.reacted" if data["action"] in ("resume", "restart"):
                    close(data["cause"], data["text"])
                    mine[-1].action = data["action"]
                    begin(threads.get(session, "") if data["action"] == "resume" else "")
                case "session.ended":
                    close(data["verdict"], data.get("detail", ""))
        for name, mine in found.items():
            for number, launch in enumerate(mine, 1):
                self._measure(launch, [r for r in self.records(name) if r.stage == number])
        return found

    def _measure(self, launch: Launch, records: list[Record]) -> None:
        launch.requests = len(records)
        hit = [record.at for record in records if record.fault]
        if hit and launch.ended_s:
            launch.held_s = launch.ended_s - hit[0]

    def records(self, name: str) -> list[Record]:
        return [r for r in self._standin.scenario(name).seen(bodies=True).requests if r.work]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.ranch.here("log", "--json").out.splitlines()]


def _seconds(event: Mapping[str, Any]) -> float:
    return float(event["at"]) / 1000


def profiles(chains: Sequence[Chain], url: Callable[[str], str]) -> str:
    """Return the part of a configuration that has a profile and an account for each chain."""
    text = ""
    for chain in chains:
        text += PROFILE.format(
            name=chain.name,
            type=chain.engine,
            model=MODELS[chain.engine],
            url=url(chain.name),
            turn_s=chain.turn_s,
        )
        text += f'transport = "{chain.transport}"\n'
    return text

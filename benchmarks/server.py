"""The server under load: claims over HTTP, events to many streams, memory, and its cost at rest.

Clients are raw sockets in one process, so that the figures are about the server, although they
share its machine. Latencies run from sending a request to having the answer.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from benchmarks import boards
from benchmarks.report import Figure, Target
from corral.core.board import commands as c
from corral.core.board.rules import decide
from corral.core.ids import Token
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from corral.world import keys

_CLAIMERS = 30
_SINGLE_FILE = 115.0  # claims per second of the single-file tool, measured when this was designed
_STREAMS = 200


class _Server:
    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]", url: str) -> None:
        self.folder = folder
        self.process = process
        self.port = int(url.rpartition(":")[2])
        self.token = keys.read(str(folder / ".git" / "corral" / "token"))

    def connect(self) -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def request(self, method: str, path: str, body: bytes = b"", *more: str) -> bytes:
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}",
            *(["Content-Type: application/json"] if method == "POST" else []),
            f"Content-Length: {len(body)}",
            *more,
        ]
        return "\r\n".join([*head, "", ""]).encode() + body

    def cpu_s(self) -> float:
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def children(self) -> int:
        tasks = Path(f"/proc/{self.process.pid}/task")
        return sum(len((task / "children").read_text().split()) for task in tasks.iterdir())


@contextmanager
def _serving(folder: Path, tasks: int) -> Iterator[_Server]:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    (folder / ".corral").mkdir()
    (folder / ".corral" / "config.toml").write_text("")
    store = SqliteStore(str(folder / ".git" / "corral"))
    boards.small(store, tasks)
    store.close()
    process = subprocess.Popen(
        [sys.executable, "-m", "corral", "serve", "--json", "--repo", str(folder)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        url = json.loads(process.stdout.readline())["data"]["url"]
        yield _Server(folder, process, url)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def run(folder: Path, *, quick: bool) -> list[Figure]:
    return [
        *_claims(folder / "claims", 1000 if quick else 5000),
        *_durable(folder / "durable", 400 if quick else 2000),
        *_events(folder / "events", 20 if quick else 200),
        *_live(folder / "live", 10 if quick else 100),
        *_memory(folder / "memory", 5_000 if quick else 100_000),
        *_rest(folder / "rest", 2.0 if quick else 20.0),
        *_command(folder / "command", 5 if quick else 40),
    ]


class _Claimer:
    """One connection that keeps asking for the next task."""

    def __init__(self, server: _Server, number: int) -> None:
        self.line = server.connect()
        self.line.setblocking(False)
        self._request = server.request(
            "POST", "/api/task/claim", b"{}", f"Corral-Actor: agent-{number}"
        )
        self.claimed: list[str] = []
        self.took_s: list[float] = []
        self.ended_at = 0.0
        self._begun = 0.0
        self._got = b""

    def ask(self) -> None:
        self._begun = time.perf_counter()
        self.line.send(self._request)

    def hear(self) -> bool:
        """Read what has arrived; return False once nothing is left to claim."""
        self._got += self.line.recv(65_536)
        head, mark, body = self._got.partition(b"\r\n\r\n")
        if not mark or len(body) < int(head.lower().partition(b"content-length: ")[2].split()[0]):
            return True
        self._got = b""
        now = time.perf_counter()
        if not head.startswith(b"HTTP/1.1 200"):
            return False
        self.took_s.append(now - self._begun)
        self.claimed.append(body.partition(b'"id":"')[2].partition(b'"')[0].decode())
        self.ended_at = now
        self.ask()
        return True


def _race(server: _Server, until: int | None = None) -> tuple[list[_Claimer], float]:
    claimers = [_Claimer(server, number) for number in range(_CLAIMERS)]
    waiting = selectors.DefaultSelector()
    for claimer in claimers:
        waiting.register(claimer.line, selectors.EVENT_READ, claimer)
    started = time.perf_counter()
    for claimer in claimers:
        claimer.ask()
    left = len(claimers)
    while left and (until is None or sum(len(c.claimed) for c in claimers) < until):
        for key, _ in waiting.select():
            try:
                goes_on = key.data.hear()
            except OSError:
                goes_on = False
            if not goes_on:
                waiting.unregister(key.fileobj)
                left -= 1
    waiting.close()
    return claimers, started


def _claims(folder: Path, tasks: int) -> list[Figure]:
    with _serving(folder, tasks) as server:
        claimers, started = _race(server)
        for claimer in claimers:
            claimer.line.close()
    claimed = Counter(task for claimer in claimers for task in claimer.claimed)
    assert len(claimed) == tasks, "a task was not claimed"
    assert set(claimed.values()) == {1}, "a task was claimed twice"
    rate = tasks / (max(claimer.ended_at for claimer in claimers) - started)
    took = sorted(1000 * s for claimer in claimers for s in claimer.took_s)
    served = [len(claimer.claimed) for claimer in claimers]
    return [
        Figure(
            what=f"{_CLAIMERS} HTTP claimers, {tasks:,} tasks",
            value=rate,
            unit="claims/s",
            peer="the single-file tool",
            peer_value=_SINGLE_FILE,
            ratio=rate / _SINGLE_FILE,
            target=Target("value", ">=", 1000),
        ),
        Figure(what="one claim, median", value=median(took), unit="ms"),
        Figure(
            what="one claim, p99",
            value=took[int(len(took) * 0.99)],
            unit="ms",
            target=Target("value", "<", 100),
        ),
        Figure(
            what="least served to most served claimer",
            value=min(served) / max(served),
            unit="",
            target=Target("value", ">=", 0.8),
        ),
    ]


def _durable(folder: Path, tasks: int) -> list[Figure]:
    """Kill the server in the middle; every acknowledged claim must be in the log."""
    with _serving(folder, tasks) as server:
        claimers, _ = _race(server, until=tasks // 2)
        server.process.kill()
        server.process.wait(30)
        for claimer in claimers:
            claimer.line.close()
    store = SqliteStore(str(folder / ".git" / "corral"))
    held = {str(task.id): task.claim.holder for task in store.verify().tasks.values() if task.claim}
    store.close()
    acknowledged = {
        task: f"agent-{number}"
        for number, claimer in enumerate(claimers)
        for task in claimer.claimed
    }
    lost = [task for task, who in acknowledged.items() if held.get(task) != who]
    return [
        Figure(
            what=f"acknowledged claims lost by kill -9, of {len(acknowledged):,}",
            value=float(len(lost)),
            unit="",
            target=Target("value", "<=", 0),
        )
    ]


def _events(folder: Path, count: int) -> list[Figure]:
    with _serving(folder, 1) as server:
        streams = []
        waiting = selectors.DefaultSelector()
        for _ in range(_STREAMS):
            line = server.connect()
            line.sendall(server.request("GET", "/api/events"))
            streams.append(line)
            waiting.register(line, selectors.EVENT_READ)
        poster = server.connect()
        # Each stream has said hello before the first event is sent.
        heard: set[int] = set()
        while len(heard) < _STREAMS:
            for key, _ in waiting.select():
                data = os.read(key.fd, 65_536)
                if b": corral" in data:
                    heard.add(key.fd)
        took: list[float] = []
        for number in range(count):
            body = json.dumps({"subject": f"s{number}", "text": "t"}).encode()
            begun = time.perf_counter()
            poster.sendall(server.request("POST", "/api/alert/raise", body))
            missing = _STREAMS
            while missing:
                for key, _ in waiting.select():
                    missing -= os.read(key.fd, 65_536).count(b"\nevent: ")
                    took.append(1000 * (time.perf_counter() - begun))
            poster.recv(65_536)
        for line in [*streams, poster]:
            line.close()
    cuts = quantiles(took, n=100)
    return [
        Figure(
            what=f"from POST to {_STREAMS} event streams, median",
            value=cuts[49],
            unit="ms",
            target=Target("value", "<", 10),
        ),
        Figure(
            what=f"from POST to {_STREAMS} event streams, p99",
            value=cuts[98],
            unit="ms",
            target=Target("value", "<", 50),
        ),
    ]


def _live(folder: Path, count: int) -> list[Figure]:
    """From POST to the row on a dashboard's stream, on a board of a thousand tasks."""
    with _serving(folder, 1000) as server:
        stream, poster = server.connect(), server.connect()
        stream.sendall(server.request("GET", "/api/live?log=1&tails=1"))
        _until(stream, b'"mayors":[')  # the last table of the whole board
        took: list[float] = []
        for number in range(count):
            body = json.dumps({"subject": f"s{number}", "text": "t"}).encode()
            begun = time.perf_counter()
            poster.sendall(server.request("POST", "/api/alert/raise", body))
            _until(stream, b"event: change")
            took.append(1000 * (time.perf_counter() - begun))
            poster.recv(65_536)
        stream.close()
        poster.close()
    return [
        Figure(
            what="from POST to the row on a dashboard of 1,000 tasks, p90",
            value=quantiles(took, n=10)[8],
            unit="ms",
            target=Target("value", "<", 250),
        )
    ]


def _until(line: socket.socket, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        seen = seen[-len(wanted) :] + line.recv(1 << 20)


def _memory(folder: Path, count: int) -> list[Figure]:
    """Write many events from another process, with streams that read and one that never does."""
    with _serving(folder, 1) as server:
        reading = [server.connect() for _ in range(10)]
        deaf = server.connect()
        for line in (*reading, deaf):
            line.sendall(server.request("GET", "/api/events?after=0"))
        store = SqliteStore(str(server.folder / ".git" / "corral"))
        first = 0
        for done in range(0, count, 1000):
            _write(store, 500)
            for line in reading:
                _drain(line)
            if done == count // 5:
                first = server.resident()
        store.close()
        last = server.resident()
        for line in (*reading, deaf):
            line.close()
    return [
        Figure(
            what=f"memory of the server after {count:,} events",
            value=last / 2**20,
            unit="MB",
            peer="after a fifth of them",
            peer_value=first / 2**20,
            ratio=last / first,
            target=Target("ratio", "<=", 1.1),
        )
    ]


def _write(store: SqliteStore, pairs: int) -> None:
    """Append events that leave the state unchanged: a lease is acquired and released."""

    def request(command: c.Command) -> Request[None]:
        return Request(
            "bench", lambda state, now: decide(state, command, "bench", now), lambda s, r: None
        )

    seq = store.state().seq
    requests = []
    for number in range(pairs):
        token = Token(str(seq + 2 * number + 1))
        requests.append(request(c.AcquireLease(resource="service:x")))
        requests.append(request(c.ReleaseLease(resource="service:x", token=token)))
    store.batch(requests)
    store.settle()


def _drain(line: socket.socket) -> None:
    line.settimeout(0.05)
    try:
        while line.recv(1 << 20):
            pass
    except TimeoutError:
        return


def _rest(folder: Path, seconds: float) -> list[Figure]:
    with _serving(folder, 100) as server:
        streams = [server.connect() for _ in range(3)]
        for line in streams:
            line.sendall(server.request("GET", "/api/live?log=1&tails=1"))
        time.sleep(2)  # let the work after a start finish: the mirror, the first look
        before = server.cpu_s()
        time.sleep(seconds)
        used = (server.cpu_s() - before) / seconds * 100
        children = server.children()
        for line in streams:
            line.close()
    return [
        Figure(
            what="a server at rest with three dashboards open",
            value=used,
            unit="% of a core",
            target=Target("value", "<", 1),
        ),
        Figure(
            what="its child processes at the end",
            value=float(children),
            unit="",
            target=Target("value", "<=", 0),
        ),
    ]


def _command(folder: Path, times: int) -> list[Figure]:
    """A command that writes, through the server and directly to the log, in its own process."""
    words = [sys.executable, "-m", "corral", "--repo", str(folder), "task", "add", "T"]

    def one() -> float:
        begun = time.perf_counter()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        return 1000 * (time.perf_counter() - begun)

    with _serving(folder, 5000) as server:
        one()
        through = [one() for _ in range(times)]
        assert server.process.poll() is None
    alone = [one() for _ in range(times)]
    return [
        Figure(
            what="`corral task add` through the server, 5,000 tasks",
            value=median(through),
            unit="ms",
            peer="on the log",
            peer_value=median(alone),
            ratio=median(through) / median(alone),
            target=Target("ratio", "<=", 1.1),
        )
    ]

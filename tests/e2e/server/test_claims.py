"""Many clients claim over HTTP while the server is killed; no claim is lost."""

import threading
from collections import Counter
from http.client import HTTPException

from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Served, serve
from tests.patience import until


def claim_all(served: Served, name: str, claimed: list[tuple[str, str]]) -> None:
    while True:
        try:
            answer = served.post("/api/task/claim", {}, headers={"Corral-Actor": name})
        except (OSError, HTTPException):  # the latter for half an answer
            return  # the server was killed: what was not answered may or may not be
        if answer.status != 200:
            assert answer.error["code"] == "nothing_ready", answer
            return
        claimed.append((answer.data["id"], name))


def together(served: Served, *, kill_after: int | None = None) -> list[tuple[str, str]]:
    claimed: list[tuple[str, str]] = []
    threads = [
        threading.Thread(target=claim_all, args=(served, f"agent-{number}", claimed))
        for number in range(30)
    ]
    for thread in threads:
        thread.start()
    if kill_after is not None:
        until(lambda: len(claimed) >= kill_after, "claims")
        served.kill()
    for thread in threads:
        thread.join()
    return claimed


def test_thirty_claimers_and_a_killed_server(board: Board) -> None:
    for number in range(200):
        board.add(f"Task {number}")
    with serve(board) as served:
        first = together(served, kill_after=20)
    held = {
        task.id: task.claim.holder
        for task in SqliteStore(board.folder).verify().tasks.values()
        if task.claim
    }
    assert set(first) <= set(held.items()), "an acknowledged claim is not in the log"
    with serve(board) as again:
        second = together(again)
    assert set(Counter(task for task, _ in [*first, *second]).values()) == {1}
    assert len(held) + len(second) == 200

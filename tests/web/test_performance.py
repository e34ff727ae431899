"""With 1,000 tasks and 50 busy sessions, the page stays fast and its memory flat.

Times are those that the browser's main thread was computing (not waiting for a busy machine's
processor), as its own trace records them.
"""

import http.client
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, Route, expect

from tests.e2e.corral_command import make_repository
from tests.web.browsed_repo import BrowsedRepo, Window, window

TASKS, SESSIONS = 1000, 50
LONGEST_MS = 200
MINUTES = 10
# Writes and sleeps without starting processes.
WRITER = r"""exec 3<> <(:); n=0; while :; do n=$((n+1))
printf '\033[32mstep %s\033[0m of a long way, with a few words to fill the line\n' $n
read -t 0.5 -u 3; done"""
CONFIG = """\
[slots]
total = 60
reserve = 0
[watch]
beat_s = 600
grace_s = 1
"""


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowsedRepo]:
    folder = tmp_path_factory.mktemp("crowd")
    make_repository(folder / "project")
    project = BrowsedRepo(folder / "project")
    project.corral("init")
    project.configure(CONFIG)
    for half in (0, 1):  # a plan has 500 tasks at most
        plan = folder / f"plan{half}.toml"
        plan.write_text(_plan(half * TASKS // 2, TASKS // 2))
        project.corral("plan", "apply", str(plan))
    project.corral("pause", "--sessions", "--convoy", "crowd-d")
    with project.up():
        project.until(lambda: len(project.sessions()) >= SESSIONS)
        yield project


def _plan(first: int, many: int) -> str:
    prefix = "D" if first else "C"
    lines = [f'[convoy]\ntitle = "Crowd {prefix}"\nprefix = "{prefix}"\n']
    for number in range(first, first + many):
        writes = number < SESSIONS
        need = [] if writes or number == first else [f"t{first}"]
        run = f"run = {json.dumps(['bash', '-c', WRITER])}" if writes else f"needs = {need}"
        lines.append(
            f'[[task]]\nkey = "t{number}"\ntitle = "Task {number} of a large crowd"\n'
            f'paths = ["src/{number}/**"]\npriority = {number % 7}\naccept = ["true"]\n{run}\n'
        )
    return "\n".join(lines)


def report(project: BrowsedRepo, ended: threading.Event) -> None:
    """Have the sessions say where they are, one after the other, until it is enough."""
    names = [one["id"] for one in project.sessions() if not one["ended_at"]]
    served = project.served()
    headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)) as line:
        for number in itertools.count():
            body = {"session": names[number % len(names)], "text": f"step {number} of many"}
            line.request("POST", "/api/session/report", json.dumps(body), headers)
            answer = line.getresponse()
            said = answer.read()
            assert answer.status == 200, said
            if ended.is_set():
                return


def heap(session: CDPSession) -> int:
    """Return the bytes that the page holds on to."""
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    return used


def longest(browser: Browser, page: Page, seconds: int) -> float:
    """Return the longest that the main thread computed without a break, in milliseconds."""
    categories = ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"]
    browser.start_tracing(page=page, categories=categories)
    page.wait_for_timeout(seconds * 1000)
    events: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks: list[float] = [
        event["tdur"] / 1000
        for event in events
        if event["name"].endswith("RunTask")
        and "tdur" in event
        and (event["pid"], event["tid"]) in main
    ]
    assert tasks, "the trace has no tasks of the main thread"
    return max(tasks)


@pytest.fixture
def busy(crowd: BrowsedRepo, browser: Browser) -> Iterator[Window]:
    with window(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened.log_in(crowd)


def test_it_stays_quick(
    crowd: BrowsedRepo, busy: Window, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    found, page = {}, busy.page
    for name in ("board", "sessions"):
        busy.look(crowd, name)
        page.wait_for_timeout(2000)  # the first look is not steady yet
        ended = threading.Event()
        writer = threading.Thread(target=report, args=(crowd, ended))
        writer.start()
        try:
            found[name] = longest(browser, page, 8)
        finally:
            ended.set()
            writer.join()
    busy.look(crowd, "board")
    expect(page.locator("[data-column=doing] [data-task]").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 3000  # only cards in view
    with capsys.disabled():
        print("\nlongest tasks:", ", ".join(f"{name} {ms:.0f} ms" for name, ms in found.items()))
    assert max(found.values()) < LONGEST_MS, found


def test_its_memory_is_flat(
    crowd: BrowsedRepo, busy: Window, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten minutes of changes, as fast as the page takes them: each connection brings a minute."""
    board = crowd.served().get("/api/board").data
    minutes, allowed = 0, 0
    busy.allow("ERR_CONNECTION_REFUSED")  # while it is measured

    def next_minute(route: Route) -> None:
        nonlocal minutes
        if minutes == allowed:
            return route.abort("connectionrefused")
        minutes += 1
        return route.fulfill(content_type="text/event-stream", body=minute(board, minutes))

    page = busy.page
    page.route("**/api/live*", next_minute)
    page.goto(f"{crowd.url}/")
    session = busy.context.new_cdp_session(page)
    sizes = []
    for allowed in (2, 2 + MINUTES // 2, 2 + MINUTES):
        shown = page.locator(".said").filter(has_text=f"minute {allowed} step 599")
        expect(shown.first).to_be_visible(timeout=240_000)
        sizes.append(heap(session))
    with capsys.disabled():
        print("\nheap, at the start, in the middle and after ten minutes:", sizes)
    assert sizes[2] < sizes[1] * 1.05 + 200_000


def minute(board: dict[str, Any], number: int) -> str:
    """Return a minute of the stream: the board, if it is the first, and 600 changes."""
    frames = [f"event: state\ndata: {json.dumps(board)}\n\n"] if number == 1 else []
    busy = [task for task in board["tasks"] if task["column"] == "doing"]
    for step in range(600):
        seq = board["seq"] + number * 600 + step
        rows = [busy[(step + more) % len(busy)] for more in range(5)]
        said = [row | {"progress": f"minute {number} step {step}"} for row in rows]
        change = {"seq": seq, "set": {"tasks": said}, "gone": {}}
        frames.append(f"id: {seq}\nevent: change\ndata: {json.dumps(change)}\n\n")
    return "".join(frames)

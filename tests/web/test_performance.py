"""R37: with 1,000 tasks and 50 sessions that write, the page stays quick and its memory flat.

Times are those that the browser's main thread was computing (not waiting for a busy machine's
processor), as its own trace records them.
"""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.e2e.corral_command import make_repository
from tests.web.browsing import Ranch, Window, window

TASKS, SESSIONS = 1000, 50
LONGEST_MS = 200
MINUTES = 10
# Ten changes a second is the most that the server sends: so many in ten minutes.
CHANGES = MINUTES * 60 * 10
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
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ranch]:
    folder = tmp_path_factory.mktemp("crowd")
    make_repository(folder / "project")
    ranch = Ranch(folder / "project")
    ranch.corral("init")
    ranch.configure(CONFIG)
    for half in (0, 1):  # a plan has 500 tasks at most
        plan = folder / f"plan{half}.toml"
        plan.write_text(_plan(half * TASKS // 2, TASKS // 2))
        ranch.corral("plan", "apply", str(plan))
    ranch.corral("convoy", "pause", "--convoy", "crowd-d")
    with ranch.up():
        ranch.until(lambda: len(ranch.sessions()) >= SESSIONS, limit_s=240)
        yield ranch


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


def report(ranch: Ranch, times: int, ended: threading.Event) -> int:
    """Have the sessions say where they are, one after the other; return how often."""
    names = [one["id"] for one in ranch.sessions() if not one["ended_at"]]
    served = ranch.served()
    headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)) as line:
        for number in range(times):
            body = {"session": names[number % len(names)], "text": f"step {number} of many"}
            line.request("POST", "/api/session/report", json.dumps(body), headers)
            answer = line.getresponse()
            said = answer.read()
            assert answer.status == 200, said
            if ended.is_set():
                return number
    return times


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
def busy(crowd: Ranch, browser: Browser) -> Iterator[Window]:
    with window(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened.log_in(crowd)


def test_it_stays_quick_and_its_memory_flat(
    crowd: Ranch, busy: Window, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    page = busy.look(crowd, "board")
    expect(page.locator("[data-column=doing] [data-task]").first).to_be_visible()
    session = busy.context.new_cdp_session(page)
    ended, counted = threading.Event(), 0
    found = {}
    for name in ("board", "sessions"):
        busy.look(crowd, name)
        page.wait_for_timeout(2000)  # the first look is not steady yet
        ended.clear()
        writer = threading.Thread(target=report, args=(crowd, 10_000, ended))
        writer.start()
        try:
            found[name] = longest(browser, page, 10)
        finally:
            ended.set()
            writer.join()
    busy.look(crowd, "board")
    report(crowd, CHANGES // 10, threading.Event())
    before = heap(session)
    counted = report(crowd, CHANGES, threading.Event())
    page.wait_for_timeout(1000)
    after = heap(session)
    with capsys.disabled():
        shown = ", ".join(f"{name} {ms:.0f} ms" for name, ms in found.items())
        print(f"\nlongest tasks: {shown}; heap {before:,} to {after:,} after {counted:,} changes")
    assert max(found.values()) < LONGEST_MS, found
    assert after < before * 1.1 + 500_000
    nodes = page.evaluate("document.querySelectorAll('*').length")
    assert nodes < 3000  # of 1,000 tasks, those in view

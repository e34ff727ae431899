"""Each task's trace, from plan to landing, reaches a real collector once."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.e2e.corral_command import CORRAL
from tests.e2e.whole.ci import CONFIG, Ci, make_ci

OK, ERROR = 1, 2


class Collector(ThreadingHTTPServer):
    """Receives and keeps spans over OTLP; may refuse, or kill its client."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.spans: list[Span] = []
        self.shown: set[str] = set()
        self.status = 200
        self.kills = 0  # the process to end before it has its answer

    def traces(self) -> dict[bytes, list[Span]]:
        found: dict[bytes, list[Span]] = {}
        for span in self.spans:
            found.setdefault(span.trace_id, []).append(span)
        return found


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.shown.add(self.headers.get("x-key", ""))
        if self.path == "/v1/traces" and self.server.status == 200:
            asked = ExportTraceServiceRequest.FromString(body)
            self.server.spans += [
                span for r in asked.resource_spans for s in r.scope_spans for span in s.spans
            ]
        if self.server.kills:
            os.kill(self.server.kills, signal.SIGKILL)
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@contextmanager
def collecting() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def about(span: Span) -> dict[str, Any]:
    return {a.key: a.value.string_value or a.value.int_value for a in span.attributes}


def ran(tmp_path: Path, config: str) -> Ci:
    """Make a repository in which a plan has been run: two tasks landed, one failed for good.

    The configuration is for what comes afterwards, because a run has a deacon too.
    """
    ci = make_ci(tmp_path)
    tasks = (
        ci.script("first", ci.work()),
        ci.script("second", ci.work(), "first"),
        ci.script("bad", "exit 3"),
    )
    assert ci.run(ci.plan(*tasks)).code == 1
    (ci.path / ".corral" / "config.toml").write_text(CONFIG + config)
    return ci


def test_each_task_is_one_trace_sent_once_whatever_happens(tmp_path: Path) -> None:
    with collecting() as collector:
        ci = ran(tmp_path, f'[telemetry]\nendpoint = "{collector.url}"\n')
        collector.status = 400
        ci.corral("deacon", "run", "--once", code=1)
        alert = ci.data("alert", "list")[0]
        assert (alert["kind"], alert["subject"]) == ("failed-chore", "traces")
        assert "could not be sent" in alert["text"]
        assert collector.spans == []

        # It is killed when the collector has the traces and the log does not know it yet.
        collector.status = 200
        process = subprocess.Popen(
            [CORRAL, "deacon", "run", "--once"],
            cwd=ci.path,
            env=ci.env | {"OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc"},
        )
        collector.kills = process.pid
        assert process.wait(120) == -signal.SIGKILL
        collector.kills = 0
        first, collector.spans = collector.spans, []
        assert "abc" in collector.shown
        assert ci.count("traces.sent") == 0

        ci.corral("deacon", "run", "--once")
        assert ci.data("alert", "list") == []
        assert sorted(s.span_id for s in first) == sorted(s.span_id for s in collector.spans)
        assert len(collector.traces()) == 3
        check_landed(ci, collector)
        ci.corral("deacon", "run", "--once")
        assert ci.count("traces.sent") == 1
        sent = len(collector.spans)

        # A second try of what has failed is another trace, and nothing is sent again.
        ci.corral("task", "retry", "N-3")
        ci.corral("task", "cancel", "N-3", "--reason", "no use")
        ci.corral("deacon", "run", "--once")
        assert len(collector.traces()) == 4
        (again,) = [s for s in collector.spans[sent:] if not s.parent_span_id]
        assert about(again)["corral.result"] == "cancelled"
        assert about(again)["corral.reason"] == "no use"


def check_landed(ci: Ci, collector: Collector) -> None:
    roots = {about(s)["corral.task"]: s for s in collector.spans if not s.parent_span_id}
    assert {task: about(span)["corral.result"] for task, span in roots.items()} == {
        **{"N-1": "landed", "N-2": "landed", "N-3": "failed"},
    }
    assert (roots["N-1"].status.code, roots["N-3"].status.code) == (OK, ERROR)
    events = ci.events()
    added = next(e for e in events if e["type"] == "task.added" and e["data"]["task"] == "N-2")
    landed = next(e for e in events if e["type"] == "task.landed" and e["data"]["task"] == "N-2")
    whole = roots["N-2"]
    assert whole.start_time_unix_nano == added["at"] * 1_000_000
    assert whole.end_time_unix_nano == landed["at"] * 1_000_000
    assert about(whole)["corral.commit"] == landed["data"]["commit"]
    spans = {span.name: span for span in collector.traces()[whole.trace_id]}
    check = next(name for name in spans if name.startswith("check R"))
    landing = next(name for name in spans if name.startswith("landing R"))
    assert set(spans) == {"task N-2", "waiting", "session N-2.1", "queue", check, landing}
    for name in ("waiting", "session N-2.1", "queue"):
        assert spans[name].parent_span_id == whole.span_id
    for name in (check, landing):
        assert spans[name].parent_span_id == spans["queue"].span_id
    assert about(spans["session N-2.1"])["corral.verdict"] == "proved"
    # It waits for what it needs, then each part follows the one before.
    times = [spans[name] for name in ("waiting", "session N-2.1", check, landing)]
    for before, after in pairwise(times):
        assert before.start_time_unix_nano <= before.end_time_unix_nano
        assert before.end_time_unix_nano <= after.start_time_unix_nano
    failed = [s for s in collector.traces()[roots["N-3"].trace_id] if "session" in s.name]
    assert [span.name for span in failed] == ["session N-3.1", "session N-3.2"]
    assert {span.status.code for span in failed} == {ERROR}


def test_without_an_endpoint_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    ci = make_ci(tmp_path)
    ci.corral("convoy", "create", "Auth fix")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "corral", "deacon", "run", "--once"],
        cwd=ci.path,
        env=ci.env,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "corral" in loaded
    assert not loaded & {"opentelemetry", "requests", "google"}


def test_a_missing_dependency_is_reported(tmp_path: Path) -> None:
    ci = ran(tmp_path, '[telemetry]\nendpoint = "http://127.0.0.1:9"\n')
    hidden = tmp_path / "hidden" / "opentelemetry"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError")
    ci.env["PYTHONPATH"] = str(hidden.parent)
    ci.corral("deacon", "run", "--once", code=1)
    (alert,) = ci.data("alert", "list")
    assert "is not installed" in alert["text"]
    assert "traces" in ci.corral("deacon", "status").out


def test_an_endpoint_must_be_an_address(tmp_path: Path) -> None:
    ci = make_ci(tmp_path, '[telemetry]\nendpoint = "localhost:4318"\n')
    assert "must start with http" in ci.refused("convoy", "create", "A", code=2)["message"]

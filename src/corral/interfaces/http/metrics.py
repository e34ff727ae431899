"""`GET /metrics`: figures of the state and the server, in the text format of Prometheus."""

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from corral.core.board.columns import columns as columns_of
from corral.roles.locks import taken

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

_Sample = tuple[dict[str, str], float]


def exposition(api: "Api") -> bytes:
    """Return all figures."""
    from corral.interfaces.http.pages import ROLES

    state = api.feed.state
    columns = columns_of(state)
    live = Counter(s.profile for s in state.sessions.values() if s.live)
    folder = api.repository.folder
    families: tuple[tuple[str, str, str, Iterable[_Sample]], ...] = (
        ("corral_log_events_total", "counter", "events in the log", [({}, state.seq)]),
        (
            "corral_tasks",
            "gauge",
            "tasks in each column",
            [({"column": name}, len(tasks)) for name, tasks in columns.items()],
        ),
        ("corral_convoys", "gauge", "convoys", [({}, len(state.convoys))]),
        (
            "corral_sessions_live",
            "gauge",
            "running sessions by engine profile",
            [({"profile": name}, n) for name, n in sorted(live.items())] or [({}, 0)],
        ),
        ("corral_leases", "gauge", "leases held", [({}, len(state.leases))]),
        (
            "corral_alerts_open",
            "gauge",
            "open alerts, by kind",
            [
                ({"kind": k}, n)
                for k, n in sorted(Counter(a.kind for a in state.alerts.values()).items())
            ]
            or [({}, 0)],
        ),
        (
            "corral_role_up",
            "gauge",
            "whether a role runs",
            [({"role": role}, float(taken(folder, role))) for role in ROLES],
        ),
        (
            "corral_chore_last_run_seconds",
            "gauge",
            "when a chore last recorded a run, in seconds since 1970",
            [({"chore": c.name}, c.ran_at / 1000) for c in state.chores.values()],
        ),
        (
            "corral_http_answers_total",
            "counter",
            "answers, by status",
            [({"status": str(code)}, n) for code, n in sorted(api.answered.items())],
        ),
        ("corral_event_streams", "gauge", "open event streams", [({}, len(api.streams.open))]),
        ("corral_memory_bytes", "gauge", "resident memory of the server", [({}, _resident())]),
    )
    return "".join(_family(*family) for family in families).encode()


def _family(name: str, kind: str, about: str, samples: Iterable[_Sample]) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        lines.append(f"{name}{{{shown}}} {value:.15g}" if shown else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _resident() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # not Linux: unknown

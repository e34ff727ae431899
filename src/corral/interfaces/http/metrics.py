"""`GET /metrics`: figures of the state and the server, in the text format of Prometheus."""

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from corral.core.board.columns import columns
from corral.interfaces.http.pages import ROLES
from corral.roles.locks import taken

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api


def exposition(api: "Api") -> bytes:
    """Return all figures."""
    state, folder = api.feed.state, api.repository.folder
    tasks = {name: len(found) for name, found in columns(state).items()}
    live = Counter(s.profile for s in state.sessions.values() if s.live)
    alerts = Counter(alert.kind for alert in state.alerts.values())
    roles = {role: taken(folder, role) for role in ROLES}
    ran = {chore.name: chore.ran_at / 1000 for chore in state.chores.values()}
    since = "when a chore last recorded a run, in seconds since 1970"
    families = (
        _family("log_events_total", "events in the log", state.seq),
        _family("tasks", "tasks in each column", tasks, "column"),
        _family("convoys", "convoys", len(state.convoys)),
        _family("sessions_live", "running sessions by engine profile", _sorted(live), "profile"),
        _family("leases", "leases held", len(state.leases)),
        _family("alerts_open", "open alerts, by kind", _sorted(alerts), "kind"),
        _family("role_up", "whether a role runs", roles, "role"),
        _family("chore_last_run_seconds", since, ran, "chore"),
        _family(
            "http_answers_total", "answers, by status", dict(sorted(api.answered.items())), "status"
        ),
        _family("event_streams", "open event streams", len(api.streams.open)),
        _family("memory_bytes", "resident memory of the server", _resident()),
    )
    return "".join(families).encode()


def _sorted(counts: Counter[str]) -> dict[str, int] | int:
    return dict(sorted(counts.items())) or 0


def _family(what: str, about: str, found: Mapping[Any, float] | float, label: str = "") -> str:
    """Return a figure, or one for each value of a label."""
    name = f"corral_{what}"
    kind = "counter" if name.endswith("_total") else "gauge"
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    if isinstance(found, Mapping):
        each = found.items()
        lines += [f'{name}{{{label}="{_escaped(str(key))}"}} {value:.15g}' for key, value in each]
    else:
        lines.append(f"{name} {found:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _resident() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # not Linux: unknown

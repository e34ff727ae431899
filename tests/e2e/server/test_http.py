"""Every command and view over HTTP; nothing is lost or done twice."""

import json
from collections.abc import Iterator
from itertools import islice

import pytest

from corral.core.board.commands import COMMANDS
from corral.interfaces.http.api import ROUTER
from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Events, Served, serve, start_session, wait_for


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    with serve(board) as server:
        yield server


def test_every_command_is_a_route() -> None:
    posts = {route.path for route in ROUTER.routes if route.method == "POST"}
    assert {f"/api/{name.replace(' ', '/')}" for name in COMMANDS} <= posts


def test_what_is_answered_is_what_the_command_line_answers(served: Served) -> None:
    added = served.post("/api/task/add", {"title": "Fix login", "brief": "All of it."}).data
    assert added["id"] == "AF-1"
    served.post("/api/task/comment", {"task": "AF-1", "text": "Careful."})
    board = served.board
    for path, words in (
        ("/api/status", ("status",)),
        ("/api/tasks/AF-1", ("task", "show", "AF-1")),
        ("/api/tasks/AF-1/why", ("why", "AF-1")),
        ("/api/convoys", ("convoy", "list")),
        ("/api/convoys/auth-fix", ("convoy", "show", "auth-fix")),
        ("/api/sessions", ("session", "list")),
        ("/api/leases", ("lease", "list")),
        ("/api/alerts", ("alert", "list")),
    ):
        assert served.get(path).data == board.data(*words), path
    assert served.get("/api/tasks").data["tasks"] == board.data("task", "list")
    assert served.get("/api/log").data["events"] == board.events()


def test_a_claim_is_fenced_as_everywhere(served: Served) -> None:
    served.post("/api/task/add", {"title": "One"})
    claim = served.post(
        "/api/task/claim", {}, headers={"Corral-Actor": "anä".encode().decode("latin-1")}
    ).data
    assert claim["claim"]["holder"] == "anä"
    refused = served.post("/api/task/claim", {"task": "AF-1"})
    assert (refused.status, refused.error["code"]) == (409, "already_claimed")
    stale = served.post("/api/task/submit", {"task": "AF-1", "token": "1"})
    assert (stale.status, stale.error["code"]) == (409, "stale_token")
    done = served.post("/api/task/submit", {"task": "AF-1", "token": claim["token"]})
    assert done.data["state"] == "review"
    nothing = served.post("/api/task/claim", {})
    assert (nothing.status, nothing.error["code"]) == (404, "nothing_ready")


def test_unknown_fields_and_odd_bodies_are_refused_and_change_nothing(served: Served) -> None:
    before = served.board.events()
    bodies: tuple[object, ...] = (
        {"title": "T", "colour": "red"},
        {"title": 3},
        {"title": ["T"]},
        [],
        b"{",
        b"\xff\xfe",
        b'{"title":"\\ud800"}',
        b'{"title":"a\\u0000b"}',
        b"[" * 100_000,
        b'{"title":' + b"9" * 5000 + b"}",
    )
    for body in bodies:
        answer = served.post("/api/task/add", body)
        assert (answer.status, answer.error["code"]) == (400, "bad_input"), body
    for path in ("/api/tasks?colour=red", "/api/status?x=1", "/api/tasks?limit=0"):
        assert served.get(path).error["code"] == "bad_input", path
    for path, body in (("/api/task/add?x=1", {"title": "T"}), ("/api/tickets", {"x": 1})):
        assert served.post(path, body).error["code"] == "bad_input", path
    assert served.board.events() == before


def test_a_key_makes_a_write_happen_once_also_across_a_killed_server(board: Board) -> None:
    key = {"Idempotency-Key": "one-claim-of-mine"}
    with serve(board) as served:
        served.post("/api/task/add", {"title": "One"})
        served.post("/api/task/add", {"title": "Two"})
        first = served.post("/api/task/claim", {}, headers=key).data
        assert served.post("/api/task/claim", {}, headers=key).data == first
        other = served.post("/api/task/claim", {"ttl_s": 5}, headers=key)
        assert (other.status, other.error["code"]) == (409, "key_reused")
        somebody = served.post("/api/task/claim", {}, headers=key | {"Corral-Actor": "bo"})
        assert somebody.data["id"] == "AF-2"
        served.kill()
    with serve(board) as again:
        assert again.post("/api/task/claim", {}, headers=key).data == first
        bad = again.post("/api/task/claim", {}, headers={"Idempotency-Key": "short"})
        assert (bad.status, bad.error["code"]) == (400, "bad_input")
        empty = again.post("/api/task/claim", {}, headers={"Idempotency-Key": ""})
        assert (empty.status, empty.error["code"]) == (400, "bad_input")
        dashes = again.post("/api/task/claim", {}, headers={"Idempotency-Key": "-" * 8})
        assert dashes.error["code"] == "nothing_ready"
    claims = [event for event in board.events() if event["type"] == "task.claimed"]
    assert len(claims) == 2
    board.corral("log", "verify")


def test_a_view_that_has_not_changed_is_not_sent_again(served: Served) -> None:
    first = served.get("/api/status")
    same = served.get("/api/status", headers={"If-None-Match": first.headers["etag"]})
    assert (same.status, same.body) == (304, b"")
    mark = first.headers["etag"]
    for said, status in ((f'"x", W/{mark}', 304), ("*", 304), ('"x"', 200), ("", 200)):
        assert served.get("/api/status", headers={"If-None-Match": said}).status == status, said
    served.board.corral("task", "add", "By the command line")
    changed = served.get("/api/status", headers={"If-None-Match": first.headers["etag"]})
    assert changed.data["seq"] == first.data["seq"] + 1


def test_tasks_come_in_pages(served: Served) -> None:
    for number in range(5):
        served.post("/api/task/add", {"title": f"Task {number}"})
    seen: list[str] = []
    after = ""
    while True:
        page = served.get(f"/api/tasks?limit=2&after={after}").data
        seen += [task["id"] for task in page["tasks"]]
        after = page["next"]
        if not after:
            break
    assert seen == [f"AF-{number}" for number in range(1, 6)]


def test_the_document_describes_every_route(served: Served) -> None:
    document = json.loads(served.get("/api/openapi.json").body)
    assert document["openapi"].startswith("3.1")
    described = {(m.upper(), p) for p, methods in document["paths"].items() for m in methods}
    assert described == {(route.method, route.path) for route in ROUTER.routes}
    add = document["paths"]["/api/task/add"]["post"]["requestBody"]
    name = add["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    schema = document["components"]["schemas"][name]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(COMMANDS["task add"].__struct_fields__)


def test_figures_are_in_the_format_of_prometheus(served: Served) -> None:
    served.post("/api/task/add", {"title": "One"})
    text = served.get("/metrics").body.decode()
    assert 'corral_tasks{column="todo"} 1\n' in text
    counters = [line.split()[2] for line in text.splitlines() if line.endswith(" counter")]
    assert counters
    assert all(name.endswith("_total") for name in counters)
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        assert line.startswith("# ") or (name.startswith("corral_") and float(value) >= 0), line


def test_secrets_are_nowhere_once_they_were_said(served: Served) -> None:
    """Not in the log, its mirror, the views, the event stream, nor in any file beside them."""
    board, secret = served.board, "ghp_" + "a1B2" * 9
    session, key = start_session(board, served.post("/api/task/add", {"title": "One"}).data["id"])
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    for path, body, token in (
        ("task/add", {"title": f"Use {secret}", "brief": f"key: {secret}\n"}, ""),
        ("task/add", {"title": "Lists", "paths": [f"src/{secret}"], "run": ["x", secret]}, ""),
        ("task/add", {"title": "More", "accept": [f"curl {secret}"]}, ""),
        ("task/comment", {"task": "AF-1", "text": f"or {served.token}"}, ""),
        ("task/hand-off", {"task": "AF-2", "note": f"with {secret}"}, ""),
        ("session/report", {"session": session, "text": f"trying {key}"}, key),
        ("message/send", {"to": "people", "text": secret}, key),
        ("alert/raise", {"subject": "log", "text": f"found {secret}"}, ""),
        ("convoy/create", {"title": "Two", "checks": [f"env K={secret} make"]}, ""),
        ("pause", {"reason": secret}, ""),
    ):
        served.post(f"/api/{path}", body, token=token).data  # noqa: B018 - it was carried out
    named = served.post("/api/resume", {}, headers={"Corral-Actor": secret})
    assert named.status == 400
    board.corral("resume")
    events = Events(served, "/api/events?after=0")
    told = "".join(str(data) for data in islice(events, served.get("/api/status").data["seq"]))
    events.close()
    board.corral("log", "verify")
    wait_for(lambda: "removed" in board.git("log", "-p", "refs/corral/log"), "it is mirrored")
    seen = [
        told,
        served.get("/api/status").body.decode(),
        *(served.get(f"/api/tasks/AF-{number}").body.decode() for number in (1, 2, 3)),
        board.git("log", "-p", "refs/corral/log"),
    ]
    kept = {"token", "secret"}
    files = [p for p in board.folder.rglob("*") if p.is_file() and p.name not in kept]
    seen += [path.read_bytes().decode("latin-1") for path in files]
    assert len(files) > 3
    for said in (secret, served.token, key):
        assert not [text for text in seen if said in text]
    assert served.get("/api/tasks/AF-2").data["title"] == "Use [secret removed]"

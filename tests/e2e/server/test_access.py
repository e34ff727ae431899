"""Who may do what: every route is tried with every kind of wrong credential."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path

import msgspec
import pytest

from corral.core.board.commands import COMMANDS
from corral.interfaces.http.api import ROUTER
from corral.interfaces.http.assets import PAGES
from corral.interfaces.http.routes import Route
from corral.interfaces.http.server import hosts
from tests.e2e.corral_command import Board, make_repository
from tests.e2e.server.live_server import Served, serve, start_session, wait_for

# What else is served, beside the table of routes.
BESIDE = [
    *((method, "/mcp") for method in ("POST", "GET", "DELETE")),
    *(("GET", path) for path in ("/", "/assets/index.js", "/sessions/AF-1.1", "/nothing/here")),
    *(("GET", f"/{page}") for page in sorted(PAGES)),
]
# The one route that takes a ticket.
BY_TICKET = ("GET", "/login")


def addresses() -> list[tuple[str, str]]:
    table = [(route.method, _filled(route)) for route in ROUTER.routes]
    return [*table, *BESIDE]


def _filled(route: Route) -> str:
    samples = {"task": "AF-1", "convoy": "auth-fix", "session": "AF-1.1"}
    samples |= {"check": "RUN-1", "mayor": "mayor-1", "what": "AF-1"}
    path = route.path
    for name in route.names:
        path = path.replace("{" + name + "}", samples[name])
    return path


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    for title in ("Mine", "Below", "Theirs", "Below theirs"):
        board.add(title, *(("--budget", "5") if "elow" not in title else ()))
    with serve(board) as server:
        yield server


def test_every_route_refuses_every_wrong_credential(served: Served) -> None:
    _, key = start_session(served.board, "AF-1")
    other_board = make_repository(served.board.path.parent / "other")
    other_board.corral("init")
    other_board.corral("convoy", "create", "Auth fix")
    other_board.add("One")
    _, foreign = start_session(other_board, "AF-1")
    _, revoked = start_session(served.board, "AF-3")
    served.board.corral("task", "hand-off", "AF-3", "--force")
    wait_for(
        lambda: served.get("/api/whoami", token=revoked).status == 401, "the key is known to be old"
    )
    assert served.get("/api/whoami", token=key).data["task"] == "AF-1"
    before = served.board.events()
    wrong: list[tuple[str, dict[str, object], set[str]]] = [
        ("no token", {"token": None}, {"no_token", "too_many"}),
        ("wrong token", {"token": "corral_p_" + "0" * 48}, {"no_token", "too_many"}),
        ("not ASCII", {"headers": {"Authorization": "Bearer \xe4"}}, {"no_token", "too_many"}),
        ("another scheme", {"headers": {"Authorization": "Basic eA=="}}, {"no_token", "too_many"}),
        ("a forged key", {"token": key[:-1] + "g"}, {"no_token", "too_many"}),
        ("another repository's session", {"token": foreign}, {"no_token", "too_many"}),
        ("a revoked key", {"token": revoked}, {"no_token", "too_many"}),
        ("a foreign Origin", {"headers": {"Origin": "http://evil.example"}}, {"foreign_origin"}),
        ("a page from a file", {"headers": {"Origin": "null"}}, {"foreign_origin"}),
        ("a foreign Host", {"headers": {"Host": "evil.example"}}, {"misdirected"}),
        ("our Host, another port", {"headers": {"Host": "127.0.0.1:1"}}, {"misdirected"}),
        ("no Host", {"headers": {"Host": ""}}, {"misdirected"}),
    ]
    for method, path in addresses():
        for name, credential, codes in wrong:
            if (method, path) == BY_TICKET and codes == {"no_token", "too_many"}:
                continue
            answer = served.call(method, path, **credential)  # type: ignore[arg-type]
            assert answer.error["code"] in codes, (method, path, name, answer)
            assert "access-control-allow-origin" not in answer.headers
    assert served.board.events() == before


def test_preflight_requests_get_nothing(served: Served) -> None:
    asks = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = served.call("OPTIONS", "/api/task/add", token=None, headers=asks)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_session_does_and_sees_what_is_its_own(served: Served) -> None:
    session, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    served.post("/api/convoy/create", {"title": "Other"})
    added = served.post("/api/task/add", {"title": "Helper"}, token=key).data
    assert served.get(f"/api/tasks/{added['id']}", token=key).data["title"] == "Helper"
    seen = served.get("/api/status", token=key).data
    assert [task["id"] for task in seen["tasks"]] == ["AF-1", added["id"]]
    assert [one["id"] for one in seen["sessions"]] == [session]
    comment = {"task": "AF-1", "text": "I am at it"}
    served.post("/api/task/comment", comment, token=key)  # its own token is filled in
    assert served.get("/api/tasks/AF-1").data["comments"][0]["actor"] == session
    served.post("/api/task/cancel", {"task": added["id"]}, token=key)
    for path, body in (
        ("/api/task/comment", {"task": "AF-3", "text": "not mine"}),
        ("/api/task/claim", {}),
        ("/api/task/claim", {"task": "AF-3"}),
        ("/api/task/cancel", {"task": "AF-1"}),
        ("/api/task/add", {"title": "Elsewhere", "parent": "AF-3"}),
        ("/api/task/add", {"title": "Pushing in", "urgent": True}),
        ("/api/task/add", {"title": "Foreign", "convoy": "other"}),
        ("/api/convoy/create", {"title": "Mine"}),
        ("/api/task/land", {"task": "AF-1"}),
        ("/api/tickets", {}),
    ):
        answer = served.post(path, body, token=key)
        assert (answer.status, answer.error["code"]) == (403, "not_yours"), (path, answer)
    for path in ("/api/tasks/AF-3", "/api/tasks/AF-3/why", "/api/sessions/AF-3.1"):
        assert served.get(path, token=key).status == 404, path
    for path in ("/api/convoys/{}", "/api/tasks?convoy={}"):  # not even that there is one
        answers = [served.get(path.format(name), token=key) for name in ("other", "nothing")]
        assert answers[0].status == 404
        assert answers[0].error == answers[1].error
    for path in ("/api/log", "/api/jobs", "/api/board", "/api/live", "/api/health", "/metrics"):
        assert served.get(path, token=key).status == 403, path


def test_a_session_may_not_go_beyond_its_budget(served: Served) -> None:
    _, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    for number in range(5):
        assert served.post("/api/task/add", {"title": f"T{number}"}, token=key).status == 200
    answer = served.post("/api/task/add", {"title": "One too many"}, token=key)
    assert answer.error["code"] == "over_budget"
    # Nor by a detour: give one up, add another, and take the first up again.
    served.post("/api/task/cancel", {"task": "AF-5"}, token=key)
    assert served.post("/api/task/add", {"title": "In its place"}, token=key).status == 200
    answer = served.post("/api/task/retry", {"task": "AF-5"}, token=key)
    assert answer.error["code"] == "over_budget"
    assert served.post("/api/task/retry", {"task": "AF-5"}).status == 200  # people may


def test_a_key_ends_with_the_claim_inside_the_transaction(served: Served) -> None:
    _, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    served.post("/api/task/hand-off", {"task": "AF-1", "force": True})
    answer = served.post("/api/task/add", {"title": "Too late"}, token=key)
    assert (answer.status, answer.error["code"]) == (401, "no_token")


def test_a_link_opens_a_browser_once(served: Served) -> None:
    link = served.board.data("link")["url"]
    path = link.removeprefix(served.url)
    assert link.startswith(served.url)
    opened = served.get(path, token=None)
    assert (opened.status, opened.headers["location"]) == (303, "/")
    (cookie,) = SimpleCookie(opened.headers["set-cookie"]).values()
    assert (cookie["samesite"], cookie["httponly"], cookie["path"]) == ("Strict", True, "/")
    shown = {"Cookie": f"{cookie.key}={cookie.value}"}
    assert served.get("/api/status", token=None, headers=shown).status == 200
    own = shown | {"Origin": served.url}
    added = served.post("/api/task/add", {"title": "By hand"}, token=None, headers=own)
    assert added.status == 200
    # A form on another page could send the cookie; it cannot say that it comes from here.
    blind = served.post("/api/task/add", {"title": "Forged"}, token=None, headers=shown)
    assert blind.error["code"] == "foreign_origin"
    again = served.get(path, token=None)
    assert (again.status, again.error["code"]) == (401, "no_token")
    forged = {"Cookie": f"{cookie.key}={cookie.value[:-1]}g"}
    assert served.get("/api/status", token=None, headers=forged).status == 401


def test_secrets_are_files_for_their_owner_only(served: Served) -> None:
    for name in ("token", "secret", "server.json", "run/server.sock"):
        mode = (served.board.folder / name).stat().st_mode & 0o777
        assert mode == 0o600, name
    (served.board.folder / "token").chmod(0o644)
    refused = served.board.refused("link", code=1)
    assert "others can read" in refused["message"]


def test_the_usual_port_of_a_scheme_may_be_left_out() -> None:
    assert hosts(["a"], 5173, "http") == ["a:5173"]
    assert hosts(["a"], 443, "http") == ["a:443"]
    assert hosts(["a"], 443, "https") == ["a:443", "a"]


def test_it_is_not_reached_from_elsewhere_unless_encrypted(empty_board: Board) -> None:
    config = empty_board.path / ".corral" / "config.toml"
    config.write_text('[server]\nbind = "0.0.0.0"\n')
    refused = empty_board.refused("serve", code=3)
    assert refused["code"] == "not_encrypted"


def test_with_tls_it_is_reached_under_the_names_that_were_configured(
    board: Board, tmp_path: Path
) -> None:
    certificate = _certificate(tmp_path, "build.example")
    (board.path / ".corral" / "config.toml").write_text(
        f"""[server]
        bind = "0.0.0.0"
        hosts = ["build.example"]
        tls_cert = "{certificate}.crt"
        tls_key = "{certificate}.key"
        """
    )
    with serve(board) as served:
        assert served.url == f"https://build.example:{served.port}"
        trust = ssl.create_default_context(cafile=f"{certificate}.crt")
        for host, status in ((f"build.example:{served.port}", 200), ("evil.example", 421)):
            with socket.create_connection(("127.0.0.1", served.port)) as plain:
                line = trust.wrap_socket(plain, server_hostname="build.example")
                asked = f"GET /api/whoami HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
                line.sendall(f"{asked}Authorization: Bearer {served.token}\r\n\r\n".encode())
                assert line.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())
                line.close()
        assert board.data("task", "add", "Through the socket")["id"] == "AF-1"


def _certificate(folder: Path, name: str) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.crt").write_bytes(made.public_bytes(pem))
    (folder / "server.key").write_bytes(secret)
    return folder / "server"


def test_it_listens_on_the_loopback_address_only(served: Served) -> None:
    with open("/proc/net/tcp") as file:
        rows = [line.split() for line in file][1:]
    listening = {row[1] for row in rows if row[3] == "0A"}
    assert f"0100007F:{served.port:04X}" in listening
    assert f"00000000:{served.port:04X}" not in listening


def test_no_command_lets_a_session_touch_what_is_anothers(served: Served) -> None:
    """Every command that names a task or a session, with the key of another session."""
    start_session(served.board, "AF-1")
    _, key = start_session(served.board, "AF-3")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    samples = {"task": "AF-1", "session": "AF-1.1", "parent": "AF-1", "title": "T", "text": "t"}
    before = served.board.events()
    tried = 0
    for name, kind in COMMANDS.items():
        fields = {field.name: field.required for field in msgspec.structs.fields(kind)}
        if not {"task", "session", "parent"} & set(fields):
            continue
        own = {"task", "session", "parent"}
        body = {n: samples[n] for n, required in fields.items() if required or n in own}
        answer = served.post(f"/api/{name.replace(' ', '/')}", body, token=key)
        assert (answer.status, answer.error["code"]) == (403, "not_yours"), (name, answer)
        tried += 1
    assert tried > 10
    for route in ROUTER.routes:
        if {"task", "session"} & set(route.names):
            # Who may ask of its own is not told what there is of others.
            refused = 403 if route.people_only else 404
            assert served.get(_filled(route), token=key).status == refused, route.path
    assert served.board.events() == before

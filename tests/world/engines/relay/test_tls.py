"""Large responses pass through the relay from a TLS server unchanged and unstored."""

import http.server
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.world.engines.relay.reader import MARK, PLACE, argv_of
from tests.patience import PATIENCE_S

SIZE = 48 << 20
BLOCK = b"x" * (1 << 16)
# What an engine does: much is sent, much comes back; at its end it looks at the relay's memory.
ASK = f"""
import http.client, os, sys, urllib.parse
where = urllib.parse.urlsplit(sys.argv[1])
asked = http.client.HTTPConnection(where.hostname, where.port)
asked.putrequest("POST", "/big")
asked.putheader("content-length", "{SIZE}")
for value in ("one", "two"):
    asked.putheader("x-twice", value)
asked.endheaders(b"x" * {len(BLOCK)} for _ in range({SIZE // len(BLOCK)}))
answer = asked.getresponse()
print(answer.headers.get_all("x-twice"), answer.getheader("server"))
count = 0
while data := answer.read(1 << 16):
    count += len(data)
print(count)
status = open(f"/proc/{{os.getppid()}}/status").read()
print([line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")][0])
"""


class Big(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        left = int(self.headers["content-length"])
        while left:
            left -= len(self.rfile.read(min(left, len(BLOCK))))
        self.send_response_only(200)
        self.send_header("server", "its own")
        for value in self.headers.get_all("x-twice") or ():
            self.send_header("x-twice", value)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for _ in range(SIZE // len(BLOCK)):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    place = tmp_path / "both.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=here"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(place), "-out", str(place)]
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)
    return place


@pytest.fixture
def server(certificate: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Big)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def ask(server: str, env: dict[str, str]) -> list[str]:
    done = subprocess.run(
        argv_of(server, [sys.executable, "-c", ASK, PLACE]),
        env=env,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return [line.decode() for line in done.stdout.splitlines() if not line.startswith(MARK)]


def test_much_passes_and_little_is_held(server: str, certificate: Path) -> None:
    heads, count, most_kb = ask(server, {"NODE_EXTRA_CA_CERTS": str(certificate)})
    assert heads == "['one', 'two'] its own"
    assert int(count) == SIZE
    assert int(most_kb) * 1024 < SIZE, "it keeps what it passes on"


def test_a_server_with_an_untrusted_certificate_is_refused(server: str) -> None:
    assert ask(server, {}) == []

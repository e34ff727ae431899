"""Where to reach a repository's server: a socket in the git directory, and `corral/server.json`.

Commands on this machine use the socket: a refused connection proves that no server runs. Other
clients use the file. It identifies the process by its pid and start tick, so that a stale file is
recognised and no token is sent to another program that now has the port.
"""

import os
import socket
from contextlib import suppress

import msgspec
from msgspec import Struct

from corral.core.config import ServerSettings
from corral.core.errors import Failed, Refused
from corral.world import keys
from corral.world.processes import table

RECORD, FOLDER, SOCKET = "server.json", "run", "server.sock"
PORT = 5173
_LOOPBACK = ("127.0.0.1", "::1")
_MORE = 100  # ports to try after it


class Published(Struct, frozen=True):
    pid: int
    start: int
    boot: str
    url: str
    port: int
    token_file: str
    log: str


def publish(folder: str, url: str, port: int, log: str) -> None:
    """Publish where this process serves."""
    own = table.look(os.getpid())
    record = Published(
        pid=os.getpid(),
        start=own.start if own else 0,
        boot=table.boot_id(),
        url=url,
        port=port,
        token_file=f"{folder}/{keys.TOKEN}",
        log=log,
    )
    keys.write(f"{folder}/{RECORD}", msgspec.json.encode(record).decode())


def withdraw(folder: str) -> None:
    """Remove what this process has published."""
    found = _read(folder)
    if found is not None and found.pid == os.getpid():
        for path in (f"{folder}/{RECORD}", f"{folder}/{FOLDER}/{SOCKET}"):
            with suppress(FileNotFoundError):
                os.unlink(path)


def published(folder: str) -> Published | None:
    """Return the address of the server, if that process still runs."""
    found = _read(folder)
    if found is None or not table.is_running(found.pid, found.start, found.boot):
        return None
    return found


def _read(folder: str) -> Published | None:
    try:
        content = keys.read(f"{folder}/{RECORD}")
        return msgspec.json.decode(content, type=Published) if content else None
    except (Failed, msgspec.MsgspecError):
        return None  # ignore a file that others can write, or a partial one


def check(settings: ServerSettings) -> None:
    """Refuse to listen beyond loopback without encryption."""
    if settings.bind not in _LOOPBACK and not (settings.tls_cert and settings.tls_key):
        raise Refused(
            f"[server] bind = {settings.bind!r} can be reached from other machines, and"
            " tokens would cross the network unencrypted; nothing was started",
            "set tls_cert and tls_key in .corral/config.toml, or leave bind out",
            code="not_encrypted",
        )


def last_port(folder: str) -> int:
    """Return the port of a server that was killed, where its clients will look for the next one."""
    found = _read(folder)
    return found.port if found is not None and 0 < found.port < 65_536 else 0


def listen_tcp(bind: str, wanted: int, last: int = 0) -> socket.socket:
    """Listen on a port; 0 means the previous or default one, or another if that is taken."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    usual = [*([last] if last else []), *range(PORT, PORT + _MORE), 0]
    ports = [wanted] if wanted else usual
    for port in ports:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((bind, port))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            if port == ports[-1]:
                raise Refused(
                    f"port {port} on {bind} cannot be used: {error.strerror}",
                    "use another --port, or none",
                    code="port_taken",
                ) from error
        else:
            listener.setblocking(False)
            return listener
    raise AssertionError("the last port either works or is refused")


def make_place(folder: str) -> str:
    """Create the folder of the socket, which only its owner can read."""
    place = f"{folder}/{FOLDER}"
    os.makedirs(place, mode=0o700, exist_ok=True)
    os.chmod(place, 0o700)
    return place


def listen_local(folder: str) -> socket.socket:
    """Listen on the socket in the git directory; the caller holds the server lock."""
    place = make_place(folder)
    with suppress(FileNotFoundError):
        os.unlink(f"{place}/{SOCKET}")
    # A socket's path may have at most 108 bytes; via the open folder it is always short enough.
    opened = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(f"/proc/self/fd/{opened}/{SOCKET}")
    finally:
        os.close(opened)
    os.chmod(f"{place}/{SOCKET}", 0o600)
    listener.listen(1024)
    listener.setblocking(False)
    return listener

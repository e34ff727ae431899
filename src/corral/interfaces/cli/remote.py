"""Have a running server carry out a command, or answer a query, instead of opening the log.

This module speaks HTTP by hand over the socket in the git directory, because loading `http.client`
would nearly double a command's processor time. Each request has a key. If the server dies before it
has answered, the command is carried out on the log with the same key, so it is done exactly once.
"""

import os
import time
from _socket import AF_UNIX, SOCK_STREAM, socket  # `socket` around it costs 10 ms
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw, Struct

from corral.core.board.commands import Command
from corral.core.errors import BadInput, CorralError, Failed, NotFound, Refused

_SOCKET = "run/server.sock"  # as in world/server, which is not for every command to load
_PATIENCE_S = 10.0
_SHORT = 100  # bytes: a socket's name has 108 at most
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/"
_KINDS: dict[int, type[CorralError]] = {400: BadInput, 404: NotFound, 500: CorralError, 503: Failed}


class Unanswered(Exception):
    """The server took the request but did not answer: the command may or may not have been done."""


class _RemoteRefusal(Struct):
    code: str
    message: str
    hint: str


class _Envelope(Struct):
    ok: bool
    data: Raw = Raw(b"null")
    error: _RemoteRefusal | None = None


def ask(folder: str, command: Command, actor: str, key: str) -> Raw | None:
    """Return the server's answer, or None if no server runs; raise its refusal."""
    path = f"/api/{command.name.replace(' ', '/')}"
    try:
        body = msgspec.json.encode(command)
    except UnicodeEncodeError:
        return None  # it cannot be sent: the rules refuse it and name the field
    return _ask(folder, path, body, actor, key)


def post(folder: str, path: str, actor: str) -> Any:
    """Ask the server for something other than a command; return None if no server runs."""
    answer = _ask(folder, path, b"{}", actor, "")
    return None if answer is None else msgspec.json.decode(answer)


def forward(folder: str, path: str, body: bytes, actor: str, key: str) -> tuple[int, bytes] | None:
    """Post a body to the server; return the raw status and body, or None if no server runs."""
    answer = _exchanged(folder, path, body, actor, key)
    return None if answer is None else _parted(answer)


def get(folder: str, path: str, kinds: Sequence[Any], query: Mapping[str, object]) -> Any:
    """Return what the server shows to people, as one of the kinds; None if it does not show it."""
    try:
        words = "&".join(f"{name}={_quoted(str(value))}" for name, value in query.items())
        answer = _exchanged(folder, f"{_quoted(path)}?{words}" if words else _quoted(path))
        status, body = _parted(answer) if answer is not None else (0, b"")
        data = msgspec.json.decode(body, type=_Envelope).data
    except (Unanswered, Failed, msgspec.MsgspecError, UnicodeEncodeError):
        return None
    for kind in kinds if status == 200 else ():
        with suppress(msgspec.MsgspecError):  # a server of another version may show something else
            return data if kind is Raw else msgspec.json.decode(data, type=kind)
    return None


def _quoted(text: str) -> str:
    kept = (chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in text.encode())
    return "".join(kept)


def _ask(folder: str, path: str, body: bytes, actor: str, key: str) -> Raw | None:
    answer = _exchanged(folder, path, body, actor, key)
    if answer is None:
        return None
    status, content = _parted(answer)
    try:
        envelope = msgspec.json.decode(content, type=_Envelope)
    except msgspec.MsgspecError as error:
        raise Unanswered from error
    if (said := envelope.error) is not None:
        raise _KINDS.get(status, Refused)(said.message, said.hint, code=said.code)
    return envelope.data


def _exchanged(
    folder: str, path: str, body: bytes = b"", actor: str = "", key: str = ""
) -> bytes | None:
    """Post a body, or get what is there if there is none; None if no server listens."""
    if not actor.isprintable():
        raise BadInput("the name contains a control character")
    line = _connected(folder)
    if line is None:
        return None
    try:
        # A server writes its token before it listens, so the token exists once we are connected.
        head = [
            f"{'POST' if body else 'GET'} {path} HTTP/1.1",
            "Host: corral.local",
            f"Authorization: Bearer {_token(folder, actor)}",
            *([f"Corral-Actor: {actor}"] if actor else []),
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *([f"Idempotency-Key: {key}"] if key else []),
        ]
        line.sendall("\r\n".join([*head, "", ""]).encode() + body)
        return _all(line)
    except OSError as error:
        raise Unanswered from error
    finally:
        line.close()


def _connected(folder: str) -> socket | None:
    path, opened = f"{folder}/{_SOCKET}", -1
    line = socket(AF_UNIX, SOCK_STREAM)
    line.settimeout(_PATIENCE_S)
    try:
        if len(path) > _SHORT:
            opened = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            path = f"/proc/self/fd/{opened}/{os.path.basename(path)}"
        line.connect(path)
    except OSError:  # no socket, or nothing behind it: no server runs
        line.close()
        return None
    finally:
        if opened >= 0:
            os.close(opened)
    return line


def _token(folder: str, actor: str) -> str:
    """Return the key of the session that we run in, or else the token of people."""
    own = os.environ.get("CORRAL_KEY", "")
    if own and actor == os.environ.get("CORRAL_SESSION"):
        return own
    from corral.world.keys import read

    return read(f"{folder}/token")


def _all(line: socket) -> bytes:
    deadline = time.monotonic() + _PATIENCE_S
    parts = []
    while part := line.recv(1 << 16):
        parts.append(part)
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        line.settimeout(left)
    return b"".join(parts)


def _parted(answer: bytes) -> tuple[int, bytes]:
    """Return status and body of an answer; raise Unanswered if it was cut off."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((n[15:].strip() for n in lines if n.startswith(b"content-length:")), b"")
    if length != str(len(body)).encode() or len(lines[0].split()) < 2:
        raise Unanswered  # cut off
    return int(lines[0].split()[1]), body

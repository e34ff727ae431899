"""Runs every engine with nothing but loopback, and reports the hosts it looked up.

Started by `test_offline` in a network and a mount namespace of its own. Names are asked of a
server here that writes them down and knows none of them. Prints one JSON object.
"""

import ctypes
import fcntl
import json
import os
import pwd
import re
import socket
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.engines.engine_tree import ENGINES, EngineTree, plan
from tests.standin.server import serving

_SET_FLAGS, _UP, _BIND_MOUNT, _NO_SUCH_NAME = 0x8914, 0x1, 4096, 0x8183

# Others may be at work on this machine, so not everything that is new comes from here.
_THEIRS = re.compile("claude|codex|opencode|gemini|copilot|continue|aider|litellm|node|npm")


def main(place: Path, programs: Path) -> None:
    _raise_loopback()
    _ask_names_here(place)
    asked: list[str] = []
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    threading.Thread(target=_know_nothing, args=(names, asked), daemon=True).start()
    before = _listing()
    with serving() as standin, ThreadPoolExecutor(4) as pool:

        def live(engine: str) -> dict[str, object]:
            project = EngineTree(place / engine, engine, standin.url(engine), programs)
            brief = plan(
                {"op": "write", "path": "a.py", "content": "y = 2\n"},
                {"op": "say", "text": "Done."},
            )
            outcome = project.run(project.job(brief), limit_s=240)
            return {
                "code": outcome.code,
                "wrote": (project.tree / "a.py").exists(),
                "beside": sorted(path.name for path in project.place.iterdir()),
            }

        done = dict(zip(ENGINES, pool.map(live, ENGINES), strict=True))
    interfaces = [name for _, name in socket.if_nameindex()]
    print(
        json.dumps(
            {
                "engines": done,
                "names": sorted(set(asked)),
                "interfaces": interfaces,
                "new": sorted(_listing() - before),
            }
        )
    )


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", _UP)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def _ask_names_here(place: Path) -> None:
    ours = place.parent / "resolv.conf"
    ours.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    library = ctypes.CDLL(None, use_errno=True)
    target = os.path.realpath("/etc/resolv.conf").encode()
    if library.mount(bytes(ours), target, None, _BIND_MOUNT, None):
        raise OSError(ctypes.get_errno(), "/etc/resolv.conf cannot be replaced")


def _know_nothing(names: socket.socket, asked: list[str]) -> None:
    while True:
        query, sender = names.recvfrom(4096)
        labels, rest = [], query[12:]
        while rest and rest[0]:
            labels.append(rest[1 : 1 + rest[0]].decode(errors="replace"))
            rest = rest[1 + rest[0] :]
        asked.append(".".join(labels).lower())
        head = struct.pack("!2sHHHHH", query[:2], _NO_SUCH_NAME, 1, 0, 0, 0)
        names.sendto(head + query[12 : 12 + len(query) - len(rest) - 12 + 5], sender)


def _listing() -> set[str]:
    """List what lies where an engine might write if it forgot its home, as far as it is theirs."""
    homes = {Path.home(), Path(pwd.getpwuid(os.getuid()).pw_dir)}
    inside = (".", ".config", ".cache", ".local/share", ".local/state")
    folders = [Path("/tmp"), *(home / name for home in homes for name in inside)]
    entries = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    return {str(path) for path in entries if _THEIRS.search(path.name)}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

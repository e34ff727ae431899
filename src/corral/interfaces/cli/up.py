"""`corral up` and `corral down`: all roles of a repository under one supervisor."""

import gc
import os
import shlex
import subprocess
import sys
import time
from importlib.util import find_spec

from corral.core.errors import Failed
from corral.core.text import number
from corral.interfaces.cli import output
from corral.interfaces.cli.catalogue import ENTRIES
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options
from corral.interfaces.cli.serve import server_of

_START_S = 30.0
_LOG = "up.log"

_running: list["subprocess.Popen[bytes]"] = []  # it outlives us, and nobody need be told

UNIT = """\
[Unit]
Description=Corral for {folder}
After=network.target

[Service]
WorkingDirectory={folder}
ExecStart={program} up --repo {folder}
Restart=on-failure
KillMode=mixed

[Install]
WantedBy=default.target"""


def up(context: Context, options: Options) -> None:
    from corral.roles.supervisor import Supervisor

    _ = context.store  # that there is a log, and that it is sound, is said here
    port = number(options.port, "the port", 0, 65_535)
    if options.systemd:
        _print_unit(context)
        return
    if options.d:
        _behind(context, port)
        return
    gc.enable()  # unlike other commands, this one stays
    Supervisor(context.repository.folder, _roles(context, port), output.warn).run()


def _roles(context: Context, port: int) -> dict[str, list[str]]:
    from corral.roles.supervisor import program

    where = ["--repo", context.repository.worktree]
    roles = {
        "server": program("serve", "--port", str(port), *where),
        "witness": program("witness", "run", *where),
        "deacon": program("deacon", "run", *where),
    }
    if "refinery run" in ENTRIES and find_spec("corral.roles.refinery"):
        roles["refinery"] = program("refinery", "run", *where)
    return roles


def _print_unit(context: Context) -> None:
    folder = context.repository.worktree
    program = shlex.join([sys.executable, "-m", "corral"])
    unit = UNIT.format(folder=folder, program=program)
    context.answer({"unit": unit}, lambda: unit)


def _behind(context: Context, port: int) -> None:
    """Start the supervisor as a process of its own, and wait until its server answers."""
    from corral.core.errors import Refused
    from corral.roles.supervisor import is_up

    folder = context.repository.folder
    if is_up(folder):
        raise Refused(
            "corral up runs for this repository already; nothing was changed",
            "corral down stops it",
            code="already_up",
        )
    os.makedirs(folder, exist_ok=True)  # nothing has happened yet
    log = os.open(f"{folder}/{_LOG}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    words = ["up", "--port", str(port), "--repo", context.repository.worktree]
    started = subprocess.Popen(
        [sys.executable, "-m", "corral", *words],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        cwd="/",
    )
    _running.append(started)
    deadline = time.monotonic() + _START_S
    while (server := server_of(context)) is None:
        if started.poll() is not None or time.monotonic() > deadline:
            raise Failed(f"corral up did not start: see {folder}/{_LOG}", "corral up")
        time.sleep(0.05)
    data = {"url": server.url, "pid": started.pid}
    context.answer(data, lambda: f"Corral is up: {server.url} (corral link, corral down)")


def down(context: Context, options: Options) -> None:
    from corral.roles.supervisor import stop

    stop(context.repository.folder)
    context.answer({"down": True}, lambda: "Corral is down; sessions that ran go on")

"""`corral up` and `corral down`: all roles of a repository under one supervisor."""

import gc
import os
import subprocess
import sys
import time

from corral.core.errors import BadInput, Failed, Refused
from corral.core.text import counted, number, shown
from corral.interfaces.cli import output
from corral.interfaces.cli.commands.preflight import all_fit, told
from corral.interfaces.cli.commands.serve import server_of
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options

_START_S = 30.0
_LOG = "up.log"

# They outlive us; this keeps Python from warning about it.
_running: list["subprocess.Popen[bytes]"] = []

UNIT = """\
[Unit]
Description=Corral for {folder}
After=network.target

[Service]
WorkingDirectory={folder}
Environment={path}
ExecStart={command}
Restart=on-failure
KillMode=process

[Install]
WantedBy=default.target"""


def up(context: Context, options: Options) -> None:
    from corral.roles.supervisor import Supervisor

    _ = context.store  # refuse here if there is no log, or if it is damaged
    port = number(options.port, "the port", 0, 65_535)
    if options.systemd:
        _print_unit(context)
        return
    _must_be_down(context)
    _must_be_possible(context, port)
    if options.d:
        _must_be_fit(context, options.on_red or "")
        _behind(context, port)
        return
    all_fit(context, options.on_red or "", wait_s=None)
    gc.enable()  # unlike other commands, this one keeps running
    Supervisor(context.repository.folder, _roles(context, port), output.warn).run()


def _roles(context: Context, port: int) -> dict[str, list[str]]:
    from corral.roles.supervisor import program

    where = ["--repo", context.repository.worktree]
    return {
        "server": program("serve", "--port", str(port), *where),
        "witness": program("witness", "run", *where),
        "refinery": program("refinery", "run", *where),
        "deacon": program("deacon", "run", *where),
    }


def _must_be_down(context: Context) -> None:
    from corral.roles.supervisor import already_up, is_up

    if is_up(context.repository.folder):
        raise already_up(context.repository.folder)


def _must_be_possible(context: Context, port: int) -> None:
    """Refuse settings that would make the server exit and restart forever."""
    from corral.world import keys
    from corral.world.server import check, listen_tcp, make_place

    check(context.config.server)
    keys.token(context.repository.folder)
    keys.secret(context.repository.folder)
    make_place(context.repository.folder)
    wanted = port or context.config.server.port
    if wanted and server_of(context) is None:
        listen_tcp(context.config.server.bind, wanted).close()


def _must_be_fit(context: Context, on_red: str) -> None:
    """Refuse to start anything on a machine or a base that is not ready."""
    found = all_fit(context, on_red, wait_s=0)
    if len(found) > 1 and not context.as_json:
        output.warn(told(found))
    if len(found) > 1:
        said = f"{counted(len(found), 'problem')} found, the first: {found[0].text}"
        raise Refused(f"{said}; nothing was started", "corral check", code="unfit")
    for one in found:
        raise Refused(f"{one.text}; nothing was started", one.remedy, code="unfit")


def _print_unit(context: Context) -> None:
    folder = context.repository.worktree
    if not folder.isprintable():
        said = "the name of this folder contains a control character, which systemd does not accept"
        raise BadInput(said)
    words = [sys.executable, "-m", "corral", "up", "--repo", folder]
    unit = UNIT.format(
        folder=folder.replace("%", "%%"),
        path=_quoted(f"PATH={os.environ.get('PATH', os.defpath)}"),  # else no engine is found
        command=" ".join(_quoted(word).replace("$", "$$") for word in words),
    )
    context.answer({"unit": unit}, lambda: unit)


def _quoted(word: str) -> str:
    """Quote a word for systemd, whose rules are not those of a shell."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _behind(context: Context, port: int) -> None:
    """Start the supervisor as a process of its own, and wait until its server answers."""
    folder = context.repository.folder
    log = os.open(f"{folder}/{_LOG}", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    words = ["up", "--port", str(port), "--repo", context.repository.worktree]
    words += ["--on-red", "ignore"]  # we have looked already
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
            started.terminate()  # leave nothing behind
            started.wait()
            said = os.pread(log, 1 << 16, 0).decode("utf-8", "replace").split("\n")
            whole = (line for line in reversed(said) if line and not line[0].isspace())
            last = next(whole, f"see {folder}/{_LOG}").removeprefix("corral: ")
            raise Failed(f"corral up did not start: {shown(last)}", "corral up")
        time.sleep(0.05)
    data = {"url": server.url, "pid": started.pid}
    context.answer(data, lambda: f"Corral is up: {server.url} (corral link, corral down)")


def down(context: Context, options: Options) -> None:
    from corral.roles.supervisor import stop

    stop(context.repository.folder)
    context.answer({"down": True}, lambda: "Corral is down; running sessions continue")

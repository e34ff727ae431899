"""A tmux server for one session, in the session's room.

It is separate from the user's own tmux: its socket and configuration are in the room. The socket is
always named by a relative path, because the path of a socket has at most 108 bytes.
"""

import os
import select
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from os.path import join
from shutil import which

from corral.core.errors import NotFound
from corral.world.engines.runners.orders import TmuxOrder
from corral.world.processes import table, termination

_SOCKET, _CONFIG, _EXIT, _NAME = "tmux.sock", "tmux.conf", "tmux.exit", "corral"
# tmux does not always report the exit code of a dead pane, so the program's parent records it.
# An interrupt from the keyboard reaches both: the parent ignores it, and the program does not.
_PARENT = ("sh", "-c", 'trap : INT QUIT; "$@"; code=$?; echo $code > "$0"; exit $code')
_CALL_S = 10.0
_GRACE_S = 2.0


class Tmux(Exception):
    """A tmux command failed."""


def _argv(*command: str) -> list[str]:
    """Return a command for the tmux of a room; run it in that folder."""
    program = which("tmux")
    if program is None:
        raise NotFound("tmux is not installed, and this session needs it", "install tmux")
    return [program, "-S", _SOCKET, "-f", _CONFIG, *command]


def attach(room: str) -> int:
    """Attach to the program until it ends or the user detaches (C-b d)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    command = _argv("attach-session", "-t", _NAME)
    return subprocess.run(command, cwd=room, env=env, check=False).returncode


def capture(room: str, lines: int, *, joined: bool = False) -> list[str]:
    """Return the last lines of the program's screen and its scrollback."""
    words = ["capture-pane", "-p", "-t", _NAME, "-S", f"-{max(lines, 1)}"]
    text = run(room, *words, *(["-J"] if joined else []))
    found = [line.rstrip() for line in text.rstrip().split("\n")]
    return found[-lines:] if lines > 0 else []


class TmuxServer:
    def __init__(self, order: TmuxOrder, tree: str, env: Mapping[str, str]) -> None:
        self._room = order.room
        self._clear = order.clear
        settings = {
            "default-terminal": "screen-256color",
            "history-limit": str(order.history),
            "remain-on-exit": "on",  # keep the last screen
            "allow-rename": "off",
            "update-environment": "''",
            "assume-paste-time": "0",  # else fast input is taken for a paste
            "status-right": "''",
        }
        with open(join(self._room, _CONFIG), "w", encoding="utf-8") as file:
            file.writelines(f"set -g {name} {value}\n" for name, value in settings.items())
            file.write("set -s escape-time 10\n")
        self._exit = join(self._room, _EXIT)
        with suppress(FileNotFoundError):
            os.unlink(self._exit)
        self._pane, parent, pid = run(
            self._room,
            *("new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid} #{pid}", "-s", _NAME),
            *("-c", tree, "-x", str(order.columns), "-y", str(order.rows)),
            *map(_word, ("env", "-u", "TMUX", "-u", "TMUX_PANE", *_PARENT, self._exit)),
            *map(_word, order.argv),
            env=env,
        ).split()
        self._process = table.look(int(pid))
        self._over: int | None = None  # readable once the parent exits; None if it has
        with suppress(ProcessLookupError):
            self._over = os.pidfd_open(int(parent))

    def wait(self) -> None:
        """Wait until the program's parent has exited."""
        if self._over is not None:
            select.select([self._over], [], [])

    def is_over(self) -> bool:
        return self._over is None or bool(select.select([self._over], [], [], 0)[0])

    def code(self) -> int | None:
        """Return the program's exit code; None if its window was closed before it exited."""
        try:
            with open(self._exit, encoding="utf-8") as file:
                return int(file.read() or "0")
        except FileNotFoundError:
            return None

    def screen(self) -> list[str]:
        return capture(self._room, 2000, joined=True)

    def paste(self, text: str) -> None:
        """Paste a text into the program's input, as a bracketed paste if it supports that."""
        # If a person has scrolled back, keys would go to the copy mode.
        run(
            self._room,
            *("if-shell", "-F", "-t", self._pane, "#{pane_in_mode}"),
            f"send-keys -t {self._pane} -X cancel",
        )
        if self._clear:
            self.press(self._clear)
        harmless = "".join(c for c in text if c.isprintable() or c in "\n\t").rstrip("\n")
        run(self._room, "load-buffer", "-b", _NAME, "-", text=harmless)
        run(self._room, "paste-buffer", "-p", "-d", "-b", _NAME, "-t", self._pane)

    def press(self, key: str) -> None:
        run(self._room, "send-keys", "-t", self._pane, key)

    def end(self) -> None:
        """End the server and everything in it."""
        found = [self._process] if self._process else []
        if self._process:
            found += table.below(table.children_of(table.scan()), self._process.pid)
        # If it is gone already or hangs, the rest is killed below.
        with suppress(Tmux):
            run(self._room, "kill-server")
        deadline = time.monotonic() + _GRACE_S
        while any(_is_running(process) for process in found) and time.monotonic() < deadline:
            time.sleep(0.02)
        termination.kill(None, also=[process for process in found if _is_running(process)])
        with suppress(FileNotFoundError):
            os.unlink(join(self._room, _SOCKET))


def _is_running(process: table.Process) -> bool:
    now = table.look(process.pid)
    return now is not None and now.start == process.start and now.running


def _word(word: str) -> str:
    """Escape a word for tmux: one that ends in `;` would end the command."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def run(room: str, *command: str, text: str = "", env: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            _argv(*command),
            cwd=room,
            env=env,
            input=text.encode(),
            capture_output=True,
            timeout=_CALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Tmux(f"tmux {command[0]}: no answer within {_CALL_S:g} s") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Tmux(f"tmux {command[0]}: {said or done.returncode}")
    return done.stdout.decode("utf-8", "replace")

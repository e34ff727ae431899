"""The parent of one session: starts its program, moves its output, and ends its processes.

It is a fork of the keeper, and a child subreaper: every process that the program starts descends
from it, however it detaches. "No child left to wait for" proves that nothing of the session is
alive, and only then is the exit recorded. Until the program runs, it uses plain statements and no
library written in Python: one `json.dumps` would make 250 kB of shared memory private.
"""

import math
import os
import select
import signal
import time
from typing import Any, NamedTuple

from corral.world import clock
from corral.world.processes import program, records, system, termination
from corral.world.processes.output import ERRORS, NEWEST, OutputFiles

# Sent first, so that the caller knows that this launch is decided here, even if we die.
TAKEN = b" "
# A program leaves servers or hung tools behind: ask them to end, but not for long.
LEFTOVER_GRACE_S = 1.0
_KILL_AGAIN_S = 0.02
_KILL_RARELY_S = 0.5
_GIVE_UP_AFTER_S = 5.0


class ShimBounds(NamedTuple):
    wall_s: float
    grace_s: float
    output_bytes: int
    split: bool


def run(folder: str, bounds: ShimBounds, request: int, reply: int, signals: "Signals") -> int:
    """Carry out a launch from beginning to end; return 0 if its end was recorded."""
    system.adopt_orphans()
    system.take_name(b"corral-shim")
    signals.renew()
    _say(reply, TAKEN)
    try:
        names = (NEWEST, ERRORS) if bounds.split else (NEWEST,)
        outputs = tuple([OutputFiles(folder, bounds.output_bytes, name) for name in names])
    except OSError as error:
        program.answer(reply, {"error": f"{folder}: {os.strerror(error.errno or 0)}"})
        return 0
    begun = program.begin(folder, request, reply, outputs)
    # Only the program's copies are left now: the pipe closes with the last writer.
    for output in outputs:
        os.close(output.sink)
    os.close(request)
    if _is_refused(begun, signals):
        return 0
    _say(reply, b'{"pid": %d, "program_pid": %d}' % (os.getpid(), begun.pid))
    os.close(reply)
    end = ShimSession(begun.pid, bounds, outputs, signals).watch()
    records.write_durably(folder, records.EXIT, end)
    return 0


def _is_refused(begun: program.Begun, signals: "Signals") -> bool:
    """Wait for the program to start; a stop works even if a dead file system blocks it."""
    poll = select.poll()
    poll.register(begun.verdict, select.POLLIN)
    poll.register(signals.source, select.POLLIN)
    # Ready descriptors come in the order in which they were registered.
    while poll.poll()[0][0] != begun.verdict:
        signals.clear()
        if signals.stop:
            os.kill(begun.pid, signal.SIGKILL)
    refused = os.read(begun.verdict, 16)
    os.close(begun.verdict)
    return bool(refused)


def _say(reply: int, said: bytes) -> None:
    # The caller may be gone; the files in the folder inform the next one.
    try:  # noqa: SIM105 - see `output.py`: plain statements touch fewer pages
        os.write(reply, said)
    except BrokenPipeError:
        pass


class Signals:
    """Makes signals pollable; the wake-up comes through a pipe."""

    def __init__(self) -> None:
        self.stop = False
        self.source, self._sink = self._pipe()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_stop)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)

    def renew(self) -> None:
        """Use a different pipe from that of the parent process."""
        os.close(self.source)
        os.close(self._sink)
        self.source, self._sink = self._pipe()

    def clear(self) -> None:
        """Drain the wake-up pipe; call it only when there is something to read."""
        os.read(self.source, 4096)

    def _pipe(self) -> tuple[int, int]:
        source, sink = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
        return source, sink

    def _on_stop(self, *_: object) -> None:
        self.stop = True


class ShimSession:
    def __init__(
        self, pid: int, bounds: ShimBounds, outputs: tuple[OutputFiles, ...], signals: Signals
    ) -> None:
        self._program = pid
        self._grace_s = bounds.grace_s
        self._outputs = outputs
        self._signals = signals
        self._reason = ""
        self._status: int | None = None
        self._wall_at = time.monotonic() + bounds.wall_s
        self._kill_at = math.inf
        self._killing_since = 0.0
        self._ended: set[tuple[int, int]] = set()
        self._left = 0
        self._poll = select.poll()
        self._poll.register(signals.source, select.POLLIN)
        for output in outputs:
            self._poll.register(output.source, select.POLLIN)

    def watch(self) -> dict[str, Any]:
        """Return how the session ended, once none of its processes is alive."""
        while self._reap():
            self._act(time.monotonic())
            if self._left:
                break
            self._wait()
        for output in self._outputs:
            output.drain()
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        times = os.times()
        leftovers = {pid for pid, _ in self._ended if pid != self._program}
        return {
            "reason": self._reason or ("stopped" if self._signals.stop else "exited"),
            "code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "at": clock.now(),
            "killed": len(leftovers),
            "left": self._left,
            "cpu_s": times.children_user + times.children_system,
            "output_bytes": sum([output.moved for output in self._outputs]),
            "output_dropped": sum([output.dropped for output in self._outputs]),
        }

    def _reap(self) -> bool:
        """Reap ended processes; False if no descendant is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self._program:
                    self._status = status
        except ChildProcessError:
            return False

    def _act(self, now: float) -> None:
        if not self._reason:
            if self._status is not None:
                self._begin("exited", now)
            elif self._signals.stop:
                self._begin("stopped", now)
            elif now >= self._wall_at:
                self._begin("timed_out", now)
        elif self._status is not None and not self._killing_since:
            self._kill_at = min(self._kill_at, now + min(LEFTOVER_GRACE_S, self._grace_s))
        if now >= self._kill_at:
            self._kill(now)

    def _begin(self, reason: str, now: float) -> None:
        self._reason = reason
        most = math.inf if self._status is None else LEFTOVER_GRACE_S
        self._kill_at = now + min(most, self._grace_s)
        self._ended |= termination.terminate(os.getpid())

    def _kill(self, now: float) -> None:
        self._killing_since = self._killing_since or now
        ended = termination.kill(os.getpid())
        self._ended |= ended.signalled
        lasts = now - self._killing_since
        # Processes of another user (`sudo`) cannot be ended: report them rather than wait forever.
        if lasts > _GIVE_UP_AFTER_S and ended.untouchable == len(ended.signalled):
            self._left = ended.untouchable
        # Killed processes are gone at once, except those that hang in the kernel.
        self._kill_at = now + (_KILL_AGAIN_S if lasts < 1 else _KILL_RARELY_S)

    def _wait(self) -> None:
        """Sleep until there is output or a signal, or a deadline passes."""
        due = min(self._kill_at, math.inf if self._reason else self._wall_at)
        timeout = None if due == math.inf else max(0.0, due - time.monotonic()) * 1000 + 1
        for fd, _ in self._poll.poll(timeout):
            if fd == self._signals.source:
                self._signals.clear()
                continue
            for output in self._outputs:
                if fd == output.source and not output.move():
                    self._poll.unregister(fd)

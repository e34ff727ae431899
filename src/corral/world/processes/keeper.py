"""The parent of the shims: one small process per repository that outlives the witness.

It forks a shim for each launch and does nothing else, so nothing can block it: a request is one
datagram with the folder, the limits and two open files (the launch, and where the shim answers). It
is a child subreaper, too: it ends the processes of a shim that was killed, and records the session
as lost. `client.py` runs it as a bare interpreter with only this module and its imports.
"""

import array
import gc
import os
import select
import socket
import time
import traceback

from corral.world.processes import records, shim, system, termination

# The number is the version of the request format: other keepers are not asked.
SOCKET = "keeper.3"
READY = b"ready"
LINGER_S = 5.0
_SWEEP_AGAIN_S = 0.05
_SWEEP_RARELY_S = 1.0


def main(run_folder: str) -> None:
    """Detach, listen, report that on stdout, and serve until no keeper is needed."""
    if os.fork():
        os._exit(0)
    os.setsid()
    system.take_name(b"corral-keeper")
    system.adopt_orphans()
    os.chdir(run_folder)
    listener = _listen()
    os.chdir("/")
    keeper = Keeper(listener, run_folder)
    os.write(1, READY)
    os.dup2(0, 1)
    # Nothing created so far is freed; the collector would only write to shared pages.
    gc.collect()
    gc.freeze()
    gc.disable()
    keeper.serve()


def _listen() -> socket.socket:
    # A relative path, because an absolute one may be too long for a socket.
    if os.path.lexists(SOCKET):
        os.unlink(SOCKET)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    before = os.umask(0o077)
    listener.bind(SOCKET)
    os.umask(before)
    listener.setblocking(False)
    return listener


class Keeper:
    def __init__(self, listener: socket.socket, run_folder: str) -> None:
        self._listener = listener
        self._run_folder = run_folder
        self._signals = shim.Signals()
        self._shims: dict[int, str] = {}
        self._lost: dict[int, str] = {}
        self._sweeping_since = 0.0

    def serve(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._signals.source, select.POLLIN)
        while not self._signals.stop:
            idle = not self._shims and not self._lost
            woken = poll.poll(self._patience_ms())
            for fd, _ in woken:
                if fd == self._signals.source:
                    self._signals.clear()
                else:
                    self._take()
            childless = not self._reap()
            if self._lost:
                self._sweep(childless)
            if idle and childless and not woken:
                break
        # From here on nobody finds us. A client that asked just before sees its answer's
        # pipe close and asks the next keeper.
        os.unlink(f"{self._run_folder}/{SOCKET}")

    def _patience_ms(self) -> float | None:
        if self._lost:
            early = time.monotonic() - self._sweeping_since < 1
            return (_SWEEP_AGAIN_S if early else _SWEEP_RARELY_S) * 1000
        return None if self._shims else LINGER_S * 1000

    def _take(self) -> None:
        """Take one request and fork its shim."""
        files = array.array("i")
        space = socket.CMSG_SPACE(2 * files.itemsize)
        message, ancillary, _, _ = self._listener.recvmsg(8192, space, socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                files.frombytes(data[: len(data) - len(data) % files.itemsize])
        if len(files) == 2:
            folder, wall_s, grace_s, output_bytes, split = message.split(b"\0")
            bounds = shim.ShimBounds(
                float(wall_s), float(grace_s), int(output_bytes), split == b"1"
            )
            self._fork(os.fsdecode(folder), bounds, files[0], files[1])
        for fd in files:
            os.close(fd)

    def _fork(self, folder: str, bounds: shim.ShimBounds, request: int, reply: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.write(reply, b'{"error": "fork: %s"}' % os.strerror(error.errno or 0).encode())
            return
        if pid:
            self._shims[pid] = folder
            return
        code = 1
        try:
            self._listener.close()
            code = shim.run(folder, bounds, request, reply, self._signals)
        except BaseException:
            # The border of a process: any error goes to stderr, and the keeper reports it.
            traceback.print_exc()
        finally:
            os._exit(code)

    def _reap(self) -> bool:
        """Reap ended children; False if there are none left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                folder = self._shims.pop(pid, None)
                if folder is not None and status != 0:
                    self._lost[pid] = folder
                    self._sweeping_since = time.monotonic()
        except ChildProcessError:
            return False

    def _sweep(self, childless: bool) -> None:
        """End processes that lost their shim; record the loss once none is alive."""
        ended = None if childless else termination.kill(os.getpid(), spare=self._shims)
        if ended is not None and len(ended.signalled) > ended.untouchable:
            return
        for pid, folder in self._lost.items():
            _record_loss(pid, folder, left=ended.untouchable if ended else 0)
        self._lost.clear()


def _record_loss(pid: int, folder: str, left: int) -> None:
    # A shim that died before it took the folder leaves it for the next attempt.
    begun = (records.read(folder, records.PROCESS) or {}).get("pid") == pid
    if not begun or records.read(folder, records.EXIT) is not None:
        return
    record = {"reason": "lost", "at": time.time_ns() // 1_000_000, "left": left}
    try:
        records.write_durably(folder, records.EXIT, record)
    except OSError:
        # The folder is gone, so nothing can read it.
        traceback.print_exc()

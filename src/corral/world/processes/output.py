"""Moves the output of a session from a pipe to files of bounded size.

The kernel moves the bytes (`splice`), which costs no memory here and hardly any time. The program
gets a pipe, because a program that writes to a file directly can fill the disk. `output` is the
newest part, `output.1` the one before, and `output.head` the beginning, saved before it would be
lost. If the two streams are kept apart, those of stderr are `errors`, `errors.1`, ….
"""

import errno
import fcntl
import os

NEWEST, OLDER, HEAD = "output", "output.1", "output.head"
ERRORS = "errors"
HEAD_BYTES = 65_536
_AT_ONCE = 1 << 20
_PIPE_BYTES = 1 << 18
_F_SETPIPE_SZ = 1031
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class OutputFiles:
    def __init__(self, folder: str, limit: int, name: str = NEWEST) -> None:
        self._path = f"{folder}/{name}"
        self._limit = max(limit, HEAD_BYTES)
        self._fresh = f"{folder}/.{name}.{os.getpid()}"
        self._file = create(self._fresh)
        self._size = 0
        self._rotated = False
        self.moved = 0
        self.dropped = 0
        self.source, self.sink = os.pipe()
        # A larger pipe is faster, but their number per user is limited; the default works, too.
        try:  # noqa: SIM105 - the same with `suppress` touches 40 kB more in each shim
            fcntl.fcntl(self.sink, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            pass

    def appear(self) -> None:
        """Give the file its name; only the owner of the folder may do that."""
        os.rename(self._fresh, self._path)

    def vanish(self) -> None:
        os.unlink(self._fresh)

    def move(self) -> bool:
        """Move the content of the pipe, up to a limit; False once every writer is gone."""
        if self._size >= self._limit:
            self._rotate()
        room = min(self._limit - self._size, _AT_ONCE)
        try:
            count = self._splice(room)
        except BlockingIOError:
            return True
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            return self._drop()
        self._size += count
        self.moved += count
        return count > 0

    def drain(self) -> None:
        """Move what is left in the pipe after the last writer is gone."""
        before = -1
        while before != self.moved + self.dropped:
            before = self.moved + self.dropped
            self.move()

    def _splice(self, room: int) -> int:
        try:
            return os.splice(self.source, self._file, room, flags=os.SPLICE_F_NONBLOCK)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        # Some file systems do not support splice.
        os.set_blocking(self.source, False)
        data = os.read(self.source, min(room, 65_536))
        os.pwrite(self._file, data, self._size)
        return os.lseek(self._file, self._size + len(data), os.SEEK_SET) - self._size

    def _drop(self) -> bool:
        # On a full disk, discard output rather than block the program; the loss is recorded.
        void = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
        try:
            count = os.splice(self.source, void, _AT_ONCE, flags=os.SPLICE_F_NONBLOCK)
        except BlockingIOError:
            return True
        finally:
            os.close(void)
        self.dropped += count
        return count > 0

    def _rotate(self) -> None:
        try:
            if not self._rotated:
                self._keep_head()
            os.rename(self._path, f"{self._path}.1")
            fresh = create(self._path)
        except OSError:
            # The folder is gone or full: start over in the current file, which stays bounded.
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
        else:
            os.close(self._file)
            self._file = fresh
        self._rotated = True
        self._size = 0

    def _keep_head(self) -> None:
        source = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        head = create(f"{self._path}.head")
        try:
            os.sendfile(head, source, 0, HEAD_BYTES)
        finally:
            os.close(head)
            os.close(source)


def create(path: str) -> int:
    # Not in append mode: the kernel cannot splice into such a file.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

"""A session's output on its way from the pipe to files that never grow beyond a bound.

The bytes are moved by the kernel (`splice`): they cost no memory here and hardly any time. A pipe
rather than the file itself is given to the program, because only who holds the other end can
rotate: a program that writes to a file directly fills the disk. `output` is the newest part,
`output.1` the one before; what was written first is kept as `output.head` before it would be lost.
Where the two streams have to be told apart, those of the second are `errors`, `errors.1`, ….
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
        # A larger pipe is faster, but a user may have only so many; the default does as well.
        try:  # noqa: SIM105 - the same with `suppress` touches 40 kB more in each shim
            fcntl.fcntl(self.sink, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            pass

    def appear(self) -> None:
        """Give the file its name; only for who has the folder for itself."""
        os.rename(self._fresh, self._path)

    def vanish(self) -> None:
        os.unlink(self._fresh)

    def move(self) -> bool:
        """Move what the pipe holds, up to a bound; False once every writer is gone."""
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
        """Move what is left in the pipe, when nobody writes to it any more."""
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
        # Some file systems cannot take from a pipe.
        os.set_blocking(self.source, False)
        data = os.read(self.source, min(room, 65_536))
        os.pwrite(self._file, data, self._size)
        return os.lseek(self._file, self._size + len(data), os.SEEK_SET) - self._size

    def _drop(self) -> bool:
        # On a full disk the program goes on rather than hang on a full pipe; the loss is recorded.
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
            # The folder is gone or full: start over in the file at hand, which stays bounded.
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
    # Not for appending: the kernel moves nothing from a pipe into such a file.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

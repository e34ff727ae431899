"""Run a program as on a system without Landlock: the kernel itself refuses its system calls.

A seccomp filter answers them with ENOSYS, as the kernel does where Landlock is not built in, and as
containers do that do not know it. The filter holds for every process that the program starts.
"""

import ctypes
import os
import struct
import sys

_FIRST, _LAST, _ENOSYS = 444, 446, 38
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_PROGRAM = (
    (0x20, 0, 0, 0),  # load the number of the system call
    (0x35, 0, 2, _FIRST),  # at least the first one? else allow
    (0x25, 1, 0, _LAST),  # beyond the last one? then allow
    (0x06, 0, 0, 0x00050000 | _ENOSYS),
    (0x06, 0, 0, 0x7FFF0000),
)


def refuse_landlock() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in _PROGRAM))
    program = struct.pack("HxxxxxxQ", len(_PROGRAM), ctypes.addressof(code))
    for words in ((_PR_SET_NO_NEW_PRIVS, 1, 0), (_PR_SET_SECCOMP, _FILTER, program)):
        if libc.prctl(*words, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl failed")


if __name__ == "__main__":
    refuse_landlock()
    os.execvp(sys.argv[1], sys.argv[1:])

"""Every error that Corral reports on purpose.

    CorralError
    ├── BadInput          exit 2, HTTP 400   what was asked cannot be understood or is out of bounds
    │   ├── BadConfig
    │   ├── NotARepository
    │   └── NotInitialised
    ├── Refused           exit 3, HTTP 409   understood, but a rule forbids it now
    │   ├── AlreadyDone
    │   ├── NoToken       exit 3, HTTP 401   who asks is not known, or not any more
    │   ├── NotYours      exit 3, HTTP 403   known, but this is not theirs to do or to see
    │   └── TooMany       exit 3, HTTP 429   too much at once; later it may be done
    ├── NotFound          exit 4, HTTP 404   no such thing
    └── Failed            exit 1, HTTP 503   the machine or the log could not do it
        ├── LogDamaged
        ├── LogBusy
        ├── LogTooNew
        └── StoreFailed

The message is one sentence that says what happened and what was kept; the hint is the command that
helps. `code` is stable, for programs.
"""


class CorralError(Exception):
    code = "error"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, hint: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code


class BadInput(CorralError):
    code = "bad_input"
    exit_code = 2
    http_status = 400


class BadConfig(BadInput):
    code = "bad_config"


class NotARepository(BadInput):
    code = "not_a_repository"


class NotInitialised(BadInput):
    code = "not_initialised"


class Refused(CorralError):
    code = "refused"
    exit_code = 3
    http_status = 409


class AlreadyDone(Refused):
    """A request with this key was carried out before; `seq` is the last event of it."""

    code = "already_done"

    def __init__(self, seq: int) -> None:
        super().__init__(f"this was done before, up to event {seq}; nothing was changed")
        self.seq = seq


class NoToken(Refused):
    code = "no_token"
    http_status = 401


class NotYours(Refused):
    code = "not_yours"
    http_status = 403


class TooMany(Refused):
    code = "too_many"
    http_status = 429


class NotFound(CorralError):
    code = "not_found"
    exit_code = 4
    http_status = 404


class Failed(CorralError):
    code = "failed"
    exit_code = 1
    http_status = 503


class LogDamaged(Failed):
    """The stored log does not say what was written; `seq` is the first event that is wrong."""

    code = "log_damaged"

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(
            f"the log is damaged: event {seq} {reason}; nothing was changed",
            "corral rebuild --from-mirror restores it and keeps the damaged file",
        )
        self.seq = seq
        self.reason = reason


class LogBusy(Failed):
    code = "log_busy"


class LogTooNew(Failed):
    code = "log_too_new"


class StoreFailed(Failed):
    code = "store_failed"

"""Every error that Corral reports deliberately.

    CorralError
    ├── BadInput          exit 2, HTTP 400   the request cannot be understood, or is out of bounds
    │   ├── BadConfig
    │   ├── NotARepository
    │   └── NotInitialised
    ├── Refused           exit 3, HTTP 409   understood, but a rule forbids it now
    │   ├── AlreadyDone
    │   ├── NoToken       exit 3, HTTP 401   the caller is unknown, or no longer known
    │   ├── NotYours      exit 3, HTTP 403   known, but not allowed to do or see this
    │   └── TooMany       exit 3, HTTP 429   too much at once; try again later
    ├── NotFound          exit 4, HTTP 404   no such thing
    └── Failed            exit 1, HTTP 503   the machine or the log could not do it
        ├── LogDamaged
        ├── LogBusy
        ├── LogTooNew
        └── StoreFailed

The message is one sentence: what happened, and what was kept. The hint is the command that helps.
`code` is stable, for programs; the docstring of a class is what the reference says about its code.
"""


class CorralError(Exception):
    """The root of the tree."""

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
    """An argument, value or text that cannot be used."""

    code = "bad_input"
    exit_code = 2
    http_status = 400


class BadConfig(BadInput):
    """`.corral/config.toml` is wrong; the message names the line."""

    code = "bad_config"


class NotARepository(BadInput):
    """There is no git repository here."""

    code = "not_a_repository"


class NotInitialised(BadInput):
    """`corral init` has not been run here."""

    code = "not_initialised"


class Refused(CorralError):
    """A rule forbids it (most refusals have a code of their own)."""

    code = "refused"
    exit_code = 3
    http_status = 409


class AlreadyDone(Refused):
    """A request with this key has already been carried out."""

    code = "already_done"

    def __init__(self, seq: int) -> None:
        super().__init__(f"this has already been done, up to event {seq}; nothing was changed")
        self.seq = seq  # the last event of that request


class NoToken(Refused):
    """No token was shown, a wrong one, or one whose claim has ended."""

    code = "no_token"
    http_status = 401


class NotYours(Refused):
    """A session may see and do only what is its own."""

    code = "not_yours"
    http_status = 403


class TooMany(Refused):
    """Too many requests, streams or wrong tokens."""

    code = "too_many"
    http_status = 429


class NotFound(CorralError):
    """No such task, convoy, session, alert or remote log."""

    code = "not_found"
    exit_code = 4
    http_status = 404


class Failed(CorralError):
    """The machine could not do it."""

    code = "failed"
    exit_code = 1
    http_status = 503


class LogDamaged(Failed):
    """A stored event is not what was written; the message names its number."""

    code = "log_damaged"

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(
            f"the log is damaged: event {seq} {reason}; nothing was changed",
            "corral rebuild --from-mirror restores it and keeps the damaged file",
        )
        self.seq = seq  # the first event that is wrong
        self.reason = reason


class LogBusy(Failed):
    """Another program has kept the log locked for too long."""

    code = "log_busy"


class LogTooNew(Failed):
    """A newer version of Corral wrote the log."""

    code = "log_too_new"


class StoreFailed(Failed):
    """The disk is full, the folder is read-only, or SQLite failed."""

    code = "store_failed"


def described(error: BaseException) -> str:
    """Return an error in one line: its message, or its type too if it is not one of ours."""
    return error.message if isinstance(error, CorralError) else f"{type(error).__name__}: {error}"

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

    def __init_subclass__(cls, code: str = "", exit_code: int = 0, http_status: int = 0) -> None:
        cls.code = code or cls.code
        cls.exit_code = exit_code or cls.exit_code
        cls.http_status = http_status or cls.http_status

    def __init__(self, message: str, hint: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code


class BadInput(CorralError, code="bad_input", exit_code=2, http_status=400):
    """An argument, value or text that cannot be used."""


class BadConfig(BadInput, code="bad_config"):
    """`.corral/config.toml` is wrong; the message names the line."""


class NotARepository(BadInput, code="not_a_repository"):
    """There is no git repository here."""


class NotInitialised(BadInput, code="not_initialised"):
    """`corral init` has not been run here."""


class Refused(CorralError, code="refused", exit_code=3, http_status=409):
    """A rule forbids it (most refusals have a code of their own)."""


class AlreadyDone(Refused, code="already_done"):
    """A request with this key has already been carried out."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"this has already been done, up to event {seq}; nothing was changed")
        self.seq = seq  # the last event of that request


class NoToken(Refused, code="no_token", http_status=401):
    """No token was shown, a wrong one, or one whose claim has ended."""


class NotYours(Refused, code="not_yours", http_status=403):
    """A session may see and do only what is its own."""


class TooMany(Refused, code="too_many", http_status=429):
    """Too many requests, streams or wrong tokens."""


class NotFound(CorralError, code="not_found", exit_code=4, http_status=404):
    """No such task, convoy, session, alert or remote log."""


class Failed(CorralError, code="failed", exit_code=1, http_status=503):
    """The machine could not do it."""


class LogDamaged(Failed, code="log_damaged"):
    """A stored event is not what was written; the message names its number."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(
            f"the log is damaged: event {seq} {reason}; nothing was changed",
            "corral rebuild --from-mirror restores it and keeps the damaged file",
        )
        self.seq = seq  # the first event that is wrong
        self.reason = reason


class LogBusy(Failed, code="log_busy"):
    """Another program has kept the log locked for too long."""


class LogTooNew(Failed, code="log_too_new"):
    """A newer version of Corral wrote the log."""


class StoreFailed(Failed, code="store_failed"):
    """The disk is full, the folder is read-only, or SQLite failed."""


def described(error: BaseException) -> str:
    """Return an error in one line: its message, or its type too if it is not one of ours."""
    return error.message if isinstance(error, CorralError) else f"{type(error).__name__}: {error}"

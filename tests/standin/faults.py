"""What can go wrong on the other side, on demand."""

from collections.abc import Iterable

from msgspec import Struct

STATUS = {
    "400": 400,
    "401": 401,
    "403": 403,
    "404": 404,
    "429": 429,
    "500": 500,
    "503": 503,
    "529": 529,
    "overflow": 400,
    "quota": 429,
}
WORDS = {
    400: "The request is not valid.",
    401: "The API key is not valid.",
    403: "This key may not do that.",
    404: "The model does not exist.",
    429: "Too many requests: please slow down.",
    500: "Something went wrong on our side.",
    503: "The service is unavailable.",
    529: "Overloaded",
}
QUOTA = "You exceeded your current quota, please check your plan and billing details."

KINDS = frozenset(STATUS) | {
    "hang",  # the stream begins, then nothing more comes
    "hang_headers",  # not even an answer's head
    "cut",  # the connection is closed in the middle of the stream
    "slow",  # one event of the stream every `pause` seconds
    "badtool",  # a call whose arguments are no JSON
    "unknowntool",  # a call of a tool that was not offered
    "empty",  # a good answer that says nothing
    "garbage",  # a page of HTML, as some proxies send
    "stream_error",  # the stream itself reports an error
    "maxtokens",  # the answer ends because it became too long
}


class Fault(Struct):
    """A fault for `times` requests (None: forever), after the first `skip` of them.

    Only requests of the conversation itself count, unless `all` is set.
    """

    kind: str
    times: int | None = 1
    skip: int = 0
    retry_after: float | None = None
    reset_at: int | None = None  # seconds since the epoch, said in words
    pause: float = 0.2
    all: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no fault {self.kind!r}: one of {', '.join(sorted(KINDS))}")


def next_fault(faults: Iterable[Fault], is_work: bool) -> Fault | None:
    """Return the fault for a request, and count it."""
    for fault in faults:
        if fault.times == 0 or not (is_work or fault.all):
            continue
        if fault.skip > 0:
            fault.skip -= 1
            continue
        if fault.times is not None:
            fault.times -= 1
        return fault
    return None

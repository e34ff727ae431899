"""The dashboard's files, built from `web/` into the package, and a page for people not logged in.

Each page of the dashboard has an address of its own, so that links to a session or a task can be
kept; all of them serve the same file. Files whose names contain their hash never change.
"""

import asyncio
import gzip
import hashlib
import os
from base64 import b64encode
from html import escape
from pathlib import Path

from msgspec import Struct

import corral
from corral.core.errors import CorralError, NotFound
from corral.interfaces.http.exchange import Call, Headers, Reply, has_already

FOLDER = Path(corral.__file__).parent / "web"
INDEX = "index.html"
HASHED = "/assets/"
# The first part of the address of each page.
PAGES = frozenset(
    ["board", "tasks", "convoy", "sessions", "queue", "timeline", "alerts", "mayor", "health"]
)
KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".woff2": b"font/woff2",
}
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


class NotBuilt(CorralError, code="not_built", http_status=503):
    """The package was built without the dashboard: run `make web`."""


class File(Struct, frozen=True):
    kind: bytes
    body: bytes
    packed: bytes
    mark: bytes


class Assets:
    """The files, read and compressed once, and again whenever they are rebuilt."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._built = 0
        self._files: dict[str, File] = {}

    def serves(self, call: Call) -> bool:
        """Tell whether a request is for one of these files or for a page."""
        if call.method != "GET":
            return False
        first = call.path.removeprefix("/").partition("/")[0]
        return first in PAGES or call.path == "/" or call.path.startswith(HASHED)

    async def reply(self, call: Call) -> Reply:
        await asyncio.to_thread(self._read)
        hashed = call.path.startswith(HASHED)
        file = self._files.get(call.path[1:] if hashed else INDEX)
        if file is None:
            raise NotFound("there is no such file", "load the page again")
        keep = b"private, max-age=31536000, immutable" if hashed else b"private, no-cache"
        headers: Headers = (
            (b"cache-control", keep),
            (b"content-security-policy", POLICY),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"etag", file.mark),
            (b"vary", b"accept-encoding"),
        )
        if has_already(call, file.mark):
            return Reply(b"", 304, headers)
        if "gzip" in call.header(b"accept-encoding"):
            return Reply(file.packed, 200, (*headers, (b"content-encoding", b"gzip")), file.kind)
        return Reply(file.body, 200, headers, file.kind)

    def _read(self) -> None:
        try:
            built = os.stat(self._folder / INDEX).st_mtime_ns
        except FileNotFoundError:
            raise NotBuilt("the dashboard is not built", "make web") from None
        if built == self._built:
            return
        names = [path for path in self._folder.rglob("*") if path.suffix in KINDS]
        self._files = {str(path.relative_to(self._folder)): _file(path) for path in names}
        self._built = built


def _file(path: Path) -> File:
    body = path.read_bytes()
    mark = hashlib.sha256(body).hexdigest()[:20]
    return File(KINDS[path.suffix], body, gzip.compress(body, 9, mtime=0), f'"{mark}"'.encode())


# The page for people who are not logged in. It stands alone and needs none of the files.

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;place-content:center;"
    "min-height:100vh;color-scheme:light dark;background:Canvas;color:CanvasText}"
    "main{max-width:34em;padding:2em}h1{font-size:1.3em}"
    "code{font:0.95em ui-monospace,monospace;padding:.1em .4em;border:1px solid GrayText;"
    "border-radius:4px}"
)
_STYLE_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest())
_POLICY = (
    b"default-src 'none'; style-src 'sha256-" + _STYLE_HASH + b"'; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Corral</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>
<body><main><h1>{title}</h1>{text}</main></body></html>
"""
_LOGIN = """<p>Run <code>corral link</code> in the repository and open the link that it prints.
It works once, and leaves a cookie for a week.</p>
<p>If you have just done so, <a href="/">continue to the board</a>.</p>"""


def wants_page(call: Call) -> bool:
    """Tell whether a person with a browser asks, not a program."""
    browses = "text/html" in call.header(b"accept") and not call.header(b"authorization")
    return browses and call.method == "GET" and not call.path.startswith("/api/")


def refusal(error: CorralError) -> Reply:
    """Return a page that says why access was refused or nothing was found."""
    said = error.message[:1].upper() + error.message[1:]
    hint = f"<p>{escape(error.hint)}</p>" if error.hint else ""
    if error.http_status == 401:
        said, hint = ("Log in to Corral" if "token" in error.message else said), _LOGIN
    body = _PAGE.format(style=_STYLE, title=escape(said), text=hint)
    headers: Headers = ((b"content-security-policy", _POLICY),)
    return Reply(body.encode(), error.http_status, headers, KINDS[".html"])

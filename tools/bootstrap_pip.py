"""Puts the pinned pip into the environment that runs this, where Python has no ensurepip.

Debian's python3 has neither pip nor ensurepip, and only root can install them. So the wheel is
fetched with the standard library and unpacked. pip's own settings say where packages come from
(index, extra indexes, links, certificates, proxy); the pinned hashes say which file is accepted.
"""

import base64
import configparser
import hashlib
import html
import io
import os
import re
import ssl
import sys
import sysconfig
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

PIN = Path(__file__).resolve().parents[1] / "requirements" / "pip.txt"
INDEX = "https://pypi.org/simple"
TIMEOUT_S = 60


def settings() -> dict[str, str]:
    """Return pip's settings in its own order: the machine's, the user's, the environment's."""
    named = os.environ.get("PIP_CONFIG_FILE", "")
    found = configparser.RawConfigParser()
    if named != os.devnull:
        shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
        own = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        found.read(
            [
                *(f"{place}/pip/pip.conf" for place in shared.split(":")),
                "/etc/pip.conf",
                os.path.expanduser("~/.pip/pip.conf"),
                f"{own}/pip/pip.conf",
                *([named] if named else []),
            ]
        )
    values: dict[str, str] = {}
    for section in ("global", "install"):
        values |= dict(found[section]) if found.has_section(section) else {}
    for name, value in os.environ.items():
        if name.startswith("PIP_"):
            values[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return {name: value for name, value in values.items() if value.strip()}


class Web:
    """Opens addresses as pip would."""

    def __init__(self, options: dict[str, str]) -> None:
        self.trusted = options.get("trusted-host", "").split()
        self.verified = ssl.create_default_context(cafile=options.get("cert"))
        proxy = options.get("proxy")
        self.proxies = {"http": proxy, "https": proxy} if proxy else None

    def read(self, address: str) -> bytes:
        parts = urlsplit(address)
        login, _, host = parts.netloc.rpartition("@")
        headers = {"Accept": "text/html, application/octet-stream;q=0.9, */*;q=0.1"}
        if login:
            coded = base64.b64encode(unquote(login).encode()).decode()
            headers["Authorization"] = f"Basic {coded}"
        context = self.verified
        # A machine without certificates cannot verify anything. The hash still protects what is
        # unpacked, but a password would be sent to a server that nobody has identified.
        unknown = not login and not context.cert_store_stats()["x509_ca"]
        if unknown or host in self.trusted or parts.hostname in self.trusted:
            context = ssl._create_unverified_context()
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context),
            urllib.request.ProxyHandler(self.proxies),
        )
        request = urllib.request.Request(urlunsplit(parts._replace(netloc=host)), headers=headers)
        with opener.open(request, timeout=TIMEOUT_S) as reply:
            content: bytes = reply.read()
        return content


def places(options: dict[str, str]) -> list[str]:
    """Return the pages that may link to the wheel."""
    indexes = [options.get("index-url", INDEX), *options.get("extra-index-url", "").split()]
    if options.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        indexes = []
    return [
        *options.get("find-links", "").split(),
        *(f"{index.rstrip('/')}/pip/" for index in indexes),
    ]


def from_place(place: str, name: str, web: Web) -> bytes | None:
    """Return the file of that name from a folder or a page of links, if it is there."""
    folder = Path(unquote(place.removeprefix("file://")))
    if folder.is_dir():
        if (folder / name).is_file():
            return (folder / name).read_bytes()
        if not (folder / "index.html").is_file():
            return None
        place = (folder / "index.html").resolve().as_uri()
    elif "://" not in place or place.startswith("file:"):
        return None
    page = web.read(place).decode("utf-8", "replace")
    for link in re.findall(r"""href\s*=\s*["']([^"']+)""", page):
        address = urljoin(place, html.unescape(link))
        if unquote(urlsplit(address).path).endswith(f"/{name}"):
            login = urlsplit(place).netloc.rpartition("@")[0]
            parts = urlsplit(address)
            if login and parts.hostname == urlsplit(place).hostname and "@" not in parts.netloc:
                address = urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))
            return web.read(address)
    return None


def pinned(pin: Path) -> tuple[str, list[str]]:
    """Return the version of pip to use, and the hashes of its files."""
    text = pin.read_text("utf-8")
    (version,) = re.findall(r"^pip==(\S+)", text, re.MULTILINE)
    return version, re.findall(r"sha256:([0-9a-f]{64})", text)


def main(pin: Path = PIN) -> int:
    version, hashes = pinned(pin)
    name = f"pip-{version}-py3-none-any.whl"
    options = settings()
    web = Web(options)
    problems = []
    for place in places(options):
        try:
            wheel = from_place(place, name, web)
        except (OSError, ValueError) as error:
            problems.append(f"{shown(place)}: {error}")
            continue
        if wheel is None:
            problems.append(f"{shown(place)}: no {name}")
        elif hashlib.sha256(wheel).hexdigest() not in hashes:
            problems.append(f"{shown(place)}: {name} is not the pinned file")
        else:
            with zipfile.ZipFile(io.BytesIO(wheel)) as packed:
                packed.extractall(sysconfig.get_path("purelib"))
            return 0
    print("This Python has no pip, and pip could not be fetched:", *problems, sep="\n  ")
    print("Install pip for it (Debian: python3-venv), or set PIP_INDEX_URL to your index.")
    return 1


def shown(place: str) -> str:
    """Return an address without its password."""
    parts = urlsplit(place)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

"""Installs the coding agents that the tests drive: `make engines`.

Versions and hashes are pinned by the files beside this one. Everything goes into one folder that
is named after them, outside of the clone, so clones share it and a changed pin makes a new one.
It appears whole, by a rename; whoever comes meanwhile waits. Nothing is used but Python's own
library, and npm and pip as programs.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYOUT = b"1"  # goes up when this file would fill the folder in another way
PINS = ("package.json", "package-lock.json", ".npmrc", "aider.txt")
CPU = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
# Native programs are linked to: the wrappers that npm would install start them as a child, which
# outlives the wrapper when that is killed.
NATIVE = {
    "node": f"node-linux-{CPU}/bin/node",
    "claude": f"@anthropic-ai/claude-code-linux-{CPU}/claude",
    "codex": f"@openai/codex-linux-{CPU}/vendor/{platform.machine()}-unknown-linux-musl/bin/codex",
    "opencode": f"opencode-linux-{CPU}/bin/opencode",
    "copilot": f"@github/copilot-linux-{CPU}/copilot",
}
SCRIPTS = {
    "gemini": "@google/gemini-cli/bundle/gemini.js",
    "cn": "@continuedev/cli/dist/cn.js",
    "claude-agent-acp": "@agentclientprotocol/claude-agent-acp/dist/index.js",
    "codex-acp": "@agentclientprotocol/codex-acp/dist/index.js",
}
COMMANDS = (*NATIVE, *SCRIPTS, "aider")

GIVEN_UP = threading.Event()  # when one part has failed, the others would be for nothing
RUNNING: set["subprocess.Popen[str]"] = set()


class Failed(Exception):
    """What is missing, or what went wrong, in words for a person."""


def folder() -> Path:
    """Return where the pinned agents are, or will be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("CORRAL_ENGINES") or Path(cache) / "corral" / "engines")
    digest = hashlib.sha256(LAYOUT)
    for name in PINS:
        content = (HERE / name).read_bytes()
        digest.update(b"%s %d\n" % (name.encode(), len(content)) + content)
    return root / f"{digest.hexdigest()[:16]}-{CPU}"


def programs() -> Path | None:
    """Return the folder to put on PATH, or None if the agents are not installed."""
    place = folder() / "bin"
    return place if place.is_dir() else None


def awaited() -> Path | None:
    """Return the same, once a concurrent installation is done."""
    place = folder()
    try:
        with open(place.parent / f"{place.name}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
    except FileNotFoundError:  # no installation was started
        pass
    return programs()


def install() -> Path:
    place = folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.parent / f"{place.name}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting: the agents are being installed by somebody else ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if place.is_dir():
            return place
        need_space(place.parent)
        npm, python = find_npm(), find_python()
        with tempfile.TemporaryDirectory(prefix=".new-", dir=place.parent) as temporary:
            fill(Path(temporary) / "all", npm, python)
            (Path(temporary) / "all").rename(place)
    return place


def fill(new: Path, npm: str, python: str) -> None:
    new.mkdir()
    for name in PINS:
        shutil.copy(HERE / name, new)
    say("Installing the coding agents (2.5 GB, some minutes) ...")
    with ThreadPoolExecutor() as pool:
        parts = [
            pool.submit(timed, "from npm", lambda: from_npm(new, npm)),
            pool.submit(timed, "aider", lambda: aider(new, python)),
        ]
        done, unfinished = wait(parts, return_when=FIRST_EXCEPTION)
        if unfinished:
            GIVEN_UP.set()
            for process in list(RUNNING):
                process.terminate()
        for part in (*done, *parts):
            part.result()
    link(new)
    timed("each says its version", lambda: check(new))


def from_npm(new: Path, npm: str) -> None:
    # No package may run code of its own while it is installed: what such scripts do here is to
    # choose a native program, and we name those ourselves; or to build what can be done without.
    # It tries a package that does not come twice again; a network that is away needs longer.
    retries = ("--fetch-retries=6", "--fetch-retry-mintimeout=5000")
    run([npm, "ci", "--ignore-scripts", "--loglevel=error", "--no-progress", *retries], cwd=new)


def aider(new: Path, python: str) -> None:
    # Not every Python can put pip into an environment, and one pip can fill them all.
    run([python, "-m", "venv", "--without-pip", "aider"], cwd=new)
    pip = [sys.executable, "-m", "pip", "--python", "aider/bin/python", "install", "-qq"]
    pip.append("--disable-pip-version-check")
    pip.append("--no-compile")  # most of it is never imported
    pip.append("--retries=10")
    run([*pip, "--root-user-action=ignore", "--require-hashes", "-r", "aider.txt"], cwd=new)


def link(new: Path) -> None:
    """Make the folder of commands; all of it is relative, because the folder is renamed."""
    programs = new / "bin"
    programs.mkdir()
    for name, path in NATIVE.items():
        if not (new / "node_modules" / path).is_file():
            raise Failed(f"{name} is not made for this machine ({platform.machine()})")
        (programs / name).symlink_to(Path("..", "node_modules", path))
    for name, path in SCRIPTS.items():
        wrapper(programs / name, f'"$here/node" "$here/../node_modules/{path}"')
    wrapper(programs / "aider", '"$here/../aider/bin/python" -m aider')


def wrapper(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec {command} "$@"\n')
    path.chmod(0o755)


def check(new: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": f"{new / 'bin'}:{os.environ['PATH']}", "HOME": home, "LANG": "C.UTF-8"}
        for name in COMMANDS:
            if not name.endswith("-acp"):  # these only ever wait for a conversation
                run([str(new / "bin" / name), "--version"], cwd=home, env=env)


def find_npm() -> str:
    found = shutil.which("npm")
    if found is None:
        raise Failed("npm is needed: make engines brings one, or install Node.js.")
    return found


def find_python() -> str:
    """Find a Python that aider can run on; it lags behind by a version or two."""
    asked = "import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 13))"
    for name in (sys.executable, "python3.12", "python3.11", "python3.10"):
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", asked], stderr=subprocess.DEVNULL) == 0:
            return path
    raise Failed("aider needs Python 3.10 to 3.12: please install one.")


def need_space(root: Path) -> None:
    free = shutil.disk_usage(root).free >> 20
    if free < 5000:
        raise Failed(f"{root} has {free} MB left, and 5000 are needed: CORRAL_ENGINES moves it.")


def run(argv: list[str], cwd: Path | str = "/", env: dict[str, str] | None = None) -> None:
    if GIVEN_UP.is_set():
        raise Failed("given up, because another part failed")
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    RUNNING.add(process)
    output, _ = process.communicate()
    RUNNING.discard(process)
    if process.returncode:
        last = "\n".join(output.splitlines()[-15:])
        raise Failed(f"{' '.join(argv[:4])} failed:\n{last}")


def timed(what: str, work: Callable[[], None]) -> None:
    start = time.monotonic()
    work()
    say(f"  {what}: {time.monotonic() - start:.0f} s")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    try:
        print(install() / "bin")
    except Failed as failed:
        say(str(failed))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The scripted agent: `python -m corral.interfaces.cli.commands.demo.agent` in a worktree.

Like any engine's program, it reads its brief, edits files in its worktree, runs the tests, commits,
and prints facts as it works. It uses no model: it knows the answers. On some tasks its first
attempt fails in the way that the bug's `fault` names.

It imports nothing from Corral but the bugs, because a dozen agents start at the same moment.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from corral.interfaces.cli.commands.demo import bugs

_LIMIT_S = 4
_STEPS = 3
_OUTSIDE = "README.md"
_CONFLICT = re.compile(r"^<<<<<<< .*?^>>>>>>> [^\n]*\n", re.DOTALL | re.MULTILINE)
_OLD_CALL = re.compile(r"money\.show\((\w+)\)")


def main() -> None:
    bug = _asked(sys.stdin.read())
    attempt = int(os.environ["CORRAL_SESSION"].rpartition(".")[2])
    resumed = bool(os.environ.get("CORRAL_RESUME"))
    tell("began", session=f"{bug.key}-{attempt}", model="scripted")
    tell("said", text=f"Looking at tests.{bug.test}.")
    work(bug, "" if resumed or attempt > 1 else bug.fault)
    tell("finished", text="Done; all tests pass.")


def _asked(brief: str) -> bugs.Bug:
    """Find the task: by the title in the brief's first line, or by the conversation resumed."""
    key = os.environ.get("CORRAL_RESUME", "").rpartition("-")[0]
    title = brief.partition("\n")[0].partition(": ")[2]
    return next(bug for bug in bugs.BUGS if bug.key == key or bug.title == title)


def tell(fact: str, **values: object) -> None:
    print(json.dumps({"fact": fact, **values}), flush=True)


def work(bug: bugs.Bug, fault: str) -> None:
    if fault == bugs.LIMIT:
        tell("finished", trouble="rate", retry_s=_LIMIT_S, text="too many requests")
        sys.exit(1)
    think(bug, 1, f"reading {bug.edits[0].path}")
    if fault == bugs.HANG:
        time.sleep(3600)
    undo_outside()
    resolve(bug)
    edit(bug)
    call_as_it_is_now(bug)
    think(bug, 2, f"edited {bug.edits[0].path}")
    if fault == bugs.CRASH:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == bugs.STRAY:
        with open(_OUTSIDE, "a", encoding="utf-8") as file:
            file.write("\nAn eager agent fixed the stock as well.\n")
    if fault == bugs.DAEMON:
        leave_a_daemon()
    run(sys.executable, "-B", "-m", "unittest", "-q", f"tests.{bug.test}")
    if fault != bugs.FORGET:
        commit(bug)
    think(bug, 3, "done")


def think(bug: bugs.Bug, step: int, text: str) -> None:
    """Pause, as if a model were thinking."""
    time.sleep(bug.works_s / _STEPS)
    tell("said", text=text)
    with open("progress.md", "a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%H:%M:%S')} - {text} [outputs: {step}]\n")


def edit(bug: bugs.Bug) -> None:
    for path, old, new in bug.edits:
        content = Path(path).read_text("utf-8")
        if old in content:
            tell("used", tool="edit", what=path, paths=[path])
            Path(path).write_text(content.replace(old, new), "utf-8")


def resolve(bug: bugs.Bug) -> None:
    """Resolve the conflicts in a file so that both changes are kept."""
    for path in dict.fromkeys(edit.path for edit in bug.edits):
        content = Path(path).read_text("utf-8")
        if bug.both and _CONFLICT.search(content):
            tell("used", tool="resolve", what=path, paths=[path])
            Path(path).write_text(_CONFLICT.sub(lambda _: bug.both, content), "utf-8")


def call_as_it_is_now(bug: bugs.Bug) -> None:
    """Pass the currency wherever this task may edit, once money.show() expects it."""
    if "currency)" not in Path("shop/money.py").read_text("utf-8"):
        return
    for path in [path for pattern in bug.paths for path in Path().glob(pattern)]:
        content = path.read_text("utf-8")
        if path.parts[0] == "shop" and _OLD_CALL.search(content):
            tell("used", tool="edit", what=str(path), paths=[str(path)])
            path.write_text(_OLD_CALL.sub(r"money.show(\1, currency)", content), "utf-8")


def undo_outside() -> None:
    """Undo out-of-scope changes made by an earlier attempt."""
    begun = run("git", "rev-list", "--max-parents=0", "HEAD").strip()
    if run("git", "diff", "--name-only", begun, "--", _OUTSIDE):
        run("git", "checkout", "--quiet", begun, "--", _OUTSIDE)


def commit(bug: bugs.Bug) -> None:
    run("git", "add", "--update")
    if run("git", "diff", "--cached", "--name-only"):
        run("git", "commit", "--quiet", "--message", bug.title)


def leave_a_daemon() -> None:
    """Start a fully detached process, like a server that somebody forgot to stop."""
    sleeping = "import os, time; os.setsid(); os.fork() and os._exit(0); time.sleep(3600)"
    subprocess.run([sys.executable, "-c", sleeping], stdin=subprocess.DEVNULL, check=True)
    tell("used", tool="shell", what="a server in the background")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        tell("said", text=f"{command[0]}: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


if __name__ == "__main__":
    main()

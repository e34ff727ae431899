"""`corral demo`, run for real: in a pipe, on a narrow terminal, interrupted."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from corral.core.config import parse
from corral.interfaces.cli.commands.demo import sample_repo
from corral.interfaces.cli.commands.demo.bugs import BUGS
from corral.interfaces.cli.commands.demo.command import EXPECTED
from corral.interfaces.cli.commands.demo.project import FILES
from corral.interfaces.cli.output import width
from tests.e2e.corral_command import CORRAL
from tests.patience import PATIENCE_S

README = Path(__file__).parents[3] / "README.md"
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def bare(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return an environment without HOME, TERM, or a name for git; folders are made in tmp_path."""
    return {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "PYTHONWARNINGS": "error", **more}


def processes_below(folder: Path) -> list[str]:
    """Return the command lines of processes that name the folder, or run in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = os.fsdecode((entry / "cmdline").read_bytes().replace(b"\0", b" "))
            if str(folder) in command or os.readlink(entry / "cwd").startswith(str(folder)):
                found.append(command)
        except OSError:
            continue  # it has ended, or is not ours
    return found


def without_numbers(text: str) -> str:
    """Return a text as one line, with a mark for hashes and numbers, which differ between runs."""
    return re.sub(r"\b[0-9a-f]{12}\b|\d+", "…", " ".join(text.split()))


def test_in_a_pipe_everything_goes_wrong_and_the_branch_ends_green(tmp_path: Path) -> None:
    done = subprocess.run(
        [CORRAL, "demo", "--keep", "--with-ui"],
        env=bare(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "\x1b" not in done.stdout
    assert re.search(
        r"the link works once: http://127\.0\.0\.1:\d+/login\?ticket=\S+$", done.stdout, re.M
    )
    told = done.stdout.partition("What went wrong and how it was absorbed")[2]
    kinds = {
        line[:12].strip().replace(" ", "_") for line in told.splitlines() if line[:1].isalpha()
    }
    assert {kind.replace(" ", "_") for kind in EXPECTED} <= kinds
    assert "not absorbed" not in told
    assert "did not land" not in told
    assert f"✓ {len(BUGS)} of {len(BUGS)} tasks landed on main" in done.stdout
    (quoted,) = re.findall(r"^```text\n(.+?)^```$", README.read_text("utf-8"), re.M | re.S)
    for part in re.split(r"\n+(?=\S)", quoted):
        assert without_numbers(part) in without_numbers(told), "the README shows the demo's words"
    assert processes_below(tmp_path) == []
    (folder,) = tmp_path.iterdir()
    commands = re.findall(r"^ {15}(corral .+)$", told, re.MULTILINE)
    assert len(commands) >= len(EXPECTED)
    for command in dict.fromkeys(commands):
        words = [CORRAL, *command.split()[1:], "--repo", str(folder / "shop")]
        subprocess.run(words, check=True, capture_output=True, env=bare(tmp_path))


def test_on_a_terminal_of_60_columns_it_fits_and_never_scrolls(tmp_path: Path) -> None:
    lines = 24
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 60, 0, 0))
    process = subprocess.Popen(
        [CORRAL, "demo"],
        env=bare(tmp_path, TERM="xterm"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    out = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    assert process.wait(PATIENCE_S) == 0, out
    heights = [int(up) for up in re.findall(r"\x1b\[(\d+)A", out)]
    assert heights
    assert max(heights) < lines
    shown = ESCAPE.sub("", out).replace("\r", "").split("\n")
    assert [line for line in shown if width(line) > 60] == []
    assert list(tmp_path.iterdir()) == []
    assert processes_below(tmp_path) == []


def read_terminal(fd: int) -> bytes:
    try:
        return os.read(fd, 65_536)
    except OSError:  # Linux says so when the last process has closed its side
        return b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing_behind(tmp_path: Path, number: int) -> None:
    process = subprocess.Popen(
        [CORRAL, "demo"],
        env=bare(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "FTS-12.1 starts" in line:
            break
    os.killpg(process.pid, number)  # like Ctrl-C, which the roles hear as well
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "stopped; nothing is left behind" in out
    assert list(tmp_path.iterdir()) == []
    assert processes_below(tmp_path) == []


def test_an_engine_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [CORRAL, "demo", "--engine", "nobody", "--json"],
        env=bare(tmp_path),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert "claude-code" in json.loads(done.stdout)["error"]["hint"]
    assert list(tmp_path.iterdir()) == []


def test_a_real_engine_is_set_up_with_its_key_by_name(tmp_path: Path) -> None:
    repo = sample_repo.make(str(tmp_path), "claude-code")
    config = parse(Path(repo, ".corral", "config.toml").read_text(), "config.toml")
    assert config.engine["default"].type == "claude-code"
    assert config.engine["default"].env == ("ANTHROPIC_API_KEY",)
    words = [CORRAL, "plan", "check", str(tmp_path / "plan.toml"), "--repo", repo]
    done = subprocess.run(words, env=bare(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "12 tasks in 1 wave" in done.stdout


def test_the_project_has_a_bug_for_each_task_and_a_test_that_shows_it(tmp_path: Path) -> None:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    assert len({bug.test for bug in BUGS}) == len(BUGS) == 12
    for strict, wrong in (("", 0), ("1", 12)):
        done = subprocess.run(
            ["python3", "-B", "-m", "unittest", "-q"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "STRICT": strict},
            capture_output=True,
            text=True,
            check=False,
        )
        numbers = re.findall(r"(?:failures|errors)=(\d+)", done.stderr.replace("expected ", "-"))
        found = 0 if not strict else sum(map(int, numbers))
        assert (done.returncode == 0, found) == (not wrong, wrong), done.stderr
    for bug in BUGS:
        for changed, old, _ in bug.edits:
            assert FILES[changed].count(old) == 1, (bug.key, changed)
            assert any((tmp_path / changed) in tmp_path.glob(pattern) for pattern in bug.paths)

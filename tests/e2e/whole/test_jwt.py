"""The JWT example with three engine profiles, from plan to landed."""

import json
import sys
from pathlib import Path

from tests.e2e.engines.engine_repo import EngineRepo
from tests.e2e.witness.witness_repo import make_witness_repo

PLAN = Path(__file__).parents[3] / "examples" / "jwt.toml"
# Does what the title of its brief asks for, as an agent would. The last three wait for each other,
# for a minute, so that it does not depend on the machine whether they run at once.
AGENT = """\
import os, pathlib, subprocess, time
title = open(os.environ["CORRAL_BRIEF"]).readline()
makes = {
    "Issue": {"auth/tokens.py": "def issue(): ...\\ndef verify(): ...\\n"},
    "Accept JWTs": {"auth/middleware.py": "from auth import tokens\\n"},
    "Return a token": {"auth/login.py": "from auth import middleware\\n", "auth/sessions.py": ""},
    "Test valid": {"tests/test_tokens.py": "def test_it():\\n    import auth.tokens\\n"},
    "Update": {
        "tests/test_login.py": "def test_it():\\n    import auth.login\\n",
        "tests/test_middleware.py": "def test_it():\\n    import auth.middleware\\n",
    },
    "Describe": {"docs/api/auth.md": "Bearer\\n"},
}
((word, files),) = ((word, files) for word, files in makes.items() if word in title)
if word in ("Test valid", "Update", "Describe"):
    met = pathlib.Path(__file__).with_name("met")
    met.mkdir(exist_ok=True)
    (met / word).touch()
    end = time.monotonic() + 240
    while len(list(met.iterdir())) < 3 and time.monotonic() < end:
        time.sleep(0.05)
for name, text in files.items():
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True) if not text else path.write_text(text)
subprocess.run(["git", "add", "--all"], check=True)
subprocess.run(["git", "commit", "-qm", title.strip()], check=True)
"""


def test_the_example_lands_in_order_and_its_last_three_at_once(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    command = json.dumps([sys.executable, "-B", str(agent)])
    profiles = "".join(
        f'[engine.{name}]\ntype = "shell"\ncommand = {command}\n'
        for name in ("default", "tests", "docs")
    )
    project = EngineRepo(
        make_witness_repo(tmp_path / "project", f"[watch]\nbackoff_s = 0\n{profiles}").path
    )
    for name, text in {
        "auth/__init__.py": "",
        "auth/sessions.py": "STORE = {}\n",
        "tests/test_old.py": "def test_it(): ...\n",
        "conftest.py": "",
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
    }.items():
        path = project.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "a project")
    done = project.patient(240, "run", str(PLAN), "--headless", "--json")
    assert done.code == 0, (done.out[-3000:], done.err)
    report = json.loads(done.out.splitlines()[-1])["data"]
    assert report["landed"] == 6
    started = [e["data"]["task"] for e in project.of_type("session.started")]
    assert started[:3] == ["RATJ-1", "RATJ-2", "RATJ-3"]
    profile = {e["data"]["task"]: e["data"]["profile"] for e in project.of_type("session.started")}
    assert [profile[f"RATJ-{n}"] for n in range(1, 7)] == [*["default"] * 3, *["tests"] * 2, "docs"]
    assert project.most_at_once() == 3

"""What a person can ask of the queue, with explanations; external CI; no checks at all."""

import subprocess
import time
from pathlib import Path

from tests.e2e.corral_command import CORRAL, Answer, assert_one_sentence
from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo


def test_pause_resume_eject_and_prioritise(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n", 'mode = "serial"\n')
    one, two, three = (project.hand_in({f"file-{n}": "x\n"}) for n in range(3))
    assert "waits for the refinery to take it in" in project.why(one)
    project.here("pause", "--landing", "--reason", "a release is cut", code=0)
    project.once()
    assert project.tips() == []
    assert "landing is paused: a release is cut" in project.why(one)
    assert "a release is cut" in project.here("queue", "list").out
    project.here("queue", "eject", two, "--reason", "not yet", code=0)
    assert project.task(two)["state"] == "blocked"
    assert "not yet" in project.task(two)["reason"]
    project.here("queue", "prioritise", three, "--priority", "500", code=0)
    project.here("resume", "--landing", code=0)
    refused = project.here("resume", "--landing", code=3)
    assert_one_sentence(refused)
    project.here("pause", "--landing", "--convoy", "project", code=0)
    project.once()
    assert project.tips() == []
    assert "landing is paused: paused by" in project.why(one)
    project.here("resume", "--convoy", "project", code=0)
    project.once()
    assert [e["data"]["task"] for e in project.events("task.landed")] == [three, one]
    assert project.why(one) == f"{one} has landed"
    assert_one_sentence(project.here("queue", "eject", one, code=3))


def test_outside_ci_is_waited_for_and_has_a_deadline(tmp_path: Path) -> None:
    project = make_refinery_repo(
        tmp_path / "project",
        "exit 1\n",
        "external = true\nslots = 1\ndeadline_s = 600\nreturns = 1\n",
    )
    task = project.hand_in({"file-1": "x\n"})
    with project.refinery():
        project.until(project.running)
        (run,) = project.running()
        assert f"{run} checks it alone" in project.why(task)
        assert "by an outside CI" in project.why(task)
        commit = project.here("queue", "show", run, "--json", code=0).data["commit"]
        wrong = project.here("queue", "report", run, "green", "--commit", "0" * 40, code=3)
        assert_one_sentence(wrong)
        project.here("queue", "report", run, "green", "--commit", commit, code=0)
        project.until(lambda: project.states()[task] == "done")
        assert project.git("rev-parse", TRUNK) == commit
        assert_one_sentence(project.here("queue", "report", run, "red", code=3))
    settings = project.path / ".corral" / "config.toml"
    settings.write_text(settings.read_text().replace("deadline_s = 600", "deadline_s = 1"))
    late = project.hand_in({"file-2": "x\n"})
    with project.refinery():
        project.until(lambda: len(project.events("check.ended")) >= 3)
        assert "no result was reported within 1 s" in project.alerts()["cannot_check"]
        results = [e["data"]["result"] for e in project.events("check.ended")]
        assert results[:3] == ["green", "lost", "lost"]
        assert project.states()[late] == "review"
        settings.write_text(settings.read_text().replace("deadline_s = 1", "deadline_s = 600"))
        project.until(lambda: report_all(project) and project.states()[late] == "done")
        project.until(lambda: not project.alerts())


def report_all(project: RefineryRepo) -> bool:
    """Report that all runs which are asked for are green, as far as nothing has ended them."""
    for run in project.running():
        project.here("queue", "report", run, "green")
    return True


def test_outside_ci_is_asked_for_as_many_runs_as_there_are_slots(tmp_path: Path) -> None:
    settings = "external = true\nslots = 2\ndeadline_s = 600\n"
    project = make_refinery_repo(tmp_path / "project", "true\n", settings)
    for number in range(4):
        convoy = project.here("convoy", "create", f"No {number}", "--json", code=0).data["id"]
        task = project.add("work", "--convoy", convoy)
        project.submit(task, project.branch(f"work-{number}", {f"file-{number}": "x\n"}))
    with project.refinery():
        project.until(lambda: len(project.events("change.queued")) == 4)
        project.until(lambda: len(project.running()) >= 2)
        assert len(project.running()) == 2
        project.until(lambda: report_all(project) and set(project.states().values()) == {"done"})
    live: set[str] = set()
    for event in project.events("check."):
        live ^= {event["data"]["run"]}
        assert len(live) <= 2


def test_without_checks_work_lands_and_that_is_said(tmp_path: Path) -> None:
    for name, settings in (("ci", "require_ci = false\n"), ("none", "checks = []\n")):
        project = make_refinery_repo(tmp_path / name, "exit 1\n")
        (project.path / ".corral" / "config.toml").write_text(f"[refinery]\n{settings}")
        task = project.hand_in({"file-1": "x\n"})
        project.once()
        assert project.states()[task] == "done"
        (ended,) = project.events("check.ended")
        assert "it was not checked" in ended["data"]["detail"]
        run = ended["data"]["run"]
        assert "it was not checked" in project.here("queue", "show", run).out


def test_a_second_refinery_is_refused_in_one_sentence(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n")
    with project.refinery():
        project.until((project.path / ".git" / "corral" / "refinery.lock").exists)

        def second() -> Answer:
            words = [CORRAL, "refinery", "run", "--once"]
            done = subprocess.run(
                words, cwd=project.path, env=project.env, capture_output=True, check=False
            )
            return Answer(done.returncode, done.stdout, done.stderr)

        project.until(lambda: second().code == 3)
        refused = second()
        assert_one_sentence(refused)
        assert "another refinery is already running" in refused.err


def test_a_refinery_with_nothing_to_do_does_nothing(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n")
    task = project.hand_in({"file-1": "x\n"})
    with project.refinery() as process:
        project.until(lambda: project.states()[task] == "done")

        def still() -> bool:
            before = done_by(process.pid)
            time.sleep(1)
            return done_by(process.pid) == before

        project.until(still)
        assert process.poll() is None


def done_by(pid: int) -> tuple[str, ...]:
    """Return what a process has read, written and computed so far, and its ended children too."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (Path(f"/proc/{pid}/io").read_text(), *words[11:15])

"""A session is judged by its last word, git and checks, not by the engine's exit code."""

from tests.e2e.engines.engine_repo import (
    CONFIG,
    DONE,
    QUIET,
    WORK,
    EngineRepo,
    began,
    fact,
    first,
    script,
)


def test_good_work_is_proved_whatever_the_exit_code_and_its_figures_are_in_the_log(
    project: EngineRepo,
) -> None:
    task = project.script(
        script(
            began(),
            fact("used", tool="write", what="a.txt", paths=["a.txt"]),
            fact("spent", fresh=100, cached=20, output=7, cost_usd=0.0125),
            fact("spent", fresh=1, output=1, cost_usd=0.0005),
            WORK,
            DONE,
            "exit 3",
        )
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert [e["data"]["thread"] for e in project.of_type("session.engaged")] == ["th-1"]
    (spent,) = project.of_type("session.spent")
    assert spent["data"] == {
        "session": f"{task}.1",
        "model": "m-1",
        "fresh": 101,
        "cached": 20,
        "output": 8,
        "nano_usd": 13_000_000,
        "turns": 2,
    }
    assert (project.spent()["cost_usd"], project.spent()["output"]) == (0.013, 8)


def test_an_engine_that_ends_well_by_its_code_but_was_refused_holds_its_account(
    project: EngineRepo,
) -> None:
    refused = fact("finished", trouble="auth", text="401: invalid key")
    run = script(f"test -e {project.path}/mended || {{ {refused}; exit 0; }}", WORK, DONE)
    one, two = project.script(run), project.script(run)
    project.configure(CONFIG.replace("total = 50", "total = 1"))
    project.once()
    assert project.verdicts() == ["refused"]
    assert project.task(one)["state"] == "todo"
    assert project.alerts() == {"account_refused": "command:default"}
    assert "the account 'command:default' was refused" in project.here("why", two, code=0).out
    (project.path / "mended").touch()
    (alert,) = project.here("alert", "list", "--json", code=0).data
    project.here("alert", "clear", alert["id"], code=0)
    project.once()
    assert {project.verdict(one), project.verdict(two)} == {"proved"}


def test_an_engine_that_breaks_off_is_resumed_once_in_the_same_tree(project: EngineRepo) -> None:
    task = project.script(
        script(
            'echo "$CORRAL_RESUME" > "$HOME/resumed"',
            first(began(), "echo half > half.txt", "kill -9 $$"),
            'test "$(cat "$HOME/resumed")" = th-1 && test "$(cat half.txt)" = half || exit 9',
            WORK,
            DONE,
        )
    )
    project.once()
    assert project.verdicts() == ["proved"]
    assert project.reactions() == [("crashed", "resume")]
    told = (project.room(f"{task}.1") / "brief-2.md").read_text()
    assert ": continue" in told
    assert "crashed: resume" in told


def test_one_that_always_breaks_off_uses_up_its_attempts_and_no_more(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("attempts = 1", "attempts = 2"))
    task = project.script(script(began(), "exit 0"))
    project.once()
    assert project.verdicts() == ["crashed", "crashed"]
    assert "without a final message (exit code 0)" in project.detail(task)
    assert project.reactions() == [("crashed", "resume")] * 2
    assert f"{task}.2 crashed: resume" in project.here("why", task, code=0).out
    assert project.task(task)["state"] == "failed"
    assert project.leftovers() == []


def test_a_conversation_that_no_longer_fits_starts_over_with_what_was_done(
    project: EngineRepo,
) -> None:
    task = project.script(
        script(
            first(
                began(),
                fact("said", text="I wrote the parser"),
                fact("used", tool="edit", what="parser.py", paths=["parser.py"]),
                fact("finished", trouble="overflow", text="prompt is too long"),
                "exit 1",
            ),
            'test -z "$CORRAL_RESUME" || exit 9',
            WORK,
            DONE,
        )
    )
    project.once()
    assert project.verdicts() == ["proved"]
    assert project.reactions() == [("overflow", "restart")]
    told = (project.room(f"{task}.1") / "brief-2.md").read_text()
    assert "I wrote the parser" in told
    assert "parser.py" in told


def test_corral_commits_for_an_engine_that_does_not(project: EngineRepo) -> None:
    project.configure(CONFIG + "commit = true\n")
    task = project.add("Write it", "--run", "sh work.sh")
    (project.path / "work.sh").write_text(
        script("echo x > x.txt", "echo 'note' > progress.md", began(), DONE)
    )
    project.git("add", "work.sh")
    project.git("commit", "-qm", "an engine")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    commit = project.task(task)["commit"]
    said = project.git("log", "-1", "--format=%an|%ae|%B", commit)
    assert said == (
        f"default {task}.1|{task.lower()}.1@corral.invalid|Write it\n\n"
        "Committed by Corral on behalf of the session.\n\n"
        f"Task: {task}\nSession: {task}.1\nEngine: default\nModel: m-1"
    )
    changed = project.git("diff", "--name-only", f"{commit}~1", commit).split()
    assert changed == ["x.txt"]


def test_denied_tools_and_an_unknown_variable_are_said(project: EngineRepo) -> None:
    task = project.script(script(began(), fact("denied", tool="bash", what="rm"), DONE))
    project.once()
    assert (project.verdict(task), project.detail(task)) == (
        "no_change",
        "not permitted: 1 tool call",
    )
    project.configure(QUIET + '[engine.default]\ntype = "command"\nenv = ["NO_SUCH_KEY"]\n')
    other = project.script(WORK)
    project.once()
    assert project.task(other)["state"] == "todo"
    (alert,) = project.here("alert", "list", "--json").data
    assert (alert["kind"], alert["subject"]) == ("unfit", "default")
    assert "NO_SUCH_KEY" in alert["text"]


def test_what_a_transport_needs_is_missed_before_anything_is_started(project: EngineRepo) -> None:
    project.configure(QUIET + '[engine.default]\ntype = "claude-code"\ntransport = "acp"\n')
    task = project.add("work")
    project.once()
    assert project.task(task)["state"] == "todo"
    (alert,) = project.here("alert", "list", "--json").data
    assert "the program 'claude-agent-acp' for acp is not installed" in alert["text"]
    assert not project.of_type("session.reacted")

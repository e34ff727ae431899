"""R18, R24: what an engine came to is told by its last word, git and checks, not by its code."""

from tests.e2e.engines.ranch import CONFIG, DONE, QUIET, WORK, Ranch, began, fact, first, script


def test_good_work_is_proved_whatever_the_exit_code_and_its_figures_are_in_the_log(
    ranch: Ranch,
) -> None:
    task = ranch.script(
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
    ranch.once()
    assert ranch.verdict(task) == "proved", ranch.detail(task)
    assert [e["data"]["thread"] for e in ranch.of_type("session.engaged")] == ["th-1"]
    (spent,) = ranch.of_type("session.spent")
    assert spent["data"] == {
        "session": f"{task}.1",
        "model": "m-1",
        "fresh": 101,
        "cached": 20,
        "output": 8,
        "nano_usd": 13_000_000,
        "turns": 2,
    }
    assert (ranch.spent()["cost_usd"], ranch.spent()["output"]) == (0.013, 8)


def test_an_engine_that_ends_well_by_its_code_but_was_refused_holds_its_account(
    ranch: Ranch,
) -> None:
    refused = fact("finished", trouble="auth", text="401: invalid key")
    run = script(f"test -e {ranch.path}/mended || {{ {refused}; exit 0; }}", WORK, DONE)
    one, two = ranch.script(run), ranch.script(run)
    ranch.configure(CONFIG.replace("total = 50", "total = 1"))
    ranch.once()
    assert ranch.verdicts() == ["refused"]
    assert ranch.task(one)["state"] == "todo"
    assert ranch.alerts() == {"account_refused": "command:default"}
    assert "the account 'command:default' was refused" in ranch.here("why", two, code=0).out
    (ranch.path / "mended").touch()
    (alert,) = ranch.here("alert", "list", "--json", code=0).data
    ranch.here("alert", "clear", alert["id"], code=0)
    ranch.once()
    assert {ranch.verdict(one), ranch.verdict(two)} == {"proved"}


def test_an_engine_that_breaks_off_is_resumed_once_in_the_same_tree(ranch: Ranch) -> None:
    task = ranch.script(
        script(
            'echo "$CORRAL_RESUME" > "$HOME/resumed"',
            first(began(), "echo half > half.txt", "kill -9 $$"),
            'test "$(cat "$HOME/resumed")" = th-1 && test "$(cat half.txt)" = half || exit 9',
            WORK,
            DONE,
        )
    )
    ranch.once()
    assert ranch.verdicts() == ["proved"]
    assert ranch.reactions() == [("crashed", "resume")]
    told = (ranch.room(f"{task}.1") / "brief-2.md").read_text()
    assert "go on" in told
    assert "crashed: resume" in told


def test_one_that_always_breaks_off_uses_up_its_attempts_and_no_more(ranch: Ranch) -> None:
    ranch.configure(CONFIG.replace("attempts = 1", "attempts = 2"))
    task = ranch.script(script(began(), "exit 0"))
    ranch.once()
    assert ranch.verdicts() == ["crashed", "crashed"]
    assert "broke off (exit code 0)" in ranch.detail(task)
    assert ranch.reactions() == [("crashed", "resume")] * 2
    assert f"{task}.2 crashed: resume" in ranch.here("why", task, code=0).out
    assert ranch.task(task)["state"] == "failed"
    assert ranch.leftovers() == []


def test_a_conversation_that_no_longer_fits_starts_over_with_what_was_done(ranch: Ranch) -> None:
    task = ranch.script(
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
    ranch.once()
    assert ranch.verdicts() == ["proved"]
    assert ranch.reactions() == [("overflow", "restart")]
    told = (ranch.room(f"{task}.1") / "brief-2.md").read_text()
    assert "I wrote the parser" in told
    assert "parser.py" in told


def test_corral_commits_for_an_engine_that_does_not(ranch: Ranch) -> None:
    ranch.configure(CONFIG + "commit = true\n")
    task = ranch.add("Write it", "--run", "sh work.sh")
    (ranch.path / "work.sh").write_text(
        script("echo x > x.txt", "echo 'note' > progress.md", began(), DONE)
    )
    ranch.git("add", "work.sh")
    ranch.git("commit", "-qm", "an engine")
    ranch.once()
    assert ranch.verdict(task) == "proved", ranch.detail(task)
    commit = ranch.task(task)["commit"]
    said = ranch.git("log", "-1", "--format=%an|%ae|%B", commit)
    assert said == (
        f"default {task}.1|{task.lower()}.1@corral.invalid|Write it\n\n"
        "Committed by Corral on behalf of the session.\n\n"
        f"Task: {task}\nSession: {task}.1\nEngine: default\nModel: m-1"
    )
    changed = ranch.git("diff", "--name-only", f"{commit}~1", commit).split()
    assert changed == ["x.txt"]


def test_denied_tools_and_an_unknown_variable_are_said(ranch: Ranch) -> None:
    task = ranch.script(script(began(), fact("denied", tool="bash", what="rm"), DONE))
    ranch.once()
    assert (ranch.verdict(task), ranch.detail(task)) == (
        "no_change",
        "1 tool calls were not permitted",
    )
    ranch.configure(QUIET + '[engine.default]\ntype = "command"\nenv = ["NO_SUCH_KEY"]\n')
    other = ranch.script(WORK)
    ranch.once()
    assert ranch.verdict(other) == "could_not_start"
    assert "NO_SUCH_KEY" in ranch.detail(other)


def test_what_a_transport_needs_is_missed_before_anything_is_started(ranch: Ranch) -> None:
    ranch.configure(QUIET + '[engine.default]\ntype = "claude-code"\ntransport = "acp"\n')
    task = ranch.add("work")
    ranch.once()
    assert ranch.verdict(task) == "could_not_start"
    assert ranch.detail(task) == "there is no program 'claude-agent-acp' for acp"
    assert not ranch.of_type("session.reacted")

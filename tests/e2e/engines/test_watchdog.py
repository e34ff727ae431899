"""An engine that hangs, loops, asks or fills up is noticed; every reaction is bounded."""

import signal

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, fact, first, script


def test_a_silent_model_is_ended_after_its_bound_and_resumed(project: EngineRepo) -> None:
    project.configure(CONFIG + "turn_s = 4\n")  # time enough to commit, on a slow machine, too
    task = project.script(
        script(first(began(), "sleep 300"), 'test "$CORRAL_RESUME" = th-1 || exit 9', WORK, DONE)
    )
    project.once()
    assert project.verdicts() == ["proved"], project.detail(task)
    assert project.reactions() == [("hung", "resume")]
    assert project.leftovers() == []


def test_a_model_that_stays_silent_costs_an_attempt_and_says_so(project: EngineRepo) -> None:
    project.configure(CONFIG + "turn_s = 2\n")
    task = project.script(script(began(), "sleep 300"))
    project.once()
    assert (project.verdict(task), project.task(task)["state"]) == ("hung", "failed")
    assert "no output from its model" in project.detail(task)
    assert project.reactions() == [("hung", "resume")]


def test_the_same_call_again_and_again_is_alarmed_about_and_then_ended(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("grace_s = 1", "grace_s = 1\nloop = 6"))
    call = fact("used", tool="bash", what="make test")
    task = project.script(script(began(), f"while :; do {call}; sleep 0.1; done"))
    project.once()
    assert project.verdict(task) == "looping"
    assert "bash make test" in project.detail(task)
    assert project.reactions() == [("looping", "alerted")]
    assert project.alerts() == {}, "it is over, and the verdict says the rest"


def test_the_same_call_with_changes_in_between_is_no_loop(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("grace_s = 1", "grace_s = 1\nloop = 6"))
    call = fact("used", tool="bash", what="make test")
    each = f"{call}; echo $n > n.txt; sleep 0.05"
    task = project.script(script(began(), f"for n in $(seq 40); do {each}; done", WORK, DONE))
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)


def test_a_full_context_is_handed_over_to_a_fresh_conversation(project: EngineRepo) -> None:
    task = project.script(
        script(
            first(
                began(),
                fact("said", text="two of three are done"),
                fact("window", used=95, size=100),
                "sleep 300",
            ),
            'test -z "$CORRAL_RESUME" || exit 9',
            WORK,
            DONE,
        )
    )
    project.once()
    assert project.verdicts() == ["proved"], project.detail(task)
    assert project.reactions() == [("handed_over", "restart")]
    assert "two of three are done" in (project.room(f"{task}.1") / "brief-2.md").read_text()


def test_a_context_that_the_profile_knows_is_watched_by_what_each_call_takes_in(
    project: EngineRepo,
) -> None:
    project.configure(CONFIG + "context = 1000\n")
    call = [fact("spent", fresh=10, cached=cached, output=5) for cached in (300, 600)]
    full = fact("spent", fresh=100, cached=800, output=10)
    fills = first(began(), fact("said", text="half of it is done"), *call, full, "sleep 300")
    task = project.script(script(fills, 'test -z "$CORRAL_RESUME" || exit 9', WORK, DONE))
    project.once()
    assert project.verdicts() == ["proved"], project.detail(task)
    assert project.reactions() == [("handed_over", "restart")]
    assert "910 of 1,000 tokens" in project.of_type("session.reacted")[0]["data"]["text"]
    assert "half of it is done" in (project.room(f"{task}.1") / "brief-2.md").read_text()


def test_a_question_is_answered_by_policy_or_given_to_a_person(project: EngineRepo) -> None:
    asks = fact("asked", text="Tabs or spaces?")
    run = script(first(began(), asks, DONE, "exit 0"), 'grep -q "Use tabs" || exit 9', WORK, DONE)
    project.configure(CONFIG + 'answers = "Use tabs."\n')
    answered = project.script(run)
    project.once()
    assert project.verdicts() == ["proved"], project.detail(answered)
    assert project.reactions() == [("needs_answer", "resume")]
    project.configure(CONFIG)
    asked = project.script(script(began(), asks, DONE))
    project.once()
    assert (project.verdict(asked), project.task(asked)["state"]) == ("needs_answer", "blocked")
    assert project.task(asked)["reason"] == "needs_answer: Tabs or spaces?"
    helps = f'corral message send {asked} "your answer", then corral task unblock {asked}'
    assert helps in project.here("why", asked, code=0).out


def test_a_live_question_is_an_alert_with_a_timeout(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("grace_s = 1", "grace_s = 1\nanswer_s = 2"))
    task = project.script(script(began(), fact("asked", text="May I?"), "sleep 300"))
    with project.witness():
        project.until(lambda: project.alerts().get("asked") == f"{task}.1")
        assert project.until_ended(task) == "needs_answer"
    assert project.task(task)["state"] == "blocked"
    assert project.alerts() == {}


def test_a_model_that_is_not_the_required_one_is_ended(project: EngineRepo) -> None:
    project.configure(CONFIG + '[budget]\nrequire_model = ["big-*"]\n')
    task = project.script(script(began(model="small-1"), "sleep 300"))
    project.once()
    assert (project.verdict(task), project.task(task)["state"]) == ("wrong_model", "failed")


def test_a_new_witness_comes_to_the_same_figures(project: EngineRepo) -> None:
    spend = fact("spent", fresh=10, output=1, cost_usd=0.001)
    go = project.path.parent / "go"
    run = script(
        began(),
        fact("limited", trouble="rate", retry_s=1),
        f"{spend}; {spend}",
        f"until test -e {go}; do sleep 0.05; done",
        spend,
        WORK,
        DONE,
    )
    task = project.script(run)
    with project.witness() as witness:
        project.until(lambda: project.of_type("session.engaged"))
        witness.send_signal(signal.SIGKILL)
        witness.wait()
    go.touch()
    project.once()
    assert project.verdict(task) == "proved"
    assert (project.spent()["fresh"], project.spent()["cost_usd"]) == (30, 0.003)
    assert len(project.of_type("session.engaged")) == 1
    assert len(project.of_type("session.limited")) == 1, "what was told is not told again"


def test_a_conversation_goes_on_where_it_was(project: EngineRepo) -> None:
    """Engines look for a conversation by the folder that it was held in, and by whole paths."""
    project.configure(
        CONFIG.replace("backoff_s = 0", "backoff_s = 4").replace("total = 50", "total = 1")
    )
    keep = 'pwd > "$HOME/folder"; echo "$HOME" > "$HOME/home"'
    cut = script(began(), keep, fact("finished", trouble="network", text="cut off"), "exit 1")
    same = 'test "$(pwd)" = "$(cat "$HOME/folder")" && test -e "$(cat "$HOME/home")/folder"'
    resumed = 'test "$CORRAL_RESUME" = th-1'
    task = project.script(script(first(cut), f"{resumed} && {same} || exit 9", began(), WORK, DONE))
    other = project.script(script(began(), WORK, DONE))  # while the first one rests
    project.once()
    assert (project.verdict(task), project.verdict(other)) == ("proved", "proved")
    order = [e["data"]["session"] for e in project.of_type("session.started")]
    assert order == [f"{task}.1", f"{other}.1", f"{task}.2"]


def test_what_has_said_its_last_word_is_not_waited_for(project: EngineRepo) -> None:
    project.configure(CONFIG.replace("grace_s = 1", "grace_s = 1\npark_s = 1") + "turn_s = 4\n")
    good = project.script(script(began(), WORK, DONE, "sleep 600"))
    loops = script(fact("finished", trouble="overflow", text="too long"), "sleep 0.2")
    bad = project.script(script(began(), f"while :; do {loops}; done"))
    project.once()
    assert project.verdict(good) == "proved", project.detail(good)
    assert project.verdict(bad) == "overflow", project.detail(bad)
    assert project.leftovers() == []

"""TOML, Markdown and JSON give the same plan, and each part knows its line."""

import msgspec
import pytest

from corral.core.plan.check import Surroundings, problems
from corral.core.plan.problems import Source
from corral.core.plan.read import read, read_toml
from corral.core.plan.schema import ConvoyPlan, Plan, PlanPolicy, TaskPlan

WANTED = Plan(
    convoy=ConvoyPlan(title="Auth fix", base="main", strategy="squash", checks=("pytest -q",)),
    policy=PlanPolicy(overlap="allow"),
    tasks=(
        TaskPlan(
            key="tokens",
            title="Issue tokens",
            brief="Write `issue`.\n\n- [ ] with tests\n\n    and code",
            engine="default",
            paths=("auth/tokens.py", "auth/keys.py"),
            accept=("pytest -q tests", "echo a, b"),
            priority=3,
            minutes=20,
        ),
        TaskPlan(
            key="say-so",
            title="Say so",
            needs=("tokens",),
            inputs=("docs/api.md",),
            unproved=True,
            role="worker",
            run=("sh", "-c", "echo hi"),
            beside=("tokens",),
        ),
    ),
)

TOML = '''
policy.overlap = "allow"
[convoy]
title = "Auth fix"
base = "main"
strategy = "squash"
checks = ["pytest -q"]
[[task]]
key = "tokens"
title = "Issue tokens"
engine = "default"
paths = ["auth/tokens.py", "auth/keys.py"]
accept = [
    "pytest -q tests", # with = and [[task]]
    "echo a, b",
]
priority = 3
minutes = 20
brief = """
Write `issue`.

- [ ] with tests

    and code"""
[[task]]
key = "say-so"
title = "Say so"
needs = ["tokens"]
inputs = ["docs/api.md"]
unproved = true
role = "worker"
run = ["sh", "-c", "echo hi"]
beside = ["tokens"]
'''

MARKDOWN = """
# Auth fix

What this is about: prose is no field, and neither is this.

base: main
strategy: squash
overlap: allow
checks:
- `pytest -q`

```text
- [ ] an example in a fence is no task
```

## First

* [ ] Issue tokens
    key: tokens
    engine: `default`
    Path: auth/tokens.py, auth/keys.py
    accept:
      - pytest -q tests
      - `echo a, b`
    priority: 3
    minutes: 20

    Write `issue`.

    - [ ] with tests

        and code

- [x] An old thing
    key: old

## Then

1. [ ] Say so
    needs: Issue Tokens, old
    needs: tokens
    input: docs/api.md
    unproved: yes
    role: worker
    run: sh -c 'echo hi'
    beside: tokens
"""

JSON = f"""I looked around. {{braces}} are fine, and so is {{"other": 1}}.

```json
{{"convoy": {{"title": "An earlier try"}}, "task": []}}
```
No, rather:
```json
{msgspec.json.encode(WANTED).decode()}
```
Good luck {{}}!
"""


@pytest.mark.parametrize(("name", "text"), [("p.toml", TOML), ("p.md", MARKDOWN), ("p.json", JSON)])
def test_the_same_plan_can_be_written_in_three_ways(name: str, text: str) -> None:
    for content in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        for called in (name, "-"):
            shaped = read(content.encode(), called)
            found = shaped.plan
            assert found is not None, shaped.problems
            named = msgspec.structs.replace(
                found,
                tasks=tuple(
                    msgspec.structs.replace(task, needs=tuple(dict.fromkeys(task.needs)))
                    for task in found.tasks
                ),
            )
            assert msgspec.to_builtins(named) == msgspec.to_builtins(
                with_brief(WANTED, named.tasks[0].brief)
            )
            assert named.tasks[0].brief.strip() == WANTED.tasks[0].brief
            assert problems(shaped) == ()


def with_brief(plan: Plan, brief: str) -> Plan:
    first, *rest = plan.tasks
    return msgspec.structs.replace(plan, tasks=(msgspec.structs.replace(first, brief=brief), *rest))


def test_names_that_models_use_are_understood_and_called_by_what_was_written() -> None:
    text = '{"convoy": {"title": "T"},\n"tasks": [\n{"id": "a", "title": "A", "acceptance": []}]}'
    shaped = read(text.encode(), "x.json")
    assert shaped.plan
    assert shaped.plan.tasks[0].key == "a"
    assert str(problems(shaped)[0]).startswith("line 3: tasks.a.accept: nothing proves")


def lines_of(text: str) -> Source:
    return read_toml(text)


def test_lines_are_found_behind_texts_that_look_like_toml() -> None:
    text = (
        '[convoy] # [[task]]\ntitle = "a = b"\n[[task]]\nbrief = """\n[[task]]\nkey = "no"\n"""\n'
        'key = \'x\' # = 1\nneeds = [\n  "]",\n  \'key = 2\',\n]\n"title" = "t"\n'
        "[[task]]\nbrief = '''\n[convoy]\n'''\ntitle = 1\n[task.more]\nkey = 1\n"
    )
    found = lines_of(text)
    assert found.lines["convoy", "title"] == 2
    assert found.lines["task", 0] == 3
    assert found.lines["task", 0, "key"] == 8
    assert found.lines["task", 0, "needs"] == 9
    assert found.lines["task", 0, "title"] == 13
    assert found.lines["task", 1] == 14
    assert found.lines["task", 1, "title"] == 18
    assert found.lines["task", 1, "more", "key"] == 20
    assert found.line(("task", 1, "nothing")) == 14
    assert found.lines["task", 0, "needs", 1] == 11
    assert found.line(("task", 7)) == 3
    assert found.line(("nothing",)) == 0


@pytest.mark.parametrize(
    ("policy", "role", "warnings"),
    [("optional", "", 1), ("optional", "observer", 0), ("required", "observer", 0)],
)
def test_acceptance_is_wanted_unless_the_plan_says_otherwise(
    policy: str, role: str, warnings: int
) -> None:
    text = f"acceptance: {policy}\n# T\n- [ ] Look\n  role: {role or 'worker'}\n"
    found = problems(read(text.encode(), "p.md"))
    assert [problem.warning for problem in found] == [True] * warnings


def test_a_need_may_be_on_the_board_already() -> None:
    text = b"# T\n- [ ] A\n  unproved: yes\n  needs: AF-1\n"
    assert problems(read(text, "p.md"))
    assert not problems(read(text, "p.md"), Surroundings(tasks=frozenset({"AF-1"})))


def test_without_engine_profiles_only_a_named_one_is_wrong() -> None:
    none = Surroundings(engines=frozenset())
    assert not problems(read(b"# T\n- [ ] A\n  unproved: yes\n", "p.md"), none)
    found = problems(read(b"# T\n- [ ] A\n  unproved: yes\n  engine: x\n", "p.md"), none)
    assert [str(problem) for problem in found] == [
        'line 4: task.a.engine: there is no engine profile "x"; there are none'
    ]

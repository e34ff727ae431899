"""Each error in a plan gets a precise message with its line; all are reported together."""

import pytest

from corral.core.plan.problems import MOST
from corral.core.plan.schema import MOST_BYTES, MOST_PATHS, MOST_TASKS
from tests.core.plan.plans import HEAD, said

T = HEAD + '[[task]]\nkey = "login"\ntitle = "Log in"\naccept = ["true"]\n'
U = '[[task]]\nkey = "out"\ntitle = "Log out"\naccept = ["true"]\n'


def json(tasks: str, convoy: str = '{"title": "Auth fix"}') -> str:
    return f'{{"convoy": {convoy},\n "task": [\n{tasks}\n]}}'


OK = '{"key": "a", "title": "A", "accept": ["true"]}'

# The name says what is wrong; then the file's name, its text, and all that is said about it.
MALFORMED: dict[str, tuple[str, str | bytes, list[str]]] = {
    "empty": ("p.toml", "", ["the plan is empty"]),
    "blank": ("p.md", " \n\n", ["the plan is empty"]),
    "not UTF-8": ("p.toml", HEAD.encode() + b"\nx = '\xff'", ["line 4: not UTF-8 text: byte 0xff"]),
    "10 MB": (
        "p.toml",
        b"x" * 10_000_000,
        ["the plan has at least 10,000,000 bytes: the limit is 1 MiB"],
    ),
    "TOML: no value": ("p.toml", HEAD + "base =\n", ["line 3: not valid TOML: invalid value"]),
    "TOML: half a text": (
        "p.toml",
        HEAD + '[[task]]\nkey = "a\n',
        ["line 4: not valid TOML: illegal character '\\n'"],
    ),
    "TOML: half a block": (
        "p.toml",
        T + 'brief = """never ends\n',
        ["line 8: not valid TOML: unterminated string at the end of the text"],
    ),
    "TOML: nested": ("p.toml", "x = " + "[" * 5000, ["not valid TOML: it is nested too deeply"]),
    "TOML: key of many parts": (
        "p.toml",
        ".".join("a" * 5000) + " = 1",
        ["line 1: not valid TOML: a key of more than 64 parts"],
    ),
    "no convoy": (
        "p.toml",
        U,
        ["convoy: missing: a plan needs a convoy with a title"],
    ),
    "no title": ("p.toml", "[convoy]\n" + U, ["line 1: convoy.title: missing"]),
    "no task": ("p.toml", HEAD, ["task: the plan has no tasks"]),
    "convoy is a text": (
        "p.toml",
        'convoy = "x"\n' + U,
        ["line 1: convoy: expected a table, got a string"],
    ),
    "task is a table": (
        "p.toml",
        HEAD + '[task]\nkey = "a"\n',
        ["line 3: task: expected a list of tables, got a table"],
    ),
    "unknown part": (
        "p.toml",
        T + '[polcy]\noverlap = "allow"\n',
        ['line 7: polcy: unknown field; did you mean "policy"?'],
    ),
    "unknown field of the convoy": (
        "p.toml",
        HEAD + 'brnch = "main"\n' + U,
        [
            "line 3: convoy.brnch: unknown field; known fields are base, checks, prefix, slug,"
            " strategy, title"
        ],
    ),
    "unknown field of a task": (
        "p.toml",
        T + 'enigne = "tests"\n',
        ['line 7: task.login.enigne: unknown field; did you mean "engine"?'],
    ),
    "no key": (
        "p.toml",
        HEAD + '[[task]]\ntitle = "x"\naccept = ["true"]\n',
        ["line 3: task.1.key: missing"],
    ),
    "no title of a task": (
        "p.toml",
        HEAD + '[[task]]\nkey = "a"\naccept = ["true"]\n',
        ["line 3: task.a.title: missing"],
    ),
    "empty title": (
        "p.toml",
        T.replace("Log in", "  "),
        ["line 5: task.login.title: the title is empty: give it at least one visible character"],
    ),
    "a number for a text": (
        "p.toml",
        T.replace('"Log in"', "7"),
        ["line 5: task.login.title: expected a string, got a number"],
    ),
    "a text for a number": (
        "p.toml",
        T + 'priority = "high"\n',
        ["line 7: task.login.priority: expected an integer, got a string"],
    ),
    "a date for a number": (
        "p.toml",
        T + "minutes = 2026-01-01\n",
        ["line 7: task.login.minutes: expected an integer, got a date or time"],
    ),
    "true for a number": (
        "p.toml",
        T + "priority = true\n",
        ["line 7: task.login.priority: expected an integer, got true or false"],
    ),
    "a text for a list": (
        "p.toml",
        T + 'needs = "out"\n' + U,
        ['line 7: task.login.needs: expected a list of strings, got a string; write ["out"]'],
    ),
    "a number in a list": (
        "p.toml",
        T + 'paths = ["a", 7]\n',
        ["line 7: task.login.paths: expected a list of strings, but element 2 is a number"],
    ),
    "a cycle of one": (
        "p.toml",
        T + 'needs = ["login"]\n',
        ["line 7: task.login.needs: dependency cycle: login → login"],
    ),
    "a cycle of three": (
        "p.toml",
        T
        + 'needs = ["b"]\n'
        + U.replace('"out"', '"b"')
        + 'needs = ["c"]\n'
        + U.replace('"out"', '"c"')
        + 'needs = ["login"]\n',
        ["line 7: task.login.needs: dependency cycle: login → b → c → login"],
    ),
    "an unknown need": (
        "p.toml",
        T + U + 'needs = ["logn"]\n',
        ['line 11: task.out.needs: there is no task "logn"; did you mean "login"?'],
    ),
    "a need like nothing": (
        "p.toml",
        T + 'needs = ["zzz"]\n',
        ['line 7: task.login.needs: there is no task "zzz"'],
    ),
    "a key twice": (
        "p.toml",
        T + U.replace('"out"', '"login"'),
        ['line 8: task.login.key: two tasks have the key "login" (the first is on line 3)'],
    ),
    "a key with blanks": (
        "p.toml",
        T.replace('"login"', '"log in"'),
        ['line 4: task.log in.key: "log in" is not a key: use up to 60 letters, digits, - and _'],
    ),
    "an absolute path": (
        "p.toml",
        T + 'paths = ["/etc/passwd"]\n',
        [
            'line 7: task.login.paths: the path "/etc/passwd" cannot be used: absolute, not'
            " relative to the repository"
        ],
    ),
    "a path outside": (
        "p.toml",
        T + 'paths = ["../other/x.py"]\n',
        [
            'line 7: task.login.paths: the path "../other/x.py" cannot be used: contains a `..`'
            " segment"
        ],
    ),
    "a path into .git": (
        "p.toml",
        T + 'paths = [".git/hooks/x"]\n',
        ['line 7: task.login.paths: the path ".git/hooks/x" cannot be used: names `.git`'],
    ),
    "an input that is a pattern": (
        "p.toml",
        T + 'inputs = ["docs/*.md"]\n',
        ['line 7: task.login.inputs: the input "docs/*.md" is a pattern: name one file'],
    ),
    "no acceptance": (
        "p.toml",
        T.replace('accept = ["true"]\n', ""),
        [
            "line 3: task.login.accept: nothing proves that it is done: give commands, or set"
            ' "unproved" if there are none'
        ],
    ),
    "empty acceptance": (
        "p.toml",
        T.replace('["true"]', "[]"),
        [
            "line 6: task.login.accept: nothing proves that it is done: give commands, or set"
            ' "unproved" if there are none'
        ],
    ),
    "an empty command": (
        "p.toml",
        T.replace('["true"]', '[" "]'),
        [
            "line 6: task.login.accept: an acceptance command is empty: give it at least one"
            " visible character"
        ],
    ),
    "proved and unproved": (
        "p.toml",
        T + "unproved = true\n",
        ["line 7: task.login.unproved: it has acceptance commands, so it cannot be unproved"],
    ),
    "an unknown engine": (
        "p.toml",
        T + 'engine = "test"\n',
        ['line 7: task.login.engine: there is no engine profile "test"; did you mean "tests"?'],
    ),
    "an unknown role": (
        "p.toml",
        T + 'role = "wrecker"\n',
        [
            'line 7: task.login.role: there is no role "wrecker" in .corral/roles; did you mean'
            ' "worker"?'
        ],
    ),
    "an unknown strategy": (
        "p.toml",
        HEAD + 'strategy = "octopus"\n' + U,
        ['line 3: convoy.strategy: unknown strategy "octopus"; use one of rebase, squash, merge'],
    ),
    "an unknown policy": (
        "p.toml",
        T + '[policy]\noverlap = "deny"\n',
        ['line 8: policy.overlap: expected "order" or "allow", got "deny"'],
    ),
    "a bad slug": (
        "p.toml",
        HEAD + 'slug = "Auth Fix"\n' + U,
        [
            'line 3: convoy.slug: "Auth Fix" is not an id: use lower-case letters, digits and'
            " single -"
        ],
    ),
    "a bad prefix": (
        "p.toml",
        HEAD + 'prefix = "a-1"\n' + U,
        ['line 3: convoy.prefix: "a-1" is not a prefix: use up to 8 capital letters'],
    ),
    "a priority below 0": (
        "p.toml",
        T + "priority = -1\n",
        ["line 7: task.login.priority: -1 is out of range: it must be between 0 and 1,000,000"],
    ),
    "an over-long title": (
        "p.toml",
        T.replace("Log in", "x" * 201),
        ["line 5: task.login.title: the title has 201 characters: at most 200 are allowed"],
    ),
    "an over-long brief": (
        "p.toml",
        T + f'brief = "{"x" * 300_000}"\n',
        ["line 7: task.login.brief: the brief has 300,000 characters: at most 262,144 are allowed"],
    ),
    "an escape in a brief": (
        "p.toml",
        T + 'brief = "a\\u001b[2J"\n',
        [
            "line 7: task.login.brief: the brief has the control or invisible character U+001B at"
            " character 2: remove it"
        ],
    ),
    "too many tasks": (
        "p.toml",
        HEAD + "[[task]]\n" * (MOST_TASKS + 1),
        [
            f"line 3: task: the plan has {MOST_TASKS + 1} tasks: at most {MOST_TASKS} are allowed;"
            " split it into several plans"
        ],
    ),
    "too many needs": (
        "p.toml",
        T + f"needs = {['login'] * 201}\n" + U,
        [
            "line 7: task.login.needs: 201 tasks are named: at most 200 are allowed",
            "line 7: task.login.needs: dependency cycle: login → login",
        ],
    ),
    "only prose": ("a.json", "I could not do it.", ["it contains no JSON object"]),
    "another object": (
        "a.json",
        'Here:\n{"status": "ok", "files": 3}',
        ['line 2: not a plan: the last object has neither "convoy" nor "task", but status, files'],
    ),
    "half a JSON": (
        "a.json",
        json(OK)[:-2],
        [
            'line 4: not valid JSON: it ends where "," or "]" should follow (the'
            " object begins on line 1)"
        ],
    ),
    "half a text": (
        "a.json",
        'The plan:\n{"convoy": {"title": "Auth',
        ["line 2: not valid JSON: it ends in the middle of a string"],
    ),
    "a trailing comma": (
        "a.json",
        json(OK + ","),
        ['line 3: not valid JSON: trailing comma before "]" (the object begins on line 1)'],
    ),
    "a missing comma": (
        "a.json",
        json(OK + "\n" + OK),
        ['line 4: not valid JSON: expected "," or "]", found \'{\' (the object begins on line 1)'],
    ),
    "single quotes": (
        "a.json",
        json("{\"key\": 'a'}"),
        ['line 3: not valid JSON: expected a value, found "\'" (the object begins on line 1)'],
    ),
    "a text over two lines": (
        "a.json",
        json('{"key": "a", "brief": "one\ntwo"}'),
        [
            "line 3: not valid JSON: a string contains a line break: write \\n (the object"
            " begins on line 1)"
        ],
    ),
    "a name twice": (
        "a.json",
        json('{"key": "a", "key": "b"}'),
        ['line 3: not valid JSON: duplicate key "key" (the object begins on line 1)'],
    ),
    "wrong in a fence": (
        "a.json",
        f"Sure:\n```json\n{json(OK.replace('true', '').replace('A', 'B'))}\n```\nDone.",
        [
            "line 5: task.a.accept: an acceptance command is empty: give it at least one visible"
            " character"
        ],
    ),
    "nothing for a text": (
        "a.json",
        json('{"key": "a", "title": null, "accept": ["true"]}'),
        ["line 3: task.a.title: expected a string, got nothing"],
    ),
    "a task that is a text": (
        "a.json",
        json('"do it"'),
        ["line 3: task.1: expected a table, got a string"],
    ),
    "the same twice": (
        "a.json",
        json('{"key": "a", "id": "b", "title": "A", "accept": ["true"]}'),
        ["line 3: task.a.id: duplicate of key"],
    ),
    "a checklist without tasks": (
        "p.md",
        "# Auth fix\n\n- do this\n",
        ["it contains no task: a task is a line like `- [ ] title`"],
    ),
    "all ticked": (
        "p.md",
        "# Auth fix\n\n- [x] one\n- [X] two\n",
        ["nothing to do: every task is ticked"],
    ),
    "a checklist without a title": (
        "p.md",
        "- [ ] one\n  accept: true\n",
        ["convoy.title: missing"],
    ),
    "a misspelt field of an item": (
        "p.md",
        "# Auth fix\n\n- [ ] one\n  acept: true\n",
        [
            "line 3: task.one.accept: nothing proves that it is done: give commands, or set"
            ' "unproved" if there are none',
            'line 4: task.one.acept: unknown field; did you mean "accept"? (a brief begins'
            " after an empty line)",
        ],
    ),
    "a need of no item": (
        "p.md",
        "# Auth fix\n\n- [ ] one\n  accept: true\n  needs: tow\n- [ ] two\n  accept: true\n",
        ['line 5: task.one.needs: there is no task "tow"; did you mean "two"?'],
    ),
    "half a command": (
        "p.md",
        "# Auth fix\n\n- [ ] one\n  accept: true\n  run: sh -c 'x\n",
        ["line 5: task.one.run: cannot parse the command: no closing quotation"],
    ),
    "a field twice": (
        "p.md",
        "# Auth fix\n\n- [ ] one\n  accept: true\n  engine: tests\n  engine: default\n",
        ["line 6: task.one.engine: given twice"],
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_plan_is_told_what_is_wrong_with_it(name: str) -> None:
    file, content, expected = MALFORMED[name]
    assert said(content, file) == expected


def test_there_are_enough_of_them() -> None:
    assert len(MALFORMED) >= 40


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    text = (
        '[convoy]\ntitle = "Auth fix"\nbase = 3\n'
        '[[task]]\nkey = "a"\ntitle = "A"\nneeds = ["b"]\npaths = ["/x"]\n'
        '[[task]]\nkey = "a"\ntitle = 7\naccept = ["true"]\nengine = "none"\n'
    )
    lines = [problem.split(":")[0] for problem in said(text)]
    assert lines == ["line 3", "line 4", "line 7", "line 8", "line 10", "line 11", "line 13"]


def test_a_hopeless_plan_is_no_flood() -> None:
    many = "".join(f'[[task]]\nkey = "k{n}"\ntitle = "T"\n' for n in range(300))
    found = said(HEAD + many)
    assert len(found) == MOST + 1
    assert found[-1] == "and 250 more problems"
    assert all(len(problem) < 400 for problem in found)


def test_paths_are_bounded_over_the_whole_plan() -> None:
    paths = [f"src/{n}.py" for n in range(150)]
    many = "".join(
        f'[[task]]\nkey = "k{n}"\ntitle = "T"\nunproved = true\npaths = {paths}\n'
        for n in range(MOST_PATHS // 150 + 1)
    )
    assert said(HEAD + many) == [f"task: a plan may have at most {MOST_PATHS:,} paths"]


def test_wildcards_are_bounded_too_for_each_is_compared_with_each() -> None:
    many = "".join(
        f'[[task]]\nkey = "k{n}"\ntitle = "T"\nunproved = true\npaths = ["**/{n}*x?"]\n'
        for n in range(400)
    )
    assert said(HEAD + many) == [
        "task: too many paths begin with the same wildcards: name folders instead"
    ]


# Texts that made readers take time in the square of their length, or too much memory.
HOSTILE: dict[str, tuple[str, bytes]] = {
    "braces": ("p.json", b"{" * MOST_BYTES),
    "objects": ("p.json", b"{}" * (MOST_BYTES // 2)),
    "open objects": ("p.json", b'{"task":' * (MOST_BYTES // 8)),
    "open lists": ("p.json", b'{"task":[' + b"[" * (MOST_BYTES - 9)),
    "a wide half": ("p.json", b'{"task":[' + b'{"a":1},' * (MOST_BYTES // 8 - 2)),
    "escaped quotes": ("p.json", b'{"' + b'\\"' * (MOST_BYTES // 2 - 1)),
    "TOML tables": ("p.toml", b"[[task]]\n" * (MOST_BYTES // 9)),
    "TOML keys": ("p.toml", b"".join(b"keyy%d=1\n" % n for n in range(80_000))),
    "TOML quotes": ("p.toml", b'"""' + b'\\"""' * (MOST_BYTES // 4 - 1)),
    "TOML brackets": ("p.toml", b"x = [" * (MOST_BYTES // 5)),
    "items": ("p.md", b"- [ ] x\n" * (MOST_BYTES // 8)),
    "misspelt": ("p.md", b"- [ ] x\n  " + b"acept: y\n  " * (MOST_BYTES // 11 - 1)),
    "unknown needs": (
        "p.toml",
        HEAD.encode()
        + b"".join(
            b'[[task]]\nkey="k%d"\ntitle="T"\nneeds=[%s]\n' % (n, b'"x%d",' % n * 150)
            for n in range(450)
        ),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_up_to_the_bound_blows_up(name: str) -> None:
    file, content = HOSTILE[name]
    found = said(content, file)
    assert found
    assert len("\n".join(found)) < 40_000

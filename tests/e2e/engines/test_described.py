"""An engine described in the configuration can do all that a built-in one can."""

import json

from tests.e2e.engines.engine_repo import QUIET, EngineRepo

# An agent with a dialect of its own: options, variables, lines of JSON, errors.
AGENT = """\
#!/bin/sh
echo "$@" >> "$EIGHTH_HOME/words"
echo "$HOME $MODEL_URL" > "$EIGHTH_HOME/set"
case "$EIGHTH_KEY" in good-*) ;; *)
  echo '{"kind":"end","error":{"code":401,"message":"who are you?"}}'; exit 0;; esac
echo '{"kind":"hello","conversation":{"id":"talk-8"},"llm":"m-8"}'
echo '{"kind":"text","parts":[{"body":"I begin"}]}'
echo '{"kind":"tool","name":"write","args":{"file":"made.txt"}}'
if [ ! -e "$EIGHTH_HOME/again" ]; then
  touch "$EIGHTH_HOME/again"
  echo '{"kind":"end","error":{"code":429,"message":"slow down, try again in 1 s"}}'; exit 0
fi
echo made > made.txt
echo '{"kind":"usage","in":120,"out":"7","usd":0.25}'
echo '{"kind":"end","ok":true}'
exit 7
"""
DESCRIBED = """
[engine.default]
type = "command"
command = ["{agent}", "--model", "{{model}}"]
model = "m-8"
base_url = "http://127.0.0.1:1/api"
env = ["MY_KEY"]
key = "EIGHTH_KEY"
set = {{ EIGHTH_HOME = "{{home}}/eighth", MODEL_URL = "{{url_v1}}" }}
fresh = ["--new", "{{id}}"]
resume = ["--continue", "{{resume}}"]

[[engine.default.lines]]
fact = "began"
when = {{ kind = "hello" }}
take = {{ session = "conversation.id", model = "llm" }}

[[engine.default.lines]]
fact = "said"
when = {{ kind = "text" }}
take = {{ text = "parts.0.body" }}

[[engine.default.lines]]
fact = "used"
when = {{ kind = "tool" }}
take = {{ tool = "name", what = "args.file" }}

[[engine.default.lines]]
fact = "spent"
when = {{ kind = "usage" }}
take = {{ fresh = "in", output = "out", cost_usd = "usd" }}

[[engine.default.lines]]
fact = "finished"
when = {{ kind = "end", ok = "True" }}

[[engine.default.lines]]
fact = "failed"
when = {{ kind = "end", ok = "None" }}
take = {{ text = "error.message", status = "error.code" }}
"""


def described(project: EngineRepo, agent: str = AGENT) -> None:
    path = project.path.parent / "eighth"
    path.write_text(agent.replace("#!/bin/sh\n", '#!/bin/sh\nmkdir -p "$EIGHTH_HOME"\n'))
    path.chmod(0o755)
    project.configure(QUIET + DESCRIBED.format(agent=path))


def test_an_eighth_engine_by_data_alone_is_limited_resumed_billed_and_proved(
    project: EngineRepo,
) -> None:
    described(project)
    project.env["MY_KEY"] = "good-key-0123"
    task = project.add("Make it")
    project.once()
    assert project.verdicts() == ["limited", "proved"], project.detail(task)
    assert project.of_type("task.delayed") == []
    (met,) = project.of_type("session.limited")
    assert (met["data"]["account"], met["data"]["trouble"]) == ("command:default", "rate")
    home = project.room(f"{task}.2") / "home"
    first, second = (home / "eighth" / "words").read_text().splitlines()
    assert first.startswith("--model m-8 --new ")
    assert second == "--model m-8 --continue talk-8"
    private = str(project.room(f"{task}.2") / "home")
    assert (home / "eighth" / "set").read_text() == f"{private} http://127.0.0.1:1/api/v1\n"
    spent = project.spent()
    assert (spent["fresh"], spent["output"], spent["cost_usd"]) == (120, 7, 0.25)
    said = project.here("session", "tail", f"{task}.2", code=0).out.splitlines()
    assert said[:3] == ["began: m-8 talk-8", "I begin", "> write made.txt"]
    assert project.git("show", f"{project.task(task)['commit']}:made.txt") == "made"


def test_its_refused_key_holds_its_account(project: EngineRepo) -> None:
    described(project)
    project.env["MY_KEY"] = "bad-key-0123"
    task = project.add("Make it")
    project.once()
    assert (project.verdict(task), project.detail(task)) == ("refused", "who are you?")
    assert project.alerts() == {"account_refused": "command:default"}


def test_one_that_prints_like_a_known_engine_is_read_like_it(project: EngineRepo) -> None:
    lines = [
        {"type": "thread.started", "thread_id": "t-1"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}},
    ]
    path = project.path.parent / "like"
    said = "\n".join(f"echo '{json.dumps(line)}'" for line in lines)
    path.write_text(f"#!/bin/sh\necho x > x.txt\n{said}\n")
    path.chmod(0o755)
    project.configure(
        f'{QUIET}[engine.default]\ntype = "command"\noutput = "codex"\ncommand = ["{path}"]\n'
    )
    task = project.add("Make it")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert project.session(f"{task}.1")["thread"] == "t-1"
    assert (project.spent()["fresh"], project.spent()["output"]) == (9, 2)


def test_check_asks_a_described_engine_and_names_what_is_missing(project: EngineRepo) -> None:
    described(project)
    config = project.path / ".corral" / "config.toml"
    answer = project.corral("engine", "check", "--json", code=1)
    (found,) = answer.data
    assert found["advice"] == "MY_KEY is not set: export it, then try again"
    project.env["MY_KEY"] = "bad-key-0123"
    (found,) = project.corral("engine", "check", "--json", code=1).data
    assert (found["answers"], found["advice"]) == (
        False,
        "its key was rejected: check the key that the profile names",
    )
    config.write_text('[engine.default]\ntype = "comand"\n[engine.other]\ntype = "shell"\n')
    found, other = project.corral("engine", "check", "--json", code=1).data
    assert "there is no engine of type 'comand'" in found["advice"]
    assert other["installed"], "one mistake does not hide the others"


def test_mistakes_in_a_description_are_told_with_their_line(project: EngineRepo) -> None:
    described(project)
    config = project.path / ".corral" / "config.toml"
    good = config.read_text()
    for old, new, told in (
        ('fact = "said"', 'fact = "sayed"', "fact must be one of began, said"),
        ('text = "parts', 'words = "parts', "the fact said has no words: it takes text"),
        ('when = { kind = "text" }', "when = {}", "each of lines needs `when`"),
        ('key = "EIGHTH_KEY"', 'output = "codex"', "either output or lines, not both"),
        ('type = "command"', 'type = "codex"', "lines needs type"),
        ("MODEL_URL =", 'OPENAI = "sk-proj-0123456789abcdefghij0123", MODEL_URL =', "looks like"),
    ):
        assert old in good
        config.write_text(good.replace(old, new, 1))
        refused = project.here("engine", "list", "--json").error
        assert refused["code"] == "bad_config"
        assert told in refused["message"], refused
        assert "line " in refused["message"]
        assert "sk-proj" not in refused["message"]

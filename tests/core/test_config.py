"""A configuration is understood in full, or refused with the line at fault."""

import pytest

from corral.core.config import Config, EngineSettings, TreeSettings, WatchSettings, parse
from corral.core.engine.bill import Price
from corral.core.errors import BadConfig
from corral.core.session.profiles import limits_of
from corral.core.text import CLAIM_TTL_S

NAME = ".corral/config.toml"


def refusal(text: str) -> BadConfig:
    with pytest.raises(BadConfig) as caught:
        parse(text, NAME)
    assert caught.value.exit_code == 2
    assert caught.value.message.isprintable()
    return caught.value


def test_an_empty_file_is_a_configuration() -> None:
    config = parse("", NAME)
    assert config == Config()
    assert config.board.claim_ttl_s == CLAIM_TTL_S


EVERYTHING = """\
[board]
claim_ttl_s = 60
[engine.default]
type = "claude-code"
[engine.tests]
type = "aider"
model = "gpt-4o"
[engine.own]
type = "shell"
command = ["./agent.sh", "--fast"]
pool = "big"
[refinery]
strategy = "rebase"
require_ci = false
checks = ["make test", "make lint"]
[slots]
total = 4
reserve = 1
pools = { big = 3 }
[watch]
beat_s = 10
barren_beats = 0
wall_s = 60
grace_s = 0
output_mb = 1
attempts = 1
backoff_s = 0
backoff_most_s = 0
commit_dirty = true
[trees]
folder = "/tmp/trees"
kind = "clone"
pool = 0
copy = [".env"]
setup = [["npm", "ci"], ["make"]]
setup_s = 60
fresh = true
keep_days = 1
ports = 2
port_range = [3000, 3001]
"""


def test_every_setting_of_the_design_is_understood() -> None:
    config = parse(EVERYTHING, NAME)
    assert config.engine == {
        "default": EngineSettings(type="claude-code"),
        "tests": EngineSettings(type="aider", model="gpt-4o"),
        "own": EngineSettings(type="shell", command=("./agent.sh", "--fast"), pool="big"),
    }
    assert config.slots.pools == {"big": 3}
    assert config.watch == WatchSettings(10, 0, 60, 0, 1, 1, 0, 0, commit_dirty=True)
    assert config.trees == TreeSettings(
        folder="/tmp/trees",
        kind="clone",
        pool=0,
        copy=(".env",),
        setup=(("npm", "ci"), ("make",)),
        setup_s=60,
        fresh=True,
        keep_days=1,
        ports=2,
        port_range=(3000, 3001),
    )
    assert (config.board.claim_ttl_s, config.watch.beat_s) == (60, 10)
    assert (config.slots.total, config.slots.reserve) == (4, 1)
    assert config.refinery.checks == ("make test", "make lint")
    assert (config.refinery.strategy, config.refinery.require_ci) == ("rebase", False)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            "[server]\ncolour = 1\n",
            2,
            "server.colour: use one of port, bind, hosts, tls_cert, tls_key",
        ),
        ("[bord]\nclaim_ttl_s = 1\n", 1, "bord: did you mean board?"),
        ("# a\n\n[board]\n# claim = 1\nclaim = 1\n", 5, "board.claim: did you mean claim_ttl_s?"),
        ("[board]\n'claim' = 1\n", 2, "board.claim: did you mean claim_ttl_s?"),
        ("board.claim = 1\n", 1, "board.claim: did you mean claim_ttl_s?"),
        ("board = { claim = 1 }\n", 1, "board.claim: did you mean claim_ttl_s?"),
        (
            "[slots] # room\ntotal = 3\nclaim = 1\n[board]\nclaim = 1\n",
            3,
            "slots.claim: use one of total, reserve, pools",
        ),
        (
            "[engine.a]\ntype = 'x'\n[engine.b]\ntype = 'x'\nmodell = 'y'\n",
            5,
            "engine.b.modell: did you mean model?",
        ),
        ("[engine]\na = { type = 'x', modell = 'y' }\n", 2, "engine.a.modell: did you mean model?"),
        ("[confine]\n[confine.deep]\nx = 1\n", 2, "confine.deep: use one of enabled, also"),
    ],
)
def test_an_unknown_key_is_named_with_its_line(text: str, line: int, said: str) -> None:
    assert refusal(text).message == f"{NAME}, line {line}: unknown setting {said}"


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = = 1\n", 1), ("[board\n", 1), ("x = 1\nx = 2\n", 2), ("\0", 1)],
)
def test_what_is_not_toml_is_refused_with_its_line(text: str, line: int) -> None:
    message = refusal(text).message
    assert message.startswith(f"{NAME} is not valid TOML: ")
    assert f"line {line}" in message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[slots]\ntotal = '3'\n", 2, "slots.total must be a whole number, not text"),
        ("[slots]\ntotal = true\n", 2, "slots.total must be a whole number, not true"),
        ("[slots]\ntotal = 2.0\n", 2, "slots.total must be a whole number, not 2.0"),
        ("[slots]\ntotal = 2026-11-16\n", 2, "slots.total must be a whole number, not a date"),
        ("[budget]\nday_usd = true\n", 2, "budget.day_usd must be a number, not true"),
        ("[[engine.a]]\ntype = 'x'\n", 1, "engine.a must be a table, not a list: write [engine.a]"),
        ("[trees]\nport_range = [1, 2, 3]\n", 2, "trees.port_range has length 3: it must have 2"),
        ("engine = 3\n", 1, "engine must be a table, not 3"),
        (
            "[refinery]\nrequire_ci = 'yes'\n",
            2,
            "refinery.require_ci must be true or false, not text",
        ),
        ("[refinery]\nchecks = 'make'\n", 2, "refinery.checks must be a list, not text"),
        ("[refinery]\nchecks = ['make', 1]\n", 2, "refinery.checks[1] must be text, not 1"),
        ("[refinery]\nchecks = [ # all\n'',\n 'a, [b',\n 1]\n", 5, "checks[2] must be text, not 1"),
        ("[trees]\nsetup = [['a'],\n['b',\n1]]\n", 4, "trees.setup[1][1] must be text, not 1"),
        ("[engine.a]\nmodel = 'x'\n", 1, "engine.a needs type"),
        ("[engine.a]\ntype = 'x'\n[engine.b]\ntype = 3\n", 4, "engine.b.type must be text, not 3"),
        ("[engine.'a.b']\ntype = 3\n", 2, "engine.a.b.type must be text, not 3"),
        (
            "[engine.a.set]\nB = ''\nX = 1\n[engine.a]\ntype = ''\n",
            3,
            "engine.a.set.X must be text",
        ),
        (
            "[slots]\npools = { a = 1, b = 'x' }\n",
            2,
            "slots.pools.b must be a whole number, not text",
        ),
        (
            "[engine.a]\ntype = 'command'\n[[engine.a.lines]]\nfact = 'said'\n"
            "[[engine.a.lines]]\nwhen = 3\nfact = 'said'\n",
            6,
            "engine.a.lines[1].when must be a table, not 3",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_line(text: str, line: int, words: str) -> None:
    message = refusal(text).message
    assert words in message
    assert message.startswith(f"{NAME}, line {line}: ")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[board]\nclaim_ttl_s = 0\n", 2, "claim_ttl_s is 0: it must be between 1 and"),
        ("[board]\n\nclaim_ttl_s = -1\n", 3, "claim_ttl_s is -1: it must be between 1 and"),
        (
            "[board]\nclaim_ttl_s = 2592001\n",
            2,
            "claim_ttl_s is 2592001: it must be between 1 and 2592000",
        ),
        ("[slots]\ntotal = 0\n", 2, "total is 0: it must be between 1 and"),
        ("[slots]\nreserve = -1\n", 2, "reserve is -1: it must be between 0 and"),
        (
            "[slots]\ntotal = 3\nreserve = 3\n",
            3,
            "reserve is 3: it must be less than total, which is 3",
        ),
        ("[watch]\nbeat_s = 0\n", 2, "beat_s is 0: it must be between 1 and"),
        ("[watch]\nwall_s = 0\n", 2, "wall_s is 0: it must be between 1 and"),
        ("[watch]\nattempts = 0\n", 2, "attempts is 0: it must be between 1 and"),
        ("[watch]\ngrace_s = 3601\n", 2, "grace_s is 3601: it must be between 0 and 3600"),
        ("[watch]\nbackoff_s = -1\n", 2, "backoff_s is -1: it must be between 0 and"),
        ("[trees]\nkeep_days = 0\n", 2, "keep_days is 0: it must be between 1 and"),
        ("[trees]\nkind = 'copy'\n", 2, "kind must be one of worktree, clone"),
        (
            "[trees]\nports = 3\nport_range = [3000, 3001]\n",
            3,
            "port_range has only 2 ports, but each session leases 3",
        ),
        (
            "[trees]\nport_range = [80, 90]\n",
            2,
            "port_range is [80, 90]: ports must be between 1024 and 65535",
        ),
        (
            "[trees]\nport_range = [3001, 3000]\n",
            2,
            "port_range is reversed: write the first port first, as in [3000, 3001]",
        ),
        (
            "[refinery]\nregenerate = [\n{ paths = ['a'], command = 'b' },\n"
            "{ paths = [], command = 'b' },\n]\n",
            4,
            "regenerate needs paths and a command",
        ),
        ("[refinery]\nstrategy = 'octopus'\n", 2, "strategy must be one of rebase, squash, merge"),
        ("[watch]\nwindow = 101\n", 2, "window is 101: it must be between 0 and 100"),
        ("[watch]\npark_s = 0\n", 2, "park_s is 0: it must be between 1 and"),
        ("[budget]\nday_usd = -1.0\n", 2, "day_usd is -1.0: it must be at least 0 and finite"),
        ("[budget]\ntask_usd = nan\n", 2, "task_usd is nan: it must be at least 0 and finite"),
        ("[budget]\nday_usd = inf\n", 2, "day_usd is inf: it must be at least 0 and finite"),
        (
            "[budget.prices.m]\ninput = -1.0\noutput = 1\n",
            2,
            "input is -1.0: it must be at least 0 and finite",
        ),
        (
            "[engine.a]\ntype = 'x'\nbudget_usd = nan\n",
            3,
            "budget_usd is nan: it must be at least 0 and finite",
        ),
        ("[engine.a]\ntype = 'x'\nbase_url = 'a.b'\n", 3, "base_url must start with http:// or"),
        ("[engine.a]\ntype = 'x'\nfallback = 'a'\n", 3, "fallback must be another profile"),
        (
            "[engine.' ']\ntype = 'x'\n",
            1,
            "the name of an engine profile must contain a visible character",
        ),
        (
            "[engine.a]\ntype = 'command'\noutput = 'codex'\ncommand = ['x', '{modle}']\n",
            4,
            "{modle} is not a placeholder: use one of {prompt}, {model}, ",
        ),
        (
            "[engine.a]\ntype = 'command'\noutput = 'codex'\nset = { X = '${HOME}{hom}' }\n",
            4,
            "{hom} is not a placeholder",
        ),
        ("[engine.a]\ntype = 'x'\nturn_s = 0\n", 3, "turn_s is 0: it must be between 1 and"),
        ("[engine.a]\ntype = 'x'\ncontext = -1\n", 3, "context is -1: it must be at least 0"),
        (
            "[refinery]\n[[refinery.regenerate]]\npaths = ['a']\ncommand = 'b'\n"
            "[[refinery.regenerate]]\npaths = []\ncommand = 'b'\n",
            5,
            "regenerate needs paths and a command",
        ),
        (
            "[engine.a]\ntype = 'x'\ntransport = 'ssh'\n",
            3,
            "transport must be one of cli, acp, tmux",
        ),
        ("[engine.a]\ntype = 'x'\noutput = 'xml'\n", 3, "output must be one of facts, claude-code"),
        ("[engine.a]\ntype = 'x'\npermission = 'any'\n", 3, "permission must be one of"),
        ("[engine.a]\ntype = 'x'\npermission = 'ask'\n", 3, 'needs transport = "acp"'),
        (
            "[engine.a]\ntype = 'x'\nbudget_usd = -1.0\n",
            3,
            "budget_usd is -1.0: it must be at least 0 and finite",
        ),
        ("[engine.a]\ntype = 'x'\nfallback = 'b'\n", 3, "there is no engine 'b'"),
        (
            "[engine.a]\ntype = 'x'\nenv = ['sk-123']\n",
            3,
            "env takes names of variables, never their values",
        ),
    ],
)
def test_a_value_out_of_bounds_is_named_with_its_line(text: str, line: int, words: str) -> None:
    message = refusal(text).message
    assert words in message
    assert message.startswith(f"{NAME}, line {line}: ")


def test_every_refusal_says_where_to_look() -> None:
    assert refusal("x = 1").hint == "corral init --print shows every setting"


def test_a_key_that_was_written_into_the_file_is_not_repeated() -> None:
    assert "sk-123" not in refusal("[engine.a]\ntype = 'x'\nenv = ['sk-123']\n").message


def test_engines_have_keys_by_name_prices_and_budgets() -> None:
    config = parse(
        """
        [engine.big]
        type = "claude-code"
        env = ["ANTHROPIC_API_KEY"]
        fallback = "own"
        turn_s = 60
        [engine.own]
        type = "command"
        output = "facts"
        commit = false
        [budget]
        day_usd = 10
        require_model = ["claude-*"]
        [budget.prices."gpt-6"]
        input = 1.0
        output = 2
        """,
        NAME,
    )
    assert config.engine["big"].env == ("ANTHROPIC_API_KEY",)
    assert config.engine["own"].commit is False
    assert config.budget.prices == {"gpt-6": Price(input=1.0, output=2.0)}
    limits = limits_of(config)
    assert limits.accounts.of == {"big": "claude-code:ANTHROPIC_API_KEY", "own": "command:own"}
    assert limits.accounts.fallback == {"big": "own"}
    assert limits.budgets.day_usd == 10

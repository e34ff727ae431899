"""R39: a configuration is understood in full or refused with its line."""

import pytest

from corral.core.config import Config, Engine, parse
from corral.core.errors import BadConfig
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


def test_every_setting_of_the_design_is_understood() -> None:
    config = parse(
        """
        [board]
        claim_ttl_s = 60
        [engine.default]
        type = "claude-code"
        [engine.tests]
        type = "aider"
        model = "gpt-4o"
        [refinery]
        strategy = "rebase"
        require_ci = false
        checks = ["make test", "make lint"]
        [slots]
        total = 4
        reserve = 1
        [watch]
        beat_s = 10
        """,
        NAME,
    )
    assert config.engine == {
        "default": Engine(type="claude-code"),
        "tests": Engine(type="aider", model="gpt-4o"),
    }
    assert (config.board.claim_ttl_s, config.watch.beat_s) == (60, 10)
    assert (config.slots.total, config.slots.reserve) == (4, 1)
    assert config.refinery.checks == ("make test", "make lint")
    assert (config.refinery.strategy, config.refinery.require_ci) == ("rebase", False)


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("colour = 1\n", 1, "colour"),
        ("[bord]\nclaim_ttl_s = 1\n", 1, "bord"),
        ("# a\n\n[board]\n# claim = 1\nclaim = 1\n", 5, "board.claim"),
        ("[board]\n'claim' = 1\n", 2, "board.claim"),
        ("board.claim = 1\n", 1, "board.claim"),
        ("board = { claim = 1 }\n", 1, "board.claim"),
        ("[slots] # room\ntotal = 3\nclaim = 1\n[board]\nclaim = 1\n", 3, "slots.claim"),
        ("[engine.a]\ntype = 'x'\n[engine.b]\ntype = 'x'\nmodell = 'y'\n", 5, "engine.b.modell"),
        ("[engine]\na = { type = 'x', modell = 'y' }\n", 2, "engine.a.modell"),
        ("[watch]\nbeat_s = 1\n[watch.deep]\nx = 1\n", 3, "watch.deep"),
    ],
)
def test_an_unknown_key_is_named_with_its_line(text: str, line: int, key: str) -> None:
    assert refusal(text).message == f"{NAME}, line {line}: unknown setting {key}"


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
        ("[slots]\ntotal = '3'\n", 2, "slots.total: expected `int`, got `str`"),
        ("[slots]\ntotal = true\n", 2, "slots.total: expected `int`, got `bool`"),
        ("engine = 3\n", 1, "engine: expected `object`, got `int`"),
        ("[refinery]\nrequire_ci = 'yes'\n", 2, "expected `bool`, got `str`"),
        ("[refinery]\nchecks = 'make'\n", 2, "expected `array`, got `str`"),
        ("[refinery]\nchecks = ['make', 1]\n", 2, "expected `str`, got `int`"),
        ("[engine.a]\nmodel = 'x'\n", 1, "missing required field `type`"),
        ("[engine.a]\ntype = 'x'\n[engine.b]\ntype = 3\n", 4, "expected `str`, got `int`"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_line(text: str, line: int, words: str) -> None:
    message = refusal(text).message
    assert words in message
    assert message.startswith(f"{NAME}, line {line}: ")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[board]\nclaim_ttl_s = 0\n", 2, "claim_ttl_s is 0: at least 1"),
        ("[board]\n\nclaim_ttl_s = -1\n", 3, "claim_ttl_s is -1: at least 1"),
        ("[board]\nclaim_ttl_s = 2592001\n", 2, "claim_ttl_s is 2592001"),
        ("[slots]\ntotal = 0\n", 2, "total is 0: at least 1"),
        ("[slots]\nreserve = -1\n", 2, "reserve is -1: at least 0"),
        ("[slots]\ntotal = 3\nreserve = 3\n", 3, "reserve must be less than total"),
        ("[watch]\nbeat_s = 0\n", 2, "beat_s is 0: at least 1"),
        ("[refinery]\nstrategy = 'octopus'\n", 2, "strategy is one of rebase, squash, merge"),
    ],
)
def test_a_value_out_of_bounds_is_named_with_its_line(text: str, line: int, words: str) -> None:
    message = refusal(text).message
    assert words in message
    assert message.startswith(f"{NAME}, line {line}: ")


def test_every_refusal_says_where_to_look() -> None:
    assert refusal("x = 1").hint == "corral init --print shows every setting"

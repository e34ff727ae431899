"""What looks like a key is not logged; what only looks a little like one is left alone."""

import pytest

from corral.core import commands as c
from corral.core.redaction import SHOWN, redacted
from tests.core.board import Board

SECRETS = [
    "AKIA" + "ABCD" * 4,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "glpat-" + "a1B2-" * 5,
    "sk-ant-" + "a1B2-" * 8,
    "sk-proj-" + "a1B2" * 8,
    "sk_live_" + "a1B2" * 6,
    "xoxb-" + "123-" * 6,
    "AIza" + "a1B2_" * 7,
    "npm_" + "a1B2" * 9,
    "hf_" + "aB" * 17,
    "eyJ" + "a1" * 10 + ".eyJ" + "b2" * 10 + "." + "c3" * 10,
    "corral_p_" + "0f" * 24,
    "corral_s_AF-1.1_" + "0f" * 20,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----",
]
FINE = [
    "the sk-learn package, and task-ghp_1",
    "see eyJ and AKIA in the docs",
    "npm_config_cache",
    "a" * 200,
    "-----BEGIN CERTIFICATE-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_is_taken_out_wherever_it_stands(secret: str) -> None:
    assert redacted(f"before {secret}, after") == f"before {SHOWN}, after"
    assert redacted(f"TOKEN={secret}\n") == f"TOKEN={SHOWN}\n"


@pytest.mark.parametrize("text", FINE)
def test_other_text_is_left_alone(text: str) -> None:
    assert redacted(text) == text


def test_no_command_puts_one_into_the_log() -> None:
    board = Board()
    task = board.task(title=f"Use {SECRETS[1]}")
    board.do(c.CommentTask(task=task, text=f"it is {SECRETS[1]}"))
    board.do(c.BlockTask(task=task, reason=SECRETS[1]))
    board.do(c.SendMessage(to="people", text=SECRETS[1]))
    assert all(SECRETS[1].encode() not in line for line in board.log)
    assert sum(SHOWN.encode() in line for line in board.log) == 4

"""Properties of every entry of the engine table, without its program."""

import json
import os
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from corral.core.config import EngineSettings
from corral.core.engine.facts import Began, Fact, Finished, Limited, Said, Spent, Trouble
from corral.core.errors import NotFound
from corral.world.engines.files import lay
from corral.world.engines.locate import program
from corral.world.engines.probe import probe
from corral.world.engines.recipe import EngineJob, Mcp, Permission, environment
from corral.world.engines.registry import ENGINES, find
from corral.world.engines.troubles import reset_of, retry_of, status_in, trouble_of

AGENTS = tuple(name for name in ENGINES if name != "command")


def job(tmp_path: Path, **changes: Any) -> EngineJob:
    (tmp_path / "brief").write_text("Do it.")
    return EngineJob(
        **{
            "session": "AF-1.1",
            "program": ("/bin/agent",),
            "tree": str(tmp_path / "tree"),
            "home": str(tmp_path / "home"),
            "prompt_file": str(tmp_path / "brief"),
            "base_url": "http://127.0.0.1:1",
            "key": "MY_KEY",
            "new_id": "11111111-2222-3333-4444-555555555555",
            **changes,
        }
    )


@pytest.mark.parametrize(
    ("status", "text", "trouble"),
    [
        (429, "Too many requests", Trouble.RATE),
        (429, "You exceeded your current quota", Trouble.QUOTA),
        (400, "This model's maximum context length is 200000 tokens", Trouble.OVERFLOW),
        (400, "prompt is too long: 250000 tokens", Trouble.OVERFLOW),
        (400, "no such parameter", Trouble.REQUEST),
        (401, "whatever", Trouble.AUTH),
        (529, "Overloaded", Trouble.OVERLOAD),
        (503, "", Trouble.OVERLOAD),
        (500, "rate limit", Trouble.NETWORK),
        (None, "Claude usage limit reached|1794787846", Trouble.QUOTA),
        (429, "You've hit your limit · resets 3pm (UTC)", Trouble.QUOTA),
        (429, "5-hour limit reached", Trouble.QUOTA),
        (429, "Rate limit reached for gpt-4o on tokens per min", Trouble.RATE),
        (None, "fetch failed: ECONNREFUSED", Trouble.NETWORK),
        (None, "No conversation found with session ID: 1", Trouble.SESSION),
        (None, "Segmentation fault", Trouble.OTHER),
    ],
)
def test_what_went_wrong(status: int | None, text: str, trouble: Trouble) -> None:
    assert trouble_of(status, text) is trouble


def test_figures_in_words() -> None:
    assert retry_of("Rate limited. Please try again in 20s.") == 20
    assert retry_of("retry after 1.5 minutes") == 90
    assert retry_of("Retrying in 250ms") == 0.25
    assert retry_of("please wait 2 hours") == 7200
    assert retry_of("try again later") is None
    assert retry_of("usage limit: try again in 2 days 3 hours 5 minutes.") == 183_900
    assert retry_of("Your quota will reset after 17h7m47s.") == 61_667
    assert retry_of("Retrying (1/5) in 3s") == 3
    assert retry_of("try again at 3:14 PM") is None
    assert retry_of("wait for 5 models") is None
    assert reset_of("Claude usage limit reached|1794787846") == 1_794_787_846_000
    assert reset_of("limit reached") is None
    assert status_in("unexpected status 401 Unauthorized") == 401
    assert status_in("401 Incorrect API key") == 401
    assert status_in("a file of 500 lines") is None


NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "reset"),
    [
        ("The limit resets at 2026-11-15T18:30:00Z", datetime(2026, 11, 15, 18, 30, tzinfo=UTC)),
        ("try again after 2026-11-15 18:30:00+02:00", datetime(2026, 11, 15, 16, 30, tzinfo=UTC)),
        ("You've hit your limit · resets 3pm (UTC)", datetime(2026, 11, 15, 15, tzinfo=UTC)),
        ("limit reached, resets 3:30am (UTC)", datetime(2026, 11, 16, 3, 30, tzinfo=UTC)),
        ("resets 12am (UTC)", datetime(2026, 11, 16, 0, 0, tzinfo=UTC)),
        ("resets Nov 20 at 3pm (UTC)", datetime(2026, 11, 20, 15, tzinfo=UTC)),
        ("resets Jan 2, 3pm (UTC)", datetime(2027, 1, 2, 15, tzinfo=UTC)),
        ("try again at Nov 20th, 2026 3:14 PM.", datetime(2026, 11, 20, 15, 14).astimezone()),
        ("resets 3pm (Nowhere/City)", None),
        ("resets Feb 31 at 3pm (UTC)", None),
        ("it resets 30 registers", None),
    ],
)
def test_reset_times_in_words(text: str, reset: datetime | None) -> None:
    assert reset_of(text, NOON) == (reset and int(reset.timestamp() * 1000))


def test_an_account_that_says_when_it_is_free_again(tmp_path: Path) -> None:
    reader = find("claude-code").reader(job(tmp_path))

    def feed(**event: object) -> list[Fact]:
        return reader.feed(json.dumps(event).encode(), "out")

    info = {"status": "allowed_warning", "resetsAt": 1_794_787_846, "rateLimitType": "five_hour"}
    assert feed(type="rate_limit_event", rate_limit_info=info) == []
    (met,) = feed(type="rate_limit_event", rate_limit_info={**info, "status": "rejected"})
    assert isinstance(met, Limited)
    assert (met.trouble, met.reset_at) == (Trouble.QUOTA, 1_794_787_846_000)
    said = "You've hit your limit · resets 3pm (UTC)"
    end = feed(type="result", is_error=True, api_error_status=429, result=said)[-1]
    assert isinstance(end, Finished)
    assert (end.trouble, end.reset_at) == (Trouble.QUOTA, 1_794_787_846_000)


@pytest.mark.parametrize("name", AGENTS)
def test_unexpected_lines_are_no_error(name: str, tmp_path: Path) -> None:
    reader = find(name).reader(job(tmp_path))
    facts: list[Fact] = []
    for line in (b"", b"\xff\xfe", b"{", b"{}", b"[1]", b"null", b'{"type": 7}', b"x" * 100_000):
        facts += [*reader.feed(line, "out"), *reader.feed(line, "err")]
    facts += reader.finish()
    assert not any(isinstance(fact, Finished) and fact.trouble is None for fact in facts)


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("name", AGENTS)
def test_secrets_are_named_and_not_known(name: str, permission: Permission, tmp_path: Path) -> None:
    mcp = Mcp(url="http://127.0.0.1:2/mcp", token="MY_TOKEN")
    prepared = find(name).prepare(job(tmp_path, permission=permission, mcp=mcp))
    ours = {"MY_KEY": "the secret", "MY_TOKEN": "the token", "OTHER": "not for engines"}
    env = environment(prepared, ours)
    assert "the secret" in env.values()
    assert ("the token" in env.values()) == find(name).mcp
    assert "not for engines" not in env.values()
    assert env["HOME"] == str(tmp_path / "home")
    assert all(Path(path).is_relative_to(tmp_path / "home") for path in prepared.files)


@pytest.mark.parametrize("name", AGENTS)
def test_the_mode_of_looking_only_differs(name: str, tmp_path: Path) -> None:
    said = {
        str(find(name).prepare(job(tmp_path, permission=permission)))
        for permission in (Permission.READ, Permission.EDIT)
    }
    assert len(said) == 2


def test_files_are_for_us_only(tmp_path: Path) -> None:
    given = job(tmp_path)
    prepared = find("gemini").prepare(given)
    home = tmp_path / "home" / ".gemini"
    home.mkdir(parents=True)
    (home / "settings.json").write_text("old")
    (home / "settings.json").chmod(0o666)
    lay(prepared, given.home)
    assert stat.S_IMODE((home / "settings.json").stat().st_mode) == 0o600
    assert "telemetry" in (home / "settings.json").read_text()


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    given = job(tmp_path)
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "home" / ".gemini" / "settings.json").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic links"):
        lay(find("gemini").prepare(given), given.home)
    assert (tmp_path / "mine").read_text() == "mine"


def test_gemini_does_not_write_over_the_record_of_a_conversation(tmp_path: Path) -> None:
    records = tmp_path / "home" / ".gemini" / "tmp" / "tree-1" / "chats"
    records.mkdir(parents=True)
    (records / "session-2026-01-01T10-00-abcd1234.jsonl").write_text("said")
    (records / "session-2026-01-01T10-00-eeee0000.jsonl").write_text("other")
    for _ in range(2):  # the next time, there is the beginning of another one beside it
        given = job(tmp_path, resume="abcd1234-5678")
        lay(find("gemini").prepare(given), given.home)
        assert (records / "session-0-abcd1234.jsonl").read_text() == "said"
        (records / "session-2026-01-01T10-01-abcd1234.jsonl").write_text("nothing yet")
    assert (records / "session-2026-01-01T10-00-eeee0000.jsonl").exists()


def test_a_command_of_ones_own(tmp_path: Path) -> None:
    given = job(
        tmp_path, program=("my-agent", "--in", "{tree}"), model="m; rm -rf /", args=("{model}",)
    )
    prepared = find("command").prepare(given)
    assert prepared.argv == ["my-agent", "--in", given.tree, "m; rm -rf /"]
    reader = find("command").reader(given)
    assert reader.feed(b'{"fact": "spent", "fresh": 3, "output": 4}', "out") == [
        Spent(fresh=3, output=4)
    ]
    assert reader.feed(b"hello", "out") == [Said("hello")]
    assert reader.feed(b'{"fact": "limited", "trouble": "rate"}', "out") == [Limited(Trouble.RATE)]
    assert reader.finish() == [Finished(Trouble.RATE)]


def test_a_run_that_was_stopped_while_it_waited_says_why(tmp_path: Path) -> None:
    reader = find("claude-code").reader(job(tmp_path))
    (began,) = reader.feed(b'{"type":"system","subtype":"init","session_id":"s"}', "out")
    assert began == Began(session="s")
    reader.feed(
        b'{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit"}', "out"
    )
    assert [fact.trouble for fact in reader.finish() if isinstance(fact, Finished)] == [
        Trouble.RATE
    ]


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_program_itself_is_taken_instead_of_its_wrapper(tmp_path: Path) -> None:
    cpu = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    modules = tmp_path / "lib" / "node_modules"
    native = script(modules / f"@github/copilot-linux-{cpu}" / "copilot", "")
    wrapper = script(modules / "@github" / "copilot" / "index.js", "")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "copilot").symlink_to(wrapper)
    environ = {"PATH": str(tmp_path / "bin")}
    assert program(find("copilot"), (), environ) == (str(native),)
    native.unlink()
    assert program(find("copilot"), (), environ) == (str(tmp_path / "bin" / "copilot"),)
    mine = str(script(tmp_path / "mine", ""))
    assert program(find("copilot"), (mine, "--fast"), environ) == (mine, "--fast")
    with pytest.raises(NotFound, match="the program 'gemini'"):
        program(find("gemini"), (), environ)


def test_probing(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    missing = probe(EngineSettings(type="claude-code"), environ)
    assert not missing.installed
    assert "npm install" in missing.advice
    script(tmp_path / "claude", "print('2.1.5 (Claude Code)')")
    found = probe(EngineSettings(type="claude-code"), environ)
    assert (found.starts, found.version, found.answers) == (True, "2.1.5", None)
    script(tmp_path / "claude", "raise SystemExit('broken')")
    broken = probe(EngineSettings(type="claude-code"), environ)
    assert broken.starts is False
    assert broken.advice
    unknown = probe(EngineSettings(type="clod"), environ)
    assert "no engine of type 'clod'" in unknown.advice
    key = probe(EngineSettings(type="shell", command=("claude",), env=("MY_KEY",)), environ)
    assert (key.lacking, key.installed) == ("MY_KEY", True)
    no_tmux = probe(EngineSettings(type="claude-code", transport="tmux"), environ)
    assert "tmux is not installed" in no_tmux.advice
    no_adapter = probe(EngineSettings(type="claude-code", transport="acp"), environ)
    assert "claude-agent-acp" in no_adapter.advice
    assert "npm install" in no_adapter.advice


def overflow(times: int) -> list[bytes]:
    """Return what opencode prints when its conversation overflows, `times` times."""
    error = (
        b'{"type":"error","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}'
    )
    shortened = b'{"type":"step_finish","part":{"reason":"stop"}}'
    return [error, shortened] * times


def test_opencode_may_shorten_its_conversation_but_not_for_ever(tmp_path: Path) -> None:
    def ends(*lines: bytes) -> list[Trouble | None]:
        reader = find("opencode").reader(job(tmp_path))
        facts = [*(fact for line in lines for fact in reader.feed(line, "out")), *reader.finish()]
        return [fact.trouble for fact in facts if isinstance(fact, Finished)]

    call = b'{"type":"tool_use","part":{"tool":"write","state":{"status":"completed"}}}'
    stop = b'{"type":"step_finish","part":{"reason":"stop"}}'
    assert ends(*overflow(1)) == [None], "its last step said that it was over"
    assert ends(*overflow(1), call, stop) == [None]
    assert ends(*overflow(1)[:1]) == [Trouble.OVERFLOW]
    assert ends(*overflow(2))[0] is Trouble.OVERFLOW
    assert ends(*overflow(1), call, *overflow(1), call, stop) == [None]


def test_codex_sessions_share_no_folder(tmp_path: Path) -> None:
    assert (
        "sandbox_workspace_write.exclude_slash_tmp=true"
        in find("codex").prepare(job(tmp_path)).argv
    )

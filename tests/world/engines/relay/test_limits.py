"""How long a rate limit lasts, from the known replies of each provider."""

from datetime import UTC, datetime

import pytest

from corral.world.engines.relay.limits import Wait, wait_of

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
AT = int(NOON.timestamp() * 1000)
ANTHROPIC = "anthropic-ratelimit"


@pytest.mark.parametrize(
    ("headers", "said", "wait"),
    [
        ({"retry-after": "30"}, "", Wait(30)),
        ({"retry-after": "1.5"}, "try again in 9s", Wait(1.5)),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", Wait(0.25)),
        ({"retry-after": "Sun, 15 Nov 2026 12:00:00 GMT"}, "", Wait(reset_at=AT)),
        ({"retry-after": "soon"}, "", Wait()),
        # A limit of which something is left is not the one that was met.
        (
            {
                f"{ANTHROPIC}-requests-remaining": "40",
                f"{ANTHROPIC}-requests-reset": "2026-11-15T18:00:00Z",
                f"{ANTHROPIC}-tokens-remaining": "0",
                f"{ANTHROPIC}-tokens-reset": "2026-11-15T12:00:00Z",
            },
            "",
            Wait(reset_at=AT),
        ),
        (
            {
                f"{ANTHROPIC}-unified-5h-status": "rejected",
                f"{ANTHROPIC}-unified-5h-reset": str(AT // 1000),
                f"{ANTHROPIC}-unified-7d-status": "allowed",
                f"{ANTHROPIC}-unified-7d-reset": str(AT // 1000 + 400_000),
            },
            "",
            Wait(reset_at=AT),
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "17h7m47s",
            },
            "",
            Wait(360),
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(AT)}, "", Wait(reset_at=AT)),
        ({"x-ratelimit-reset": "90"}, "", Wait(90)),
        ({"x-ratelimit-reset": "whenever"}, "in a while", Wait()),
        (
            {},
            '{"error": {"code": 429, "details": [{"@type": "type.googleapis.com/google.rpc.Retry'
            'Info",\n "retryDelay": "34.5s"}], "message": "Please retry in 35s."}}',
            Wait(34.5),
        ),
        ({}, "Rate limit reached for gpt-4o. Please try again in 20s.", Wait(20)),
        ({}, '{"type":"usage_limit_reached","resets_at":1794787846}', Wait(None, 1794787846000)),
    ],
)
def test_a_wait_is_found(headers: dict[str, str], said: str, wait: Wait) -> None:
    assert wait_of(429, headers, said) == wait


def test_what_is_left_of_an_account_says_nothing_of_a_server_that_is_busy() -> None:
    assert wait_of(529, {"x-ratelimit-reset-requests": "6m0s"}, "Overloaded") == Wait()
    assert wait_of(529, {"retry-after": "7"}, "Overloaded") == Wait(7)

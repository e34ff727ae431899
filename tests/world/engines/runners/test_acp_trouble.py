"""Real agents' error messages, and what each one means."""

from typing import Any

import pytest

from corral.core.engine.facts import Trouble
from corral.world.engines.runners.acp.trouble import of_crash, of_error, of_stop, of_text


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (  # copilot
            "Error: Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n"
            "  Check your COPILOT_PROVIDER_API_KEY.",
            Trouble.AUTH,
        ),
        (
            "Error: 400 This model's maximum context length is 200000 tokens. However, your"
            " messages resulted in 250000 tokens.",
            Trouble.OVERFLOW,
        ),
        # codex
        ("exceeded retry limit, last status: 429 Too Many Requests\n\n", Trouble.RATE),
        (
            '{"error": {"message": "This model\'s maximum context length is 200000 tokens.",'
            ' "code": "context_length_exceeded"}}\n\n',
            Trouble.OVERFLOW,
        ),
        (
            "We’re currently experiencing high demand, which may cause temporary errors.\n\n",
            Trouble.OVERLOAD,
        ),
        ("Codex ran out of room in the model's context window.", Trouble.OVERFLOW),
        # What a model may say at the end of good work.
        ("Error handling in this module is now complete.", None),
        ("Failed tests are fixed; a 429 is now tried again.", None),
        ("Errors 401 and 403 are told apart now.", None),
        ("Error: none left. Everything is done.", None),
        ("Done.", None),
        ("Error: 429 " + "x" * 2000, None),
    ],
)
def test_a_turn_that_ends_with_an_error_in_words(text: str, trouble: Trouble | None) -> None:
    found = of_text(text)
    assert (found.trouble if found else None) is trouble


@pytest.mark.parametrize(
    ("code", "message", "data", "trouble"),
    [
        (429, "You exceeded your current quota", None, Trouble.QUOTA),  # gemini
        (401, "API key not valid", None, Trouble.AUTH),
        (-32000, "Authentication required", None, Trouble.AUTH),  # codex, claude
        (-32603, "Internal error: Request rejected", {"errorKind": "rate_limit"}, Trouble.RATE),
        (
            -32603,
            "Internal error: Prompt is too long",
            {"errorKind": "invalid_request"},
            Trouble.OVERFLOW,
        ),
        (-32603, "Internal error", {"details": "fetch failed"}, Trouble.NETWORK),  # opencode
        (-32603, "Internal error", {"statusCode": 529}, Trouble.OVERLOAD),
        (-32002, "Resource not found", {"uri": "x"}, Trouble.SESSION),
        (-32603, "Internal error", None, Trouble.OTHER),
        (-32603, "Internal error", "just words: 401", Trouble.AUTH),
        (-32603, "Internal error", ["odd"], Trouble.OTHER),
    ],
)
def test_errors_of_the_protocol(code: int, message: str, data: Any, trouble: Trouble) -> None:
    assert of_error(code, message, data).trouble is trouble


def test_crashes_and_stops() -> None:
    assert of_crash("it ended", "Error: 401 invalid api key").trouble is Trouble.AUTH
    assert of_crash("it ended", "TypeError: 500 things are wrong").trouble is Trouble.OTHER
    assert of_crash("it ended", "").text == "it ended"
    assert of_stop("max_turn_requests").trouble is Trouble.BUDGET
    assert of_stop("refusal").trouble is Trouble.REQUEST

"""The server does what its OpenAPI document says, whatever is sent to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import serve

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@pytest.mark.parametrize(
    "phases", ["coverage", pytest.param("coverage,fuzzing", marks=pytest.mark.long)]
)
def test_the_server_does_what_its_document_says(board: Board, tmp_path: Path, phases: str) -> None:
    board.add("One")
    with serve(board) as served:
        document = tmp_path / "openapi.json"
        document.write_bytes(served.get("/api/openapi.json").body)
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("st"), "run", document, "--url", served.url),
                *("--header", f"Authorization: Bearer {served.token}"),
                *("--checks", ",".join(CHECKS), "--phases", phases),
                *("--max-examples", "3", "--seed", "7", "--no-shrink", "--warnings", "off"),
                # They never end, and have tests of their own.
                *("--exclude-path", "/api/events", "--exclude-path", "/api/live"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    board.corral("log", "verify")

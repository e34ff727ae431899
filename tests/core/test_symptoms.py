"""The line of a failed set-up that says why, and the remedy for it."""

import pytest

from corral.core.symptoms import symptom

STALE = "a lock file is out of date"
NETWORK = "a server could not be reached"
VERSION = "the project requires another version of a tool"

LINES = {
    "npm error `npm ci` can only install packages when your package.json and package-lock.json"
    " or npm-shrinkwrap.json are in sync.": (STALE, "npm install"),
    "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.": (
        STALE,
        "uv lock",
    ),
    "pyproject.toml changed significantly since poetry.lock was last generated.": (
        STALE,
        "poetry lock",
    ),
    ' ERR_PNPM_OUTDATED_LOCKFILE Cannot install with "frozen-lockfile"': (STALE, "pnpm install"),
    "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.": (
        STALE,
        "yarn install",
    ),
    "error: the lock file /p/Cargo.lock needs to be updated but --locked was passed": (
        STALE,
        "cargo generate-lockfile",
    ),
    "go: updates to go.mod needed; to update it:": (STALE, "go mod tidy"),
    "lock is out of date": (STALE, "update it"),
    "npm error code ECONNREFUSED": (NETWORK, "check the network"),
    "curl: (6) Could not resolve host: pypi.example": (NETWORK, "check the network"),
    "urllib3: Failed to establish a new connection: [Errno -3]": (NETWORK, "check the network"),
    "ERROR: Package 'demo' requires a different Python: 3.11.7 not in '>=3.99'": (
        VERSION,
        "install the version",
    ),
    "npm error code EBADENGINE": (VERSION, "install the version"),
}


@pytest.mark.parametrize("line", LINES)
def test_a_known_cause_is_named_with_its_line_and_a_remedy(line: str) -> None:
    found = symptom(["+ make env", line, "npm error A complete log of this run can be found in: x"])
    assert found is not None
    said, remedy = LINES[line]
    assert (found.said, found.line) == (said, line.strip())
    assert found.remedy.startswith(remedy)


def test_a_stale_lock_file_explains_the_rest() -> None:
    found = symptom(["npm error code ECONNREFUSED", "EBADENGINE", "lock is out of date"])
    assert found is not None
    assert found.said == STALE


def test_other_words_show_nothing() -> None:
    assert (
        symptom(["make: *** [env] Error 2", "locked by 3 others", "the connection works"]) is None
    )


def test_a_line_is_shortened_and_shows_no_secret() -> None:
    found = symptom([f"ENOTFOUND https://ann:hunter2hunter2@index.example/ {'x' * 500}"])
    assert found is not None
    assert "hunter2" not in found.line
    assert len(found.line) <= 200

"""What the output of a failed set-up says about its cause, and what helps.

The words belong to other tools and may change, so nothing is decided by them: whether the set-up
failed comes from its exit code. A symptom only chooses the line to quote and the remedy to show.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from corral.core.text import cut

_LINE = 200


class Symptom(Struct, frozen=True):
    said: str
    remedy: str
    line: str  # the one that shows it


_VERSION = (
    r"requires a different Python|Requires-Python|requires-python|No interpreter found for"
    r"|EBADENGINE|Unsupported engine|engine \"\w+\" is incompatible|requires rustc"
    r"|go\.mod requires go|UnsupportedClassVersionError|Your Ruby version is .* but your Gemfile"
)
_NETWORK = (
    r"Could not resolve|Temporary failure in name resolution|Name or service not known"
    r"|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|Network is unreachable"
    r"|No route to host|Connection refused|Connection timed out|connection to .* timed out"
    r"|Failed to establish a new connection|Failed to connect to|dns error|Could not fetch URL"
    r"|dial tcp|Unable to connect"
)
_STALE = (
    (r"npm ci.* (?:in sync|existing package-lock)", "npm install"),
    (r"uv\.lock.* needs to be updated|find lockfile at .uv\.lock", "uv lock"),
    (r"since poetry\.lock was last generated|poetry\.lock is not up to date", "poetry lock"),
    (r"ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_NO_LOCKFILE", "pnpm install --no-frozen-lockfile"),
    (r"YN0028|lockfile needs to be updated, but yarn", "yarn install"),
    (r"Cargo\.lock.* needs to be updated|cannot update the lock file", "cargo generate-lockfile"),
    (r"updates to go\.mod needed|missing go\.sum entry", "go mod tidy"),
    (r"lockfile can't be updated because frozen|lockfile does not satisfy", "bundle install"),
    (r"Pipfile\.lock .*out of date", "pipenv lock"),
    (r"lockfile had changes, but lockfile is frozen", "bun install"),
    (r"lock file is not up to date with .*composer", "composer update --lock"),
    (r"Lock file hash doesn't match", "pdm lock"),
    (
        r"lock ?(?:file)? (?:is )?(?:out of date|out-of-date|outdated|not up to date)"
        r"|lock ?file .*needs to be updated",
        "",
    ),
)


def symptom(lines: Sequence[str]) -> Symptom | None:
    """Return what the lines of a failed set-up show; None if they show nothing known."""
    for pattern, command in _STALE:
        if line := _first(pattern, lines):
            update = command or "update it"
            return Symptom("a lock file is out of date", f"{update}, then commit it", line)
    if line := _first(_VERSION, lines):
        remedy = "install the version that the project requires, and use it in trees.setup"
        return Symptom("the project requires another version of a tool", remedy, line)
    if line := _first(_NETWORK, lines):
        remedy = "check the network; pass on what its proxy or index needs with environment.pass"
        return Symptom("a server could not be reached", remedy, line)
    return None


def _first(pattern: str, lines: Sequence[str]) -> str:
    return next((cut(line, _LINE) for line in lines if re.search(pattern, line)), "")

"""What the tables of Corral cannot say themselves: a sentence for each thing in the reference.

Data only. `tests/docs` checks that every code, setting, column and variable is here.
"""

from corral.core import errors as e
from corral.world.git import GitFailed

ANSWERS = """\
With `--json` a command prints one object and a newline, on standard output:

```json
{"ok":true,"data":{"id":"auth-fix"}}
{"ok":false,"error":{"code":"stale_token","message":"…","hint":"…"}}
```

`corral log --json` prints one event a line instead, without this envelope, and `--watch` one object
for each change. Times (`…_at`) are milliseconds since 1970, UTC. Without `--json`, answers go to
standard output, and what went wrong goes to standard error, as one sentence and what to try."""
EXITS = {
    0: "done",
    1: "failed: the machine, git or the log could not do it",
    2: "bad input: it cannot be understood, or is out of bounds",
    3: "refused: understood, but a rule forbids it now",
    4: "not found: no such thing, or nothing is ready",
    130: "interrupted with Ctrl-C",
}
COLUMN_MEANINGS = {
    "backlog": "state `todo`, but something that it needs has not landed",
    "todo": "can be claimed (if it was handed off to somebody: by that one)",
    "doing": "somebody holds a claim on it, live or lapsed",
    "blocked": "waits for somebody's help",
    "review": "handed in, waits to land",
    "done": "landed",
    "failed": "the attempt ended without a result",
    "cancelled": "given up; what needs it can never start",
}
SETTINGS = {
    "board.claim_ttl_s": "seconds until a claim or lease lapses, if the command does not say",
    "engine.NAME.type": "the program behind the engine profile NAME *",
    "engine.NAME.model": "the model that it should use *",
    "refinery.strategy": "how work lands: rebase, squash or merge *",
    "refinery.require_ci": "land only what passed its checks *",
    "refinery.checks": "commands that must exit 0 on the merged result *",
    "slots.total": "sessions at once *",
    "slots.reserve": "of these, kept free *",
    "watch.beat_s": "how often a session is looked at *",
}
CODES: tuple[tuple[str, type[e.CorralError], str], ...] = (
    ("bad_input", e.BadInput, "a word, value or text that cannot be used"),
    ("bad_config", e.BadConfig, "`.corral/config.toml` is wrong; the message has the line"),
    ("not_a_repository", e.NotARepository, "there is no git repository here"),
    ("not_initialised", e.NotInitialised, "`corral init` was not run here"),
    ("refused", e.Refused, "a rule forbids it (most refusals have a code of their own, below)"),
    ("already_claimed", e.Refused, "the task has a live claim, perhaps your own"),
    ("already_initialised", e.Refused, "`.corral/config.toml` is there already"),
    ("cycle", e.Refused, "these needs would make a circle, which is written out"),
    ("diverged", e.Refused, "both clones appended since they parted; both are kept"),
    ("lease_held", e.Refused, "the resource, or one that overlaps it, has a live lease"),
    ("mirror_differs", e.Refused, "`refs/corral/log` has events that the log does not have"),
    ("mirror_unread", e.Refused, "the clone has the ref, but its events were not read in yet"),
    ("need_cancelled", e.Refused, "something that the task needs was cancelled"),
    ("needs_not_landed", e.Refused, "something that the task needs has not landed"),
    ("not_needed", e.Refused, "a need is to be dropped that the task does not have"),
    ("remote_ahead", e.Refused, "the remote has events that this clone does not have"),
    ("reserved", e.Refused, "the task was handed off to somebody else"),
    ("stale_token", e.Refused, "the token belongs to a claim or lease that has ended"),
    ("token_needed", e.Refused, "the task is held: show the token of its claim"),
    ("wrong_state", e.Refused, "the table of moves does not allow it from this state"),
    ("not_found", e.NotFound, "no such task, convoy, alert, remote log"),
    ("nothing_ready", e.NotFound, "`task claim --next` found nothing to claim"),
    ("failed", e.Failed, "the machine could not do it"),
    ("git_failed", GitFailed, "git ended with an error, which is quoted"),
    ("log_busy", e.LogBusy, "another program has kept the log locked for too long"),
    ("log_damaged", e.LogDamaged, "a stored event is not what was written; its number is named"),
    ("log_too_new", e.LogTooNew, "a newer Corral wrote the log"),
    ("store_failed", e.StoreFailed, "disk full, read-only folder, or SQLite gave up"),
    ("unexpected", e.CorralError, "a defect in Corral: please report it"),
)
ENVIRONMENT = {
    "CORRAL_SESSION": "who is asking, if `--as` is not given; before `USER`",
    "CORRAL_TASK": "the task that a session works on; see `CORRAL_TOKEN`",
    "CORRAL_TOKEN": "shown as `--token` by commands about the task in `CORRAL_TASK`",
    "CORRAL_DEBUG": "if set, an unexpected error shows its traceback",
    "USER": "who is asking, without `--as` and `CORRAL_SESSION`",
    "LOGNAME": "the same, if `USER` is not set",
    "GIT_DIR": "the repository, as for git, if `--repo` is not given",
    "NO_COLOR": "if set, no colour",
    "TERM": "`dumb`: no colour",
}
FILES = {
    ".corral/config.toml": "the configuration, in your tree; commit it",
    ".git/corral/log.db": "the log (with `-wal` and `-shm` beside it, which belong to it)",
    ".git/corral/queue.lock, lock": "the turnstile: empty files, locked while somebody writes",
    ".git/corral/mirror.lock": "locked while the mirror is written",
    ".git/corral/derived/": "snapshot, seal, pace and remembered configuration: may be deleted",
    ".git/corral/damaged/N/": "the files of a damaged log, put aside when it was restored",
    "refs/corral/log": "the mirror",
    "refs/corral/remotes/NAME/log": "the log of a remote, as last fetched",
    "refs/corral/kept/COMMIT": "mirror commits that something else took the place of",
}

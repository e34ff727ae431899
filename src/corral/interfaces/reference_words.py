"""What the tables of Corral cannot say themselves: a sentence for each thing in the reference.

Data only. `tests/docs` checks that every code, setting, column and variable is here.
"""

from corral.core import errors as e
from corral.world.git import GitFailed
from corral.world.processes import CouldNotStart

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
# What happened, and what becomes of the task.
_AGAIN = "rests, is tried again"
VERDICTS = {
    "proved": ("committed, clean, within its paths, every check passed on that commit", "`review`"),
    "no_change": ("it ended well, and its branch has no change", _AGAIN),
    "dirty": ("it left something that is not committed, or its tree is gone", _AGAIN),
    "off_branch": ("it left its branch, rewrote it, or moved the convoy's trunk", _AGAIN),
    "out_of_scope": ("it changed paths that the task does not declare", _AGAIN),
    "checks_failed": ("an acceptance command did not exit 0", _AGAIN),
    "crashed": ("its program ended by a signal or with another exit code than 0", _AGAIN),
    "timed_out": ("it ran for longer than `watch.wall_s`", _AGAIN),
    "silent": ("nothing was heard of it for three beats", _AGAIN),
    "stopped": ("somebody stopped it", "`failed`: not tried again by itself"),
    "could_not_start": ("tree, inputs, set-up or program were not to be had", _AGAIN),
}
SETTINGS = {
    "board.claim_ttl_s": "seconds until a claim or lease lapses, if the command does not say",
    "engine.NAME.type": "the program behind the engine profile NAME; `shell`: any command",
    "engine.NAME.model": "the model that it should use *",
    "engine.NAME.command": "for the type `shell`: the program and its arguments, as a list",
    "engine.NAME.pool": "the pool whose slots its sessions take",
    "refinery.strategy": "how work lands: rebase, squash or merge *",
    "refinery.require_ci": "land only what passed its checks *",
    "refinery.checks": "commands that must exit 0 on the merged result *",
    "slots.total": "sessions at once",
    "slots.reserve": "of these, kept free for urgent tasks",
    "slots.pools": "sessions at once in each pool, by its name; other pools have no limit",
    "watch.beat_s": "a beat: two silent ones raise an alert, three end the session",
    "watch.barren_beats": "alive for so many beats without an output: an alert; 0 turns it off",
    "watch.wall_s": "a session may run for so long",
    "watch.grace_s": "from being asked to end until being killed",
    "watch.output_mb": "of a session's output, so much is kept: its beginning and its end",
    "watch.attempts": "after so many failed sessions in a row the task has failed",
    "watch.backoff_s": "the rest after the first failure; it doubles, and half of it is chance",
    "watch.backoff_most_s": "the longest rest",
    "watch.commit_dirty": "commit what a session leaves behind, instead of judging it `dirty`",
    "trees.folder": "where working trees are; empty: `.NAME-corral` beside the repository",
    "trees.kind": "`worktree`, or `clone`: a git directory of its own that borrows objects",
    "trees.pool": "trees kept for reuse",
    "trees.copy": "files that git does not hold, copied into each tree, like `.env`",
    "trees.setup": "commands run in each tree before its session, each a list",
    "trees.setup_s": "a set-up command may run for so long",
    "trees.fresh": "a retry starts over, instead of from the last attempt's commits",
    "trees.keep_days": "kept work is held for so long at least",
    "trees.ports": "ports leased for each session, in `CORRAL_PORT_1`, `CORRAL_PORT_2`, …",
    "trees.port_range": "the first and the last of these ports",
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
    ("deacon_runs", e.Refused, "another deacon runs for this repository"),
    ("diverged", e.Refused, "both clones appended since they parted; both are kept"),
    ("foreign_event", e.Refused, "another log has an event that cannot be taken in"),
    ("lease_held", e.Refused, "the resource, or one that overlaps it, has a live lease"),
    ("log_sound", e.Refused, "the log was restored by somebody else meanwhile"),
    ("mirror_differs", e.Refused, "`refs/corral/log` has events that the log does not have"),
    ("mirror_unread", e.Refused, "the clone has the ref, but its events were not read in yet"),
    ("no_port", e.Refused, "too few ports of `trees.port_range` are free"),
    ("no_slot", e.Refused, "every slot that the session could have is taken"),
    ("need_cancelled", e.Refused, "something that the task needs was cancelled"),
    ("needs_not_landed", e.Refused, "something that the task needs has not landed"),
    ("not_judged", e.Refused, "a session cannot hand in its own work: it is judged when it ends"),
    ("not_needed", e.Refused, "a need is to be dropped that the task does not have"),
    ("over_budget", e.Refused, "a task above has as many open tasks below it as it may"),
    ("pool_full", e.Refused, "every slot of the engine's pool is taken"),
    ("remote_ahead", e.Refused, "the remote has events that this clone does not have"),
    ("reserved", e.Refused, "the task was handed off to somebody else"),
    ("resting", e.Refused, "the task waits for its next attempt, or for its date"),
    ("session_ended", e.Refused, "the session is over"),
    ("session_runs", e.Refused, "the last session of the task has not ended"),
    ("stale_token", e.Refused, "the token belongs to a claim or lease that has ended"),
    ("token_needed", e.Refused, "the task is held: show the token of its claim"),
    ("too_deep", e.Refused, "the task may have no (further) level of tasks below it"),
    ("witness_runs", e.Refused, "another witness runs for this repository"),
    ("wrong_state", e.Refused, "the table of moves does not allow it from this state"),
    ("not_found", e.NotFound, "no such task, convoy, session, alert, remote log"),
    ("nothing_ready", e.NotFound, "`task claim --next` found nothing to claim"),
    ("failed", e.Failed, "the machine could not do it"),
    ("could_not_start", CouldNotStart, "a session's program never ran"),
    ("git_failed", GitFailed, "git ended with an error, which is quoted"),
    ("log_busy", e.LogBusy, "another program has kept the log locked for too long"),
    ("log_damaged", e.LogDamaged, "a stored event is not what was written; its number is named"),
    ("log_too_new", e.LogTooNew, "a newer Corral wrote the log"),
    ("store_failed", e.StoreFailed, "disk full, read-only folder, or SQLite gave up"),
    ("unexpected", e.CorralError, "a defect in Corral: please report it"),
)
ENVIRONMENT = {
    "CORRAL_SESSION": "who is asking, if `--as` is not given, before `USER`; set in sessions",
    "CORRAL_TASK": "the task that a session works on; see `CORRAL_TOKEN`; set in sessions",
    "CORRAL_TOKEN": "shown as `--token` by commands about `CORRAL_TASK`; set in sessions",
    "CORRAL_BRIEF": "set in sessions: the file with the brief, which is on standard input too",
    "CORRAL_RUN": "set in sessions: whose processes these are; leave it alone",
    "CORRAL_PORT_N": "set in sessions: the ports leased for it, from `CORRAL_PORT_1` on",
    "CORRAL_ENGINE_KEY": "set for some engines: the API key; their settings point to it",
    "CORRAL_DEBUG": "if set, an unexpected error shows its traceback",
    "PATH": "where the programs of engines are looked for",
    "USER": "who is asking, without `--as` and `CORRAL_SESSION`",
    "LOGNAME": "the same, if `USER` is not set",
    "GIT_DIR": "the repository, as for git, if `--repo` is not given",
    "NO_COLOR": "if set, no colour",
    "TERM": "`dumb`: no colour",
}
FILES = {
    ".corral/config.toml": "the configuration, in your tree; commit it",
    ".corral/roles/NAME.md": "what a brief says about the role NAME; commit it",
    ".corral/roles/shared-rules.md": "what every brief says; commit it",
    ".git/corral/log.db": "the log (with `-wal` and `-shm` beside it, which belong to it)",
    ".git/corral/queue.lock, lock": "the turnstile: empty files, locked while somebody writes",
    ".git/corral/mirror.lock": "locked while the mirror is written",
    ".git/corral/derived/": "snapshot, seal, pace and remembered configuration: may be deleted",
    ".git/corral/damaged/N/": "the files of a damaged log, put aside when it was restored",
    ".git/corral/witness.lock, deacon.lock": "locked by the witness, the deacon that runs",
    ".git/corral/run/": "the keeper's socket and lock",
    ".git/corral/sessions/SESSION/": "its brief, output and exit; set-up and checks too",
    ".git/corral/trees/": "what is remembered about each working tree",
    "../.NAME-corral/": "the sessions' working trees, beside the repository NAME",
    "convoy/CONVOY/trunk": "a convoy's branch, from which its sessions start",
    "convoy/CONVOY/TASK": "the branch of a task's sessions",
    "refs/corral/log": "the mirror",
    "refs/corral/remotes/NAME/log": "the log of a remote, as last fetched",
    "refs/corral/keep/SESSION/N": "kept work of a session",
    "refs/corral/base/N": "holds what a clone's commits build on, while the clone lives",
    "refs/corral/kept/COMMIT": "mirror commits that something else took the place of",
}

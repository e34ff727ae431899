"""`corral init` and `corral doctor`."""

from pathlib import Path

from corral.core.errors import BadInput, CorralError, Failed, Refused
from corral.core.text import shown
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, table
from corral.interfaces.cli.parser import Options

CONFIG = """\
# Corral's settings for this repository. Commit this file: everybody shares it.
# Every setting is optional; what stands here behind a '#' is the default or an example.

[board]
# claim_ttl_s = 900          # a claim or lease not renewed for this long can be taken over

# Engines are chosen by task: corral task add … --engine tests
# [engine.tests]
# type = "shell"
# command = ["make", "test"] # the program and its arguments; a task's --run goes before it
# model = ""
# pool = "slow"              # its sessions count in this pool, too
# args = []                  # more arguments
# env = ["MY_API_KEY"]       # variables that are passed on: names only, never values
# base_url = ""
# permission = "edit"        # read, edit, all; with transport "acp" also ask
# transport = "cli"          # or "acp", "tmux"
# account = ""               # whose limits it counts against
# fallback = ""              # the profile to use while that account is limited
# answers = ""               # what a question is answered with; empty: you are asked
# output = "facts"           # for type "command": what it prints, or a known engine's name
# lines = []                 # or what its lines mean; and more, see: docs/how-to/sessions.md
# key = ""                   # the variable in which it wants the first one of env
# set = {}                   # variables for it; {home}, {model}, {url}, … in them
# fresh = []                 # arguments for a new conversation: {id}
# resume = []                # to go on with one: {resume}
# mcp = []                   # to hand it tools: {mcp} is their address
# commit = true              # Corral commits what it leaves
# turn_s = 600               # silent for so long, it is ended and resumed
# context = 0                # tokens that its model can take in; 0: the engine itself says
# budget_usd = 0.0           # for one task; 0: no limit
# good_for = ""              # what the mayor is told about it

[mayor]                      # who makes plans: corral mayor start --task "…"
# engine = ""                # the profile; empty: default, or the only one
# attempts = 3               # at an answer that can be used
# replans = 3                # so many failures of a convoy it is asked about
# wait_s = 900               # for a limited account; then corral mayor start goes on later

[budget]                     # in dollars; 0: no limit
# task_usd = 0.0
# convoy_usd = 0.0
# day_usd = 0.0
# require_model = []         # patterns like "claude-opus-*"; another model ends the session
# prices = { "some-model" = { input = 3.0, output = 15.0, cached = 0.3 } }  # a million tokens

[slots]
# total = 12                 # sessions at once
# reserve = 2                # of these, only for urgent tasks
# pools = { slow = 4 }       # sessions at once in each pool

[watch]
# beat_s = 900               # silent for two beats: an alert; for three: the session is stopped
# barren_beats = 8           # alive for so long without an output: an alert; 0 turns it off
# wall_s = 14400             # no session takes longer
# grace_s = 10               # between being asked to stop and being killed
# output_mb = 64             # of each session's output, twice
# attempts = 3               # in a row that come to nothing, then a person is needed
# backoff_s = 30             # the first rest between them; doubled each time
# backoff_most_s = 3600
# park_s = 60                # an engine may wait for a limit for so long; then it is parked
# answer_s = 900             # a question may wait for so long
# window = 90                # per cent of the context, then a fresh conversation; 0: never
# loop = 20                  # the same call, nothing changes: an alert, twice: the end; 0: never
# commit_dirty = false       # commit what a session leaves behind, instead of sending it back

[trees]
# folder = ""                # where the working trees are; empty: beside the repository
# kind = "worktree"          # or "clone", which shares objects but no refs
# pool = 4                   # trees kept for reuse
# copy = [".env"]            # files that every tree gets from your checkout
# setup = [["npm", "ci"]]    # run in every tree before its session starts
# setup_s = 600
# fresh = false              # a retry starts over instead of building on the last attempt
# keep_days = 30             # how long kept work stays after its convoy is finished
# ports = 0                  # leased for each session: CORRAL_PORT_1, CORRAL_PORT_2, …
# port_range = [20000, 29999]

[server]
# port = 0                   # 0: 5173, or another if that is taken
# bind = "127.0.0.1"         # another address only with TLS
# hosts = []                 # more names under which it is reached, like "build.example"
# tls_cert = ""
# tls_key = ""

[confine]                    # by Landlock: Linux 5.13 or newer
# enabled = false            # sessions can write to their own trees only
# also = []                  # and to these files and folders, like "~/.cache/pip"

[radar]                      # conflicts that are coming, seen while sessions work
# enabled = true
# hold = false               # a task that would run into one waits until it is over
# every_s = 5                # so often at most, a session's files are looked at

[telemetry]
# endpoint = ""              # an OpenTelemetry collector for traces, like http://127.0.0.1:4318

[refinery]
# strategy = "squash"        # rebase, squash or merge; a convoy may say otherwise
# require_ci = true          # false: work lands without checks, and the log says so
# checks = ["make test"]     # each must exit 0 on the merged result before it lands
# external = false           # another CI runs them, and says so with: corral queue report
# mode = "lanes"             # or "serial": one change at a time
# slots = 0                  # check runs at once; 0: as many as measured to be of use
# deadline_s = 0             # of one check run; 0: learned from the green ones
# returns = 3                # so often work comes back before a person is needed
# caches = []                # ignored paths that stay in the check trees from run to run
# union = []                 # patterns of files in which both sides of a conflict are kept
# regenerate = [{ paths = ["*.lock"], command = "make lock" }]  # instead of a conflict
# finish = "leave"           # a landed convoy: leave, merge, fast-forward or pull-request
"""


def init(context: Context, options: Options) -> None:
    if options.print:
        if options.templates:
            raise BadInput("--print shows the configuration only: leave out --templates")
        context.answer({"config": CONFIG}, CONFIG.rstrip)
        return
    folder = Path(context.repository.worktree, ".corral")
    if options.templates:
        _init_with_templates(context, folder)
        return
    path = folder / "config.toml"
    if path.exists():
        raise Refused(
            ".corral/config.toml is there already; nothing was changed",
            "corral doctor checks it",
            code="already_initialised",
        )
    try:
        _write(path)
    except OSError as error:
        raise Failed(f".corral/config.toml cannot be written: {error.strerror}") from error
    context.answer(
        {"config": ".corral/config.toml"},
        lambda: 'wrote .corral/config.toml\nnext: corral convoy create "Your first goal"',
    )


def _init_with_templates(context: Context, folder: Path) -> None:
    """Write what is missing of the configuration and the role files; overwrite nothing."""
    written: list[str] = []
    left: list[str] = []
    for name, text in (("config.toml", CONFIG), *templates()):
        try:
            (written if _write_new(folder / name, text) else left).append(f".corral/{name}")
        except OSError as error:
            raise Failed(
                f".corral/{name} cannot be written: {error.strerror};"
                f" {len(written)} files were written before it",
                "corral init --templates goes on from there",
            ) from error
    said = [*(f"wrote {name}" for name in written), *(f"left {name} as it is" for name in left)]
    said.append("next: edit and commit them, then: corral task add … --role worker")
    context.answer(
        {"config": ".corral/config.toml", "written": written, "left": left},
        lambda: "\n".join(said),
    )


def templates() -> list[tuple[str, str]]:
    """Return the role files that come with Corral: their names in `.corral`, and their text."""
    from importlib.resources import files

    folder = files("corral") / "templates"
    found = sorted(folder.iterdir(), key=lambda file: file.name)
    return [(f"roles/{f.name}", f.read_text("utf-8")) for f in found if f.name.endswith(".md")]


def _write_new(path: Path, text: str) -> bool:
    """Write a file that is not there yet; False if something has its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return True


def _write(path: Path) -> None:
    """Write the whole file, or leave nothing behind."""
    made = not path.parent.exists()
    path.parent.mkdir(exist_ok=True)
    scratch = path.with_name("config.toml.new")
    try:
        scratch.write_text(CONFIG, "utf-8")
        scratch.rename(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        if made:
            path.parent.rmdir()
        raise


def doctor(context: Context, options: Options) -> int:
    """Check one thing after the other; fail if any of them is wrong."""
    checks = (
        ("git", _git),
        ("sqlite", _sqlite),
        ("repository", _repository),
        ("config", _config),
        ("log", _log),
        ("mirror", _mirror),
        ("folder", _folder),
    )
    rows: list[tuple[str, str, str]] = []
    for name, check in checks:
        try:
            rows.append((name, "ok", check(context)))
        except CorralError as error:
            hint = f" (try: {error.hint})" if error.hint else ""
            rows.append((name, "bad", error.message + hint))
    bad = sum(state == "bad" for _, state, _ in rows)
    verdict = paint(f"{bad} of these need you", "red") if bad else paint("all is well", "green")
    context.answer(
        {"checks": [{"name": n, "ok": s == "ok", "text": t} for n, s, t in rows], "bad": bad},
        lambda: f"{table(rows, ('what', '', 'found'))}\n{verdict}",
    )
    return 1 if bad else 0


def _git(context: Context) -> str:
    from corral.world.git import version

    found = version()
    if tuple(int(part) for part in found.split(".")[:2]) < (2, 38):
        raise Failed(f"git {found} is too old", "install git 2.38 or newer")
    return found


def _sqlite(context: Context) -> str:
    import apsw

    from corral.store.schema import check_library

    check_library()
    return apsw.sqlite_lib_version()


def _repository(context: Context) -> str:
    return shown(context.repository.git_dir)


def _config(context: Context) -> str:
    found = context.repository.config_file()
    _ = context.config
    return shown(found or "") or "none: the defaults hold (corral init writes one)"


def _log(context: Context) -> str:
    state = context.log.verify()
    return f"{state.seq:,} events, all of them verify" if state.seq else "empty"


def _mirror(context: Context) -> str:
    tip = context.mirror.tip()
    if tip is None:
        return "none yet"
    behind = context.log.state().seq - tip.seq
    return f"up to event {tip.seq:,}" + (f", {behind:,} behind" if behind > 0 else "")


def _folder(context: Context) -> str:
    import os
    import shutil

    folder = Path(context.repository.folder)
    place = folder if folder.exists() else folder.parent
    if not os.access(place, os.W_OK):
        raise Failed(f"{place} is read-only for you", "the log is read, but cannot be written")
    return f"{_used(folder) / 1e6:.1f} MB used, {shutil.disk_usage(place).free / 1e9:.1f} GB free"


def _used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

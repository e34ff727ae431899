"""`corral init` and `corral doctor`."""

from pathlib import Path

from corral.core.errors import BadInput, CorralError, Failed, Refused
from corral.core.text import counted, shown
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, table
from corral.interfaces.cli.parser import Options


def init(context: Context, options: Options) -> None:
    from corral.interfaces.settings_text import file

    if options.print:
        if options.templates:
            raise BadInput("--print shows only the configuration: leave out --templates")
        text = file()
        context.answer({"config": text}, text.rstrip)
        return
    folder = Path(context.repository.worktree, ".corral")
    if options.templates:
        _init_with_templates(context, folder, file())
        return
    path = folder / "config.toml"
    if path.exists():
        raise Refused(
            ".corral/config.toml already exists; nothing was changed",
            "corral doctor checks it",
            code="already_initialised",
        )
    try:
        _write(path, file())
    except OSError as error:
        raise Failed(f".corral/config.toml cannot be written: {error.strerror}") from error
    context.answer({"config": ".corral/config.toml"}, lambda: _next_steps(context))


def _next_steps(context: Context) -> str:
    """Say what was written, what is wrong with the repository, and what to do next."""
    from corral.roles.preflight.first_look import first_look

    faults = [
        f"{shown(one.sentence)}\n  try: {shown(one.remedy)}"
        for one in first_look(context.repository, context.config)
    ]
    steps = 'next: set your engine and checks there, run corral check, then: corral run "Your goal"'
    return "\n".join(["wrote .corral/config.toml", *faults, steps])


def _init_with_templates(context: Context, folder: Path, config: str) -> None:
    """Write the configuration and the role files that are missing; overwrite nothing."""
    written: list[str] = []
    left: list[str] = []
    for name, text in (("config.toml", config), *templates()):
        try:
            (written if _write_new(folder / name, text) else left).append(f".corral/{name}")
        except OSError as error:
            raise Failed(
                f".corral/{name} cannot be written: {error.strerror};"
                f" files written before it: {len(written)}",
                "run corral init --templates again to write the rest",
            ) from error
    said = [f"wrote {name}" for name in written]
    said += [f"{name} exists and was left unchanged" for name in left]
    said.append("next: edit and commit them, then: corral task add … --role worker")
    context.answer(
        {"config": ".corral/config.toml", "written": written, "left": left}, lambda: "\n".join(said)
    )


def templates() -> list[tuple[str, str]]:
    """Return the name in `.corral` and the text of each role file that comes with Corral."""
    from importlib.resources import files

    folder = files("corral") / "templates"
    found = sorted(folder.iterdir(), key=lambda file: file.name)
    return [(f"roles/{f.name}", f.read_text("utf-8")) for f in found if f.name.endswith(".md")]


def _write_new(path: Path, text: str) -> bool:
    """Write a new file; return False if something of that name exists."""
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


def _write(path: Path, text: str) -> None:
    """Write the whole file, or leave nothing behind."""
    made = not path.parent.exists()
    path.parent.mkdir(exist_ok=True)
    scratch = path.with_name("config.toml.new")
    try:
        scratch.write_text(text, "utf-8")
        scratch.rename(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        if made:
            path.parent.rmdir()
        raise


def doctor(context: Context, options: Options) -> int:
    """Run every check, and fail if one of them does."""
    checks = (
        ("git", _git),
        ("sqlite", _sqlite),
        ("repository", lambda context: shown(context.repository.git_dir)),
        ("config", _config),
        ("log", _log),
        ("mirror", _mirror),
        ("folder", _folder),
        ("leftovers", _leftovers),
    )
    rows: list[tuple[str, str, str]] = []
    for name, check in checks:
        try:
            rows.append((name, "ok", check(context)))
        except CorralError as error:
            hint = f" (try: {error.hint})" if error.hint else ""
            rows.append((name, "bad", error.message + hint))
    bad = sum(state == "bad" for _, state, _ in rows)
    found = f"{counted(bad, 'problem')} found" if bad else "no problems found"
    verdict = paint(found, "red" if bad else "green")
    context.answer(
        {"checks": [{"name": n, "ok": s == "ok", "text": t} for n, s, t in rows], "bad": bad},
        lambda: f"{table(rows, ('check', '', 'found'))}\n{verdict}",
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


def _config(context: Context) -> str:
    found = context.repository.config_file()
    _ = context.config
    return shown(found or "") or "none: the defaults apply (corral init writes one)"


def _log(context: Context) -> str:
    state = context.log.verify()
    return f"{counted(state.seq, 'event')}, all verified" if state.seq else "empty"


def _mirror(context: Context) -> str:
    tip = context.mirror.tip()
    if tip is None:
        return "none yet"
    behind = context.log.state().seq - tip.seq
    return f"up to event {tip.seq:,}" + (f", {behind:,} behind" if behind > 0 else "")


def _leftovers(context: Context) -> str:
    from corral.core.traces import leftovers
    from corral.roles.traces import Ground

    seen = Ground(context.repository, context.config.trees.folder).remains()
    if found := leftovers(context.log.state(), seen):
        raise Failed(shown("; ".join(found)))
    return "none"


def _folder(context: Context) -> str:
    import os
    import shutil

    folder = Path(context.repository.folder)
    place = folder if folder.exists() else folder.parent
    if not os.access(place, os.W_OK):
        raise Failed(f"you cannot write to {place}", "the log can be read, but not written")
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{used / 1e6:.1f} MB used, {shutil.disk_usage(place).free / 1e9:.1f} GB free"

"""`corral rescue …`: what was kept before trees were cleaned or removed, and its way back.

Everything is read from the refs: this works without a log, and in a clone that fetched them.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from os.path import realpath
from typing import TYPE_CHECKING, Any

from corral.core.errors import BadInput, NotFound
from corral.core.refs import KEEP_REFS
from corral.core.text import printable
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint, table
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.world.keep import Keep, Kept, Shown

_AT_ONCE = 8
_COMMITS = 20
_KINDS = ("staged", "unstaged", "untracked", "unmerged")  # of files


def listed(context: Context, options: Options) -> None:
    keep = _keep(context)
    found = keep.list_kept()
    if options.session:
        wanted = options.session.upper()
        found = [kept for kept in found if wanted in (kept.session.upper(), kept.record.task)]
    newest = found[-max(1, options.last) :]
    with ThreadPoolExecutor(_AT_ONCE) as workers:
        shown = list(workers.map(keep.show, newest))
    context.answer(
        {"kept": [_summary(one) for one in shown], "total": len(found)},
        lambda: _table(shown, len(found)) if found else "no work has been saved",
    )


def _table(shown: "list[Shown]", total: int) -> str:
    rows = []
    for one in shown:
        kept, record = one.kept, one.kept.record
        what = (_short(kept), record.task, record.branch, moment(kept.at), _much(one))
        rows.append((*what, printable(record.reason)))
    text = table(rows, ("kept", "task", "branch", "when", "holds", "why"))
    more = total - len(shown)
    return f"{text}\nand {more:,} older: --last {total}" if more else text


def _much(shown: "Shown") -> str:
    commits = "commit" if len(shown.commits) == 1 else "commits"
    counts = {commits if name == "commits" else name: n for name, n in _counts(shown).items() if n}
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "-"


def _counts(shown: "Shown") -> dict[str, int]:
    return {name: len(getattr(shown, name)) for name in ("commits", *_KINDS)}


def show(context: Context, options: Options) -> None:
    keep = _keep(context)
    kept = _find(keep, options.kept)
    shown = keep.show(kept)
    paths: dict[str, tuple[str, ...]] = {name: getattr(shown, name) for name in _KINDS}
    titles = _titles(context, shown.commits[:_COMMITS])

    def human() -> str:
        record = kept.record
        lines = [
            f"{paint(_short(kept), 'bold')} of {record.session}, saved {moment(kept.at)}:"
            f" {printable(record.reason)}",
            f"HEAD was {_head(kept)}; the branch of its task is {record.branch}",
        ]
        if shown.commits:
            lines.append(paint(f"commits ({len(shown.commits)})", "bold"))
            lines += [f"  {commit[:12]} {printable(title)}" for commit, title in titles]
        for name, group in paths.items():
            if group:
                lines.append(paint(f"{name} ({len(group)})", "bold"))
                lines += [f"  {_text(path)!r}"[:1000] for path in group]
        lines.append(f"restore it with: corral rescue restore {_short(kept)} --to FOLDER")
        return "\n".join(lines)

    context.answer(
        {
            **_summary(shown),
            "commits": list(shown.commits),
            **{name: [_text(path) for path in group] for name, group in paths.items()},
        },
        human,
    )


def restore(context: Context, options: Options) -> None:
    if not options.to:
        said = "corral rescue restore: --to is missing"
        raise BadInput(said, "corral rescue restore KEPT --to FOLDER")
    keep = _keep(context)
    kept = _find(keep, options.kept)
    folder = keep.restore(kept, options.to, branch=options.branch)
    head = kept.record.head
    on = f"on the new branch {options.branch}" if options.branch else "on no branch"
    where = f"HEAD is {head[:12]}, {on}" if head else "there is no commit yet"
    before = f" (it was on {kept.record.on})" if kept.record.on and not options.branch else ""
    context.answer(
        {
            "kept": kept.ref,
            "folder": _text(folder),
            "head": head,
            "branch": options.branch,
            "was_on": _text(kept.record.on),
        },
        lambda: (
            f"{_short(kept)} was restored to {_text(folder)}\n{where}{before}\n"
            f"when you are done with it: git worktree remove --force {_text(folder)!r}"
        ),
    )


def _keep(context: Context) -> "Keep":
    from corral.world.keep import Keep

    return Keep(realpath(context.repository.git_dir))


def _find(keep: "Keep", name: str) -> "Kept":
    """Find kept work by its ref, or the newest of a session or task."""
    found = keep.list_kept()
    short = name.removeprefix(KEEP_REFS)
    wanted = short.upper()
    newest = [kept for kept in found if _short(kept).upper() == wanted] or [
        kept for kept in found if wanted in (kept.session.upper(), kept.record.task.upper())
    ]
    if not newest:
        raise NotFound(f"there is no saved work of {printable(name)!r}", "corral rescue list")
    return newest[-1]


def _short(kept: "Kept") -> str:
    return kept.ref.removeprefix(KEEP_REFS)


def _head(kept: "Kept") -> str:
    record = kept.record
    at = record.head[:12] or "no commit yet"
    return f"{at} on {_text(record.on)}" if record.on else f"{at}, on no branch"


def _summary(shown: "Shown") -> dict[str, Any]:
    record = shown.kept.record
    return {
        "kept": shown.kept.ref,
        "session": record.session,
        "task": record.task,
        "branch": record.branch,
        "base": record.base,
        "head": record.head,
        "on": _text(record.on),
        "at": shown.kept.at,
        "reason": _text(record.reason),
        "counts": _counts(shown),
    }


def _titles(context: Context, commits: tuple[str, ...]) -> list[tuple[str, str]]:
    from corral.world.git import Git

    git = Git(context.repository.git_dir, context.repository.worktree)
    return [
        (commit, tip[1].partition("\n")[0] if (tip := git.tip(commit)) else "")
        for commit in commits
    ]


def _text(path: str) -> str:
    """Make a path fit for JSON and terminals; bytes that are not text are written as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")

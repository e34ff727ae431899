"""`python -m benchmarks [NAME …]`: measure, print the figures, exit 1 if a target was missed."""

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Figure, as_json, markdown, table
from corral.core.text import counted

# Not /tmp, which is in memory on many machines, so that an fsync costs nothing there.
_BUILD = Path(__file__).parents[1] / "build"

NAMES = (
    "append",
    "replay",
    "startup",
    "follow",
    "claims",
    "trees",
    "keeping",
    "merges",
    "sessions",
    "queue",
    "server",
    "whole",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes: do they run?")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    form.add_argument("--markdown", action="store_true", help="print rows for docs/benchmarks.md")
    parser.add_argument("--folder", help="a folder on the disk to measure (default: build/)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.name) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}: use one of {', '.join(NAMES)}")
    found = {}
    for name in options.name or NAMES:
        figures = found[name] = _measure(name, options.folder, quick=options.quick)
        if options.markdown:
            print(markdown(figures), flush=True)
        elif not options.json:
            print(f"{name}\n{table(figures)}\n", flush=True)
    if options.json:
        print(json.dumps({name: [as_json(one) for one in found[name]] for name in found}))
    missed = [figure for figures in found.values() for figure in figures if figure.missed]
    if missed and not options.json:
        print(f"{counted(len(missed), 'target')} missed", file=sys.stderr)
    return 1 if missed else 0


def _measure(name: str, folder: str | None, *, quick: bool) -> list[Figure]:
    """Run one benchmark in a folder of its own."""
    where = Path(folder or _BUILD)
    where.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=where) as scratch:
        module = importlib.import_module(f"benchmarks.{name}")
        figures: list[Figure] = module.run(Path(scratch), quick=quick)
        return figures


if __name__ == "__main__":
    sys.exit(main())

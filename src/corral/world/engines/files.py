"""Writes the files that an engine needs before it starts."""

import os
from glob import glob
from os.path import dirname, join, lexists

from corral.world.engines.recipe import Prepared


def lay(prepared: Prepared, home: str) -> None:
    """Create the private home and its files, readable by us only."""
    for folder in (home, f"{home}/tmp", *prepared.folders, *map(dirname, prepared.files)):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for path, text in prepared.files.items():
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(opened, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)  # an existing file may have other permissions
            file.write(text)
    for pattern, name in prepared.names.items():
        for found in sorted(glob(pattern))[:1]:
            new = join(dirname(found), name)
            if not lexists(new):
                os.rename(found, new)

"""Placeholder until the landing invariants are merged."""

from collections.abc import Sequence
from typing import Any

from corral.world.git.view import View


def violations(view: View, old: str, new: str, changes: Sequence[Any]) -> list[str]:
    return []

"""Names that are safe as a part of a ref and of a path."""

import re

from corral.core.errors import BadInput

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name.endswith((".lock", ".")):
        raise BadInput(f"{name!r} cannot be the name of a session: use letters, digits, - and _")


def check_branch(branch: str) -> None:
    parts = branch.split("/")
    if not all(_NAME.fullmatch(part) and not part.endswith((".lock", ".")) for part in parts):
        raise BadInput(f"{branch!r} cannot be the name of a session's branch")

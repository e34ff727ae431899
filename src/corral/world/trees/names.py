"""Names that are safe in refs and paths."""

import re

from corral.core.errors import BadInput

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name.endswith((".lock", ".")):
        raise BadInput(f"{name!r} is not a valid session name: use letters, digits, - and _")


def check_branch(branch: str) -> None:
    parts = branch.split("/")
    if not all(_NAME.fullmatch(part) and not part.endswith((".lock", ".")) for part in parts):
        raise BadInput(f"{branch!r} is not a valid name for a session's branch")

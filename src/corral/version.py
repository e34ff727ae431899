"""What `corral --version` says: the version, and the commit that this copy was made from.

It loads and starts nothing: `corral --version` may cost little more than starting Python.
"""

from os.path import dirname, isfile, join

from corral import __version__

_COMMIT = "$Format:%H$"  # replaced by `git archive`, and by hatch_build.py in what it builds


def text() -> str:
    """Return the version and the commit, like `0.1.0 (5e4bfe6c0ffe)`."""
    if not _COMMIT.startswith("$"):
        return f"{__version__} ({_COMMIT[:12]}{', modified' * _COMMIT.endswith('-dirty')})"
    try:
        commit = _checked_out(dirname(dirname(dirname(__file__))))
    except OSError:
        return __version__  # neither built from a commit nor run from a checkout
    return f"{__version__} (checkout at {commit[:12]})"


def _checked_out(root: str) -> str:
    """Return the commit that HEAD of a checkout points to, without starting git."""
    folder = common = join(root, ".git")
    if isfile(folder):  # of a linked worktree
        folder = join(root, _read(folder).removeprefix("gitdir: "))
        common = join(folder, _read(join(folder, "commondir")))
    head = _read(join(folder, "HEAD"))
    ref = head.removeprefix("ref: ")
    if ref == head:
        return head
    if isfile(join(common, ref)):
        return _read(join(common, ref))
    packed = _read(join(common, "packed-refs")).split("\n")
    return next((line for line in packed if line.endswith(f" {ref}")), "no commit")


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()

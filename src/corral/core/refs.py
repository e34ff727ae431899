"""The names of all branches and refs that Corral makes: they are built here and nowhere else.

convoy/<convoy>/trunk    where a convoy's work lands
convoy/<convoy>/<task>   where the sessions of a task work
corral/<mayor>           where an engine makes a plan
refs/corral/…            what git must keep, and no branch shows
"""

from corral.core.ids import ConvoyId, TaskId

MIRROR_REF = "refs/corral/log"
GENERATED_REF = "refs/corral/generated"  # files that were generated instead of merged
KEEP_REFS = "refs/corral/keep/"  # <session>/<number>
QUEUE_REFS = "refs/corral/queue/"  # <task>: the commit of a task as it was queued
SPEC_REFS = "refs/corral/spec/"  # <run>: the commits that a run of checks is about
BASE_REFS = "refs/corral/base/"  # <tree>: what a clone's commits build on
_HEADS = "refs/heads/"


def trunk_branch(convoy: ConvoyId) -> str:
    """Name the branch on which a convoy's work lands."""
    return f"convoy/{convoy}/trunk"


def task_branch(convoy: ConvoyId, task: TaskId) -> str:
    """Name the branch on which the sessions of a task work."""
    return f"convoy/{convoy}/{task}"


def mayor_branch(mayor: str) -> str:
    return f"corral/{mayor}"


def branch_ref(branch: str) -> str:
    return _HEADS + branch


def branch_of(ref: str) -> str:
    """Return the branch that a ref names; empty if it is not a branch."""
    return ref.removeprefix(_HEADS) if ref.startswith(_HEADS) else ""


def remote_log_ref(remote: str) -> str:
    """Name the ref with the log of a remote, as it was last fetched."""
    return f"refs/corral/remotes/{remote}/log"


def replaced_mirror_ref(commit: str) -> str:
    """Name the ref that keeps a commit of the mirror that was replaced."""
    return f"refs/corral/kept/{commit}"


def is_ours(ref: str) -> bool:
    """Say whether Corral made a ref. Its name decides, because the log may be gone."""
    parts = branch_of(ref).split("/")
    if len(parts) == 3 and parts[0] == "convoy":
        prefix, _, number = parts[2].rpartition("-")
        return parts[2] == "trunk" or (prefix.isalnum() and number.isdecimal())
    mayor = len(parts) == 2 and parts[0] == "corral" and parts[1].startswith("mayor-")
    return ref.startswith("refs/corral/") or mayor

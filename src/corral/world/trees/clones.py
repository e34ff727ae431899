"""Trees with their own git folder that borrow the repository's objects, for confined sessions.

This is what `git clone --shared` creates, without a remote and with a single branch: other branches
would break when the repository drops their commits. A ref holds the base while the clone exists,
because git does not know who borrows objects.
"""

import os
from os.path import join

from corral.core.refs import BASE_REFS, branch_ref
from corral.world.git.command import own_environment, run
from corral.world.git.tree import Tree
from corral.world.git.view import harmless, put


def set_up(git_dir: str, tree: Tree, commit: str) -> None:
    form = "sha256" if len(commit) == 64 else "sha1"
    command = ["git", "init", "--quiet", "--template=", f"--object-format={form}"]
    command += [f"--initial-branch={tree.branch}", tree.path]
    run(command, git_dir, own_environment())
    os.makedirs(join(tree.git_dir, "objects", "info"), exist_ok=True)
    put(join(tree.git_dir, "objects", "info", "alternates"), join(git_dir, "objects") + "\n")
    ref = join(tree.git_dir, branch_ref(tree.branch))
    os.makedirs(os.path.dirname(ref), exist_ok=True)
    put(ref, f"{commit}\n")
    for key, value in harmless(git_dir):
        if key.startswith("user."):
            command = ["git", "config", "--file", join(tree.git_dir, "config"), key, value]
            run(command, git_dir, own_environment())


def base_ref(tree: Tree) -> str:
    return BASE_REFS + os.path.basename(tree.path)

"""A tree with a git folder of its own that borrows the repository's objects, for confined sessions.

It is what `git clone --shared` makes, without a remote and with the one branch only: other branches
would break when the repository lets go of their commits. The base is held by a ref while the clone
lives, because git does not know who borrows.
"""

import os
from os.path import join

from corral.core.ids import BASE_REFS, branch_ref
from corral.world.git.command import own_environment, run
from corral.world.git.tree import Tree
from corral.world.git.view import View, harmless, put


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


def hold_base(view: View, tree: Tree) -> None:
    view.run("update-ref", _ref(tree), tree.base)


def release_base(view: View, tree: Tree) -> None:
    view.drop(_ref(tree))


def _ref(tree: Tree) -> str:
    return BASE_REFS + os.path.basename(tree.path)

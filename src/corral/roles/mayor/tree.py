"""The working tree in which the mayor's engine reads: a clean one, and nothing in it is used."""

from corral.core.config import Config
from corral.core.errors import NotFound
from corral.core.log.state import State
from corral.core.mayor.state import MayorConversation
from corral.core.refs import branch_ref, mayor_branch
from corral.core.text import LINE, cut
from corral.world.git import Git
from corral.world.git.tree import Tree
from corral.world.repository import Repository
from corral.world.trees import Trees


class MayorTree:
    def __init__(self, repository: Repository, config: Config) -> None:
        self._repository = repository
        self._git = Git(repository.git_dir, repository.worktree)
        trees = config.trees
        self._trees = Trees(repository, place=trees.folder or None, pool=trees.pool)

    def find(self, mayor: MayorConversation) -> Tree | None:
        return self._trees.find(mayor.id)

    def make(self, state: State, mayor: MayorConversation) -> Tree:
        """Return a clean tree at the convoy's trunk, or else at the commit that is checked out."""
        trunk = state.trunks.get(mayor.convoy)
        start = trunk.tip if trunk and trunk.tip else self._checked_out()
        tree = self.find(mayor)
        if tree is not None and tree.exists and tree.base == start:
            return tree
        if tree is not None:
            self.remove(mayor)
        return self._trees.make(mayor.id, mayor_branch(mayor.id), start, kind="clone", fresh=True)

    def written(self, mayor: MayorConversation, tree: Tree) -> tuple[str, ...]:
        """Return the paths that a run has changed, although it must not; undo and keep them."""
        facts = self._trees.facts(tree)
        found = tuple(dict.fromkeys((*facts.dirty, *facts.changed)))
        if found or facts.commits or not facts.exists:
            self.remove(mayor)
        return tuple(cut(path, LINE) for path in found)

    def remove(self, mayor: MayorConversation) -> None:
        tree = self.find(mayor)
        if tree is not None:
            self._trees.remove(tree, f"{mayor.id} may only look")
        ref = branch_ref(mayor_branch(mayor.id))
        if self._repository.has_ref(ref):
            self._git.delete(ref)

    def _checked_out(self) -> str:
        branch = self._repository.branch()
        found = self._git.resolve(branch_ref(branch) if branch else "HEAD")
        if found is None:
            raise NotFound(
                "the repository has no commit yet, so there is nothing to plan", "git commit"
            )
        return found

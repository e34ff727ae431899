"""Sessions' working trees: create, reuse, adopt, list and remove them.

`door` is the interface; `slots` holds the state of each tree, `files` checks out and cleans,
`facts` says what a session has done, `seeds` copies files that git does not track, `trash` deletes.
"""

from corral.world.git.tree import Tree
from corral.world.trees.door import Trees
from corral.world.trees.facts import TreeFacts

__all__ = ["Tree", "TreeFacts", "Trees"]

"""Sessions' working trees: one door to make, reuse, adopt, list and remove them.

`door` is that door; `slots` is what is remembered about each tree, `files` checks out and cleans,
`facts` says what a session has done, `preparing` copies what git does not hold, `trash` deletes.
"""

from corral.world.git.tree import Tree
from corral.world.trees.door import Trees
from corral.world.trees.facts import TreeFacts

__all__ = ["Tree", "TreeFacts", "Trees"]

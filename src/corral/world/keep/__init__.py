"""Never lose work: pins the content of a tree under `refs/corral/keep/…`, and restores it.

`pins` is the interface. `snapshot` turns a tree into commits, `verify` compares them with the disk,
`restore` brings them back.
"""

from corral.world.keep.kept import Kept, Shown
from corral.world.keep.pins import Keep

__all__ = ["Keep", "Kept", "Shown"]

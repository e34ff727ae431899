"""Never lose work: pin what a tree holds under `refs/corral/keep/…`, and bring it back.

`pins` is the door. `snapshot` turns a tree into commits, `verify` reads them back against the disk,
`restoring` undoes it.
"""

from corral.world.keep.kept import Kept, Shown
from corral.world.keep.pins import Keep

__all__ = ["Keep", "Kept", "Shown"]

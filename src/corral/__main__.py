"""The `corral` command. Agents call it all the time, so the first lines are about starting fast."""

import gc
import sys
from types import ModuleType

gc.disable()  # a command is over before there is anything to collect


def _load_msgspec() -> None:
    """Import msgspec without what it loads but does not need: a fifth of a command's time.

    It looks for typing_extensions, and on our Pythons falls back to the same things in typing; and
    it imports uuid, which asks `platform` for the name of the system.
    """
    spared = {"typing_extensions": None, "platform": ModuleType("platform")}
    spared["platform"].system = lambda: "Linux"  # type: ignore[union-attr]
    spared = {name: stub for name, stub in spared.items() if name not in sys.modules}
    sys.modules.update(spared)  # type: ignore[arg-type]  # None means "not to be had"
    import msgspec  # noqa: F401

    for name in spared:
        del sys.modules[name]


if sys.platform == "linux" and "msgspec" not in sys.modules:
    _load_msgspec()

from corral.interfaces.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()

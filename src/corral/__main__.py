"""The `corral` command."""

import sys

# msgspec looks for typing_extensions, though on our Pythons it finds the same in typing; where that
# package is installed, importing it is a tenth of the time of a command.
if "typing_extensions" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # "not to be had"
    import msgspec as _  # noqa: F401 - imported for the moment of importing it

    del sys.modules["typing_extensions"]

from corral.interfaces.cli.main import main  # noqa: E402 - after the lines above

if __name__ == "__main__":
    main()

"""The `corral` command. Agents run it all the time, so this module is about starting fast."""

import gc
import sys
from types import ModuleType

gc.disable()  # a command ends before there is anything to collect


class _Deferred(ModuleType):
    """A module that is imported when one of its attributes is first used."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.loaded(), name)

    def loaded(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        __import__(self.__name__)
        return sys.modules[self.__name__]


def _load_msgspec() -> None:
    """Import msgspec without what it imports but a command does not use: that halves its cost.

    It asks for typing_extensions, and without it uses typing, which has the same on our Pythons.
    Of `datetime` it needs only what is in `_datetime`. typing takes two types from `re`, and
    msgspec one function. No value of ours is a Decimal or a UUID, so msgspec need not know them.
    """
    import _datetime  # type: ignore[import-not-found]  # what `datetime` is made of
    import _sre  # type: ignore[import-not-found]  # what `re` is made of

    nothing = _sre.compile("", 0, [1], 0, {}, ())  # the smallest pattern, to have its type
    deferred = {n: _Deferred(n) for n in ("decimal", "re", "textwrap", "uuid", "warnings")}
    expressions = deferred["re"]
    vars(expressions).update(Pattern=type(nothing), Match=type(nothing.match("")))
    vars(expressions).update(compile=lambda *words: expressions.loaded().compile(*words))
    vars(deferred["decimal"]).update(Decimal=type("Decimal", (), {}))
    vars(deferred["uuid"]).update(
        UUID=type("UUID", (), {}), SafeUUID=type("SafeUUID", (), {"unknown": None})
    )
    stand_ins = {**deferred, "datetime": _datetime, "typing_extensions": None}  # None: not there
    spared = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(spared)
    sys.modules["msgspec.inspect"] = _Deferred("msgspec.inspect")
    import msgspec  # noqa: F401

    for name, module in spared.items():
        if sys.modules.get(name) is module:
            sys.modules.pop(name, None)


def main() -> None:
    """Run one command and exit; the version is said without loading anything else."""
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
        from corral.version import text

        try:
            return print(f"corral {text()}", flush=True)
        except OSError:
            pass  # the command line says what is wrong
    if sys.platform == "linux" and "msgspec" not in sys.modules:
        _load_msgspec()
    from corral.interfaces.cli import main as cli

    cli.main()


if __name__ == "__main__":
    main()

"""Values made of the fields of others."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Struct)
_Plan = list[tuple[list[str], Callable[[object], Any]]]  # for each source: what is copied from it
_plans: dict[type[Struct], _Plan] = {}


def filled(kind: type[T], *sources: object, **more: Any) -> T:
    """Make a value: each field is in `more`, or is copied from the first source that has it.

    A kind must always be made from the same types of sources, with the same names in `more`.
    """
    plan = _plans.get(kind) or _plans.setdefault(kind, _plan(kind, sources, more))
    for source, (names, values) in zip(sources, plan, strict=True):
        more.update(zip(names, values(source), strict=True))
    return kind(**more)


def _plan(kind: type[Struct], sources: Iterable[object], more: Mapping[str, Any]) -> _Plan:
    left = [name for name in kind.__struct_fields__ if name not in more]
    plan: _Plan = []
    for source in sources:
        names = [name for name in left if hasattr(source, name)]
        left = [name for name in left if name not in names]
        names += names[:1] if len(names) == 1 else []  # of one name, it would give no tuple
        plan.append((names, attrgetter(*names)))
    return plan

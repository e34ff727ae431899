"""Values made of the fields of others."""

from collections.abc import Callable, Mapping
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Struct)
_Get = Callable[[Any], tuple[Any, ...]]
_plans: dict[type[Struct], tuple[list[_Get], tuple[Any, ...], _Get]] = {}


def filled(kind: type[T], *sources: object, **more: Any) -> T:
    """Make a value: each field is in `more`, or is copied from the first source that has it.

    A kind must always be made from the same types of sources, with the same names in `more`. What
    none of them has is the same default for all, so it must be a frozen value.
    """
    gets, values, in_order = _plans.get(kind) or _plans.setdefault(kind, _plan(kind, sources, more))
    for get, source in zip(gets, (more, *sources), strict=True):
        values += get(source)
    return kind(*in_order(values))  # by position: by name, it would take three times as long


def _plan(
    kind: type[Struct], sources: tuple[object, ...], more: Mapping[str, Any]
) -> tuple[list[_Get], tuple[Any, ...], _Get]:
    """Return what to take from `more` and each source, and how to put it in the fields' order."""
    found = dict(more)
    gets = [_tuple(itemgetter, list(more))]
    for source in sources:
        new = [n for n in kind.__struct_fields__ if n not in found and hasattr(source, n)]
        gets.append(_tuple(attrgetter, new))
        found |= {name: getattr(source, name) for name in new}
    defaults = [name for name in kind.__struct_fields__ if name not in found]
    first, given = kind(**found), [*defaults, *found]
    in_order = _tuple(itemgetter, [given.index(name) for name in kind.__struct_fields__])
    return gets, tuple(getattr(first, name) for name in defaults), in_order


def _tuple(getter: Any, names: list[Any]) -> _Get:
    """Return a getter that gives a tuple, even of one name or none."""
    if len(names) > 1:
        get: _Get = getter(*names)
        return get
    alone = [getter(name) for name in names]
    return lambda source: tuple(get(source) for get in alone)

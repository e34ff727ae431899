"""Path patterns: what a task declares and a lease names, and whether two of them can collide.

A pattern covers every path it matches, and all below one if its last segment looks like a folder:
no wildcard, and no dot after its first character. So `src/auth` and `.github` cover what is below;
`docs/*` and `v1.2` do not, but `v1.2/` does: it stands for `v1.2/**`, which `v1.2` itself matches.
A name is any non-empty run of characters other than `/` and NUL. Only `problem` takes arbitrary
text: the others assume a pattern it found nothing wrong with, and may raise ValueError otherwise.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from itertools import takewhile
from typing import TypeVar

Token = TypeVar("Token", bound=Hashable)
Ranges = tuple[tuple[int, int], ...]
"""Inclusive code point ranges; ascending and disjoint once they have been through `_outside`."""

MAX_LENGTH = 1024
MAX_SEGMENTS = 64

_LAST = 0x10FFFF
_NOT_IN_NAMES: Ranges = ((0, 0), (ord("/"), ord("/")))
_DEEP = "**"
_STAR: Ranges = ()  # no class is ever empty, which leaves the empty one free to stand for `*`


def problem(pattern: str) -> str | None:
    """Say in one short phrase why a pattern cannot be used, or None if it can."""
    if not pattern:
        return "empty"
    # Measured as `normal` will spell it, or the canonical spelling could itself be refused.
    pattern = _spelled_out(pattern)
    if len(pattern) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    # The two separators end a line for many readers of a log, so they are as harmful as a newline.
    if any(c < " " or "\x7f" <= c <= "\x9f" or c in "\u2028\u2029" for c in pattern):
        return "contains a control character"
    if _is_absolute(pattern):
        return "absolute, not relative to the repository"
    if "\\" in pattern:
        return "contains a backslash"
    segments = pattern.split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} segments"
    return next(filter(None, map(_segment_problem, segments)), None)


def normal(pattern: str) -> str:
    """Return the canonical spelling: no `.` segments, no repeated `**`, `/**` for a final `/`."""
    return "/".join(_segments(pattern))


def fixed(pattern: str) -> tuple[str, ...]:
    """Return the segments before the first one with a wildcard."""
    return tuple(takewhile(_is_literal, _segments(pattern)))


def matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern covers a path; nothing covers a path that leaves the repository."""
    names = [name for name in path.split("/") if name and name != "."]
    if path.startswith("/") or ".." in names or "\0" in path:
        return False
    return _fit(_reach(pattern), names)


def overlaps(a: str, b: str) -> bool:
    """Tell, exactly, whether some path is covered by both patterns."""
    left, right = _reach(a), _reach(b)
    # Up to the first `**` names stand opposite each other, and nearly every pair is decided there.
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if _DEEP in (one, other):
            return _tails_meet(left[at:], right[at:])
        if one != other and not _can_agree(one, other):
            return False
    return len(left) == len(right) or (left[len(right) :] or right[len(left) :]) == (_DEEP,)


def _is_absolute(pattern: str) -> bool:
    # Looked for behind `./` too, or the canonical spelling of `./~x` would itself be refused.
    while pattern.startswith("./"):
        pattern = pattern[2:]
    drive = pattern[:1].isascii() and pattern[:1].isalpha() and pattern[1:3] in (":\\", ":/")
    return drive or pattern.startswith(("/", "~"))


def _segment_problem(segment: str) -> str | None:
    if not segment:
        return "contains an empty segment"
    if segment == "..":
        return "contains a `..` segment"
    if segment.lower() == ".git":
        return "names `.git`"
    if segment != _DEEP:
        try:
            _tokens(segment)
        except ValueError as error:
            return str(error)
    return None


def _spelled_out(pattern: str) -> str:
    return pattern + _DEEP if pattern.endswith("/") else pattern


def _segments(pattern: str) -> tuple[str, ...]:
    parts = _spelled_out(pattern).split("/")
    if "." not in parts and _DEEP not in parts:
        return tuple(parts)
    kept: list[str] = []
    for part in parts:
        repeated = part == _DEEP and kept[-1:] == [_DEEP]
        if part != "." and not repeated:
            kept.append(part)
    return tuple(kept) or (_DEEP,)


@lru_cache(4096)
def _reach(pattern: str) -> tuple[str, ...]:
    """Return segments that match exactly the paths the pattern covers."""
    segments = _segments(pattern)
    last = segments[-1]
    return (*segments, _DEEP) if _is_literal(last) and "." not in last[1:] else segments


def _fit(segments: tuple[str, ...], names: list[str]) -> bool:
    # On a mismatch the latest `**` swallows one more name. Earlier ones need no second chance: they
    # took the first place where what follows them fits, and a later place leaves fewer names.
    at = taken = swallowed = 0
    anchor = -1
    while taken < len(names):
        if at < len(segments) and segments[at] == _DEEP:
            anchor, swallowed, at = at, taken, at + 1
        elif at < len(segments) and _fits(segments[at], names[taken]):
            at, taken = at + 1, taken + 1
        elif anchor < 0:
            return False
        else:
            swallowed += 1
            at, taken = anchor + 1, swallowed
    return segments[at:] in ((), (_DEEP,))


def _is_literal(segment: str) -> bool:
    return not ("*" in segment or "?" in segment or "[" in segment)


def _fits(segment: str, name: str) -> bool:
    if _is_literal(segment):
        return segment == name
    return _names_meet(_tokens(segment), tuple(_only(char) for char in name))


def _can_agree(left: str, right: str) -> bool:
    # Two literals are by far the commonest pair; they must not crowd the cache.
    if _is_literal(left) and _is_literal(right):
        return left == right
    return _globs_agree(left, right)


@lru_cache(4096)
def _globs_agree(left: str, right: str) -> bool:
    return _names_meet(_tokens(left), _tokens(right))


def _names_meet(left: tuple[Ranges, ...], right: tuple[Ranges, ...]) -> bool:
    return _meet(left, right, _STAR, _is_one, _share)


def _tails_meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    if left == (_DEEP,) or right == (_DEEP,):
        return True
    if _DEEP not in (left[-1], right[-1]) and not _can_agree(left[-1], right[-1]):
        return False
    return _meet(left, right, _DEEP, _is_literal, _can_agree)


def _meet(
    left: tuple[Token, ...],
    right: tuple[Token, ...],
    star: Token,
    is_one: Callable[[Token], bool],
    share: Callable[[Token, Token], bool],
) -> bool:
    """Tell whether some sequence fits both, in one step per token of `left`, however many stars.

    It serves twice: names are sequences of characters, and paths are sequences of names.
    Bit j of `reached` says that a sequence can have used up the first j tokens of `right`. Neither
    side has two stars in a row, so stepping over a star is one shift and not a loop.
    """
    places: dict[Token, int] = {}
    for place, token in enumerate(right):
        places[token] = places.get(token, 0) | 1 << place
    stars = places.pop(star, 0)
    wide = {token: where for token, where in places.items() if not is_one(token)}
    every = (2 << len(right)) - 1
    fitting: dict[Token, int] = {}
    reached = 1 | (1 & stars) << 1
    for token in left:
        if token == star:
            # It can stand for whatever `right` wants next: every later position is in reach.
            reached = every & -(reached & -reached)
            continue
        if token not in fitting:
            # A token for one thing meets only itself and wide ones: no need to try all the others.
            itself, others = (places.get(token, 0), wide) if is_one(token) else (0, places)
            fitting[token] = itself + sum(others[other] for other in others if share(token, other))
        reached = (reached & fitting[token]) << 1 | (reached & stars)
        reached |= (reached & stars) << 1
        if not reached:
            return False
    return bool(reached >> len(right))


def _is_one(token: Ranges) -> bool:
    return token[0][0] == token[-1][1]


def _share(a: Ranges, b: Ranges) -> bool:
    return any(low <= top and bottom <= high for low, high in a for bottom, top in b)


@lru_cache(4096)
def _tokens(segment: str) -> tuple[Ranges, ...]:
    """Read a segment other than `**` into character sets and stars; ValueError says what is bad."""
    tokens: list[Ranges] = []
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "[":
            token, at = _class(segment, at)
        elif char == "*":
            if tokens and tokens[-1] == _STAR:
                raise ValueError("mixes `**` with other text in a segment")
            token = _STAR
        else:
            token = _ANY if char == "?" else _only(char)
        tokens.append(token)
    return tuple(tokens)


def _class(segment: str, start: int) -> tuple[Ranges, int]:
    """Read the class whose `[` is just before `start`; also return where its `]` ends."""
    negated = segment[start : start + 1] in ("!", "^")
    start += negated
    end = segment.find("]", start)
    if end < 0:
        raise ValueError("unclosed `[`")
    if end == start:
        # Shells disagree whether `[]a]` holds a `]`; refusing it beats guessing.
        raise ValueError("empty class `[]`")
    listed = _listed(segment[start:end])
    excluded = listed if negated else _outside(listed)
    return _outside(excluded + _NOT_IN_NAMES), end + 1


def _listed(body: str) -> Ranges:
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(body):
        is_range = body[at + 1 : at + 2] == "-" and at + 2 < len(body)
        low, high = body[at], body[at + 2 if is_range else at]
        if low > high:
            raise ValueError(f"reversed range `{low}-{high}`")
        ranges.append((ord(low), ord(high)))
        at += 3 if is_range else 1
    return tuple(ranges)


def _outside(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    free = 0
    for low, high in sorted(ranges):
        if free < low:
            gaps.append((free, low - 1))
        free = max(free, high + 1)
    if free <= _LAST:
        gaps.append((free, _LAST))
    return tuple(gaps)


def _only(char: str) -> Ranges:
    return ((ord(char), ord(char)),)


_ANY = _outside(_NOT_IN_NAMES)

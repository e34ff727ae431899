"""Path patterns against tables of examples, a slow independent matcher, and brute force."""

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from types import FrameType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corral.core import paths

Segment = tuple[str, ...]
Pattern = tuple[Segment, ...]

ANY_DEPTH: Segment = ("**",)
MEANING = {"a": "a", "b": "b", ".": ".", "?": "abc.", "[ab]": "ab", "[!a]": "bc."}
TOKENS = (*MEANING, "*")


def names_upto(length: int, letters: str) -> list[str]:
    return ["".join(name) for n in range(1, length + 1) for name in product(letters, repeat=n)]


def written(pattern: Pattern) -> str:
    return "/".join("".join(segment) for segment in pattern)


def is_usable(segment: Segment) -> bool:
    return "**" not in "".join(segment) and "".join(segment) not in (".", "..")


SEGMENTS = [s for n in (1, 2, 3) for s in product(TOKENS, repeat=n) if is_usable(s)]
LITERALS = [s for s in SEGMENTS if set(s) <= set("ab.")]

any_segment = st.sampled_from(SEGMENTS) | st.sampled_from(LITERALS) | st.just(ANY_DEPTH)
patterns = st.lists(any_segment, min_size=1, max_size=4).map(tuple)
real_names = st.text("abc.", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
real_paths = st.lists(real_names, min_size=1, max_size=6)


@lru_cache(None)
def slow_fits(segment: Segment, name: str) -> bool:
    if not segment:
        return not name
    head, rest = segment[0], segment[1:]
    if head == "*":
        return any(slow_fits(rest, name[cut:]) for cut in range(len(name) + 1))
    return name != "" and name[0] in MEANING[head] and slow_fits(rest, name[1:])


@lru_cache(100_000)
def slow_matches(pattern: Pattern, names: tuple[str, ...]) -> bool:
    if not pattern:
        return not names
    head, rest = pattern[0], pattern[1:]
    if head == ANY_DEPTH:
        return any(slow_matches(rest, names[cut:]) for cut in range(len(names) + 1))
    return bool(names) and slow_fits(head, names[0]) and slow_matches(rest, names[1:])


def is_folder(pattern: Pattern) -> bool:
    return pattern[-1] in LITERALS and "." not in pattern[-1][1:]


def slow_covers(pattern: Pattern, names: tuple[str, ...]) -> bool:
    above = [names[:cut] for cut in range(len(names))] if is_folder(pattern) else []
    return any(slow_matches(pattern, path) for path in (*above, names))


def witnesses(a: Pattern, b: Pattern) -> Iterator[tuple[str, ...]]:
    """Return paths of which one is covered by both patterns if any path at all is.

    Letters: every non-empty intersection of the token meanings holds `a`, `b` or `.`.
    Name length: a letter taken by a star on both sides can be left out, so with stars on both
    sides a name needs no more letters than there are other tokens, 2 + 2; else 3 tokens fix it.
    Depth: a pattern's own segments take one name each; `**` and the "below" rule, where there is
    one, take any others. A pattern with neither fixes the depth. Else a name that both sides take
    by such means can be left out, so each name left is taken by a segment of one or of the other.
    Choice of names: a name that fits a superset of the segments another fits can replace it
    anywhere, so one name for each maximal set of fitted segments is enough.
    """
    segments = {segment for segment in a + b if segment != ANY_DEPTH}
    fitted = {
        frozenset(segment for segment in segments if slow_fits(segment, name)): name
        for name in names_upto(4, "ab.")
    }
    names = [name for fits, name in fitted.items() if not any(fits < more for more in fitted)]
    fixed = {len(p) for p in (a, b) if ANY_DEPTH not in p and not is_folder(p)}
    named = len(a) + len(b) - (a + b).count(ANY_DEPTH)
    depths = fixed or range(named + 1)
    return (path for depth in depths for path in product(names, repeat=depth))


@pytest.mark.parametrize(
    ("phrase", "bad"),
    [
        ("empty", [""]),
        ("absolute", ["/", "/etc/x", "C:\\x", "c:/x", "~", "~me/x", "././~me", ".//etc"]),
        ("`..`", ["..", "a/../b", "./../b", "a/.."]),
        ("empty segment", ["a//b", "a//", "a/.//b"]),
        ("backslash", ["a\\b", "a[\\]]"]),
        ("control", [f"a{c}b" for c in "\0\t\n\r\x1b\x1f\x7f\x80\x85\x9f\u2028\u2029"]),
        ("longer than 1024", ["a" * 1025, "a" * 1022 + "/"]),
        ("unclosed `[`", ["[", "a[bc", "a[!", "a[b/c]d"]),
        ("empty class", ["[]", "a[!]", "a[^]b", "[]a]"]),
        ("reversed range `z-y`", ["[z-y]", "x/[a-cz-y]", "[!z-y]"]),
        ("mixes `**`", ["a**b", "a/**b", "a**/b", "***", "****"]),
        ("`.git`", [".git", "a/.GIT/hooks", "./.Git/", "**/.git"]),
        ("more than 64 segments", ["/".join("a" * 65), "a/" * 64]),
    ],
)
def test_a_bad_pattern_is_refused_with_its_reason(phrase: str, bad: list[str]) -> None:
    assert [pattern for pattern in bad if phrase not in (paths.problem(pattern) or "")] == []


UNCHANGED = "a?c/[ab].py [!a-c][^x] [**] a]b .github/.gitignore a~/ü ... " + "a" * 1024


@pytest.mark.parametrize(
    ("canonical", "others"),
    [
        ("a/b", ["./a/b", "././a/./b/."]),
        ("src/auth/**", ["src/auth/", "./src/auth/./", "src/auth/**/"]),
        ("v1.2/**", ["v1.2/"]),
        ("**", [".", "./", "**/", "**/./**"]),
        ("a/**/b c", ["a/**/**/b c"]),
        ("a/" * 63 + "**", ["a/" * 63]),
        ("a" * 1021 + "/**", ["a" * 1021 + "/"]),
        *((same, []) for same in UNCHANGED.split()),
    ],
)
def test_a_good_pattern_has_one_spelling(canonical: str, others: list[str]) -> None:
    for pattern in (canonical, *others):
        assert paths.problem(pattern) is None
        assert paths.normal(pattern) == canonical


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        ("auth/tokens.py", "auth/tokens.py ./auth/tokens.py", "auth auth/tokens.py/x tokens.py"),
        ("src/auth", "src/auth src/auth/ src/auth/x.py src/auth/x/y", "src src/author a/src/auth"),
        ("Makefile", "Makefile Makefile/x", "makefile"),
        (".github", ".github .github/x/y.yml", "github"),
        ("v1.2", "v1.2 v1.2/", "v1.2/x v1.20"),
        ("v1.2/", "v1.2 v1.2/x v1.2/x/y.z", "v1.20 v1"),
        ("a/**", "a a/x a/x/y", "b ab"),
        (".", "a a/b .", "/a ../a"),
        ("docs/*.md", "docs/a.md docs/.md", "docs/a.md/x docs/a/b.md docs/a.txt docs a.md"),
        ("*", "a .hidden", "/a a/b a/../b a\0 ."),
        ("a?c", "abc a-c a?c", "ac abbc a/c"),
        ("[ab].py", "a.py b.py", "c.py ab.py [ab].py"),
        ("[!ab]", "c ! é", "a b cc"),
        ("[^ab]", "c ^", "a b"),
        ("[a-c-e]", "b - e", "d"),
        ("[a-cx]", "a b c x", "d - w"),
        ("[a-][-a]", "aa -- a- -a", "b a ab"),
        ("[a!^]", "a ! ^", "b"),
        ("[[]x", "[x", "x"),
        ("[.-0]", "0", "1 /"),
        ("[*?]", "* ?", "a"),
        ("**/x", "x a/x a/b/x a/x/below", "a xx a/xx"),
        ("a/**/b", "a/b a/x/b a/x/y/b a/b/c", "a b x/a/b"),
        ("**/a/b/**/c", "a/b/c a/a/b/x/c a/x/a/b/c/d", "a/c a/x/b/c"),
        ("x/a/**/a/b", "x/a/a/b x/a/y/a/b", "x/a/b"),
    ],
)
def test_coverage(pattern: str, covered: str, not_covered: str) -> None:
    assert [path for path in covered.split() if not paths.matches(pattern, path)] == []
    assert [path for path in not_covered.split() if paths.matches(pattern, path)] == []


@pytest.mark.parametrize(
    ("pattern", "overlapping", "apart"),
    [
        ("src/auth/**", "src/auth src/auth/tokens.py src ./src/", "src/authors/x.py src/x.py"),
        ("src/auth", "src src/auth/x.py src/auth/**/x.py **", "src/authors Src/auth auth"),
        (".", "anything/at/all **/x.py *", ""),
        ("v1.2/", "v1.2 v1.2/x v1.2/**/x.py", "v1.20"),
        ("v1.2", "v1.2/** **/v1.2 v?.?", "v1.2/x v1.2/**/x"),
        ("docs/*", "docs docs/a docs/**/b.md", "docs/a/b.md docs/*/* docs.md"),
        ("docs/*.md", "docs docs/a* */a.md", "docs/*.txt docs/sub/x.py docs/a.md/x"),
        ("src/*.py", "src/a?py", "src/*.md"),
        ("docs/**/*.md", "docs docs/a.md docs/a docs/a/b/c.md **/a*", "docs/a.txt docs/a/b.txt a"),
        ("**/x.py", "src src/x.py x.py **/?.py **/*", "docs/y.md **/y.py src/*.md x.py/y.md"),
        ("**/a/x.py", "b/**/?/x.py a a/b */x.py **/a/*/x.py", "a/b/x.py **/b/x.py x.py"),
        ("a/**/b", "a/b a/x a/x/b a/**/x/**/b **/x", "b/b a/c.py x/**/b"),
        ("a/**/b/**/c.py", "a/b/c.py a/**/b a/*/c/c.py */*/*/c.py", "a/c.py a/x/c.py a/*/*.md"),
        ("a*b", "ab*", "ab*c"),
        ("*a", "b*", "b*c"),
        ("?", "?* [a]", "?? a*a"),
        ("[.-0]", "[!.]", "[!.0]"),
        ("[ab]", "[^[a]", "[[]ab]"),
    ],
)
def test_overlap(pattern: str, overlapping: str, apart: str) -> None:
    for other in (*overlapping.split(), *apart.split()):
        expected = other in overlapping.split()
        assert paths.overlaps(pattern, other) is expected, other
        assert paths.overlaps(other, pattern) is expected, other


@given(st.text("aG.git~/*?[]!^-:\\é\n", max_size=12))
def test_the_canonical_spelling_is_itself_good_and_final(text: str) -> None:
    assume(paths.problem(text) is None)
    canonical = paths.normal(text)
    assert paths.problem(canonical) is None
    assert paths.normal(canonical) == canonical
    assert paths.overlaps(text, canonical)


@given(patterns, real_paths)
def test_matches_agrees_with_a_slow_matcher(pattern: Pattern, names: list[str]) -> None:
    assert paths.matches(written(pattern), "/".join(names)) == slow_covers(pattern, tuple(names))


@given(patterns, patterns)
def test_overlap_is_symmetric_and_reflexive(a: Pattern, b: Pattern) -> None:
    assert paths.overlaps(written(a), written(b)) == paths.overlaps(written(b), written(a))
    assert paths.overlaps(written(a), written(a))


def test_overlap_of_single_segments_agrees_with_brute_force_for_every_pair() -> None:
    names = names_upto(4, "ab.")  # why these suffice: see `witnesses`
    fitted = {"".join(s): frozenset(n for n in names if slow_fits(s, n)) for s in SEGMENTS}
    for a, b in product(fitted, fitted):
        assert paths.overlaps(a, b) != fitted[a].isdisjoint(fitted[b]), (a, b)


@settings(deadline=None, max_examples=300)
@given(patterns, patterns)
def test_overlap_agrees_with_brute_force(a: Pattern, b: Pattern) -> None:
    shared = any(slow_covers(a, path) and slow_covers(b, path) for path in witnesses(a, b))
    assert paths.overlaps(written(a), written(b)) == shared


# Code points stand for themselves up to DEL; one beyond stands for all that no class below lists.
ASCII = frozenset(map(chr, range(1, 128))) - {"/"} | {"é"}
listable = st.sampled_from([chr(c) for c in range(32, 127) if chr(c) not in "/\\]!^-"])
ranges = st.lists(st.tuples(listable, listable).map(sorted), min_size=1, max_size=4)


def class_of(pairs: list[list[str]], negation: str) -> tuple[str, frozenset[str]]:
    chosen = frozenset(c for c in ASCII if any(low <= c <= high for low, high in pairs))
    text = "[" + negation + "".join(f"{low}-{high}" for low, high in pairs) + "]"
    return text, ASCII - chosen if negation else chosen


classes = st.builds(class_of, ranges, st.sampled_from(["", "!", "^"]))


@given(classes, classes)
def test_classes_are_sets(a: tuple[str, frozenset[str]], b: tuple[str, frozenset[str]]) -> None:
    assert paths.overlaps(a[0], b[0]) == bool(a[1] & b[1])
    # A path `.` is the root, not a name, so it is asked about with a letter behind it.
    assert {c for c in ASCII if paths.matches(a[0] + "x", c + "x")} == a[1]


class TooManySteps(Exception):
    """An exponential search would never end, so the count has to end it."""


def within(limit: int, question: Callable[[], bool]) -> bool:
    left = iter(range(limit))

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        if next(left, None) is None:
            raise TooManySteps(limit)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return question()
    finally:
        sys.settrace(before)


def test_many_stars_take_few_steps() -> None:
    stars, deep = "*a" * 500, "**/a/" * 30
    assert within(50_000, lambda: paths.overlaps(stars + "*", "*b" * 500 + "*"))
    assert not within(50_000, lambda: paths.overlaps(stars + "c", "*b" * 500 + "d"))
    assert not within(50_000, lambda: paths.matches(stars + "c", "a" * 1000))
    assert not within(50_000, lambda: paths.matches(deep + "c", "a/" * 1000))
    assert within(5_000, lambda: paths.overlaps(deep + "**/c.x", "**/b/" * 30 + "**/c.x"))
    assert not within(5_000, lambda: paths.overlaps(deep + "c.x", "a/" * 60 + "b/c.x"))
    left = "".join(f"**/*{n}*x?{n}/" for n in range(30)) + "**/c.x"
    right = "".join(f"**/?{n}*y?{n}/" for n in range(30)) + "**/c.x"
    assert within(500_000, lambda: paths.overlaps(left, right))
    assert not within(500_000, lambda: paths.overlaps(left, right.replace("**", "b.b")))

"""Ids are readable and never reused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core import ids


@pytest.mark.parametrize(
    ("title", "slug", "prefix"),
    [
        ("Auth fix", "auth-fix", "AF"),
        ("Refactor auth to JWT", "refactor-auth-to-jwt", "RATJ"),
        ("One two three four five", "one-two-three-four-five", "OTTF"),
        ("Login", "login", "LOG"),
        ("ab", "ab", "AB"),
        ("2024 budget", "2024-budget", "BUD"),
        ("3D printing", "3d-printing", "C3P"),
        ("42", "42", "C"),
        ("Überholspur für Äpfel", "uberholspur-fur-apfel", "UFA"),
        ("日本語", "convoy", "C"),
        ("../../etc/passwd --force", "etc-passwd-force", "EPF"),
        ("x" * 100, "x" * 40, "XXX"),
    ],
)
def test_a_convoy_is_named_after_its_title(title: str, slug: str, prefix: str) -> None:
    assert ids.slug(title, ()) == slug
    assert ids.prefix(title, ()) == prefix


def test_a_taken_slug_gets_a_number() -> None:
    assert ids.slug("Auth fix", {"auth-fix", "auth-fix-2"}) == "auth-fix-3"


def test_a_taken_prefix_gets_letters_because_a_digit_would_read_like_a_task() -> None:
    taken = {"AF", *(f"AF{chr(letter)}" for letter in range(ord("A"), ord("Z")))}
    assert ids.prefix("Auth fix", {"AF"}) == "AFA"
    assert ids.prefix("Auth fix", taken) == "AFZ"
    assert ids.prefix("Auth fix", {*taken, "AFZ"}) == "AFAA"


def test_a_slug_that_is_cut_does_not_end_in_a_dash() -> None:
    assert ids.slug("a" * 39 + " tail", ()) == "a" * 39


def test_a_task_id_is_its_prefix_and_its_number() -> None:
    assert ids.task_id("AF", 12) == "AF-12"


@given(st.lists(st.text(max_size=60), max_size=30))
def test_whatever_the_titles_ids_are_distinct_and_plain(titles: list[str]) -> None:
    slugs: list[str] = []
    prefixes: list[str] = []
    for title in titles:
        slugs.append(ids.slug(title, slugs))
        prefixes.append(ids.prefix(title, prefixes))
    assert len(set(slugs)) == len(set(prefixes)) == len(titles)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in slugs)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]*", prefix) for prefix in prefixes)

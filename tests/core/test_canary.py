"""The files that are broken on purpose: sources, and neither tests nor what tools need."""

import pytest

from corral.core.canary import BROKEN, mentions, names, packages, targets

PLAIN, EXECUTABLE, LINK, MODULE = "100644", "100755", "120000", "160000"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/pkg/__init__.py", "source"),
        ("pkg/contest.py", "source"),
        ("lib/a.ts", "source"),
        ("main.go", "source"),
        ("web/App.vue", "source"),
        ("tools/run.sh", "source"),
        ("tests/test_a.py", "test"),
        ("tests/helper.py", "test"),
        ("conftest.py", "test"),
        ("src/pkg/test_a.py", "test"),
        ("a_test.go", "test"),
        ("src/a.spec.ts", "test"),
        ("AppTest.java", "test"),
        ("ci/check.sh", "test"),  # a check runs it
        ("selftest.py", "test"),  # likewise
        ("setup.py", ""),
        ("docs/conf.py", ""),
        ("noxfile.py", ""),
        ("vite.config.ts", ""),
        ("karma.conf.js", ""),
        ("build.rs", ""),
        (".github/run.js", ""),
        (".eslintrc.js", ""),
        ("fixtures/a.py", ""),
        ("src/__mocks__/a.js", ""),
        ("README.md", ""),
        ("package.json", ""),
        ("Makefile", ""),
    ],
)
def test_choice(path: str, kind: str) -> None:
    modes = {"a.py": PLAIN, path: PLAIN}
    found = targets(modes, ["ci/check.sh --fast && python ./selftest.py"])
    assert (path in found.sources, path in found.tests) == (kind == "source", kind == "test")


def test_a_program_that_a_check_runs_is_a_source_if_there_is_no_other() -> None:
    assert targets({"selftest.py": PLAIN}, ["./selftest.py"]).sources == ("selftest.py",)


def test_only_plain_files_are_chosen() -> None:
    modes = {"a.py": LINK, "b.py": MODULE, "tool": EXECUTABLE, "LICENSE": PLAIN}
    assert targets(modes, []).sources == ("tool",)


def test_tests_mention_sources_by_their_names() -> None:
    found = names(["src/calc/__init__.py", "money/src/index.js", "src/pkg/a.py", "main.py", "x.py"])
    assert found == {"calc", "money", "pkg"}
    assert mentions("from calc import add", found)
    assert mentions('require("money")', found)
    assert not mentions("calculate(); moneybag", found)


def test_packages_have_the_names_that_python_imports() -> None:
    assert packages(["src/calc/deep/a.py", "one.py", "src/two.py", "x-y/b.py", "a.js"]) == {
        "src": "calc/deep/a.py",
        "calc": "deep/a.py",
        "deep": "a.py",
        "one": "one.py",
        "two": "two.py",
    }


def test_broken_code_is_no_python() -> None:
    with pytest.raises(SyntaxError):
        compile(BROKEN, "broken.py", "exec")

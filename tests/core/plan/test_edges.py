"""Stated dependencies, inferred ones with their reasons, waves, and the critical path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core import paths
from corral.core.plan.edges import Graph, graph_of
from corral.core.plan.order import critical, waves
from corral.core.plan.schema import Plan
from tests.core.plan.plans import plan, task


def inferred(made: Plan) -> list[tuple[str, str, str]]:
    return [(edge.task, edge.need, edge.reason) for edge in graph_of(made).edges if edge.reason]


@pytest.mark.parametrize(
    ("test", "module"),
    [
        ("tests/test_tokens.py", "auth/tokens.py"),
        ("test_tokens.py", "tokens.py"),
        ("auth/tokens_test.py", "auth/tokens.py"),
        ("auth/tokens_test.go", "auth/tokens.go"),
        ("src/tokens.spec.ts", "src/tokens.ts"),
        ("src/tokens.test.tsx", "src/tokens.ts"),
        ("src/__tests__/tokens.js", "src/tokens.js"),
        ("spec/tokens_spec.rb", "lib/tokens.rb"),
        ("src/test/java/a/TokensTest.java", "src/main/java/a/Tokens.java"),
        ("test/tokens_test.exs", "lib/tokens.ex"),
        ("tests/tokens.rs", "src/tokens.rs"),
        ("tests/auth/**", "src/auth/**"),
        ("tests/test_auth.py", "auth/"),
        ("tests/test_auth.py", "auth/__init__.py"),
    ],
)
def test_tests_of_a_module_come_after_the_module(test: str, module: str) -> None:
    tasks = (task("t", paths=(test,)), task("m", paths=(module,)))
    assert inferred(plan(*tasks)) == [("t", "m", f"{test} has the tests of {module}")]
    assert inferred(plan(*tasks, tests="apart")) == []


@pytest.mark.parametrize(
    ("test", "module"),
    [
        ("tests/test_tokens.py", "auth/token.py"),
        ("tests/test_tokens.py", "auth/tokens.go"),
        ("docs/tokens.md", "auth/tokens.py"),
        ("tests/**", "src/**"),
        ("tests/conftest.py", "src/a.py"),
    ],
)
def test_other_names_say_nothing(test: str, module: str) -> None:
    assert inferred(plan(task("t", paths=(test,)), task("m", paths=(module,)))) == []


def test_the_folders_tell_which_of_two_modules_is_tested() -> None:
    made = plan(
        task("shop", paths=("src/shop/models.py",)),
        task("auth", paths=("src/auth/models.py",)),
        task("t", paths=("tests/auth/test_models.py",)),
    )
    assert [edge[:2] for edge in inferred(made)] == [("t", "auth")]


def test_overlapping_tasks_follow_each_other_in_the_order_of_the_plan() -> None:
    made = plan(
        task("a", paths=("src/auth/**",)),
        task("b", paths=("docs/**", "src/auth/tokens.py")),
        task("c", paths=("src/auth/**",)),
        task("d", paths=("web/**",)),
    )
    assert inferred(made) == [
        ("b", "a", "src/auth/** and src/auth/tokens.py overlap"),
        ("c", "b", "src/auth/tokens.py and src/auth/** overlap"),
    ]
    assert waves(graph_of(made)) == (("a", "d"), ("b",), ("c",))


def test_the_more_urgent_one_goes_first_and_stated_needs_go_before_that() -> None:
    urgent = plan(task("a", paths=("x",)), task("b", paths=("x",), priority=5))
    assert inferred(urgent) == [("a", "b", "both may change x")]
    stated = plan(task("a", paths=("x",)), task("b", "a", paths=("x",), priority=5))
    assert inferred(stated) == []


def test_what_has_started_waits_for_nothing_any_more() -> None:
    made = plan(task("a", paths=("x",)), task("b", paths=("x",)))
    edges = graph_of(made, frozenset({"b"})).edges
    assert [(edge.task, edge.need) for edge in edges] == [("a", "b")]


def test_by_policy_or_by_name_they_may_run_beside_each_other() -> None:
    tasks = task("a", paths=("x",)), task("b", paths=("x",))
    allowed = graph_of(plan(*tasks, overlap="allow"))
    assert not allowed.edges
    assert [(o.first, o.second, o.paths) for o in allowed.overlaps] == [("a", "b", ("x", "x"))]
    named = graph_of(plan(tasks[0], task("b", paths=("x",), beside=("a",))))
    assert (named.edges, named.overlaps) == ((), allowed.overlaps)


PATTERNS = ("src/**", "src/a.py", "src/b.py", "src/*.py", "tests/test_a.py", "tests/**", "docs")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan without stated cycles: a task needs only ones that a shuffled order puts before."""
    size = draw(st.integers(1, 10))
    order = draw(st.permutations(range(size)))
    tasks = {}
    for at, number in enumerate(order):
        needs = draw(st.sets(st.sampled_from(order[:at]), max_size=3)) if at else set()
        chosen = draw(st.sets(st.sampled_from(PATTERNS), max_size=2))
        tasks[number] = task(
            f"t{number}",
            *(f"t{need}" for need in sorted(needs)),
            paths=tuple(sorted(chosen)),
            priority=draw(st.integers(0, 2)),
        )
    return plan(*(tasks[number] for number in range(size)))


def above(graph: Graph) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key in graph.rank:  # fails with a KeyError if the rank is not an order of the graph
        needs = [edge.need for edge in graph.needs(key)]
        found[key] = set(needs).union(*(found[need] for need in needs))
    return found


@given(plans())
def test_any_graph_is_an_order_in_which_no_two_overlapping_tasks_run_at_once(made: Plan) -> None:
    graph = graph_of(made)
    waits = above(graph)
    assert set(waits) == {one.key for one in made.tasks}
    assert all(key not in waits[key] for key in waits)
    for one in made.tasks:
        assert set(one.needs) <= waits[one.key]
        for other in made.tasks:
            overlap = any(paths.overlaps(a, b) for a in one.paths for b in other.paths)
            if one.key < other.key and overlap:
                assert one.key in waits[other.key] or other.key in waits[one.key]


@given(plans())
def test_no_inferred_need_repeats_what_the_others_imply(made: Plan) -> None:
    graph = graph_of(made)
    waits = above(graph)
    for edge in graph.edges:
        if edge.reason.endswith(" overlap") or edge.reason.startswith("both may change"):
            assert not any(edge.need in waits[other.need] for other in graph.needs(edge.task))


@given(plans())
def test_waves_and_the_critical_path_fit_the_graph(made: Plan) -> None:
    graph = graph_of(made)
    found = waves(graph)
    number = {key: at for at, keys in enumerate(found) for key in keys}
    for key in graph.rank:
        needs = [number[edge.need] for edge in graph.needs(key)]
        assert number[key] == 1 + max(needs, default=-1)
    longest = critical(made, graph)
    assert (longest.length, longest.unit) == (len(found), "tasks")
    pairs = {(edge.need, edge.task) for edge in graph.edges}
    assert set(zip(longest.keys, longest.keys[1:], strict=False)) <= pairs


def test_the_critical_path_is_in_minutes_if_every_task_has_some() -> None:
    tasks = [task("a", minutes=5), task("b", "a", minutes=5), task("c", minutes=60)]
    made = plan(*tasks)
    longest = critical(made, graph_of(made))
    assert (longest.keys, longest.length, longest.unit) == (("c",), 60, "minutes")
    partly = plan(task("a"), *tasks[1:])
    assert critical(partly, graph_of(partly)).keys == ("a", "b")


def test_the_largest_plan_of_one_path_is_a_chain() -> None:
    made = plan(*(task(f"t{n}", paths=("src/**", f"x/{n}")) for n in range(500)))
    graph = graph_of(made)
    assert len(graph.edges) == 499
    assert len(waves(graph)) == 500

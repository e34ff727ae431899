"""The graph as text: every dependency is drawn as a line or named."""

from hypothesis import given
from hypothesis import strategies as st

from corral.core.plan.draw import rows, text
from corral.core.plan.edges import Graph, graph_of
from corral.core.plan.schema import Plan
from tests.core.plan.plans import plan, task

WIDE = 10_000


def drawn(made: Plan, width: int = WIDE) -> list[str]:
    graph = graph_of(made)
    return [row.lines.rstrip() + f" {row.key}" for row in rows(graph, width)]


def test_a_chain_a_fork_and_a_join() -> None:
    made = plan(
        *(task("a"), task("b", "a"), task("c", "b"), task("d", "b"), task("e", "c", "d")),
        *(task("f", "b"), task("g")),
    )
    assert drawn(made) == ["□ g", "○ a", "● b", "├─■ f", "├─● c", "● │ d", "└─■ e"]


def followed(picture: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Read the needs back from the lines alone, as an eye would."""
    lanes: dict[int, str] = {}
    found: set[tuple[str, str]] = set()
    for lines, key in picture:
        cells = lines[::2]
        node = next(at for at, cell in enumerate(cells) if cell in "●■○□")
        joined = [at for at, cell in enumerate(cells) if cell in "├└┼┴"]
        assert set(lanes) == {at for at, cell in enumerate(cells) if cell in "│├└┼┴"} | (
            {node} & set(lanes)
        )
        found |= {(key, lanes[at]) for at in [*joined, node] if at in lanes}
        for at in joined:
            if cells[at] in "└┴":
                del lanes[at]
        lanes.pop(node, None)
        if cells[node] in "●○":
            lanes[node] = key
    assert lanes == {}
    return found


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    tasks = []
    for number in range(size):
        before = [f"t{n}" for n in range(number)]
        needs = draw(st.sets(st.sampled_from(before), max_size=3)) if before else set()
        tasks.append(task(f"t{number}", *sorted(needs)))
    return graph_of(plan(*tasks))


@given(graphs())
def test_every_need_can_be_followed_along_its_line_and_no_line_is_more(graph: Graph) -> None:
    picture = [(row.lines, row.key) for row in rows(graph, WIDE)]
    assert followed(picture) == {(edge.task, edge.need) for edge in graph.edges}
    assert sorted(key for _, key in picture) == sorted(graph.rank)


def test_too_many_lines_become_a_list_by_waves() -> None:
    ends = [f"a{n}" for n in range(30)]
    made = plan(*map(task, ends), task("b0", *ends), task("b1", *ends[:2]), task("b2", *ends))
    graph = graph_of(made)
    shown = text(graph, {key: f"Title {key}" for key in graph.rank}, 60, lambda t, n: t[:n])
    lines = shown.split("\n")
    assert lines[0] == "wave 1: 30 tasks"
    assert lines[31] == "wave 2: 3 tasks"
    assert lines[33] == "  b1   ← a0, a1  Title b1"
    assert all(len(line) <= 60 for line in lines)

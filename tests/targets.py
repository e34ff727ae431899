"""Which make target runs which tests: `make targets` lists it, conftest.py selects by it.

What `long` or `engines` names is left out of the others; a test or a case with the mark `long` is a
long one as well. The tests of the dashboard that `make test` runs where there is a browser are run
by `make test-browser` too, so that this is complete where the browser was missing before.
"""

from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

# Paths below tests/, each a folder, a file, a test (`file::name`) or one of its cases (`…[id]`).
PLACES: dict[str, tuple[str, ...]] = {
    "long": (
        "core/board/test_cron.py::test_the_dates_between_two_moments_are_those_of_a_scan",
        "core/board/test_cron.py::test_the_days_of_years_are_those_of_a_scan",
        "e2e/engines/test_governor.py::test_twenty_tasks_on_each_account_land_and_five_of_each_run_at_a_time",
        "e2e/engines/test_messages.py::test_a_killed_witness_hands_over_to_a_live_agent_exactly_once",
        "e2e/engines/test_messages.py::test_a_witness_that_is_killed_anywhere_delivers_exactly_once",
        "e2e/engines/test_messages.py::test_an_agent_that_waits_for_an_answer_is_not_silent",
        "e2e/environment/test_red_base.py::test_a_run_does_not_start_on_a_red_base",
        "e2e/refinery/test_killed.py::test_killed_at_random_moments",
        "e2e/server/test_abuse.py::test_agents_are_held_to_the_same_bounds",
        "e2e/server/test_sessions.py::test_a_message_arrives_once_although_the_server_is_killed_on_its_way",
        "e2e/test_concurrency.py::test_every_acknowledged_event_survives_killing_writers_throughout[32-60-30-50]",
        "e2e/test_package.py::test_installed_in_an_empty_environment_it_runs_the_demo_and_serves_the_dashboard",
        "e2e/test_send.py::test_a_message_is_typed_once_although_the_witness_is_killed",
        "e2e/whole/test_demo.py::test_in_a_pipe_everything_goes_wrong_and_the_branch_ends_green",
        "e2e/whole/test_demo.py::test_on_a_terminal_of_60_columns_it_fits_and_never_scrolls",
        "e2e/whole/test_jwt.py",
        "e2e/whole/test_schedule.py::test_a_random_graph_is_run_in_order_and_within_its_slots",
        "e2e/witness/test_crowd.py",
        "e2e/witness/test_stop.py::test_a_frozen_shim_does_not_keep_a_session_alive",
        "world/checks/test_hostile.py::test_a_gigabyte_of_output_is_bounded",
        "world/checks/test_pool.py::test_many_files_go",
        "world/git/test_same_as_git.py::test_real_histories",
    ),
    "engines": (
        "engines",
        "world/engines/agents/test_acp.py",
        "world/engines/runners/test_tmux_claude.py",
    ),
    "browser": ("web",),
    "test": (
        "compat",
        "contract",
        "core",
        "docs",
        "e2e",
        "roles",
        "standin",
        "stateful",
        "tools",
        "web/test_built.py",
        "web/test_shell.py",
        "world",
    ),
}


def command(target: str) -> str:
    """Return what a person types to run it."""
    return "make test" if target == "test" else f"make test-{target}"


def files() -> list[str]:
    """Return every test file, as a path below tests/."""
    return sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def is_within(test: str, place: str) -> bool:
    """Say whether a test or a file is what a place names, or in it."""
    return test == place or test.startswith((f"{place}/", f"{place}::", f"{place}["))


def runs(target: str, test: str, *, long: bool = False) -> bool:
    """Say whether a target runs a test, named as `file::name[case]`, or the rest of a file."""
    named = [name for name, places in PLACES.items() if any(is_within(test, p) for p in places)]
    if "engines" in named:
        return target == "engines"
    if named and (long or "long" in named):
        return target == "long"
    return target in named


def parts(target: str, file: str) -> Iterator[str]:
    """Yield what a target runs of a file: all of it, or the tests that the table names."""
    if runs(target, file):
        yield file
    else:
        yield from (place for place in PLACES[target] if place.startswith(f"{file}::"))
        if runs(target, file, long=True) and "mark.long" in (TESTS / file).read_text("utf-8"):
            yield f"{file} (what is marked long)"


def main() -> None:
    for target in reversed(PLACES):
        print(f"{command(target)}:")
        for file in files():
            print(*(f"  tests/{part}\n" for part in parts(target, file)), sep="", end="")


if __name__ == "__main__":
    main()

"""A confined session can write only to its own tree, and an observer to nothing."""

import pytest

from corral.world.processes import landlock
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo

pytestmark = pytest.mark.skipif(
    not landlock.version(), reason="this system has no Landlock: nothing can be confined here"
)
CONFINED = QUIET + "[confine]\nenabled = true\n"
TRIES = {
    "the checkout": 'echo x >> "$CHECKOUT/README.md"',
    "a new file in it": 'touch "$CHECKOUT/new.txt"',
    "beside the trees": "touch ../beside",
    "another branch": "git update-ref refs/heads/main HEAD~0 && git branch -f other HEAD",
    "the configuration of all": "git config user.name nobody",
    "a hook": 'ln -s /bin/true "$CORRAL_RUN/hooks/pre-commit"',
    "the log": 'echo x >> "$CORRAL_RUN/corral/journal"',
    "a link out of it": 'ln -s "$CHECKOUT" out && touch out/new.txt',
    "a folder moved away": 'mkdir here && mv here "$CHECKOUT/here"',
    "temporary files of all": 'touch "$CHECKOUT/../for-all"',
}
if landlock.version() >= 6:
    TRIES["who started it"] = 'kill -0 "$PPID"'


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_a_session_can_write_to_its_tree_only(project: WitnessRepo, kind: str) -> None:
    project.configure(CONFINED + f'[trees]\nkind = "{kind}"\n')
    before = project.checkout(), (project.path / ".git" / "config").read_bytes()
    tries = "\n".join(
        f"if ({what}) 2>/dev/null; then echo 'it could write: {name}'; exit 3; fi; rm -rf here out"
        for name, what in TRIES.items()
    )
    if kind == "clone":  # there, these are its own
        tries = tries.replace("git update-ref", "false &&").replace("git config", "false &&")
    task = project.script(
        f"CHECKOUT='{project.path}'\n{tries}\nmktemp >/dev/null && {WORK}",
        "--accept",
        f"! touch '{project.path}/by-a-check' && touch by-a-check && rm by-a-check",
    )
    project.once()
    output = (project.run_of(f"{task}.1") / "output").read_text()
    assert project.verdict(task) == "proved", project.detail(task) + output
    assert (project.checkout(), (project.path / ".git" / "config").read_bytes()) == before


def test_an_observer_can_write_its_reports_only(project: WitnessRepo) -> None:
    project.configure(CONFINED)
    task = project.script(
        "for file in README.md new.txt; do echo x >> $file && exit 3; done 2>/dev/null;"
        " git commit -q --allow-empty -m no 2>/dev/null && exit 4;"
        """ echo '1 - looking' >> progress.md; echo '{"found": 0}' > results.json; sleep 300""",
        "--role",
        "observer",
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert project.session(f"{task}.1")["progress"].endswith("looking")


def test_more_can_be_allowed(project: WitnessRepo) -> None:
    (project.path.parent / "cache").mkdir()
    project.configure(CONFINED + f'also = ["{project.path.parent}/cache", "/nowhere"]\n')
    task = project.script(f"echo x > '{project.path.parent}/cache/x' && {WORK}")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)

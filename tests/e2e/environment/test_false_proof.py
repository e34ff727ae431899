"""A broken change is never proved or landed because a check looked at the user's checkout.

The user's environment is active, as it usually is: the project is installed in it as a link into
the checkout, where the code still works.
"""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, make_witness_repo

CHECK = "python check_calc.py"
TEST = "import calc\n\nassert calc.add(1, 2) == 3\n"
BREAK = "echo 'raise SystemExit(7)' >> {file} && git commit -qam broken"


class Project:
    """A small Python project, and the environment in which its user works."""

    def __init__(self, path: Path, layout: str, config: str = "") -> None:
        self.folder = "src/calc" if layout == "src" else "calc"
        self.repo = make_witness_repo(path)
        self.repo.configure(QUIET + f'[refinery]\nchecks = ["{CHECK}"]\n' + config)
        (path / self.folder).mkdir(parents=True)
        (path / self.folder / "__init__.py").write_text("def add(a, b):\n    return a + b\n")
        folder = path if layout == "flat" else path / "tests"
        folder.mkdir(exist_ok=True)
        (folder / "check_calc.py").write_text(TEST)
        self.check = CHECK if layout == "flat" else "python tests/check_calc.py"
        (path / ".gitignore").write_text(".venv/\n.corral/\nnode_modules/\n")
        self.repo.git("add", "--all")
        self.repo.git("commit", "-qm", "project")

    def activate(self, place: Path, *, finder: bool) -> None:
        """Make a virtual environment with an editable install of the checkout, and activate it."""
        venv.create(place, symlinks=True, with_pip=False)
        packages = next(place.glob("lib/python*/site-packages"))
        source = self.repo.path / self.folder
        if finder:
            (packages / "__editable___calc_finder.py").write_text(
                "import sys, importlib.util as util\n"
                "class Finder:\n"
                "    def find_spec(name, path=None, target=None):\n"
                f"        at = '{source}/__init__.py'\n"
                "        if name == 'calc': return util.spec_from_file_location(name, at)\n"
                "sys.meta_path.append(Finder)\n"
            )
            (packages / "calc.pth").write_text("import __editable___calc_finder\n")
        else:
            (packages / "calc.pth").write_text(f"{source.parent}\n")
        self.repo.env |= {
            "VIRTUAL_ENV": str(place),
            "PATH": f"{place / 'bin'}:{self.repo.env['PATH']}",
        }
        done = subprocess.run(
            ["python", "-c", TEST], cwd="/", env=self.repo.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr  # as the user sees it, all is well

    def broken(self) -> str:
        """Have a session break the package; return its task."""
        script = BREAK.format(file=f"{self.folder}/__init__.py")
        task = self.repo.script(script, "--accept", self.check)
        self.repo.once()
        return task


@pytest.fixture(params=["src", "flat"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("finder", [False, True])
@pytest.mark.parametrize("place", ["in the checkout", "elsewhere"])
def test_python(tmp_path: Path, layout: str, place: str, *, finder: bool, confined: bool) -> None:
    config = "[confine]\nenabled = true\n" if confined else ""
    project = Project(tmp_path / "project", layout, config)
    inside = place == "in the checkout"
    where = project.repo.path / ".venv" if inside else tmp_path / "venvs" / "calc"
    project.activate(where, finder=finder)
    task = project.broken()
    detail = project.repo.detail(task)
    # Where it could not be judged at all, the machine is at fault, on the base as well.
    assert project.repo.verdict(task) in ("checks_failed", "unfit"), detail
    assert "exit code 7" in detail or "your checkout" in detail, detail


def test_the_message_names_the_cause(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src")
    project.activate(tmp_path / "venvs" / "calc", finder=False)
    detail = project.repo.detail(project.broken())
    assert f"it uses files of your checkout {project.repo.path}" in detail
    assert "trees.setup" in detail
    project.repo.env["PATH"] = project.repo.env["PATH"].split(":", 1)[1]
    project.activate(project.repo.path / ".venv", finder=False)
    bin_ = project.repo.path / ".venv" / "bin"
    (bin_ / "run-tests").symlink_to(sys.executable)
    task = project.repo.script(BREAK.format(file="src/calc/__init__.py"), "--accept", "run-tests")
    project.repo.once()
    assert f"points into your checkout ({bin_} from PATH" in project.repo.detail(task)


def test_what_the_shell_exports(tmp_path: Path, layout: str) -> None:
    project = Project(tmp_path / "project", layout, '[environment]\npass = ["PYTHON*"]\n')
    source = project.repo.path / project.folder
    project.repo.env["PYTHONPATH"] = f"{source.parent}:/nowhere"
    task = project.broken()
    assert project.repo.verdict(task) in ("checks_failed", "unfit"), project.repo.detail(task)


def test_node(tmp_path: Path) -> None:
    """A workspace that is linked into the checkout, from outside of it."""
    repo = make_witness_repo(tmp_path / "project")
    (repo.path / "packages" / "calc").mkdir(parents=True)
    (repo.path / "packages" / "calc" / "index.js").write_text("exports.add = (a, b) => a + b;\n")
    (repo.path / "check.js").write_text("if (require('calc').add(1, 2) !== 3) process.exit(9);\n")
    modules = tmp_path / "node_modules"  # node looks in every folder above the tree
    modules.mkdir()
    (modules / "calc").symlink_to(repo.path / "packages" / "calc")
    repo.env["NODE_PATH"] = str(modules)
    repo.git("add", "--all")
    repo.git("commit", "-qm", "project")
    assert subprocess.run(["node", "check.js"], cwd=repo.path, check=False).returncode == 0
    broken = "echo 'process.exit(7);' >> packages/calc/index.js && git commit -qam broken"
    task = repo.script(broken, "--accept", "node check.js")
    repo.once()
    assert repo.verdict(task) == "unfit", repo.detail(task)
    assert "it uses files of your checkout" in repo.detail(task)


def test_the_refinery_lands_no_broken_change(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src")
    project.repo.configure(QUIET + f'[refinery]\nchecks = ["{project.check}"]\nreturns = 1\n')
    project.activate(tmp_path / "venvs" / "calc", finder=False)
    script = BREAK.format(file="src/calc/__init__.py")
    task = project.repo.script(script, "--accept", "true")
    project.repo.once()
    assert project.repo.verdict(task) == "proved"
    project.repo.corral("refinery", "run", "--once")
    assert not project.repo.of_type("task.landed")
    ends = project.repo.of_type("check.ended")
    assert [end["data"]["result"] for end in ends] != ["green"]
    assert any("it uses files of your checkout" in end["data"]["detail"] for end in ends)


def test_a_tree_with_its_own_tools_is_judged_by_them(tmp_path: Path) -> None:
    """With a set-up of its own, the same project proves good work and refuses broken work."""
    setup = (
        '[trees]\nsetup = [["python3", "-m", "venv", "--without-pip", ".venv"],'
        """ ["sh", "-c", "cd .venv/lib/python3*/site-packages; echo $OLDPWD/src > calc.pth"]]\n"""
    )
    project = Project(tmp_path / "project", "src", setup)
    project.activate(project.repo.path / ".venv", finder=False)
    good = project.repo.script(
        "echo '# better' >> src/calc/__init__.py && git commit -qam good", "--accept", project.check
    )
    project.repo.once()
    assert project.repo.verdict(good) == "proved", project.repo.detail(good)
    bad = project.broken()
    assert project.repo.verdict(bad) == "checks_failed"
    assert "exit code 7" in project.repo.detail(bad)


def test_a_person_can_allow_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src", '[environment]\nread = ["src"]\n')
    project.activate(tmp_path / "venvs" / "calc", finder=False)
    task = project.broken()
    assert project.repo.verdict(task) == "proved"

"""A broken change is never proved or landed because a check looked at the user's checkout.

The user's environment is active, as it usually is: the project is installed in it as a link into
the checkout, where the code still works. Each way in is tried with the folders hidden, with
confined sessions as well, and on a system that has no Landlock.
"""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.e2e.corral_command import CORRAL
from tests.e2e.environment import without_landlock
from tests.e2e.witness.witness_repo import QUIET, WitnessRepo, make_witness_repo

CHECK = "python check_calc.py"
TEST = "import calc\n\nassert calc.add(1, 2) == 3\n"
BREAK = "echo 'raise SystemExit(7)' >> {file} && git commit -qam broken"
CONFINED = "[confine]\nenabled = true\n"
MODES = ("hidden", pytest.param("confined", marks=pytest.mark.long), "no landlock")
BEFORE = (sys.executable, without_landlock.__file__)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["src", "flat"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def judged(repo: WitnessRepo, mode: str, script: str, check: str) -> tuple[str, str]:
    """Have a session do this and be accepted by this; return the verdict and its reason."""
    task = repo.script(script, "--accept", check)
    repo.corral("witness", "run", "--once", before=BEFORE if mode == "no landlock" else ())
    return repo.verdict(task), repo.detail(task)


def refused(found: tuple[str, str]) -> None:
    """The work was judged by its own code, or not at all, and then the cause is named."""
    verdict, detail = found
    by_its_code = verdict == "checks_failed" and "exit code 7" in detail
    assert by_its_code or (verdict == "unfit" and "your checkout" in detail), found


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
        self.script = "check_calc.py" if layout == "flat" else "tests/check_calc.py"
        self.check = f"python {self.script}"
        (path / ".gitignore").write_text(".venv/\n.corral/\nnode_modules/\n")
        self.repo.git("add", "--all")
        self.repo.git("commit", "-qm", "project")

    def activate(self, place: Path, *, finder: bool = False) -> None:
        """Make a virtual environment with an editable install of the checkout, and activate it."""
        venv.create(place, symlinks=True, with_pip=False)
        self.install(next(place.glob("lib/python*/site-packages")), finder=finder)
        self.use(place / "bin")
        self.repo.env["VIRTUAL_ENV"] = str(place)

    def install(self, packages: Path, *, finder: bool = False) -> None:
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

    def use(self, folder: Path) -> None:
        """Put a folder first on PATH; as the user sees it, all is well."""
        self.repo.env["PATH"] = f"{folder}:{self.repo.env['PATH']}"
        done = subprocess.run(
            ["python", "-c", TEST], cwd="/", env=self.repo.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def broken(self, mode: str, check: str = "") -> tuple[str, str]:
        """Have a session break the package; return the verdict and its reason."""
        script = BREAK.format(file=f"{self.folder}/__init__.py")
        return judged(self.repo, mode, script, check or self.check)


@pytest.mark.parametrize("finder", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("place", ["in the checkout", "elsewhere"])
def test_python(tmp_path: Path, layout: str, place: str, mode: str, *, finder: bool) -> None:
    project = Project(tmp_path / "project", layout, CONFINED if mode == "confined" else "")
    inside = place == "in the checkout"
    where = project.repo.path / ".venv" if inside else tmp_path / "venvs" / "calc"
    project.activate(where, finder=finder)
    refused(project.broken(mode))


def test_a_command_that_names_an_environment_by_its_path(tmp_path: Path, mode: str) -> None:
    project = Project(tmp_path / "project", "src", CONFINED if mode == "confined" else "")
    project.activate(tmp_path / "venvs" / "calc")
    refused(project.broken(mode, f"{tmp_path}/venvs/calc/bin/python {project.script}"))
    project.activate(project.repo.path / ".venv")
    refused(project.broken(mode, f"{project.repo.path}/.venv/bin/python {project.script}"))


def test_an_environment_that_is_copied_into_each_tree(tmp_path: Path, mode: str) -> None:
    config = '[trees]\nseed = [".venv"]\n' + (CONFINED if mode == "confined" else "")
    project = Project(tmp_path / "project", "src", config)
    project.activate(project.repo.path / ".venv")
    refused(project.broken(mode, f".venv/bin/python {project.script}"))


def test_what_the_user_has_installed_for_himself(tmp_path: Path, mode: str) -> None:
    """A linked package in ~/.local, which every Python of the system looks at."""
    project = Project(tmp_path / "project", "src", CONFINED if mode == "confined" else "")
    base = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # no public name
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = tmp_path / ".local" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    project.install(packages)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(base)
    project.use(tmp_path / "bin")
    refused(project.broken(mode))


def test_what_the_shell_exports(tmp_path: Path, layout: str, mode: str) -> None:
    config = '[environment]\npass = ["PYTHON*"]\n' + (CONFINED if mode == "confined" else "")
    project = Project(tmp_path / "project", layout, config)
    source = project.repo.path / project.folder
    project.repo.env["PYTHONPATH"] = f"{source.parent}:/nowhere"
    refused(project.broken(mode))


def test_the_message_names_the_cause(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src")
    project.activate(tmp_path / "venvs" / "calc")
    _, detail = project.broken("hidden")
    assert f"it uses files of your checkout {project.repo.path}" in detail
    assert "trees.setup" in detail
    (alert,) = project.repo.here("alert", "list", "--json").data
    assert "trees.setup" in alert["text"]
    project.repo.env["PATH"] = project.repo.env["PATH"].split(":", 1)[1]
    project.activate(project.repo.path / ".venv")
    bin_ = project.repo.path / ".venv" / "bin"
    (bin_ / "run-tests").symlink_to(sys.executable)
    _, detail = project.broken("hidden", "run-tests")
    assert f"points into your checkout ({bin_} from PATH" in detail


def test_the_cause_is_named_where_a_link_leads_to_the_checkout(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src")
    (tmp_path / "link").symlink_to(project.repo.path)
    project.activate(tmp_path / "venvs" / "calc")
    (path,) = (tmp_path / "venvs").rglob("calc.pth")
    path.write_text(f"{tmp_path}/link/src\n")
    _, detail = project.broken("hidden")
    assert f"it uses files of your checkout {project.repo.path}" in detail


class Workspace:
    """A small Node project with a package of its own."""

    def __init__(self, path: Path, config: str) -> None:
        self.repo = make_witness_repo(path)
        self.repo.configure(QUIET + config)
        self.package = path / "packages" / "calc"
        self.package.mkdir(parents=True)
        (self.package / "index.js").write_text("exports.add = (a, b) => a + b;\n")
        (path / "check.js").write_text("if (require('calc').add(1, 2) !== 3) process.exit(9);\n")
        (path / ".gitignore").write_text("node_modules/\n.corral/\n")
        self.repo.git("add", "--all")
        self.repo.git("commit", "-qm", "project")

    def link(self, modules: Path, to: str | Path) -> None:
        modules.mkdir()
        (modules / "calc").symlink_to(to)

    def broken(self, mode: str) -> tuple[str, str]:
        done = subprocess.run(
            ["node", "check.js"], cwd=self.repo.path, env=self.repo.env, check=False
        )
        assert done.returncode == 0  # as the user sees it, all is well
        script = "echo 'process.exit(7);' >> packages/calc/index.js && git commit -qam broken"
        return judged(self.repo, mode, script, "node check.js")


@pytest.mark.parametrize("way", ["above the trees", "NODE_PATH", "seed", "seed, relative"])
def test_node(tmp_path: Path, way: str, mode: str) -> None:
    """A workspace that is linked into the checkout."""
    config = CONFINED if mode == "confined" else ""
    config += '[environment]\npass = ["NODE_PATH"]\n' if way == "NODE_PATH" else ""
    config += '[trees]\nseed = ["node_modules"]\n' if way.startswith("seed") else ""
    project = Workspace(tmp_path / "project", config)
    match way:
        case "above the trees":  # node looks in every folder above the tree
            project.link(tmp_path / "node_modules", project.package)
        case "NODE_PATH":
            project.link(tmp_path / "modules", project.package)
            project.repo.env["NODE_PATH"] = str(tmp_path / "modules")
        case "seed":
            project.link(project.repo.path / "node_modules", project.package)
        case _:
            project.link(project.repo.path / "node_modules", "../packages/calc")
    found = project.broken(mode)
    refused(found)
    assert way != "seed, relative" or found[0] == "checks_failed"  # it leads to the tree's own


def test_without_landlock_a_person_is_told_that_nothing_is_proved(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src")
    said = project.repo.corral("check", "--json", before=BEFORE, code=None).data["findings"]
    (proof,) = [one for one in said if one["name"] == "proof"]
    assert "a check can read your checkout" in proof["text"]
    assert "Landlock" in proof["text"]


def test_confined_sessions_wait_for_a_system_that_can_confine_them(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src", CONFINED)
    task = project.repo.script("true")
    project.repo.corral("witness", "run", "--once", before=BEFORE)
    assert project.repo.alerts() == {"unfit": "default"}
    assert not project.repo.sessions()
    project.repo.once()
    assert project.repo.verdict(task) == "no_change"
    assert project.repo.alerts() == {}


def test_the_refinery_lands_no_broken_change(tmp_path: Path, mode: str) -> None:
    project = Project(tmp_path / "project", "src")
    project.repo.configure(QUIET + f'[refinery]\nchecks = ["{project.check}"]\nreturns = 1\n')
    project.activate(tmp_path / "venvs" / "calc")
    assert project.broken(mode, "true")[0] == "proved"
    before = BEFORE if mode == "no landlock" else ()
    words = [*before, CORRAL, "refinery", "run"]
    with subprocess.Popen(words, cwd=project.repo.path, env=project.repo.env) as refinery:
        try:
            project.repo.until(lambda: {"cannot_check", "red_base"} & set(project.repo.alerts()))
        finally:
            refinery.terminate()
    assert not project.repo.of_type("task.landed")
    ends = project.repo.of_type("check.ended")
    assert "green" not in [end["data"]["result"] for end in ends]
    assert any("your checkout" in end["data"]["detail"] for end in ends)


@pytest.mark.parametrize("mode", ["hidden", "no landlock"])
def test_a_tree_with_its_own_tools_is_judged_by_them(tmp_path: Path, mode: str) -> None:
    """With a set-up of its own, the same project proves good work and refuses broken work."""
    setup = (
        '[trees]\nsetup = [["python3", "-m", "venv", "--without-pip", ".venv"],'
        """ ["sh", "-c", "cd .venv/lib/python3*/site-packages; echo $OLDPWD/src > calc.pth"]]\n"""
    )
    project = Project(tmp_path / "project", "src", setup)
    project.activate(project.repo.path / ".venv")
    better = "echo '# better' >> src/calc/__init__.py && git commit -qam good"
    verdict, detail = judged(project.repo, mode, better, project.check)
    assert verdict == "proved", detail
    verdict, detail = project.broken(mode)
    assert verdict == "checks_failed"
    assert "exit code 7" in detail


def test_a_person_can_allow_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "src", '[environment]\nread = ["src"]\n')
    project.activate(tmp_path / "venvs" / "calc")
    assert project.broken("hidden")[0] == "proved"


def test_tools_can_read_what_they_keep_in_a_home_around_the_checkout(tmp_path: Path) -> None:
    """Landlock can only allow what exists when a check begins; a new home has no cache yet."""
    project = Project(tmp_path / "project", "flat")
    assert project.repo.env["HOME"] == str(tmp_path)
    keep = "mkdir -p ~/.cache/tool && echo x > ~/.cache/tool/kept && cat ~/.cache/tool/kept"
    work = "echo >> calc/__init__.py && git commit -qam work"
    verdict, detail = judged(project.repo, "hidden", work, keep)
    assert verdict == "proved", detail

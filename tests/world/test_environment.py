"""Virtual environments that import the project from the checkout are found by their files."""

from pathlib import Path

import pytest

from corral.core.environment import Environment, Removed
from corral.world.environment import has, without_linked
from corral.world.leads import imports_from, leading

CHECKOUT, TREE = "/home/ann/project", "/home/ann/.project-corral/check-1"


def made(place: Path, name: str = "", text: str = "") -> str:
    packages = place / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (place / "pyvenv.cfg").write_text("home = /usr/bin\n")
    if name:
        (packages / name).write_text(text)
    return str(place / "bin")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("project.pth", f"{CHECKOUT}/src\n"),
        ("__editable__.project-1.0.pth", f"{CHECKOUT}\n"),
        ("__editable___project_finder.py", f"MAPPING = {{'project': '{CHECKOUT}/project'}}\n"),
    ],
)
def test_an_editable_install_is_found_and_taken_off_path(
    tmp_path: Path, name: str, text: str
) -> None:
    linked, plain = made(tmp_path / "linked", name, text), made(tmp_path / "plain")
    assert imports_from(linked, TREE, [CHECKOUT]) == CHECKOUT
    assert imports_from(linked, TREE, ["/home/ann/other", "/home/ann/proj"]) == ""
    assert imports_from(plain, TREE, [CHECKOUT]) == ""
    found = Environment({"PATH": f"{linked}:{plain}:/bin", "HOME": str(tmp_path)})
    found = without_linked(found, TREE, [CHECKOUT])
    assert found.variables["PATH"] == f"{plain}:/bin"
    assert found.removed == (Removed("PATH", linked),)


@pytest.mark.parametrize("linked", [False, True])
def test_what_was_taken_out_is_known_by_name(tmp_path: Path, *, linked: bool) -> None:
    (tmp_path / "src" / "project").mkdir(parents=True)
    text = f"{tmp_path}/src\n" if linked else "import __editable___project_finder\n"
    removed = Removed("PATH", made(tmp_path / "venv", "x.pth", text))
    if not linked:
        finder = tmp_path / "venv/lib/python3.12/site-packages/__editable___project_finder.py"
        finder.write_text(f"MAPPING = {{'project': '{tmp_path}/src/project'}}\n")
    assert has(removed, "project")
    assert not has(removed, "pytest")


def test_the_trees_own_environment_stays(tmp_path: Path) -> None:
    tree = str(tmp_path / "trees" / "check-1")
    own = made(tmp_path / "trees" / "check-1" / ".venv", "project.pth", f"{tree}/src\n")
    assert imports_from(own, tree, [str(tmp_path / "trees")]) == ""
    assert imports_from(own, f"{tmp_path}/trees/check-2", [str(tmp_path / "trees")])


def test_what_the_user_has_installed_is_left_out(tmp_path: Path) -> None:
    made(tmp_path / ".local", "project.pth", f"{CHECKOUT}/src\n")
    found = without_linked(Environment({"PATH": "/bin", "HOME": str(tmp_path)}), TREE, [CHECKOUT])
    assert found.variables["PYTHONNOUSERSITE"] == "1"
    assert found.removed == (Removed("HOME", str(tmp_path / ".local")),)


@pytest.mark.parametrize(
    "command", ["{linked}/python -m x", "FOO={linked}/python; cd /", "calc --test", "cat {co}/x"]
)
def test_a_command_that_leads_elsewhere_is_refused(tmp_path: Path, command: str) -> None:
    checkout, tree = tmp_path / "checkout", tmp_path / "tree"
    for folder in (checkout / "bin", tmp_path / "bin", tree):
        folder.mkdir(parents=True)
    linked = made(tmp_path / "linked", "project.pth", f"{checkout}/src\n")
    (checkout / "bin" / "calc").write_text("#!/bin/sh\n")
    (checkout / "bin" / "calc").chmod(0o755)
    (tmp_path / "bin" / "calc").symlink_to(checkout / "bin" / "calc")
    variables = {"PATH": f"{tmp_path}/bin:/bin", "HOME": str(tmp_path)}
    asked = command.format(linked=linked, co=checkout)
    said = leading(str(tree), asked, variables, [str(checkout)])
    assert str(checkout) in said
    assert "denied" in said
    assert leading(str(tree), asked, variables, []) == ""
    assert leading(str(tree), "python3 -m pytest", variables, [str(checkout)]) == ""

"""Virtual environments that import the project from the checkout are found by their files."""

from pathlib import Path

import pytest

from corral.core.environment import Environment, Removed
from corral.world.environment import imports_from, without_linked

CHECKOUT = "/home/ann/project"


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
    assert imports_from(linked, [CHECKOUT]) == CHECKOUT
    assert imports_from(linked, ["/home/ann/other"]) == ""
    assert imports_from(plain, [CHECKOUT]) == ""
    found = without_linked(Environment({"PATH": f"{linked}:{plain}:/bin"}), [CHECKOUT])
    assert found.variables["PATH"] == f"{plain}:/bin"
    assert found.removed == (Removed("PATH", linked),)


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    linked = made(tmp_path / "linked", "project.pth", CHECKOUT)
    (tmp_path / "linked" / "pyvenv.cfg").unlink()
    assert imports_from(linked, [CHECKOUT]) == ""
    assert imports_from(str(tmp_path / "missing" / "bin"), [CHECKOUT]) == ""

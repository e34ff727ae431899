"""Which failures look like the machine's, and which are always the work's own."""

import pytest

from corral.core.faults import DISK, NETWORK, FailedCommand, Fault, concerns, find

CHECKOUT = "/home/ann/project"
VENV = f"{CHECKOUT}/.venv/bin"


def found(
    command: str, code: int, *lines: str, has: str = "", owned: tuple[str, ...] = ()
) -> Fault | None:
    return find(
        FailedCommand(command, code, lines),
        unset=("PGPASSWORD", "EDITOR"),
        checkouts=[CHECKOUT],
        offered=lambda name: f"{VENV} from PATH" if name == has else "",
        owned=owned,
    )


@pytest.mark.parametrize(
    ("command", "code", "line", "about", "name"),
    [
        ("pytest -q", 127, "/bin/sh: 1: pytest: not found", "pytest", "pytest"),
        ("cd x && pytest", 127, "bash: line 1: pytest: command not found", "pytest", "pytest"),
        ("python -m pytest -q", 1, "/usr/bin/python: No module named pytest", "pytest", "pytest"),
        ("npm test", 127, "sh: 1: jest: not found", "npm test", "jest"),
        (
            *(".venv/bin/pytest", 127, "/bin/sh: 1: .venv/bin/pytest: not found"),
            *(".venv/bin/pytest", ".venv/bin/pytest"),
        ),
        ("pytest", 126, "/bin/sh: 1: pytest: Permission denied", "pytest", "pytest"),
        ("make", 2, "cc: error writing a.o: No space left on device", DISK, DISK),
        ("make", 2, "curl: (6) Could not resolve host: pypi.org", NETWORK, NETWORK),
        ("CI=1 npm ci", 1, "npm error code EAI_AGAIN", NETWORK, NETWORK),
        ("make db", 1, "KeyError: 'PGPASSWORD'", "make db", "PGPASSWORD"),
        ('test -n "$PGPASSWORD"', 1, "", 'test -n "$PGPASSWORD"', "PGPASSWORD"),
        (
            *("python -m pytest", 1, f"Permission denied: '{CHECKOUT}/src/calc/__init__.py'"),
            *("python", CHECKOUT),
        ),
    ],
)
def test_faults_of_the_machine(command: str, code: int, line: str, about: str, name: str) -> None:
    fault = found(command, code, "+ begun", line)
    assert fault is not None
    assert (fault.about, fault.name) == (about, name)
    assert concerns(fault.about, command)
    assert fault.remedy in fault.said


@pytest.mark.parametrize(
    ("command", "code", "line"),
    [
        # What a task is to build is missing until it is built.
        ("./check.sh", 127, "/bin/sh: 1: ./check.sh: not found"),
        ("./check.sh", 126, "/bin/sh: 1: ./check.sh: Permission denied"),
        ("sh tests/new.sh", 127, "sh: tests/new.sh: No such file or directory"),
        ("python -m pytest tests/test_new.py", 4, "ERROR: file or directory not found: tests/"),
        ("python tests/test_calc.py", 1, "ModuleNotFoundError: No module named 'calc'"),
        ("node check.js", 1, "Error: Cannot find module 'calc'"),
        ("npm run lint", 1, 'npm error Missing script: "lint"'),
        ("make lint", 2, "make: *** No rule to make target 'lint'.  Stop."),
        ("curl -f localhost:8000", 7, "curl: (7) connect to localhost: Connection refused"),
        ("pytest", 1, "opened with EDITOR"),
        ("pytest", 1, "E   PermissionError: [Errno 13] Permission denied: '/etc/shadow'"),
        ("pytest", 1, "FAILED tests/test_a.py::test_a - assert 1 == 2"),
    ],
)
def test_what_a_task_may_have_to_build_is_no_fault(command: str, code: int, line: str) -> None:
    assert found(command, code, "+ begun", line) is None


def test_what_was_taken_out_of_the_environment_is_named() -> None:
    line = "ModuleNotFoundError: No module named 'calc'"
    fault = found("python tests/check.py", 1, line, has="calc")
    assert fault is not None
    assert (fault.about, fault.name) == ("python", "calc")
    assert f"({VENV} from PATH)" in fault.text
    assert found("python tests/check.py", 1, line, has="other") is None


@pytest.mark.parametrize("path", ["src/hello/**", "hello.py", "hello"])
def test_what_the_task_owns_is_its_own(path: str) -> None:
    line = "python3: No module named hello"
    assert found("python3 -m hello", 1, line) is not None
    assert found("python3 -m hello", 1, line, owned=(path,)) is None


def test_a_fault_concerns_the_commands_that_need_the_same() -> None:
    assert concerns("pytest", "cd tests && python -m pytest a.py")
    assert not concerns("pytest", "npm test")
    assert not concerns("npm test", "npm run lint")
    assert concerns(NETWORK, "anything")
    long = "sh -c '" + "x" * 300 + "'"
    fault = found(long, 127, "sh: 1: jest: not found")
    assert fault is not None
    assert concerns(fault.about, long)

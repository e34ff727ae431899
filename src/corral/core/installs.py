"""Whether a set-up command only installs: its result has nothing of the repository's own code.

An editable or linked install leads back to the tree, so its result is the same for every change
with the same manifests. A copy is not: with the copy of a broken change, the next sound change
fails, and the other way round. In any doubt (an unknown option, a file that cannot be read) the
answer is no. `core/setups` asks this.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, normpath

from msgspec import Struct

_MANIFESTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("pnpm-workspace.yaml", ".pnpmfile.cjs", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc*"),
    *(".nvmrc", "pyproject.toml", "uv.lock", "uv.toml", "poetry.lock", "pdm.lock", "Pipfile"),
    *("Pipfile.lock", "setup.py", "setup.cfg", "*requirements*.txt", "*constraints*.txt"),
    *("*requirements*.in", ".python-version", ".tool-versions", "go.mod", "go.sum", "Cargo.toml"),
    *("Cargo.lock", "rust-toolchain*", "Gemfile", "Gemfile.lock", "*.gemspec", ".ruby-version"),
    *("composer.json", "composer.lock", "mix.exs", "mix.lock"),
)
_REQUIREMENTS = ("*requirements*/*.txt", "*requirements*/*.in")
_NODE = (
    *(("npm", "ci"), ("npm", "install"), ("pnpm", "install"), ("yarn", "install")),
    ("bun", "install"),
)
_EMPTY = (("python", "-m", "venv"), ("virtualenv",), ("uv", "venv"))
_PIP = (
    *(("python", "-m", "pip", "install"), ("pip", "install"), ("uv", "pip", "install")),
    *(("uv", "pip", "sync"), ("pipenv", "install")),
)
_PROJECT = (
    *(("uv", "sync"), ("poetry", "install"), ("pdm", "install"), ("pdm", "sync")),
    ("pipenv", "sync"),
)
_FETCH = (("go", "mod", "download"), ("cargo", "fetch"), ("mix", "deps.get"))
_SCRIPTS = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_COMPILED = ("*.c", "*.cc", "*.cpp", "*.cxx", "*.pyx", "*.rs", "*.f", "*.f90")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_ARCHIVES = (".whl", ".zip", ".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")
_REMOTE = ("https://", "http://", "git+https://", "git+http://", "git+ssh://")

_LINKS = ("-e", "--editable")
_LISTS = ("-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints")
_VALUES = (
    *("-i", "--index-url", "--extra-index-url", "--default-index", "--index", "--trusted-host"),
    *("-p", "--python", "--upgrade-strategy", "--only-binary", "--no-binary", "--extra"),
    *("--group", "--timeout", "--retries", "--progress-bar", "--cache-dir", "--python-version"),
    *("--categories", "-P", "--upgrade-package", "--hash", "--color", "--link-mode"),
)
_FLAGS = (
    *("-q", "-qq", "-qqq", "--quiet", "-v", "-vv", "-vvv", "--verbose", "-U", "--upgrade"),
    *("--pre", "--no-deps", "--no-cache-dir", "--no-cache", "-n", "--no-build-isolation"),
    *("--require-hashes", "--disable-pip-version-check", "--no-input", "--user", "--system"),
    *("--force-reinstall", "--reinstall", "--prefer-binary", "--break-system-packages", "--exact"),
    *("--no-index", "--no-warn-script-location", "--no-compile", "--ignore-installed", "-I"),
    *("--all-extras", "--no-progress", "--offline", "--strict", "--dev", "-d", "--deploy"),
    *("--root-user-action=ignore", "--compile", "--compile-bytecode", "--ignore-pipfile"),
    *("--require-virtualenv", "--native-tls", "--system-certs", "--no-color", "--isolated"),
)
# For the tools that install a whole project, and know it to be editable.
_COPYING = ("no-editable", "find-links", "config-setting")
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]*\s*(\[[\w\s,.-]*\])?\s*(\(?\s*[<>=!~][^/@]*|@\s*(?P<at>\S+))?"
)
_PACKAGE = re.compile(r"(@[\w.-]+/)?[\w.-]+(@[\w.^~*<>=-]+)?")
# What of a Python project is built, run or copied even if it is installed as editable.
_BUILT = re.compile(
    r"cmdclass|ext[-_]modules|cffi_modules|backend-path|data[-_]files|script-files|\bscripts\s*="
    r"|shared-(data|scripts)|force-include|build\.hooks|tool\.poetry\.build|run-setup|find-links"
    r"|type\s*=\s*[\"']file[\"']|(?<!-e )(?<!\w)file:|custom-hook"
    r"|\burl\s*=\s*[\"'](?!https?://)"
)
_LOCKED_COPY = re.compile(r"^source = \{ (directory|path) =", re.MULTILINE)
_INJECTED = re.compile(r"inject|patchedDependencies|install-links|\bfile:|\bpatch:")
_PHP = re.compile(r'"(pre|post)-|classmap|optimize|authoritative|"symlink"\s*:\s*false')


class TreeFiles(Struct, frozen=True):
    """The files of a commit, and how to read one."""

    paths: Mapping[str, str]  # to their blobs
    read: Callable[[str], str]

    def named(self, *names: str) -> Iterator[str]:
        """Yield the text of every file with one of these names."""
        return (self.read(path) for path in self.paths if basename(path) in names)

    def any_like(self, *patterns: str) -> bool:
        return any(fnmatchcase(path, one) for path in self.paths for one in patterns)

    def has_folder(self, path: str) -> bool:
        return any(one.startswith(f"{path}/") for one in self.paths)


def is_manifest(path: str) -> bool:
    """Say whether a file says what to install, or fixes it."""
    named = any(fnmatchcase(basename(path), one) for one in _MANIFESTS)
    return named or any(fnmatchcase(path, one) for one in _REQUIREMENTS)


def only_installs(command: Sequence[str], files: TreeFiles) -> bool:
    """Say whether the result of a command depends on manifests alone."""
    if normpath(command[0]) in files.paths:
        return False  # the repository's own program, whatever its name
    program = basename(command[0])
    program = "python" if program.startswith("python") else program.removesuffix("3")
    words = (program, *command[1:])
    if any(known == words[: len(known)] for known in (*_EMPTY, *_FETCH)):
        return True
    if any(known == words[: len(known)] for known in _NODE):
        return _links_packages(words, files)
    if words[:2] == ("bundle", "install"):
        return not files.any_like(*_COMPILED)
    if words[:2] == ("composer", "install"):
        odd = any(word in ("-o", "-a") or _PHP.search(word) for word in words)
        return not odd and not any(_PHP.search(text) for text in files.named("composer.json"))
    for known in _PIP:
        if words[: len(known)] == known:
            rest = words[len(known) :]
            if known[-1] == "sync":  # its arguments are files
                rest = tuple(w for one in rest for w in (("-r", one) if one[:1] != "-" else (one,)))
            return _links_requirements(rest, files) and _links_projects(files)
    if any(known == words[: len(known)] for known in _PROJECT):
        copies = any(one in word for word in words for one in _COPYING) or "-f" in words
        return not copies and _links_projects(files)
    return False


def _links_requirements(words: Sequence[str], files: TreeFiles) -> bool:
    """Say whether the arguments of `pip install` name nothing that would be copied."""
    rest = iter(words)
    for word in rest:
        option, is_joined, value = word.partition("=") if word[:2] == "--" else (word, "", "")
        if word in _FLAGS:
            continue
        if option in (*_LINKS, *_LISTS, *_VALUES):
            value = value if is_joined else next(rest, "")
            if option in _LISTS and not _links_list(normpath(value), files, ()):
                return False
        elif word[:1] == "-" or not _is_remote(word, files):
            return False
    return True


def _links_list(path: str, files: TreeFiles, above: Sequence[str]) -> bool:
    """Say whether nothing in a file of requirements would be copied."""
    if path not in files.paths or not is_manifest(path):
        return False
    if basename(path) in _PROJECT_FILES or path in above:
        return True
    text = files.read(path).replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return all(_links_line(line, path, files, above) for line in lines if line)


def _links_line(line: str, path: str, files: TreeFiles, above: Sequence[str]) -> bool:
    if not line.startswith("-"):
        asked = line.partition(" --")[0].partition(" ;")[0]
        return _is_remote(asked.partition(";")[0] if "://" not in asked else asked, files)
    try:
        option, *words = shlex.split(line.replace("=", " ", 1) if line[:2] == "--" else line)
    except ValueError:
        return False
    if option in _LISTS and len(words) == 1:
        return _links_list(normpath(join(dirname(path), words[0])), files, (*above, path))
    return option in (*_LINKS, *_VALUES, *_FLAGS)


def _is_remote(asked: str, files: TreeFiles) -> bool:
    """Say whether a requirement is the name of a package, or an address elsewhere."""
    asked = asked.strip()
    if asked.startswith(_REMOTE):
        return True
    found = _REQUIREMENT.fullmatch(asked)
    if found is None or asked.endswith(_ARCHIVES) or files.has_folder(asked):
        return False
    return not found["at"] or found["at"].startswith(_REMOTE)


def _links_projects(files: TreeFiles) -> bool:
    """Say whether the Python projects of a tree are only linked if they are installed."""
    if files.any_like(*_COMPILED):
        return False
    if any(_BUILT.search(text) for text in files.named(*_PROJECT_FILES, "uv.toml", "Pipfile")):
        return False
    if any(_LOCKED_COPY.search(text) for text in files.named("uv.lock")):
        return False
    if files.any_like("pdm_build.py", "*/pdm_build.py"):
        return False
    try:
        projects = [tomllib.loads(text) for text in files.named("pyproject.toml", "Pipfile")]
    except tomllib.TOMLDecodeError:
        return False
    return not any(_copies_a_path(part) for project in projects for part in _sources(project))


def _sources(project: Mapping[str, object]) -> Iterator[object]:
    """Yield the parts of a project file that say where dependencies come from."""
    tool = project.get("tool")
    if isinstance(tool, dict):
        uv = tool.get("uv")
        yield tool.get("poetry")
        yield uv.get("sources") if isinstance(uv, dict) else None
    yield {name: part for name, part in project.items() if name.endswith("packages")}  # Pipfile


def _copies_a_path(part: object) -> bool:
    if isinstance(part, list):
        return any(_copies_a_path(one) for one in part)
    if not isinstance(part, dict):
        return False
    linked = part.get("editable") is True or part.get("develop") is True
    unlinked = part.get("editable") is False
    local = isinstance(part.get("path"), str) or isinstance(part.get("file"), str)
    if unlinked or (local and not linked):
        return True
    return any(_copies_a_path(one) for one in part.values())


def _links_packages(words: Sequence[str], files: TreeFiles) -> bool:
    """Say whether a package manager of Node links the packages of a tree and runs none of them."""
    asked = [word for word in words[2:] if word[:1] != "-"]
    if not all(_PACKAGE.fullmatch(word) and not word.endswith(_ARCHIVES) for word in asked):
        return False
    if any(_INJECTED.search(word) for word in words):
        return False
    if any(_INJECTED.search(text) for text in files.named(".npmrc", "pnpm-workspace.yaml")):
        return False
    scripts = "--ignore-scripts" not in words
    if scripts and files.any_like("binding.gyp", "*/binding.gyp"):
        return False
    packages = files.named("package.json")
    return all(_is_linked(text, words[0], scripts=scripts) for text in packages)


def _is_linked(package: str, program: str, *, scripts: bool) -> bool:
    try:
        found = json.loads(package)
        run = found.get("scripts", {}) if scripts else {}
    except (ValueError, AttributeError):
        return False
    if any(name in run for name in _SCRIPTS):
        return False
    if '"injected"' in package or "patchedDependencies" in package:
        return False
    asked = [part for name, part in found.items() if name.lower().endswith("dependencies")]
    asked += [found.get(name) for name in ("overrides", "resolutions", "pnpm")]
    places = [text for text in _texts(asked) if _is_local(text)]
    return all(program == "npm" and not place.endswith(_ARCHIVES) for place in places)


def _is_local(place: str) -> bool:
    return place.startswith(("file:", "patch:", "exec:", ".", "/", "~/"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)

"""The environment of everything that Corral runs for the project: set-up, sessions and checks.

There is one definition, `compose`, and one page about it, docs/how-to/environment.md. A program
that runs in a tree must find that tree's tools and files, never those of the user's checkout or of
another tree: a test that imports them says nothing about the work. Secrets are not passed through.
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import isabs, join, normpath

from msgspec import Struct

from corral.core.config import EnvironmentSettings
from corral.core.redaction import redacted

# The names of what is passed through, by purpose. Case does not matter: npm and proxies use both.
PASSED: dict[str, tuple[str, ...]] = {
    "the user and the terminal": (*("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR"),),
    "language and time": ("LANG", "LANGUAGE", "LC_*", "TZ"),
    "proxies": ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"),
    "certificates": (
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "AWS_CA_BUNDLE", "NIX_SSL_CERT_FILE", "DENO_CERT"),
        *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"),
    ),
    "package indexes": (
        *("PIP_*INDEX*", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_CONFIG_FILE", "PIP_CACHE_DIR"),
        *("PIP_*TIMEOUT", "PIP_DISABLE_PIP_VERSION_CHECK", "UV_*INDEX*", "UV_FIND_LINKS"),
        *("UV_OFFLINE", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_CONFIG_FILE"),
        *("UV_CACHE_DIR", "UV_HTTP_TIMEOUT", "NPM_CONFIG_*REGISTRY", "NPM_CONFIG_CAFILE"),
        *("NPM_CONFIG_*PROXY", "NPM_CONFIG_CACHE", "YARN_*REGISTRY*", "GOPROXY", "GONOPROXY"),
        *("GOPRIVATE", "GOSUMDB", "GONOSUMDB", "CARGO_REGISTRIES_*", "CARGO_REGISTRY_DEFAULT"),
        *("CARGO_SOURCE_*", "CARGO_NET_*", "CARGO_HTTP_*"),
    ),
    "where toolchains are": (
        *("JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOROOT", "GOPATH"),
        *("PYENV_ROOT", "PYENV_VERSION", "NVM_DIR", "RBENV_ROOT"),
    ),
}
TOOLS = (".venv/bin", "node_modules/.bin")  # of a tree: they come first on its PATH

_PATTERNS = tuple(pattern for group in PASSED.values() for pattern in group)
_ALWAYS = ("HOME", "TMPDIR")  # wherever they are: without them, nothing runs
_SAYS_SO = ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH")


class Removed(Struct, frozen=True):
    """A variable, or an entry of one, that points into the checkout or another tree."""

    name: str
    value: str


class Environment(Struct, frozen=True):
    variables: dict[str, str]
    removed: tuple[Removed, ...] = ()
    withheld: tuple[str, ...] = ()  # names whose values look like secrets


def compose(
    ours: Mapping[str, str],
    settings: EnvironmentSettings,
    *,
    tree: str,
    elsewhere: Sequence[str],
    tools: bool = True,
    resolve: Callable[[str], str] = normpath,
) -> Environment:
    """Return the environment of a program that runs in a tree.

    `elsewhere` are the folders whose files it must not use: the user's checkout, and the folder of
    all trees. Without `tools`, programs of the tree are not found by name: that is for commands of
    Corral itself. `resolve` follows the links of a path.
    """
    removed: list[Removed] = []
    withheld: list[str] = []
    variables: dict[str, str] = {}
    for name, value in ours.items():
        asked = _is_asked_for(name, settings)
        if not asked and not _is_passed(name):
            if _leads(name, value, tree, elsewhere, resolve):
                removed.append(Removed(name, value))
            continue
        if not asked and is_secret(name, value):
            withheld.append(name)
            continue
        kept, gone = _split(name, value, tree, elsewhere, resolve)
        removed += [Removed(name, entry) for entry in gone]
        if kept is not None:
            variables[name] = kept
    home = ours.get("HOME", "~")
    more = [f"{home}{entry[1:]}" if entry.startswith("~/") else entry for entry in settings.path]
    first = [join(tree, entry) for entry in (*(TOOLS if tools else ()), *more)]
    path = variables.get("PATH", "")
    return Environment(
        variables | settings.set | {"PATH": ":".join([*first, *([path] if path else [])])},
        tuple(removed),
        tuple(withheld),
    )


def is_secret(name: str, value: str) -> bool:
    """Say whether the name of a variable or its value looks like a secret."""
    return any(word in name.upper() for word in _SAYS_SO) or redacted(value) != value


def inside(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def is_passed(name: str, settings: EnvironmentSettings) -> bool:
    """Say whether a variable may be passed on, if it points nowhere else and is no secret."""
    return _is_asked_for(name, settings) or _is_passed(name)


def _is_asked_for(name: str, settings: EnvironmentSettings) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in settings.pass_)


def _is_passed(name: str) -> bool:
    return any(fnmatchcase(name.upper(), pattern) for pattern in _PATTERNS)


# Of what is not passed through, only these are worth a word: a person expects them to count.
_EXPECTED = frozenset(
    {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "NPM_CONFIG_PREFIX", "GOFLAGS"}
    | {"CARGO_TARGET_DIR", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "LD_LIBRARY_PATH", "GEM_PATH"}
)


def _leads(
    name: str, value: str, tree: str, elsewhere: Sequence[str], resolve: Callable[[str], str]
) -> bool:
    return name.upper() in _EXPECTED and bool(_split(name, value, tree, elsewhere, resolve)[1])


def _split(
    name: str, value: str, tree: str, elsewhere: Sequence[str], resolve: Callable[[str], str]
) -> tuple[str | None, list[str]]:
    """Return what is left of a value, if anything, and what was taken out of it."""
    if name in _ALWAYS:
        return value, []
    entries = value.split(":")
    if any(map(isabs, entries)) and "://" not in value:
        gone = [
            entry
            for entry in entries
            if isabs(entry)
            and any(
                inside(path, elsewhere) and not inside(path, [tree])
                for path in (normpath(entry), resolve(entry))
            )
        ]
        left = [entry for entry in entries if entry not in gone]
        return (":".join(left) if left else None), gone
    # Flags, like -modfile=/home/ann/project/go.mod.
    words = value.replace("=", " ").replace(",", " ").split()
    found = any(inside(word, elsewhere) and not inside(word, [tree]) for word in words)
    return (None, [value]) if found else (value, [])

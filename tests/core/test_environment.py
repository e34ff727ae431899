"""The environment of what runs for the project: what it gets, and what is taken out."""

import pytest

from corral.core.config import EnvironmentSettings
from corral.core.environment import PASSED, Removed, compose

CHECKOUT, PLACE, TREE = (
    "/home/ann/project",
    "/home/ann/.project-corral",
    "/home/ann/.project-corral/1",
)
FIRST = f"{TREE}/.venv/bin:{TREE}/node_modules/.bin"


def composed(
    settings: EnvironmentSettings | None = None, /, **ours: str
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    settings = settings or EnvironmentSettings()
    found = compose(ours, settings, tree=TREE, elsewhere=(CHECKOUT, PLACE))
    return found.variables, [(one.name, one.value) for one in found.removed]


def test_the_tools_of_the_tree_come_first() -> None:
    variables, removed = composed(PATH="/usr/bin:/bin", HOME="/home/ann")
    assert variables == {"PATH": f"{FIRST}:/usr/bin:/bin", "HOME": "/home/ann"}
    assert not removed
    more = EnvironmentSettings(path=("tools", "/opt/bin", "~/bin"))
    variables, _ = composed(more, PATH="/bin", HOME="/home/ann")
    assert variables["PATH"] == f"{FIRST}:{TREE}/tools:/opt/bin:/home/ann/bin:/bin"
    assert composed()[0] == {"PATH": FIRST}
    own = compose({"PATH": "/bin"}, EnvironmentSettings(), tree=TREE, elsewhere=(), tools=False)
    assert own.variables == {"PATH": "/bin"}


@pytest.mark.parametrize(
    "name",
    [
        *("HTTP_PROXY", "https_proxy", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LC_ALL"),
        *("NODE_EXTRA_CA_CERTS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "TZ"),
        *("UV_INDEX", "npm_config_registry", "npm_config_@own:registry", "GOPROXY", "LANG"),
        *("CARGO_REGISTRIES_OWN_INDEX", "CURL_CA_BUNDLE", "SSL_CERT_DIR"),
    ],
)
def test_the_way_to_the_network_is_passed_through(name: str) -> None:
    assert composed(None, **{name: "https://index.example/x"})[0][name] == "https://index.example/x"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARGO_REGISTRIES_OWN_TOKEN", "abc"),
        ("UV_INDEX_OWN_PASSWORD", "abc"),
        ("npm_config_//own/:_authToken:registry", "abc"),
        ("PIP_INDEX_URL", "https://ann:geheim@index.example/simple"),
        ("HTTPS_PROXY", "http://ann:geheim@proxy.example:3128"),
    ],
)
def test_secrets_are_withheld_until_they_are_asked_for(name: str, value: str) -> None:
    found = compose({name: value}, EnvironmentSettings(), tree=TREE, elsewhere=())
    assert name not in found.variables
    asked = EnvironmentSettings(pass_=(f"{name[:5]}*",))
    assert compose({name: value}, asked, tree=TREE, elsewhere=()).variables[name] == value


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "CORRAL_TOKEN", "GIT_DIR", "PYTHONPATH", "ANYTHING"]
)
def test_nothing_else_is_passed_through(name: str) -> None:
    assert name not in composed(None, **{name: "value"})[0]


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("PATH", f"{CHECKOUT}/.venv/bin:/bin", f"{FIRST}:/bin"),
        ("PATH", f"/bin:{PLACE}/2/bin:{TREE}/bin", f"{FIRST}:/bin:{TREE}/bin"),
        ("PYTHONPATH", f"{CHECKOUT}/src:/usr/share/x", "/usr/share/x"),
        ("PYTHONPATH", f"/usr/../home/ann/project/src:{CHECKOUT}-2", f"{CHECKOUT}-2"),
        ("PYTHONPATH", f"{CHECKOUT}", None),
        ("VIRTUAL_ENV", f"{CHECKOUT}/.venv", None),
        ("NODE_PATH", f"{CHECKOUT}/node_modules", None),
        ("npm_config_prefix", f"{CHECKOUT}/npm", None),
        ("GOFLAGS", f"-mod=mod -modfile={CHECKOUT}/go.mod", None),
        ("CARGO_TARGET_DIR", f"{CHECKOUT}/target", None),
    ],
)
def test_what_points_into_the_checkout_or_another_tree_is_taken_out(
    name: str, value: str, left: str | None
) -> None:
    asked = EnvironmentSettings(pass_=("*",))
    variables, removed = composed(asked, **{name: value})
    assert variables.get(name) == left
    assert removed
    assert {one for one, _ in removed} == {name}
    told = compose({name: value}, EnvironmentSettings(), tree=TREE, elsewhere=(CHECKOUT, PLACE))
    assert [one.name for one in told.removed] == [name]  # even if it is not passed through at all


def test_links_are_followed() -> None:
    found = compose(
        {"PATH": "/home/ann/link/bin:/bin"},
        EnvironmentSettings(),
        tree=TREE,
        elsewhere=(CHECKOUT,),
        resolve=lambda path: path.replace("/home/ann/link", CHECKOUT),
    )
    assert found.removed == (Removed("PATH", "/home/ann/link/bin"),)
    assert found.variables["PATH"] == f"{FIRST}:/bin"


def test_a_home_in_the_checkout_stays() -> None:
    assert composed(HOME=CHECKOUT, TMPDIR=f"{CHECKOUT}/tmp")[0].keys() == {"HOME", "TMPDIR", "PATH"}


def test_what_is_set_wins() -> None:
    settings = EnvironmentSettings(set={"CI": "1", "LANG": "C"})
    variables, _ = composed(settings, LANG="de_DE.UTF-8")
    assert (variables["CI"], variables["LANG"]) == ("1", "C")


def test_no_pattern_is_a_secret() -> None:
    names = [name for group in PASSED.values() for name in group]
    assert len(names) == len(set(names))
    assert not [name for name in names if "TOKEN" in name or name == "*"]

"""A lively board: two convoys with a bit of everything, run by scripted agents."""

import json
import sys
from pathlib import Path

from tests.e2e.corral_command import make_repository
from tests.web.browsed_repo import BrowsedRepo

AGENT = Path(__file__).with_name("agent.py")
FOREVER = 900
CONFIG = """\
[slots]
total = 12
reserve = 2
[watch]
beat_s = 60
grace_s = 1
attempts = 1
backoff_s = 0
[refinery]
slots = 4
[budget]
day_usd = 200.0
[engine.claude]
type = "command"
output = "facts"
command = ["true"]
[engine.codex]
type = "command"
output = "facts"
command = ["true"]
"""

# key, title, what its agent does, how long, needs, more
Story = tuple[str, str, str, int, str, dict[str, object]]
CHECKOUT: list[Story] = [
    ("model", "The money type: a currency and exact cents", "land", 1, "", {"priority": 3}),
    ("round", "Round once, at the end, and say how", "land", 1, "", {}),
    ("cart", "Cart: add, remove and merge lines", "land", 1, "model", {"role": "builder"}),
    ("taxes", "Look taxes up by place and date", "work", FOREVER, "model", {"priority": 2}),
    ("coupons", "Coupons that stack, and those that do not", "work", FOREVER, "model", {}),
    ("stock", "Reserve stock while somebody pays", "work", FOREVER, "", {"role": "builder"}),
    ("cards", "Card payments: ask twice, charge once", "work", FOREVER, "", {"priority": 5}),
    ("rates", "Which exchange rate counts?", "ask", 1, "", {"engine": "codex"}),
    ("pdf", "Invoices as PDF/A", "fail", 1, "", {"engine": "codex"}),
    ("mails", "Mails: confirmed, shipped, refunded", "work", FOREVER, "round", {"engine": "codex"}),
    ("refund", "Refund a part of an order", "work", 0, "cards,taxes", {}),
    ("export", "Export for the accountants", "work", 0, "taxes", {"priority": 1}),
    ("fraud", "Hold back what looks like fraud", "work", 0, "cards", {"role": "reviewer"}),
    ("docs", "Describe the checkout for those who integrate it", "work", 0, "refund,mails", {}),
    ("load", "A thousand checkouts a minute", "work", 0, "refund,export", {}),
    ("old", "Take the old checkout out", "work", 0, "load,docs", {"priority": 1}),
]
SEARCH: list[Story] = [
    ("index", "Index products as they change", "land", 1, "", {}),
    ("typos", "Forgive typing errors", "work", FOREVER, "index", {"role": "builder"}),
    ("rank", "Rank by what people buy", "work", FOREVER, "index", {"engine": "codex"}),
    ("facets", "Narrow down by size, colour, price", "work", FOREVER, "index", {}),
    ("cache", "Keep the results of the hundred commonest searches", "work", 0, "rank", {}),
]
HANDBOOK: list[Story] = [
    ("words", "A glossary that the code keeps to", "land", 1, "", {}),
    ("first", "The first hour, for new people", "land", 1, "", {"engine": "codex"}),
    ("night", "What to do when it breaks at night", "land", 1, "", {}),
]
# So that something is being checked, for as long as the scene lasts.
SLOW = "echo checking the links; until test -e {over}; do sleep 1; done"
LANDED = 4


def make_scene(folder: Path) -> BrowsedRepo:
    """Make the repository; nothing runs yet."""
    make_repository(folder / "shop")
    project = BrowsedRepo(folder / "shop")
    project.corral("init")
    project.configure(CONFIG)
    roles = project.path / ".corral" / "roles"
    roles.mkdir()
    for role in ("builder", "reviewer"):
        (roles / f"{role}.md").write_text(f"You are a {role}.\n")
    for title, prefix, tasks, check in (
        ("Checkout rewrite", "CR", CHECKOUT, "true"),
        ("Search", "SE", SEARCH, "true"),
        ("Handbook", "HB", HANDBOOK, SLOW.format(over=project.over)),
    ):
        plan = folder / f"{prefix}.toml"
        plan.write_text(_plan(title, prefix, tasks, check))
        project.corral("plan", "apply", str(plan))
    return project


def _plan(title: str, prefix: str, tasks: list[Story], check: str) -> str:
    lines = [f'[convoy]\ntitle = "{title}"\nprefix = "{prefix}"\nchecks = ["{check}"]']
    for key, name, mode, seconds, needs, more in tasks:
        given = {
            "key": key,
            "title": name,
            "brief": f"{name}.\n\nKeep the public names. Say in the tests what was decided.",
            "run": [sys.executable, str(AGENT), mode, str(seconds), f"src/{key}"],
            "needs": [need for need in needs.split(",") if need],
            "paths": [f"src/{key}/**"],
            "accept": ["true"],
            "engine": "claude",
            **more,
        }
        lines += ["[[task]]", *(f"{name} = {json.dumps(value)}" for name, value in given.items())]
    return "\n".join(lines) + "\n"


def until_lively(project: BrowsedRepo) -> None:
    """Wait until there is something of everything; then have some things need a person."""

    def lively() -> bool:
        columns = [
            task["column"] for task in project.here("status", "--json", code=0).data["tasks"]
        ]
        wanted = {"doing": 8, "done": LANDED, "failed": 1, "blocked": 1, "review": 3}
        return all(columns.count(name) >= number for name, number in wanted.items())

    project.until(lively)
    project.here("alert", "raise", "CR-10", "failed twice in the same place", "--kind", "stuck")
    project.here("alert", "raise", "log", "the disk is nearly full: 4% are left", "--kind", "disk")
    asked = ("Two currencies in one cart: refuse, or convert?", "--question", "--as", "CR-7.1")
    project.here("message", "send", "people", *asked)

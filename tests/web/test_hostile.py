"""Nothing that an agent writes runs as code in the page."""

import shlex

from playwright.sync_api import Page, expect

from tests.web.browsed_repo import PAGES, BrowsedRepo, Window

# Each would set `owned`, load something, or break out, if it were anything but text.
HOSTILE = [
    "<script>window.owned=1</script>",
    "<img src=x onerror=window.owned=1>",
    "\"'><svg/onload=window.owned=1>",
    "javascript:window.owned=1",
    "[click](javascript:window.owned=1) ![x](http://evil.example/x.png)",
    "<iframe srcdoc='<script>parent.owned=1</script>'></iframe>",
    "<base href=http://evil.example/><link rel=stylesheet href=http://evil.example/x.css>",
    "<style>*{background:url(http://evil.example/)}</style>",
    "${window.owned=1} {{constructor.constructor('window.owned=1')()}}",
    "</textarea></title></script><b id=broke>",
    "__proto__ constructor toString",
    "\U0001f469\u200d\U0001f4bb e\u0301",
]
# What only output can have: titles and other words with these are refused.
ESCAPES = [
    "\u202egnp.exe \u2066 \ufeff",
    "\x1b]8;;javascript:window.owned=1\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;b3duZWQ=\x07\x1b]0;title\x07\x1b[2J\x1b[H\x1b[?1049h",
    "\x1b[38;2;1;2;3;url(http://evil.example)m<b id=broke>\x1b[999999m",
    "\x9b31m\x9d0;x\x07 \x1bPq\x1b\\ \x1b_x\x1b\\",
]
FOUND = """() => ({
  owned: window.owned,
  marks: document.querySelectorAll('#broke, iframe, base, img, style, script:not([src])').length,
  links: [...document.querySelectorAll('[href], [src]')]
    .map(e => e.getAttribute('href') ?? e.getAttribute('src'))
    .filter(to => !/^[/#]/.test(to) && !to.startsWith(location.origin + '/assets/')),
  handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])
    .filter(a => a.name.startsWith('on')).length,
})"""


def check(page: Page, where: str) -> None:
    found = page.evaluate(FOUND)
    assert found == {"owned": None, "marks": 0, "links": [], "handlers": 0}, (where, found)


def fill(project: BrowsedRepo) -> tuple[str, list[str]]:
    """Put the strings everywhere; return a session whose output has them, and the tasks."""
    said = project.path.parent / "said.txt"
    said.write_text("\n".join([*HOSTILE, *ESCAPES, '{"fact":"said","text":"<img src=x>"}\n']))
    output = f"cat {said}; "
    progress = f"printf '%s\\n' {shlex.quote(HOSTILE[1])} > progress.md; "
    file = "echo x > '<img src=x onerror=window.owned=1>'; git add -A; git commit -qm '<b>'; "
    run = f"{output}{progress}{file}sleep 600"
    busy = project.script(run, "--convoy", "project", title=HOSTILE[2])
    served = project.served()

    def post(command: str, **body: object) -> dict[str, str]:
        found: dict[str, str] = served.post(f"/api/{command}", body).data
        return found

    tasks = []
    for number, text in enumerate(HOSTILE):
        brief, paths = "\n".join(HOSTILE), [f"src/{number}/<b id=broke>"]
        added = post("task/add", title=text, convoy="shelf", brief=brief, paths=paths)
        task = added["id"]
        post("task/comment", task=task, text=text)
        post("alert/raise", subject=task, text=text)
        post("message/send", to=task, text=text)
        post("task/block", task=task, reason=text)
        tasks.append(task)
    post("convoy/create", title=HOSTILE[0])
    return f"{busy}.1", tasks


def test_what_agents_write_is_text_on_every_page(project: BrowsedRepo, view: Window) -> None:
    session, tasks = fill(project)
    project.until(lambda: project.session(session)["progress"])
    page = view.look(project, "board")
    expect(page.get_by_role("link", name=HOSTILE[0])).to_be_visible()
    for name in PAGES:
        view.look(project, name)
        page.wait_for_timeout(300)  # nothing to wait for: something that should not happen
        check(page, name)
    for path in (
        f"/sessions/{session}",
        "/convoy/shelf",
        f"/?q={HOSTILE[1]}",
        *(f"/tasks/{t}" for t in tasks),
    ):
        page.goto(project.url + path)
        page.wait_for_timeout(300)
        check(page, path)
    page.goto(f"{project.url}/tasks/{tasks[0]}")
    drawer = page.get_by_role("complementary")
    expect(drawer.locator(".brief")).to_have_text("\n".join(HOSTILE))
    page.keyboard.press("Control+k")
    page.get_by_label("Go to or run").fill("<img")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    check(page, "palette")

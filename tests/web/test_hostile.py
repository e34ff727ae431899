"""I9: nothing that an agent writes runs as code in the page, anywhere."""

import shlex

from playwright.sync_api import Page, expect

from tests.web.browsing import PAGES, Ranch, Window

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
    "\u202egnp.exe \u2066 \ufeff \U0001f469\u200d\U0001f4bb",
]
ESCAPES = [
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
    .filter(to => !to.startsWith('/') && !to.startsWith('#')),
  handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])
    .filter(a => a.name.startsWith('on')).length,
})"""


def check(page: Page, where: str) -> None:
    found = page.evaluate(FOUND)
    assert found == {"marks": 0, "links": [], "handlers": 0}, (where, found)


def fill(ranch: Ranch) -> tuple[str, list[str]]:
    """Put the strings everywhere; return a session whose output has them, and the tasks."""
    both = [*HOSTILE, *ESCAPES]
    output = "".join(f"printf '%s\\n' {shlex.quote(text)}; " for text in both)
    fact = 'printf \'%s\\n\' \'{"fact":"said","text":"<img src=x onerror=window.owned=1>"}\'; '
    progress = f"printf '%s\\n' {shlex.quote(HOSTILE[1])} > progress.md; "
    file = "echo x > '<img src=x onerror=window.owned=1>'; git add -A; git commit -qm '<b>'; "
    run = f"{output}{fact}{progress}{file}sleep 600"
    busy = ranch.script(run, "--convoy", "farm", title=HOSTILE[2])
    tasks = []
    for number, text in enumerate(HOSTILE):
        task = ranch.shelve(
            text, "--brief", "\n".join(HOSTILE), "--paths", f"src/{number}/<b id=broke>"
        )
        ranch.here("task", "comment", task, text, "--as", "agent", code=0)
        ranch.here("alert", "raise", task, text, code=0)
        ranch.here("message", "send", task, text, "--as", "agent", code=0)
        ranch.here("task", "block", task, "--reason", text, code=0)
        tasks.append(task)
    ranch.here("convoy", "create", HOSTILE[0], code=0)
    return f"{busy}.1", tasks


def test_what_agents_write_is_text_on_every_page(ranch: Ranch, view: Window) -> None:
    session, tasks = fill(ranch)
    ranch.until(lambda: ranch.session(session)["progress"], limit_s=60)
    page = view.look(ranch, "board")
    expect(page.get_by_text(HOSTILE[0], exact=True).first).to_be_visible()
    for name in PAGES:
        view.look(ranch, name)
        page.wait_for_timeout(300)  # nothing to wait for: something that should not happen
        check(page, name)
    for path in (
        f"/sessions/{session}",
        "/convoy/shelf",
        f"/?q={HOSTILE[1]}",
        *(f"/tasks/{t}" for t in tasks),
    ):
        page.goto(ranch.url + path)
        page.wait_for_timeout(300)
        check(page, path)
    page.goto(f"{ranch.url}/tasks/{tasks[0]}")
    drawer = page.get_by_role("complementary")
    expect(drawer.locator(".brief")).to_have_text("\n".join(HOSTILE))
    page.keyboard.press("Control+k")
    page.get_by_label("Go to, or do").fill("<img")
    expect(page.get_by_role("option").first).to_be_visible()
    check(page, "palette")

"""Signing in, the frame around the pages, and the connection."""

import re

from playwright.sync_api import Browser, expect

from tests.web.browsed_repo import PAGES, BrowsedRepo, Window, window


def test_the_link_leads_in_and_leaves_no_token_behind(
    project: BrowsedRepo, browser: Browser
) -> None:
    with window(browser) as opened:
        opened.allow("401")
        page = opened.page
        page.goto(f"{project.url}/sessions/P-1.1")
        expect(page.get_by_role("heading")).to_have_text("Log in to Corral")
        link = project.data("link")["url"]
        page.goto(link)
        expect(page).to_have_url(f"{project.url}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Board")
        token = project.served().token
        ticket = link.partition("ticket=")[2]
        for secret in (token, ticket, *(c.get("value", "-") for c in page.context.cookies())):
            assert secret not in page.content()
        assert page.evaluate("document.cookie") == ""
        assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").find("tok") < 0
        page.go_back()
        assert "ticket" not in page.url
        page.goto(link)  # again
        expect(page.get_by_role("heading")).to_contain_text("has been used or has expired")


def test_every_page_has_an_address_that_can_be_kept(project: BrowsedRepo, view: Window) -> None:
    page = view.page
    for name in PAGES:
        view.look(project, name)
        expect(page.locator(".nav [aria-current=page]")).to_have_text(re.compile(name, re.I))
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(name, re.I))
    view.look(project, "board")
    for key, name in (("s", "Sessions"), ("q", "Queue"), ("b", "Board")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Queue")

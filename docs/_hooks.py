"""A hook of mkdocs: links that leave docs/ lead somewhere in the repository, but not in the site.

The site keeps their text. That their targets exist is checked by tests/docs/test_docs.py.
"""

import re
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:
    """Replace each link to a file outside of docs/ by its text."""
    depth = page.file.src_uri.count("/")

    def text_only(link: re.Match[str]) -> str:
        return link[1] if link[2].startswith("../" * (depth + 1)) else link[0]

    return _LINK.sub(text_only, markdown)

"""A real Chromium for the tests of the pages.

`python -m tests.support.chromium` prints its path, and installs it first if needed and allowed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import debian
from tests.support.processes import DidNotStart, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_ONE = (
    "The tests of the pages need a real browser. Install one so that `chromium`, `chromium-browser` or `google-chrome` "
    "is on PATH (Debian: sudo apt-get install chromium; Fedora: sudo dnf install chromium), or name one: "
    "CHROMIUM=/path/to/chromium."
)
# As root the browser has no user namespace for its sandbox; the pages that it opens are our own. It sends nothing to its makers.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _find() -> str | None:
    path = os.environ.get("CHROMIUM")
    if path:
        if not Path(path).exists():
            raise DidNotStart(f"CHROMIUM={path!r} is no file. {HOW_TO_GET_ONE}")
        return path
    return next((path for path in map(shutil.which, NAMES) if path), None)


def find() -> str:
    """Return the path of a Chromium. Root on Debian installs a missing one; elsewhere DidNotStart says what to do."""
    return debian.find("chromium", _find, HOW_TO_GET_ONE)


def log_in(page: Page, name: str) -> None:
    """Log in on the page of the login."""
    page.fill("#id_username", name)
    page.fill("#id_password", "a long password")
    page.click("main form button.button")


def until(page: Page, fact: str, seconds: float = 180.0) -> None:
    """Wait until a JavaScript expression is true in a page of Playwright; raise TimeoutError if it stays false.

    Playwright's own `wait_for_function` evaluates the text inside the page from the second time on, which our content security policy forbids.
    """
    wait_for(lambda: page.evaluate(fact), fact, seconds, every=0.02)


if __name__ == "__main__":
    try:
        print(find())
    except DidNotStart as error:
        sys.exit(f"error: {error}")

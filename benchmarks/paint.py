"""Measure when a browser on a slow line first paints a page, and how many bytes the page has.

The line: 400 kbit/s and 100 ms each way; a phone's screen, no cache.

    make serve                                                     # elsewhere; any league will do
    .venv/bin/python benchmarks/paint.py http://127.0.0.1:8000 [--as NAME:PASSWORD] [PATH ...]

Without a PATH it follows links from the front page, measures one page of each kind, and lists the kinds that it has not found. With --as it logs in
first. The floor is a page of one word on the same line in the same run. The aims: first paint in less than a second, no page above 100 kB except the
editor. The weight of a page is the number of bytes on the line until it is loaded, scripts and the deck included.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urljoin, urlparse

from playwright.sync_api import Browser, BrowserContext, StorageState, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support import chromium

ROUNDS = 3
LINE = {"offline": False, "downloadThroughput": 400_000 / 8, "uploadThroughput": 400_000 / 8, "latency": 100}
PAINTED = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
ANSWERED = "performance.getEntriesByType('navigation')[0].responseStart"
FLOOR = "/version"
FIRST = ("/", "/tv/", "/overall/", "/status/", "/puzzles/", "/e/", "/editor/", "/accounts/forgotten/")
OF_AN_ACCOUNT = (
    "/accounts/me/",
    "/accounts/requests/",
    "/accounts/password/",
    "/accounts/mail/",
    "/submit/",
    "/tables/",
)
OF_AN_ACCOUNT += ("/t/new/", "/t/new/?game=partnership", "/e/new/?game=partnership", "/c/new/?game=partnership")
MOST = 400  # Most pages that are read for their links.
NAME = r"[\w.-]+"
# One page of each kind is measured.
KINDS = {
    "home": "/",
    "games": "/g/",
    "game": f"/g/{NAME}/",
    "overall": "/overall/",
    "bots": "/bots/",
    "bot": f"/bots/{NAME}/",
    "version": f"/bots/{NAME}/v[0-9]+/",
    "encounter": f"/bots/{NAME}/vs/{NAME}/",
    "player": f"/players/{NAME}/",
    "digest": f"/players/{NAME}/digest/{NAME}/",
    "tournaments": "/t/",
    "tournament": f"/t/(?!new/){NAME}/",
    "new tournament": f"/t/new/[?]game={NAME}.*",
    "events": "/e/",
    "event": f"/e/(?!new/){NAME}/",
    "new event": "/e/new/.*",
    "league": f"/c/(?!new/){NAME}/",
    "new league": "/c/new/.*",
    "matches": "/m/",
    "match": f"/m/{NAME}/",
    "board": f"/m/{NAME}/b/[0-9]+/",
    "what a bot was sent": f"/m/{NAME}/sent/.*",
    "docs": "/docs/",
    "document": f"/docs/{NAME}/",
    "status": "/status/",
    "tv": "/tv/",
    "puzzles": "/puzzles/",
    "puzzle": f"/puzzles/{NAME}/",
    "editor": "/editor/",
    "try": f"/tries/{NAME}/",
    "tables": "/tables/",
    "table": f"/tables/{NAME}/",
    "submit": "/submit/",
    "sign up": "/accounts/signup/",
    "log in": "/accounts/login/",
    "forgotten": "/accounts/forgotten/",
    "account": "/accounts/me/",
    "requests": "/accounts/requests/",
    "password": "/accounts/password/",
    "mail": "/accounts/mail/",
}

NOT_FOLLOWED = re.compile(r"/(api|static|admin|metrics|prefs)/|[.](jsonl?|csv|txt|atom|png|svg)$|/accounts/logout/")


@dataclass
class PageWeight:
    """The measurements of one page, in milliseconds and bytes."""

    answers: list[float] = field(default_factory=list)
    paints: list[float] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)


def look(browser: Browser, url: str, state: StorageState | None) -> tuple[float, float, int]:
    """Measure a page without caches: ms from its request to its first byte and to its first paint, and its bytes on the line."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="es-ES", storage_state=state)
    try:
        page = context.new_page()
        session = context.new_cdp_session(page)
        weight = 0

        def count(event: dict[str, float]) -> None:
            nonlocal weight
            weight += int(event["encodedDataLength"])

        session.on("Network.loadingFinished", count)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", LINE)
        page.goto(url, wait_until="load")
        chromium.until(page, f"{PAINTED} !== undefined")
        return float(page.evaluate(ANSWERED)), float(page.evaluate(PAINTED)), weight
    finally:
        context.close()


def log_in(browser: Browser, site: str, who: str) -> StorageState:
    """Log in and return the cookies."""
    name, _, password = who.partition(":")
    context = browser.new_context()
    page = context.new_page()
    page.goto(urljoin(site, "/accounts/login/"))
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    state = context.storage_state()
    context.close()
    return state


def kind_of(path: str) -> str | None:
    """Return the kind of a page, given its path with the query."""
    bare = path.partition("?")[0]
    return next((kind for kind, form in KINDS.items() if re.fullmatch(form, path) or re.fullmatch(form, bare)), None)


def one_of_each(context: BrowserContext, site: str, first: tuple[str, ...]) -> dict[str, str]:
    """Follow links until there is a path for each kind of page. Read at most eight pages of a kind."""
    waiting, targets, path_by_kind = deque(first), set(first), dict[str, str]()
    read: dict[str | None, int] = {}
    for _ in range(MOST):
        if not waiting or len(path_by_kind) == len(KINDS):
            break
        path = waiting.popleft()
        kind = kind_of(path)
        read[kind] = read.get(kind, 0) + 1
        if read[kind] > 8:  # Pages of one kind are much alike.
            continue
        answer = context.request.get(urljoin(site, path), max_redirects=0)
        if not answer.ok or "text/html" not in answer.headers.get("content-type", ""):
            continue
        if kind is not None:
            path_by_kind.setdefault(kind, path)
        for link in re.findall(r'href="([^"#]+)', answer.text()):
            where = urlparse(urljoin(urljoin(site, path), link.replace("&amp;", "&")))
            target = where.path + (f"?{where.query}" if where.query else "")
            if where.netloc == urlparse(site).netloc and target not in targets and not NOT_FOLLOWED.search(where.path):
                targets.add(target)
                waiting.append(target)
    return {kind: path_by_kind[kind] for kind in KINDS if kind in path_by_kind}


def main() -> None:
    """Print a row for each page: medians of its rounds, paint also as a multiple of the floor, as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site")
    parser.add_argument("--as", dest="who", metavar="NAME:PASSWORD", help="look as who is logged in")
    parser.add_argument("paths", nargs="*")
    chosen = parser.parse_intermixed_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        state = log_in(browser, chosen.site, chosen.who) if chosen.who else None
        if chosen.paths:
            looked = {path: path for path in chosen.paths}
        else:
            context = browser.new_context(storage_state=state)
            looked = one_of_each(context, chosen.site, (*FIRST, *(OF_AN_ACCOUNT if state else ())))
            context.close()
        pages = {kind: PageWeight() for kind in ("floor", *looked)}
        for _ in range(ROUNDS):
            for kind, page in pages.items():
                answer, paint, weight = look(browser, urljoin(chosen.site, looked.get(kind, FLOOR)), state)
                page.answers.append(answer)
                page.paints.append(paint)
                page.weights.append(weight)
        browser.close()
    floor = median(pages["floor"].paints)
    print(
        "| page | first byte, ms | first paint, ms | of the floor | kB on the line |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for kind, page in pages.items():
        paint = median(page.paints)
        print(
            f"| {kind} | {median(page.answers):.0f} | {paint:.0f} | {paint / floor:.1f} | {median(page.weights) / 1000:.1f} |",
            flush=True,
        )
    if not chosen.paths:
        print("not found:", ", ".join(kind for kind in KINDS if kind not in looked) or "none")


if __name__ == "__main__":
    main()

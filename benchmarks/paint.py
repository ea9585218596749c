"""How soon a browser shows something of a page on a slow line: 400 kbit/s and 100 ms each way, a telephone's screen, nothing kept.

    make serve                                                     # elsewhere; any league will do
    .venv/bin/python benchmarks/paint.py http://127.0.0.1:8000 [PATH ...]

Without a PATH it looks at what most people open first, and at one page of each kind that is linked from there. The floor is a page of one
word on the same line in the same run. The aim: under a second.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import median
from urllib.parse import urljoin, urlparse

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support import chromium

ROUNDS = 3
LINE = {"offline": False, "downloadThroughput": 400_000 / 8, "uploadThroughput": 400_000 / 8, "latency": 100}
PAINTED = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
FLOOR = "/version"
FIRST = ("/", "/bots/", "/g/", "/t/", "/m/", "/docs/", "/accounts/signup/", "/editor/")
KINDS = (
    r"^/g/[a-z_0-9]+/$",
    r"^/bots/[^/]+/$",
    r"^/t/[^/]+/$",
    r"^/m/[^/]+/$",
    r"^/players/[^/]+/$",
    r"^/docs/[^/]+/$",
)


def paint_ms(browser: Browser, url: str) -> float:
    """From the request of a page to the first of it that is seen, with an empty cache."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="es-ES")
    try:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", LINE)
        page.goto(url, wait_until="load")
        chromium.until(page, f"{PAINTED} !== undefined")
        return float(page.evaluate(PAINTED))
    finally:
        context.close()


def paths(browser: Browser, site: str) -> list[str]:
    """What to look at: one page of each kind."""
    page = browser.new_page()
    found = list(FIRST)
    seen: list[str] = []
    for start in ("/", "/bots/", "/t/", "/m/", "/g/", "/docs/"):
        page.goto(urljoin(site, start))
        seen += page.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
    page.close()
    here = [urlparse(url).path for url in seen if urlparse(url).netloc == urlparse(site).netloc]
    for kind in KINDS:
        found += [path for path in here if re.search(kind, path) and path not in found][:1]
    return found


def main() -> None:
    """Print a line for each page: the median of its rounds, and the same as a multiple of the floor."""
    site, *asked = sys.argv[1:] or sys.exit(__doc__)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        looked = asked or paths(browser, site)
        times: dict[str, list[float]] = {path: [] for path in (FLOOR, *looked)}
        for _ in range(ROUNDS):
            for path, found in times.items():
                found.append(paint_ms(browser, urljoin(site, path)))
        browser.close()
    floor = median(times[FLOOR])
    for path, found in times.items():
        print(f"{path:40} {median(found):6.0f} ms  x {median(found) / floor:.2f}", flush=True)


if __name__ == "__main__":
    main()

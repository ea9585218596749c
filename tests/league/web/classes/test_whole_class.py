"""A class of 25 from nothing: real sign-ups over HTTP, bots that a real worker checks and measures, marks; and the pages in a browser."""

from __future__ import annotations

import csv
import io
import os
import re
import urllib.parse
import urllib.request
from datetime import timedelta
from http.cookiejar import CookieJar
from pathlib import Path

import axe_playwright_python
import pytest

from league.domain.bots import house
from league.domain.classes import measuring
from league.domain.core import clock
from league.domain.jobs.worker import WorkerLoop
from league.enums import VersionStatus
from league.models import BotVersion, HandIn, Match
from tests.league.web.conftest import PATIENT_MS
from tests.support import league as made

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
CAREFUL = (Path(__file__).resolve().parents[4] / "bots/sdk/templates/careful.py").read_text(encoding="utf-8")
BROKEN = made.BOT.decode().replace("return legal[0]", "raise RuntimeError('forgot the trump')")
SIZE = 25
PASSWORD = "a long password 1"


class Person:
    """Somebody with a browser of their own, without scripts."""

    def __init__(self, site: str) -> None:
        self.site, self.jar = site, CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.opener.addheaders = [("Accept-Language", "en")]

    def get(self, path: str) -> str:
        with self.opener.open(urllib.parse.urljoin(self.site, path)) as answer:
            self.at = urllib.parse.urlsplit(answer.url).path
            return answer.read().decode()

    def send(self, path: str, **fields: str) -> str:
        """Open a page and send its form; return the page to which that leads."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path)).group(1)
        return self.post(path, token, **fields)

    def post(self, path: str, token: str, **fields: str) -> str:
        body = urllib.parse.urlencode({"csrfmiddlewaretoken": token, **fields}).encode()
        with self.opener.open(urllib.parse.urljoin(self.site, path), body) as answer:
            self.at = urllib.parse.urlsplit(answer.url).path
            return answer.read().decode()


@pytest.mark.slow
def test_a_class_of_25_with_a_due_time_a_pass_mark_and_marks(
    live_server, browser, worker: WorkerLoop, settings
) -> None:
    settings.SECURE_SSL_REDIRECT = False
    for version, _ in house.enter():
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    site = live_server.url
    teacher = Person(site)
    teacher.send("/accounts/signup/", name="prof-vega", password=PASSWORD)
    names = [f"Student {number:02}, Maria" for number in range(SIZE)]
    page = teacher.send("/class/new/", name="Programming 2", places=str(SIZE), roster="\n".join(names))
    place = teacher.at
    link = re.search(r"/class/\w+/join/[\w-]+/", page).group()
    due = (clock.present() + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    task = {"title": "Beat random", "game": "partnership", "rival": "random", "rule": "better", "due": due}
    marks = {"attempts": "1", "marks": "10", "clean_marks": "4", "place_marks": "2", "late_percent": "0"}
    teacher.send(f"{place}new/", **task, **marks)

    students = []
    for number, name in enumerate(names):
        student = Person(site)
        student.send(f"/accounts/signup/?next={link}", name=f"st-{number}", password=PASSWORD, next=link)
        assert student.at == link
        student.send(link, name=name.upper())
        assert student.at == place
        students.append(student)
    late = Person(site)
    late.send("/accounts/signup/", name="late", password=PASSWORD)
    with pytest.raises(urllib.error.HTTPError):
        late.send(link, name="Somebody Else")

    for number, text in ((0, CAREFUL), (1, BROKEN)):
        sent = {"source": text, "game": "partnership", "rival": "random", "language": "python"}
        students[number].send("/editor/", **sent, bot=f"bot-{number}", do="submit", games="partnership")
        pk = str(BotVersion.objects.get(bot__slug=f"bot-{number}").pk)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', students[number].get(f"{place}1/")).group(1)
        assert "Handed in" in students[number].post(f"{place}1/hand-in/", token, version=pk)
    while HandIn.objects.filter(verdict="").exists():
        assert worker.look() is True
        measuring.advance()

    rows = list(csv.reader(io.StringIO(teacher.get(f"{place}marks.csv?as=canvas"))))
    assert [(row[0], row[-1]) for row in rows[2:5]] == [(names[0], "12.0"), (names[1], "0.0"), (names[2], "")]
    assert len(rows) == SIZE + 2
    assert "exit status 1" in students[1].get(place)
    assert "You pass." in students[0].get(place)
    assert "bot-0" not in Person(site).get("/g/partnership/")
    faults = []
    for person, paths in (
        (teacher, [place, f"{place}1/", f"{place}new/", "/class/new/"]),
        (students[1], [place, f"{place}1/"]),
    ):
        faults += look(browser, site, person, paths)
    assert faults == []


def look(browser, site: str, person: Person, paths: list[str]) -> list[str]:
    """Return what axe finds on pages, at two widths; take pictures if a folder is named."""
    session = [{"name": cookie.name, "value": str(cookie.value), "url": site} for cookie in person.jar]
    problems = []
    for width, scheme in ((1280, "light"), (360, "dark")):
        window = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
        window.add_cookies(session)
        window.set_default_timeout(PATIENT_MS)
        page = window.new_page()
        for path in paths:
            page.goto(site + path)
            page.evaluate(AXE)
            result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag22aa', 'best-practice']})")
            problems += [f"{path} {width}: {v['id']}: {v['nodes'][0]['html'][:150]}" for v in result["violations"]]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                problems.append(f"{path} is wider than {width}")
            if os.environ.get("SCREENSHOTS"):
                name = f"{path.strip('/').replace('/', '-')}-{len(person.jar)}-{width}.png"
                page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / name, full_page=True)
        window.close()
    return problems

"""Replays in frames of other sites, and their description by oEmbed: what a stranger sees, for whoever asks, and for no other page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.test import Client

from league.domain.matches import embargoes
from league.domain.puzzles import shelf
from league.domain.tournaments import events, releases
from league.enums import Audience
from league.models import Match
from league.web.previews import embeds, links
from tests.league.web.page import Page
from tests.support import league as made
from tests.support.chromium import until

HERE = "http://testserver"


def described(path: str, client: Client | None = None, **query: object):
    """Return the answer of oEmbed about a page."""
    return (client or Client(headers={"accept-language": "en"})).get("/oembed", {"url": f"{HERE}{path}", **query})


def test_a_frame_is_for_every_site_and_knows_no_reader(league, owner) -> None:
    paths = [f"/embed/m/{league.clean.public_id}/?b=2&s=1", f"/embed/puzzles/{next(iter(shelf.shelf().by_id))}/"]
    for path in [*paths, "/embed/m/00000/", "/embed/puzzles/none/"]:
        answer = Client(headers={"accept-language": "es"}).get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert answer.status_code == (200 if path in paths else 404)
        assert policy.endswith("frame-ancestors *")
        assert policy.startswith("default-src 'self';")
        assert "X-Frame-Options" not in answer.headers
        assert "Cookie" not in answer.headers.get("Vary", "")
        assert not answer.cookies
        assert owner.get(path).content == answer.content, "the owner of a bot gets what a stranger gets"
        assert answer.content.count(b'target="_blank"') == 1
        assert b'<form method="post"' not in answer.content
        assert Client().post(path).status_code == 405


@pytest.mark.parametrize(
    "path", ["/", "/m/{match}/", "/m/{match}/b/1/", "/nowhere/", "/accounts/login/", "/oembed?url=x"]
)
def test_no_other_page_may_be_framed(league, path) -> None:
    answer = Client().get(path.format(match=league.clean.public_id))

    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")


def test_a_frame_shows_its_board_and_the_way_to_its_page(league) -> None:
    place = f"/m/{league.clean.public_id}/?b=2&amp;s=1"
    text = Client(headers={"accept-language": "en"}).get(f"/embed{place.replace('&amp;', '&')}").content.decode()
    page = Page(text)

    assert f'page="{HERE}{place}"' in text
    assert f'href="{HERE}{place}"' in text
    assert f'src="/m/{league.clean.public_id}/replay.json?b=2&amp;s=1"' in text
    assert "Board 2" in page.text
    assert len(re.findall(r"<dt>Seat \d</dt>", text)) == 4, "the first position, without a script"
    assert 'content="noindex"' in text
    assert text.count('<li id="d1p') > 40


def test_oembed_describes_the_frame_of_a_page(league) -> None:
    where = f"/m/{league.clean.public_id}/"
    page = Client().get(f"{where}?b=2&s=1").content.decode()
    (offered,) = re.findall(r'type="application/json\+oembed" href="http://testserver([^"]+)"', page)
    answer = Client(headers={"accept-language": "en"}).get(offered.replace("&amp;", "&"))
    data = answer.json()

    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert (data["version"], data["type"], data["provider_name"]) == ("1.0", "rich", "Tute League")
    assert data["provider_url"] == f"{HERE}/"
    assert (data["width"], data["height"]) == (embeds.WIDTH, embeds.HEIGHT)
    assert f'src="{HERE}/embed{where}?b=2&amp;s=1"' in data["html"]
    assert f'width="{embeds.WIDTH}" height="{embeds.HEIGHT}"' in data["html"]
    assert links.read(data["thumbnail_url"].split("/preview/")[1][:-4]).title.startswith("Board 2")
    step = described(f"{where}?b=1&s=0&step=d1p5").json()
    assert "?b=1&amp;s=0#d1p5" in step["html"]
    assert "?b=1&amp;s=0&quot;" not in described(f"{where}b/1/").json()["html"]
    assert f"/embed{where}?b=1&amp;s=0" in described(f"{where}b/1/").json()["html"]
    item = next(iter(shelf.shelf().by_id))
    assert f"/embed/puzzles/{item}/" in described(f"/puzzles/{item}/").json()["html"]


def test_oembed_keeps_to_the_largest_size(league) -> None:
    where = f"/m/{league.clean.public_id}/"
    small = described(where, maxwidth=400, maxheight=300).json()

    assert (small["width"], small["height"]) == (400, 300)
    assert "thumbnail_url" not in small, "the picture is wider"
    assert described(where, maxwidth=2000, maxheight=2000).json()["width"] == embeds.WIDTH
    assert "thumbnail_url" in described(where, maxwidth=1200, maxheight=630).json()
    for wrong in ("x", "0", "-1", "9" * 30):
        assert described(where, maxwidth=wrong).json()["width"] == embeds.WIDTH


def test_oembed_refuses_as_its_specification_says(league) -> None:
    where = f"/m/{league.clean.public_id}/"
    for other in ("xml", "", "9" * 5000):
        assert described(where, format=other).status_code == 501
    assert described(where, format="json").status_code == 200
    for path in (
        "/",
        "/bots/rufo/",
        f"/t/{league.cup.slug}/",
        "/m/00000/",
        f"{where}b/99/x",
        "/puzzles/none/",
        f"/api/v1/matches/{league.clean.public_id}",
        f"/api/v1/matches/{league.clean.public_id}/boards/1",
        "/oembed",
    ):
        answer = described(path)
        assert (path, answer.status_code) == (path, 404)
        assert answer.json() == described("/nowhere/").json(), "one answer, whatever the reason"
    for url in ("", "x", f"//testserver{where}", f"https://elsewhere.example{where}", "http://[", "javascript:1"):
        assert Client().get("/oembed", {"url": url}).status_code == 404, url
    assert Client().get("/oembed").status_code == 404
    assert Client().post("/oembed").status_code == 405


def test_what_is_not_public_has_no_frame_and_says_no_more_than_what_does_not_exist(league, owner) -> None:
    document = {"name": "Velvet", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    terms = releases.ReleaseTerms(Audience.HIDDEN)
    event = events.create(league.ana, document, [league.rufo, league.luna], terms=terms, now=made.NOW)
    hidden = made.play(Match.objects.get(tournament__event=event))
    waiting = made.started(league.ana, [league.rufo, league.luna], name="Later").matches.get()
    embargoes.change(league.clean, made.NOW.replace(year=2126), why="a final", actor="eva", now=made.NOW)
    nothing = Client().get("/embed/m/00000/")
    for match in (hidden, waiting, league.clean):
        path = f"/m/{match.public_id}/"
        for reader in (Client(), owner):
            answer = reader.get(f"/embed{path}", headers={"accept-language": "en"})
            assert (answer.status_code, answer.content) == (404, nothing.content)
            assert described(path, reader).status_code == 404
        assert "share-embed" not in owner.get(path).content.decode()


def test_a_match_offers_a_link_and_the_text_of_its_frame(league) -> None:
    where = f"/m/{league.clean.public_id}/"
    text = Client(headers={"accept-language": "en"}).get(f"{where}?b=2&s=0").content.decode()

    assert f'id="share-link" class="mono" readonly value="{HERE}{where}?b=2&amp;s=0"' in text
    (snippet,) = re.findall(r'<textarea id="share-embed"[^>]*>([^<]+)</textarea>', text)
    assert f"&lt;iframe src=&quot;{HERE}/embed{where}?b=2&amp;amp;s=0&quot;" in snippet


# ---- in the browser


@pytest.fixture
def blog() -> Iterator[tuple[str, list[str]]]:
    """Serve pages of another origin; what is appended to the list is the body of the page."""
    bodies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = f"<!doctype html><html lang=en><title>Blog</title><h1>A blog</h1>{''.join(bodies)}".encode()
            self.send_response(200 if self.path == "/" else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content if self.path == "/" else b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def picture(page, name: str) -> None:
    """Take a picture for people, if they want one."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/frame-{name}.png")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(800, 600), (360, 600)])
def test_a_frame_on_another_site_is_stepped_through(live, visit, blog, width: int, height: int) -> None:
    url, league = live
    address, bodies = blog
    where = f"{url}/m/{league.clean.public_id}/"
    data = json.loads(Client(headers={"host": url.split("/")[2]}).get("/oembed", {"url": f"{where}?b=1&s=0"}).content)
    html = data["html"].replace(f'width="{embeds.WIDTH}"', f'width="{width}"')
    bodies.append(html.replace(f'height="{embeds.HEIGHT}"', f'height="{height}"'))
    visited = visit(address, width=width + 40, height=height + 140, has_touch=width < 500)
    page = visited.page
    frame = page.frames[1]
    frame.locator("tute-replay.ready").wait_for(state="attached")
    picture(page, f"{width}-start")

    frame.locator("h1").click()  # The keys go where the reader has clicked.
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    until(frame, "location.hash === '#d1p4'")
    assert frame.locator(".laid").count() == 4
    assert frame.get_attribute("#back", "href") == f"{where}?b=1&s=0&step=d1p4#d1p4"
    picture(page, f"{width}-trick")
    frame.locator("[data-do=next]").tap() if width < 500 else frame.locator("[data-do=next]").click()
    until(frame, "location.hash === '#d1p5'")
    assert frame.locator("#d1p5").get_attribute("aria-current") == "step"
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.evaluate("scrollY") == 0, "the frame does not move the page around it"
    assert frame.evaluate("document.cookie") == ""
    assert visited.complaints == []
    assert visited.hosts == {address.split("/")[2], url.split("/")[2]}


@pytest.mark.slow
def test_a_frame_without_a_script_shows_the_hands_and_the_way_back(live, visit, blog) -> None:
    url, league = live
    address, bodies = blog
    bodies.append(embeds.frame(f"{url}/embed/m/{league.clean.public_id}/", "x"))
    page = visit(address, java_script_enabled=False).page
    frame = page.frames[1]
    frame.locator(".first dd").nth(3).wait_for()
    picture(page, "without-script")

    assert frame.locator(".first").is_visible()
    assert frame.locator("#back").is_visible()
    assert frame.locator("#d1p1").is_visible()


@pytest.mark.slow
def test_a_shared_link_tells_the_server_its_step(live, visit) -> None:
    url, league = live
    where = f"{url}/m/{league.clean.public_id}/"
    page = visit(f"{where}?b=2&s=1&step=d1p17").page
    assert page.locator("#d1p17").get_attribute("aria-current") == "step", "also where the part behind # is lost"
    page.keyboard.press("ArrowRight")
    assert page.url == f"{where}?b=2&s=1#d1p18", "and the address follows"
    assert page.evaluate("document.querySelector('tute-replay').link()") == f"{where}?b=2&s=1&step=d1p18#d1p18"
    page.click(".files > summary")
    assert page.locator("#share-embed").input_value().startswith(f'<iframe src="{url}/embed/m/')
    picture(page, "share")

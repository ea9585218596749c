"""Search finds what a name means, and nothing that the reader may not see; error pages and the pages about the site."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

import engine
from league.domain.tournaments import events, releases
from league.models import Bot
from tests.league.web.page import Page

ENGLISH = {"accept-language": "en"}


def found(text: str, client: Client | None = None) -> list[str]:
    answer = (client or Client(headers=ENGLISH)).get("/search/", {"q": text})
    assert answer.status_code == 200
    main = answer.content.decode().split("<main")[1].split("</main>")[0]
    return [link for link in Page(main).links if link.startswith("/")]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("parejas", "/g/partnership/"),
        ("Guiñote", "/g/guinote/"),
        ("guinote", "/g/guinote/"),
        ("tute cabrón", "/g/cabrero/"),
        ("pocha", "/g/podrida/"),
        ("brisca", "/g/brisca/"),
        ("brsica", "/g/brisca/"),
        ("rufo", "/bots/rufo/"),
        ("ru", "/bots/rufo/"),
        ("ana", "/players/ana/"),
        ("next cup", "/t/next-cup/"),
        ("Cup", "/t/next-cup/"),
        ("fairness", "/docs/fairness/"),
        ("bot protocol", "/docs/protocol/"),
    ],
)
def test_a_name_is_found(league, text: str, address: str) -> None:
    assert address in found(text)


@pytest.mark.parametrize("text", ["", "   ", "x" * 500, "%", "'; drop table", "🂡", "~", "_", "nobody-has-this-name"])
def test_any_text_is_answered(league, text: str) -> None:
    links = found(text)

    assert len([link for link in links if link.startswith("/g/")]) == len(engine.games()), "it offers the games"


def test_a_private_event_is_found_by_its_owner_alone(league, owner, stranger) -> None:
    document = {"name": "Clase secreta", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    event = events.create(league.ana, document, [], terms=releases.ReleaseTerms(private=True))

    assert f"/e/{event.slug}/" in found("clase", owner)
    for text in ("clase", "secreta", event.slug, event.slug[:4]):
        assert f"/e/{event.slug}/" not in found(text, stranger)
        assert f"/e/{event.slug}/" not in found(text)


def test_a_search_reads_a_few_rows_of_an_index(league) -> None:
    now = timezone.now()
    Bot.objects.bulk_create(
        [Bot(owner=league.ana, slug=f"zz-{number:05}", created=now) for number in range(3000)], batch_size=500
    )
    client = Client(headers=ENGLISH)
    with CaptureQueriesContext(connection) as queries:
        links = found("zz", client)

    assert len([link for link in links if link.startswith("/bots/zz-")]) == 8
    assert len(queries) <= 12
    statement = next(query["sql"] for query in queries if '"league_bot"' in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}" if connection.vendor == "sqlite" else f"EXPLAIN {statement}")
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert re.search(r"USING INDEX|Index", plan), plan


def test_a_page_that_does_not_exist_offers_search_and_near_names(db) -> None:
    answer = Client(headers=ENGLISH).get("/games/guinote")
    html = answer.content.decode()

    assert answer.status_code == 404
    assert "Did you mean:" in html
    assert 'href="/g/guinote/"' in html
    assert 'action="/search/"' in html.split("<main")[1]


def test_a_refusal_says_what_fits_its_place(league, stranger) -> None:
    operators = stranger.get("/operators/", headers=ENGLISH)
    foreign = stranger.post(f"/t/{league.next_cup.slug}/do/", {"action": "cancel"}, headers=ENGLISH)

    assert operators.status_code == 403
    assert "Only operators see this page" in operators.content.decode()
    assert foreign.status_code == 403
    assert "Only its owner can see or change this. You are logged in as berto." in foreign.content.decode()


def test_players_are_listed_page_by_page(league) -> None:
    page = Page(Client(headers=ENGLISH).get("/players/").content.decode())

    assert [link for link in page.links if link.startswith("/players/") and link != "/players/"] == [
        "/players/ana/",
        "/players/berto/",
        "/players/cira/",
    ]


def test_old_addresses_lead_to_the_new_ones(league) -> None:
    visitor = Client()
    for old, new in {"/queue/": "/status/", "/tables/": "/play/", "/queue/?x=1": "/status/?x=1"}.items():
        answer = visitor.get(old)
        assert (answer.status_code, answer.url) == (301, new)
    assert visitor.get("/g/?game=brisca").url == "/g/brisca/"
    assert visitor.get("/g/?game=mus").status_code == 200


def test_robots_and_sitemap_name_public_pages_only(league) -> None:
    visitor = Client()
    robots = visitor.get("/robots.txt")
    assert robots["Content-Type"].startswith("text/plain")
    assert "Disallow: /accounts/" in robots.content.decode()
    assert "Sitemap: http://testserver/sitemap.xml" in robots.content.decode()

    index = visitor.get("/sitemap.xml").content.decode()
    assert ElementTree.fromstring(index).tag.endswith("sitemapindex")
    parts = re.findall("<loc>(.*?)</loc>", index)
    addresses: list[str] = []
    for part in parts:
        answer = visitor.get(part.removeprefix("http://testserver"))
        assert answer["Content-Type"].startswith("application/xml")
        addresses += re.findall("<loc>http://testserver(.*?)</loc>", answer.content.decode())
    assert {"/", "/play/", "/g/partnership/", "/bots/rufo/", f"/t/{league.cup.slug}/", "/docs/fairness/"} <= set(
        addresses
    )
    closed = re.findall("Disallow: (.*)", robots.content.decode())
    assert [path for path in addresses if path.startswith(tuple(closed))] == []
    kinds = {resolve(path).view_name: path for path in addresses}  # one page of each
    assert [path for path in kinds.values() if visitor.get(path).status_code != 200] == []
    assert visitor.get("/sitemap-nothing-0.xml").status_code == 404
    assert visitor.get("/sitemap-pages-7.xml").status_code == 404
    assert visitor.get("/sitemap-bots-99999999999.xml").status_code == 200


@pytest.mark.parametrize("path", ["/", "/g/brisca/", "/about/", "/privacy/", "/status/", "/search/?q=brisca"])
def test_every_page_says_its_address_its_title_and_what_it_is_about(league, path: str) -> None:
    html = Client(headers=ENGLISH).get(path).content.decode()
    head = html.split("</head>")[0]
    title = re.search("<title>(.*?) · Tute League</title>", head)

    assert title
    assert f'<link rel="canonical" href="http://testserver{path.partition("?")[0]}">' in head
    assert f'<meta property="og:title" content="{title[1]}">' in head
    assert re.search('<meta property="og:description" content="[^"]{20,}">', head)


@pytest.mark.parametrize(
    ("accepts", "language"),
    [
        ("de-DE,de;q=0.9", "en"),
        ("", "en"),
        ("es-AR", "es"),
        ("ca,es;q=0.8,en;q=0.5", "es"),
        ("fr,en;q=0.3,es;q=0.2", "en"),
    ],
)
def test_a_browser_that_asks_for_neither_language_gets_english(db, accepts: str, language: str) -> None:
    headers = {"accept-language": accepts} if accepts else {}

    assert f'<html lang="{language}"' in Client(headers=headers).get("/about/").content.decode()


def test_sign_up_reports_faults_together_and_comes_back(db) -> None:
    client = Client(headers=ENGLISH)
    answer = client.post("/accounts/signup/", {"name": "Pepe Luis", "password": "abc", "next": "/g/brisca/"})
    html = answer.content.decode()

    assert answer.status_code == 422
    assert "for example “pepe-luis”" in html
    assert "too short" in html
    assert 'value="Pepe Luis"' in html
    answer = client.post(
        "/accounts/signup/", {"name": "pepe-luis", "password": "a long password", "next": "/g/brisca/"}
    )
    assert answer.url == "/g/brisca/"
    taken = (
        Client(headers=ENGLISH).post("/accounts/signup/", {"name": "pepe-luis", "password": "short"}).content.decode()
    )
    assert "is taken" in taken
    assert "too short" in taken


def test_after_signing_up_from_nowhere_there_are_three_doors(db) -> None:
    client = Client(headers=ENGLISH)
    answer = client.post("/accounts/signup/", {"name": "eva", "password": "a long password"}, follow=True)
    page = Page(answer.content.decode())

    assert answer.redirect_chain[-1][0] == "/accounts/welcome/"
    assert "Welcome, eva" in page.text
    assert {"/editor/", "/t/new/"} <= set(page.links)
    assert 'action="/play/"' in answer.content.decode()
    assert Client().get("/accounts/welcome/").url.startswith("/accounts/login/")

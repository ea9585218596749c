"""Every link of every document as the site serves it leads somewhere, and to the place that it names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest
from django.test import Client

from league.web.pages import documents
from tests.support.compose import TOP


class Read(HTMLParser):
    """The ids of a page, and what its main part links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self._main = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an id, a link or a picture."""
        values = dict(attrs)
        self._main = self._main or tag == "main"
        self.ids.add(values.get("id") or "")
        link = values.get("href") or values.get("src")
        if self._main and link is not None and tag in ("a", "img"):
            self.links.append(link)

    def handle_endtag(self, tag: str) -> None:
        """Note the end of the main part."""
        self._main = self._main and tag != "main"


SPANISH = sorted((TOP / "docs" / "es").rglob("*.md"))
LEARN = ("/learn/", "/learn/how/", "/teach/", "/research/", "/run-your-own/")


def dead_links(client: Client, paths: Iterable[str], answered: Collection[str] = ()) -> tuple[list[str], set[str]]:
    """Return the dead links of these pages and of the pages below /docs/ that they lead to; and all pages that answer.

    answered: pages that are known to answer.
    """
    pages: dict[str, Read | None] = {}
    dead: list[str] = []
    line = list(paths)

    def page(path: str) -> Read | None:
        if path not in pages:
            answer = client.get(path)
            html = answer.headers["Content-Type"].startswith("text/html")
            text = answer.content.decode() if html else ""
            assert path not in LEARN or not re.search(r"\{[{%]", text.replace("{{The", "")), "a tag that is none"
            asks = answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/login/")
            pages[path] = Read(text) if answer.status_code == 200 or asks else None
            if path.startswith("/docs/") and path not in line:
                line.append(path)
        return pages[path]

    for here in line:
        read = page(here)
        for link in read.links if read else ():
            path, part = urldefrag(urljoin(here, link))
            if "://" in path or path.startswith("mailto:") or (path in answered and not part):
                continue
            target = page(path)
            if target is None or (part and part not in target.ids):
                dead.append(f"{here} -> {link}")
    return dead, {path for path, read in pages.items() if read}


def all_pages() -> list[str]:
    return ["/docs/", *LEARN, *(f"/docs/{name}/" for name in documents._documents())]


@pytest.fixture
def _nothing_found() -> Iterator[None]:
    """Let the documents of this installation be searched again."""
    caches = (documents._documents, documents._linked, documents._groups)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_every_link_of_every_document_leads_somewhere(client: Client, db: None) -> None:
    """Only translated documents are read in Spanish: the others are the same page."""
    dead, answered = dead_links(client, all_pages())
    assert dead == []
    assert len(answered) > 100

    client.cookies["django_language"] = "es"
    names = [path.relative_to(TOP / "docs" / "es").with_suffix("").as_posix() for path in SPANISH]
    translated = ["/docs/", *LEARN, *(f"/docs/{name}/" for name in names if name != "README")]
    assert dead_links(client, translated, answered)[0] == []


def test_a_document_comes_in_the_language_of_the_page(client: Client, db: None) -> None:
    client.cookies["django_language"] = "en"
    english = client.get("/docs/first-bot/").content.decode()
    client.cookies["django_language"] = "es"
    spanish = client.get("/docs/first-bot/").content.decode()
    only_english = client.get("/docs/protocol/").content.decode()

    assert '<article class="prose" lang="en">' in english
    assert '<article class="prose" lang="es">' in spanish
    assert "Tu primer bot" in spanish
    assert '<article class="prose" lang="en">' in only_english
    assert "Este documento está en inglés." in only_english


@pytest.mark.parametrize("path", SPANISH, ids=lambda path: path.name)
def test_a_translation_has_the_code_of_its_original(path: Path) -> None:
    """The bots of a translation are those that the tests play."""
    original = TOP / "docs" / path.relative_to(TOP / "docs" / "es")
    texts = [file.read_text(encoding="utf-8") for file in (original, path)]
    code, translated = (re.findall(r"^ *```.*?^ *```$", text, re.DOTALL | re.MULTILINE) for text in texts)
    headings, others = (re.findall("^##", text, re.MULTILINE) for text in texts)

    assert translated == code
    assert len(others) == len(headings)


def test_long_documents_begin_with_their_contents(client: Client, db: None) -> None:
    client.cookies["django_language"] = "en"
    long = Read(client.get("/docs/tournaments/").content.decode())
    first = client.get("/docs/first-bot/").content.decode()

    assert 'class="contents"' in first
    assert "#into-a-league" in first
    assert len([link for link in long.links if link.startswith("#")]) >= 5
    changes = client.get("/docs/changelog/").content.decode()
    assert 'href="#for-card-players"' in changes
    assert 'id="for-card-players"' in changes
    assert 'class="contents"' not in client.get("/docs/audits/").content.decode()


def test_each_document_is_listed_once_below_four_doors(client: Client, db: None) -> None:
    read = Read(client.get("/docs/").content.decode())

    assert read.links[:4] == ["/learn/", "/docs/first-bot/", "/docs/ratings/", "/teach/"]
    papers = [link for link in read.links[4:] if link.startswith("/docs/")]
    repeated = {link for link in papers if papers.count(link) > 1}
    assert repeated <= {"/docs/play/", "/docs/words/"}, "a row of links repeats the short ones"


def test_the_list_has_the_same_documents_in_both_languages(client: Client, db: None) -> None:
    client.cookies["django_language"] = "en"
    english = Read(client.get("/docs/").content.decode()).links
    client.cookies["django_language"] = "es"
    page = client.get("/docs/").content.decode()

    assert Read(page).links == english
    assert "<h3>Autores de bots</h3>" in page


def test_a_file_that_a_document_names_is_a_link_where_it_is_installed(client: Client, db: None) -> None:
    page = client.get("/docs/first-bot/").content.decode()

    assert '<a href="/docs/source/bots/sdk/tute_bot.py"><code>bots/sdk/tute_bot.py</code></a>' in page
    assert client.get("/docs/source/bots/sdk/tute_bot.py").status_code == 200
    assert client.get("/docs/source/bots/house/counting").status_code == 200
    assert client.get("/docs/source/docker/secrets").status_code == 404


@pytest.fixture
def _only_docs(_nothing_found: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TOP / "docs", tmp_path / "docs")
    monkeypatch.setattr(documents, "TOP", tmp_path)
    monkeypatch.setattr(documents, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(documents, "GAMES", tmp_path / "docs" / "games.md")


@pytest.mark.usefixtures("_only_docs")
def test_where_only_docs_is_installed_nothing_else_is_listed(client: Client, db: None) -> None:
    client.cookies["django_language"] = "en"
    assert "<li>Contributing: " in client.get("/docs/").content.decode()
    assert client.get("/docs/contributing/").status_code == 404


@pytest.mark.slow
@pytest.mark.usefixtures("_only_docs")
def test_where_only_docs_is_installed_no_link_is_dead_either(client: Client, db: None) -> None:
    assert dead_links(client, all_pages())[0] == []


def test_links_lead_to_what_they_name(client: Client, db: None) -> None:
    index = client.get("/docs/").content.decode()
    for address in (
        "/docs/readme/",
        "/docs/contributing/",
        "/docs/rules/",
        "/docs/source/docs/adr",
        "/g/",
        "/docs/protocol/",
    ):
        assert f'href="{address}"' in index, address
    folder = client.get("/docs/source/docs/adr").content.decode()
    assert 'href="/docs/adr/0002-landlock-by-default/"' in folder
    text = client.get("/docs/source/engine/search/encoding.py")
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.content == (TOP / "engine" / "search" / "encoding.py").read_bytes()
    picture = client.get("/docs/source/docs/img/match.png")
    assert picture.headers["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    "path", ["league/settings.py", "docker/../league/settings.py", "../league/settings.py", "/etc/passwd", "docker", ""]
)
def test_no_other_file_is_shown(client: Client, db: None, path: str) -> None:
    assert client.get(f"/docs/source/{path}").status_code in {404, 301}

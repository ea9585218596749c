"""Every link of every document as the site serves it leads somewhere, and to the place that it names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
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
        if self._main and link is not None:
            self.links.append(link)

    def handle_endtag(self, tag: str) -> None:
        """Note the end of the main part."""
        self._main = self._main and tag != "main"


def dead_links(client: Client) -> Iterator[str]:
    """Yield the links of the documents, and of what is below /docs/ and they link to, that lead nowhere."""
    pages: dict[str, Read | None] = {}
    paths = ["/docs/", *(f"/docs/{name}/" for name in documents._documents())]

    def page(path: str) -> Read | None:
        if path not in pages:
            answer = client.get(path)
            html = answer.headers["Content-Type"].startswith("text/html")
            text = answer.content.decode() if html else ""
            pages[path] = Read(text) if answer.status_code == 200 else None
            if path.startswith("/docs/") and path not in paths:
                paths.append(path)
        return pages[path]

    for here in paths:
        read = page(here)
        for link in read.links if read else ():
            path, part = urldefrag(urljoin(here, link))
            if "://" in path or path.startswith("mailto:"):
                continue
            target = page(path)
            if target is None or (part and part not in target.ids):
                yield f"{here} -> {link}"
    assert len(paths) > 30


@pytest.fixture
def _nothing_found() -> Iterator[None]:
    """Let the documents of this installation be searched again."""
    documents._documents.cache_clear()
    documents._linked.cache_clear()
    yield
    documents._documents.cache_clear()
    documents._linked.cache_clear()


def test_every_link_of_every_document_leads_somewhere(client: Client, db: None) -> None:
    assert list(dead_links(client)) == []


@pytest.mark.usefixtures("_nothing_found")
def test_where_only_docs_is_installed_no_link_is_dead_either(
    client: Client, db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TOP / "docs", tmp_path / "docs")
    monkeypatch.setattr(documents, "TOP", tmp_path)
    monkeypatch.setattr(documents, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(documents, "GAMES", tmp_path / "docs" / "games")

    assert list(dead_links(client)) == []
    assert "<td>Contributing: " in client.get("/docs/").content.decode()
    assert client.get("/docs/contributing/").status_code == 404


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

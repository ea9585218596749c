"""The documents as pages: docs/ and what its links lead to, with the same names as in the repository."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import normpath

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

import engine
from league.service import changes
from league.web.common import markdown

DOCS = settings.DOCS
TOP = DOCS.parent  # The repository in a clone; a wheel contains only the documents.
GAMES = DOCS / "games"  # Each game already has a page of the site.
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # Documents beside docs/, if installed.
LINK = re.compile(r"\]\(([^)#\s]+)")
KINDS = {".png": "image/png", ".svg": "image/svg+xml"}


@changes.kept_until(changes.RELEASE)
def documents(request: HttpRequest) -> HttpResponse:
    """Show docs/README.md, if there is one, then every page by its title."""
    pages = [(path.stem, markdown.title(_text(path), path.stem)) for path in sorted(DOCS.glob("*.md"))]
    readme = DOCS / "README.md"
    body = _html(readme) if readme.is_file() else ""
    return render(request, "pages/docs.html", {"pages": [page for page in pages if page[0] != "README"], "body": body})


@changes.kept_until(changes.RELEASE)
def document(request: HttpRequest, name: str) -> HttpResponse:
    """Show a document. The name comes from the list of files, so it cannot leave the folder."""
    path = _documents().get(name)
    if path is None:
        raise Http404
    return render(request, "pages/doc.html", {"title": markdown.title(_text(path), name), "body": _html(path)})


@changes.kept_until(changes.RELEASE)
def source(request: HttpRequest, name: str) -> HttpResponse:
    """Show a file or folder of the repository that a document links to; no other is shown."""
    path = _linked().get(name.rstrip("/"))
    if path is None or not path.exists():
        raise Http404
    if path.is_dir():
        entries = [(entry.name, _address(entry)) for entry in sorted(path.iterdir())]
        return render(
            request, "pages/folder.html", {"title": name, "entries": [entry for entry in entries if entry[1]]}
        )
    return HttpResponse(path.read_bytes(), content_type=KINDS.get(path.suffix, "text/plain; charset=utf-8"))


@cache
def _documents() -> dict[str, Path]:
    """Return each document by its name in an address; a README is that of its folder."""
    inside = {
        path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md") if path.parent != GAMES
    }
    beside = {Path(name).stem.lower(): TOP / name for name in BESIDE if (TOP / name).is_file()}
    return {name.removesuffix("/README"): path for name, path in inside.items() if name != "README"} | beside


@cache
def _linked() -> dict[str, Path]:
    """Return the files that documents link to, and folders with what is in them, each by its path in the repository."""
    files: dict[str, Path] = {}
    for document in (*_documents().values(), DOCS / "README.md"):
        for link in LINK.findall(_text(document)) if document.is_file() else ():
            path = _target(document, link)
            if path and path.exists():
                files |= {
                    file.relative_to(TOP).as_posix(): file
                    for file in (path, *(path.glob("*") if path.is_dir() else ()))
                }
    return files


def _target(document: Path, link: str) -> Path | None:
    """Return what a relative link means, None for one that leaves the repository."""
    path = Path(normpath(document.parent / link))
    return path if path.is_relative_to(TOP) and ":" not in link else None


def _address(path: Path) -> str:
    """Return the address of the page that shows a file or folder, "" if this installation has no such page."""
    names = {path: name for name, path in _documents().items()}
    if path.parent == GAMES and path.suffix == ".md":
        return reverse("game", args=[path.stem]) if path.stem in engine.games() else reverse("games")
    if path == DOCS / "README.md":
        return reverse("docs")
    if path in names:
        return reverse("doc", args=[names[path]])
    inside = path.relative_to(TOP).as_posix()
    return reverse("source", args=[inside]) if inside in _linked() else ""


def _html(document: Path) -> str:
    """Return a document as HTML. A link to what this installation does not have is only its text."""

    def lead(link: str) -> str:
        link, _, part = link.partition("#")
        path = _target(document, link) if link else None
        if path is None:
            return f"{link}#{part}" if part else link
        address = _address(path)
        return f"{address}#{part}" if address and part else address

    return markdown.html(_text(document), lead)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def titles() -> list[tuple[str, str]]:
    """Return name and title of each document, by name."""
    return [(name, markdown.title(_text(path), name)) for name, path in sorted(_documents().items()) if path.is_file()]

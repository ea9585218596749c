"""The documents as pages: docs/, and the files to which its links lead, under the names that they have in the repository.

docs/README.md is their list, in groups for different readers. docs/es/ has translations; the language of the page chooses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from posixpath import normpath

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language

import engine
from league.service import changes
from league.web.common import markdown

DOCS = settings.DOCS
TOP = DOCS.parent  # The repository in a clone; a wheel contains only the documents.
CODE = (
    Path(engine.__file__).resolve().parents[1]
)  # Location of the packages: the repository, or next to the wheel's documents.
GAMES = DOCS / "games.md"  # Not shown, because the site has a page of its games.
TRANSLATED = "es"  # The folder of translations, named for their language.
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # Documents next to docs/, if installed.
SHOWN = (
    "bots",
    "engine",
    "examples",
    "benchmarks",
    "league",
    "tests",
)  # Folders whose files are linked if a document names them.
LINK = re.compile(r"\]\(([^)#\s]+)")
WORD = re.compile(r"`([\w./-]+/[\w./-]*)`")
ROW = re.compile(r"^\| *(?P<group>[^|]*?) *\| *(?P<text>\[.*?) *\|$", re.MULTILINE)
Lead = Callable[[str], str]  # Returns the address for a link, or "" if there is none.
KINDS = {".png": "image/png", ".svg": "image/svg+xml"}
LONG = 2  # Documents with as many sections begin with their contents.


@dataclass
class DocumentGroup:
    """The documents for one kind of reader, each as a line of HTML."""

    readers: str
    lines: list[SafeString] = field(default_factory=list)


@changes.kept_until(changes.RELEASE)
def documents(request: HttpRequest) -> HttpResponse:
    """Show the main links of Learn, then all documents in the groups of docs/README.md; operators and developers come last."""
    readme, lang = _in_language(DOCS / "README.md")
    return render(request, "pages/docs.html", {"groups": _groups(readme), "lang": lang})


@changes.kept_until(changes.RELEASE)
def document(request: HttpRequest, name: str) -> HttpResponse:
    """Show a document. Its name must be in the list of files, so that it cannot lead out of the folder."""
    path = _documents().get(name)
    if path is None:
        raise Http404
    path, lang = _in_language(path)
    text = _text(path)
    sections = markdown.contents(text)
    if len(sections) < LONG:
        sections = markdown.contents(text, "h3")
    heading, body = markdown.split_title(_html(path))
    context = {
        "title": markdown.title(text, name),
        "body": body,
        "heading": heading,
        "lang": lang,
        "sections": sections if len(sections) >= LONG else [],
    }
    return render(request, "pages/doc.html", context)


@changes.kept_until(changes.RELEASE)
def source(request: HttpRequest, name: str) -> HttpResponse:
    """Show a file or folder of the repository to which a document links; no other is shown."""
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
    """Return each document by its name in addresses; a README has the name of its folder. A translation has the name of its original."""
    inside = {
        path.relative_to(DOCS).with_suffix("").as_posix(): path
        for path in DOCS.rglob("*.md")
        if path != GAMES and not path.is_relative_to(DOCS / TRANSLATED)
    }
    beside = {Path(name).stem.lower(): TOP / name for name in BESIDE if (TOP / name).is_file()}
    return {name.removesuffix("/README"): path for name, path in inside.items() if name != "README"} | beside


def _in_language(path: Path) -> tuple[Path, str]:
    """Return a document in the language of the page, if there is a translation, and the language of the result."""
    if (get_language() or "").startswith(TRANSLATED) and path.is_relative_to(DOCS):
        translation = DOCS / TRANSLATED / path.relative_to(DOCS)
        if translation.is_file():
            return translation, TRANSLATED
    return path, "en"


@cache
def _groups(readme: Path) -> tuple[DocumentGroup, ...]:
    """Return the documents in a list, grouped by reader, in its order."""
    groups: list[DocumentGroup] = []
    for row in ROW.finditer(_text(readme)) if readme.is_file() else ():
        if row["group"]:
            groups.append(DocumentGroup(row["group"][0].upper() + row["group"][1:]))
        if groups:
            groups[-1].lines.append(markdown.html(row["text"], _leads_from(readme), inline=True))
    return tuple(groups)


@cache
def _linked() -> dict[str, Path]:
    """Return the files that documents link to or name, and folders with their contents, each by its path in the repository."""
    files: dict[str, Path] = {}
    for document in (*_documents().values(), *DOCS.glob(f"{TRANSLATED}/**/*.md"), DOCS / "README.md"):
        if not document.is_file():
            continue
        text = _text(document)
        links = [_target(document, link) for link in LINK.findall(text)]
        paths = [_named(word) for word in WORD.findall(text)]
        for path in (*links, *paths):
            if path and path.exists():
                inside = [entry for entry in path.glob("*") if entry.is_file()] if path.is_dir() else []
                files |= {_name(file): file for file in (path, *inside)}
    return files


def _target(document: Path, link: str) -> Path | None:
    """Return the file to which a relative link leads; None if it leads out of the repository."""
    path = Path(normpath(document.parent / link))
    return path if path.is_relative_to(TOP) and ":" not in link else None


def _name(path: Path) -> str:
    """Return the path of a file in the repository."""
    of_code = path.is_relative_to(CODE) and not path.is_relative_to(DOCS)
    return path.relative_to(CODE if of_code else TOP).as_posix()


def _named(word: str) -> Path | None:
    """Return the file or folder that a piece of code names, if it is in one of the shown folders."""
    path = Path(normpath(CODE / word))
    parts = path.relative_to(CODE).parts if path.is_relative_to(CODE) else ()
    deep = len(parts) > (2 if parts[:1] == ("league",) else 1)  # Not the settings, and not a folder of everything.
    return path if deep and parts[0] in SHOWN else None


def _address(path: Path) -> str:
    """Return the address of the page for a file or folder; "" if this installation has none."""
    names = {path: name for name, path in _documents().items()}
    if path.is_relative_to(DOCS / TRANSLATED):  # Pages choose the language by themselves.
        path = DOCS / path.relative_to(DOCS / TRANSLATED)
    if path == GAMES:
        return reverse("games")
    if path == DOCS / "README.md":
        return reverse("docs")
    if path in names:
        return reverse("doc", args=[names[path]])
    return reverse("source", args=[_name(path)]) if _name(path) in _linked() else ""


def _html(document: Path) -> SafeString:
    """Return a document as HTML. A link whose target this installation lacks becomes plain text."""
    return markdown.html(_text(document), _leads_from(document), _leads_to_file)


def _leads_from(document: Path) -> Lead:
    """Return a function that turns the links of a document into addresses of this site."""

    def lead(link: str) -> str:
        link, _, part = link.partition("#")
        path = _target(document, link) if link else None
        if path is None:
            return f"{link}#{part}" if part else link
        address = _address(path)
        return f"{address}#{part}" if address and part else address

    return lead


def _leads_to_file(word: str) -> str:
    """Return the address of a file that a piece of code names; "" if there is none."""
    path = _named(word)
    return _address(path) if path is not None and path.exists() else ""


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def titles() -> list[tuple[str, str]]:
    """Return name and title of each document, by name."""
    return [(name, markdown.title(_text(path), name)) for name, path in sorted(_documents().items()) if path.is_file()]

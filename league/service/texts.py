"""The catalogues of texts: `make texts` finds what people read in code and templates, brings each catalogue up to date and compiles it.

Babel reads, updates and compiles. It is a tool of developers: a league in production reads the compiled files, which are committed, so Babel is
imported here only when something is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import templatize

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LEAGUE = Path(__file__).resolve().parents[1]
LOCALES = LEAGUE / "locale"
# Calls whose first argument is a text that people read: those of gettext, and those of the league.
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    "respond": (3,),
    **dict.fromkeys(
        (
            "translatable",
            "message",
            "Message",
            "Refusal",
            "Refused",
            "NameRefused",
            "BadEvent",
            "IllegalMove",
            "TooMany",
            "Forbidden",
        )
    ),
    **dict.fromkeys(("Unreadable", "Missing", "Underivable")),
}


def extract_texts() -> Catalog:
    """All texts of the league's code and templates, as an empty catalogue; each with the places where it stands."""
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract

    texts = Catalog(charset="utf-8")
    for path, source in _sources():
        for line, message, _comments, context in extract("python", BytesIO(source.encode()), KEYWORDS):
            texts.add(message, context=context, locations=[(str(path.relative_to(LEAGUE.parent)), line)])
    return texts


def _sources() -> Iterator[tuple[Path, str]]:
    """Yield each file as Python. Django translates templates to Python line by line, but with an indentation that has no meaning."""
    for path in sorted(LEAGUE.rglob("*.py")):
        if not {"migrations", "management"} & set(path.parts):  # commands speak English
            yield path, path.read_text(encoding="utf-8")
    for path in sorted(LEAGUE.glob("templates/**/*.html")):
        python = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        yield path, "\n".join(line.strip() for line in python.split("\n"))


def catalogue_paths() -> list[Path]:
    """Return the catalogues of all languages except English, the language of the code."""
    return sorted(LOCALES.glob("*/LC_MESSAGES/django.po"))


def read_catalogue(path: Path) -> Catalog:
    """Return the catalogue in a file. Raise ValueError if the file is not a catalogue."""
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            return read_po(file, locale=path.parts[-3], abort_invalid=True)
    except PoFileError as error:
        raise ValueError(f"{path} is no catalogue of texts: {error}") from error


def update_catalogue(catalogue: Catalog, extracted: Catalog) -> tuple[int, int]:
    """Take new texts in, untranslated, and gone ones out; how many of each. What stays keeps its place, so that a change reads well."""
    gone = [message for message in catalogue if message.id and extracted.get(message.id, message.context) is None]
    fresh = [message for message in extracted if message.id and catalogue.get(message.id, message.context) is None]
    for message in gone:
        catalogue.delete(message.id, message.context)
    for message in fresh:
        catalogue.add(message.id, context=message.context)
    return len(fresh), len(gone)


def untranslated_texts(catalogue: Catalog) -> list[str]:
    """The texts that lack a translation, or one of its plural forms, or whose translation is marked as doubtful."""
    lacking = []
    for message in catalogue:
        strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if message.id and (message.fuzzy or not all(strings)):
            lacking.append(message.id if isinstance(message.id, str) else message.id[0])
    return lacking


def catalogue_text(catalogue: Catalog) -> bytes:
    """A catalogue as its file holds it."""
    from babel.messages.pofile import write_po

    written = BytesIO()
    write_po(written, catalogue, width=0, no_location=True, ignore_obsolete=True)
    return written.getvalue()


def compiled_catalogue(catalogue: Catalog) -> bytes:
    """A catalogue as gettext reads it. The same bytes for the same texts."""
    from babel.messages.mofile import write_mo

    written = BytesIO()
    write_mo(written, catalogue)
    return written.getvalue()

"""The catalogues of texts: `make texts` collects the texts of code and templates, updates each catalogue and compiles it.

Babel does this. Only developers need it, because the compiled files are committed, so it is imported late.
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
# Functions whose first argument is a text for people: those of gettext, and the league's own.
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
    """Return the texts of the league's code and templates as an empty catalogue, each with the places where it occurs."""
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract

    texts = Catalog(charset="utf-8")
    for path, source in _sources():
        for line, message, _comments, context in extract("python", BytesIO(source.encode()), KEYWORDS):
            texts.add(message, context=context, locations=[(str(path.relative_to(LEAGUE.parent)), line)])
    return texts


def _sources() -> Iterator[tuple[Path, str]]:
    """Yield each file as Python. Django turns templates into Python line by line; the indentation of the result has no meaning."""
    for path in sorted(LEAGUE.rglob("*.py")):
        if not {"migrations", "management"} & set(path.parts):  # Commands are not translated.
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
    """Add new texts, untranslated, and remove unused ones; return the number of each. The others keep their places, so that a diff is short."""
    gone = [message for message in catalogue if message.id and extracted.get(message.id, message.context) is None]
    fresh = [message for message in extracted if message.id and catalogue.get(message.id, message.context) is None]
    for message in gone:
        catalogue.delete(message.id, message.context)
    for message in fresh:
        catalogue.add(message.id, context=message.context)
    return len(fresh), len(gone)


def untranslated_texts(catalogue: Catalog) -> list[str]:
    """Return the texts that lack a translation or a plural form, or whose translation is marked as fuzzy."""
    lacking = []
    for message in catalogue:
        strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if message.id and (message.fuzzy or not all(strings)):
            lacking.append(message.id if isinstance(message.id, str) else message.id[0])
    return lacking


def catalogue_text(catalogue: Catalog) -> bytes:
    """Return a catalogue as the text of its file."""
    from babel.messages.pofile import write_po

    written = BytesIO()
    write_po(written, catalogue, width=0, no_location=True, ignore_obsolete=True)
    return written.getvalue()


def compiled_catalogue(catalogue: Catalog) -> bytes:
    """Return a catalogue in gettext's compiled form. The same texts give the same bytes."""
    from babel.messages.mofile import write_mo

    written = BytesIO()
    write_mo(written, catalogue)
    return written.getvalue()

"""The words of names: the search finds players, teams, bots and contests by the beginnings of these words, with one index look-up, on both databases.

Code that creates or renames such a row calls `put`. Stages and seasons have no words, because their event or league has; private events are not
found.
"""

from __future__ import annotations

from typing import TypeVar

from django.db import connection
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.text import slugify

from league.models import Bot, Circuit, Event, Player, SearchWord, Team, Tournament

Named = Player | Bot | Team | Tournament | Event | Circuit
Row = TypeVar("Row", bound=Model)
MOST_ROWS = 200  # The most rows that are read for one word, since many names may share it.
MOST_WORDS = 12  # The most words of a name.


def begins(column: str, text: str) -> Q:
    """Return the condition that a column begins with a text, in a form that uses an index: PostgreSQL has one for LIKE, SQLite uses a range."""
    if connection.vendor == "sqlite":
        return Q(**{f"{column}__gte": text, f"{column}__lt": f"{text}~"})  # "~" comes after all characters of a word.
    return Q(**{f"{column}__startswith": text})


def split(*names: str) -> list[str]:
    """Return the different words of names."""
    words = (word[:60] for name in names for word in slugify(name).split("-") if word)
    return list(dict.fromkeys(words))[:MOST_WORDS]


def put(row: Named, *names: str) -> None:
    """Make a row searchable by the words of its names, and by no others. Repeatable."""
    kind, words = _kind(type(row)), split(*names)
    SearchWord.objects.filter(kind=kind, row=row.pk).exclude(word__in=words).delete()
    SearchWord.objects.bulk_create(
        (SearchWord(kind=kind, word=word, row=row.pk) for word in words), ignore_conflicts=True
    )


def remove(row: Named) -> None:
    """Remove the words of a row that is about to be deleted."""
    SearchWord.objects.filter(kind=_kind(type(row)), row=row.pk).delete()


def having(rows: QuerySet[Row], text: str) -> QuerySet[Row]:
    """Select the rows whose name has, for each word of the text, a word that begins with it.

    Of a word that very many names have, only MOST_ROWS rows are considered. One query for each word.
    """
    here = SearchWord.objects.filter(kind=_kind(rows.model))
    keys = {
        word: list(here.filter(begins("word", word)).values_list("row", flat=True)[:MOST_ROWS]) for word in split(text)
    }
    if not keys:
        return rows.none()
    rarest = min(keys, key=lambda word: len(keys[word]))
    rows = rows.filter(pk__in=keys[rarest])
    for word in keys:
        if word != rarest:
            rows = rows.filter(Exists(here.filter(begins("word", word), row=OuterRef("pk"))))
    return rows


def named(rows: QuerySet[Row], column: str, term: str, most: int) -> list[Row]:
    """Return at most `most` rows whose unique name begins with a term, then those that have words beginning with its words.

    At most one query for each word, and two.
    """
    results = list(rows.filter(begins(column, term)).order_by(column)[:most])
    if len(results) < most:
        others = having(rows, term).exclude(pk__in=[row.pk for row in results])
        results += others.order_by(column)[: most - len(results)]
    return results


def _kind(model: type[Model]) -> str:
    return model.__name__.lower()

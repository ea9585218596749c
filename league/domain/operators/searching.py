"""The search of operators: every row that a name, an id, a part of an address or the beginning of a key may mean. Each look-up uses an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.text import slugify

from league.domain.core import search_words
from league.enums import MatchKind
from league.models import ApiToken, Bot, BotVersion, Case, Circuit, Event, Job, Match, Player, Table, Tournament, Worker

MOST = 6  # The most rows of a kind by the beginning of a name.
KEY = "tute_"  # The beginning of every key of the API.


@dataclass(frozen=True)
class SearchHit:
    """A row that a text may mean: its name in the journal, what to call it, and what tells it from others."""

    subject: str
    title: str
    about: str = ""
    is_exact: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of the subject."""
        return self.subject.partition(":")[0]


def search(text: str) -> list[SearchHit]:
    """Return what a text may mean, exact names first. At most 24 queries for a word and five for each further one, each by an index.

    The text is a name or its beginning, a public id, "kind:name" as in the journal, an address of the site, "bot v3", the number of a job or a case,
    or the beginning of a key of the API.
    """
    kind, word = _parts(text)
    hits = {hit.subject: hit for name, look in LOOKS.items() if kind in ("", name) for hit in look(word)}.values()
    return sorted(hits, key=lambda hit: not hit.is_exact)


# The first parts of addresses, and the kinds of the rows that they show.
PLACES = {
    "m": "match",
    "t": "tournament",
    "e": "event",
    "c": "circuit",
    "bots": "bot",
    "players": "player",
    "tables": "table",
    "tries": "try",
}


def _parts(text: str) -> tuple[str, str]:
    """Return kind and name; the kind is "" if the text does not say it."""
    if "/" in text:
        path = text.partition("://")[2].partition("/")[2] if "://" in text else text.lstrip("/")
        place, _, rest = path.partition("/")
        name, _, more = rest.partition("/")
        number = more.strip("/").removeprefix("v")
        if place == "bots" and number.isdecimal():
            return "version", f"{name} v{number}"
        return (PLACES[place], name) if place in PLACES and name else ("", name or place)
    kind, colon, name = text.partition(":")
    if colon and kind in LOOKS:
        return kind, name.strip()
    bot, _, number = text.rpartition(" v")
    return ("version", text) if bot and number.isdecimal() else ("", text.strip())


def _named(kind: str, rows: QuerySet[Any], column: str, about: Callable[[Any], str], word: str) -> Iterator[SearchHit]:
    term = slugify(word)
    for row in search_words.named(rows, column, term, MOST) if term else ():
        name = getattr(row, column)
        yield SearchHit(f"{kind}:{name}", name if kind in ("player", "bot") else row.name, about(row), name == term)


def _players(word: str) -> Iterator[SearchHit]:
    return _named("player", Player.objects.all(), "name", lambda row: f"{row.created:%Y-%m-%d}", word)


def _bots(word: str) -> Iterator[SearchHit]:
    return _named(
        "bot", Bot.objects.select_related("owner"), "slug", lambda row: f"{row.owner.name}, {row.state}", word
    )


def _contests(kind: str, model: Any) -> Callable[[str], Iterator[SearchHit]]:
    def look(word: str) -> Iterator[SearchHit]:
        rows = model.objects.select_related("owner")
        rows = rows if model is Circuit else rows.defer("secret")
        return _named(kind, rows, "slug", lambda row: f"{row.owner.name}", word)

    return look


def _versions(word: str) -> Iterator[SearchHit]:
    bot, _, number = word.rpartition(" v")
    if not (bot and number.isascii() and number.isdecimal() and len(number) < 10):
        return
    rows = BotVersion.objects.filter(bot__slug=slugify(bot), number=int(number)).select_related("bot__owner")
    for row in rows:
        yield SearchHit(f"version:{row.pk}", str(row), f"{row.bot.owner.name}, {row.status}", True)


def _matches(word: str) -> Iterator[SearchHit]:
    for row in Match.work.filter(public_id=word.lower()):
        kind = row.kind if row.kind in (MatchKind.AUDIT, MatchKind.TRY) else "match"
        yield SearchHit(f"{kind}:{row.public_id}", row.public_id, f"{row.kind}, {row.status}", True)


def _tables(word: str) -> Iterator[SearchHit]:
    for row in Table.objects.filter(public_id=word.lower()).select_related("player"):
        yield SearchHit(
            f"table:{row.public_id}", row.public_id, f"{row.player.name if row.player else 'guest'}, {row.status}", True
        )


def _numbered(kind: str, model: Any, about: Callable[[Any], str]) -> Callable[[str], Iterator[SearchHit]]:
    def look(word: str) -> Iterator[SearchHit]:
        if word.isascii() and word.isdecimal() and len(word) < 16:
            for row in model.objects.filter(pk=int(word)):
                yield SearchHit(f"{kind}:{row.pk}", str(row), about(row), True)

    return look


def _workers(word: str) -> Iterator[SearchHit]:
    for row in Worker.objects.filter(Q(name=word) | search_words.begins("name", f"{word}:"))[:MOST] if word else ():
        yield SearchHit(f"worker:{row.name}", row.name, row.tier or row.refusal, row.name == word)


def _keys(word: str) -> Iterator[SearchHit]:
    """Yield the owners of keys with this beginning, which is all that the league stores of a key in clear."""
    prefix = word.removeprefix(KEY)[:8]
    if len(prefix) == 8:
        for row in ApiToken.objects.filter(prefix=prefix).select_related("player")[:MOST]:
            state = "revoked" if row.revoked else "live"
            yield SearchHit(
                f"player:{row.player.name}", row.player.name, f"{KEY}{row.prefix}…, {row.label}, {state}", True
            )


LOOKS: dict[str, Callable[[str], Iterator[SearchHit]]] = {
    "player": _players,
    "bot": _bots,
    "version": _versions,
    "match": _matches,
    "try": _matches,
    "audit": _matches,
    "tournament": _contests("tournament", Tournament),
    "event": _contests("event", Event),
    "circuit": _contests("circuit", Circuit),
    "table": _tables,
    "job": _numbered("job", Job, lambda row: row.state),
    "case": _numbered("case", Case, lambda row: row.conclusion or "open"),
    "worker": _workers,
    "key": _keys,
}

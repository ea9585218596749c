"""Names are found by the beginnings of their words, with one look into an index, however many rows there are."""

from __future__ import annotations

import pytest
from django.db import connection

from league.domain.core import search_words
from league.domain.tournaments import circuits, corrections, events, releases, tournaments
from league.models import Bot, SearchWord, Tournament
from tests.support.league import NOW, accepted

pytestmark = pytest.mark.django_db
DOCUMENT = {"name": "Copa Navidad", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}


def names(model, text: str) -> set[str]:
    return {str(row) for row in search_words.having(model.objects.all(), text)}


def test_rows_are_found_by_the_words_of_their_names(ana) -> None:
    cup = tournaments.create(ana, "Copa de Otoño 2027", "partnership", now=NOW)
    accepted(ana, "tute-master-3")
    circuits.create(ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=NOW)
    for text in ("otono", "Otoñ", "copa", "2027", "copa 2027", "otono cop"):
        assert names(Tournament, text) == {"Copa de Otoño 2027"}, text
    for text in ("tono", "copa 2028", "", "%", "_", "~"):
        assert names(Tournament, text) == set(), text
    assert names(Bot, "mas") == {"tute-master-3"}
    assert names(type(ana), "an") == {"ana"}
    corrections.rename(cup, "Torneo de Mayo", actor="ana", now=NOW)
    assert names(Tournament, "mayo") == {"Torneo de Mayo"}
    assert names(Tournament, "navidad") == set()
    corrections.delete(cup, actor="ana", now=NOW)
    assert not SearchWord.objects.filter(kind="tournament").exists()


def test_neither_stages_nor_private_events_have_words(ana) -> None:
    pair = [accepted(ana, name) for name in ("rufo", "nena")]
    event = events.create(ana, DOCUMENT, pair, now=NOW)
    events.create(ana, {**DOCUMENT, "name": "Clase secreta"}, [], terms=releases.ReleaseTerms(private=True), now=NOW)
    assert event.tournaments.exists()
    assert set(SearchWord.objects.exclude(kind__in=["player", "bot"]).values_list("kind", "word")) == {
        ("event", "copa"),
        ("event", "navidad"),
    }


@pytest.mark.parametrize("text", ["rare", "00042", "zz rare"])  # Of "zz", which all rows have, a few are read.
def test_the_plan_of_a_search_uses_an_index(ana, text) -> None:
    SearchWord.objects.bulk_create(
        (
            SearchWord(kind="bot", word=word, row=number)
            for number in range(4000)
            for word in ("zz", f"{number:05}", *(["rare"] if number == 7 else []))
        ),
        batch_size=500,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    Bot.objects.create(pk=7, slug="zz-00007-rare", owner=ana, created=NOW)
    assert names(Bot, "zz rare") == {"zz-00007-rare"}, "the rare word counts, wherever it stands"
    words = SearchWord.objects.filter(search_words.begins("word", text.split()[-1]), kind="bot")
    plan = words.values_list("row", flat=True)[: search_words.MOST_ROWS].explain()
    assert "search_word_begins" in plan, plan
    assert "Seq Scan" not in plan
    both = search_words.having(Bot.objects.all(), text).explain()
    assert "SCAN league_searchword" not in both, both
    assert "Seq Scan on league_searchword" not in both, both

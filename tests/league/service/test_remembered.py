"""What is remembered is as new as its mark."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from league.domain.bots import bots
from league.domain.matches import matches
from league.domain.tournaments import brackets, counting, progress, standings, tournaments
from league.models import Match
from league.service import marks
from league.service.remembered import Remembered, forget
from tests.support import league as made


@pytest.mark.django_db(transaction=True)
def test_a_table_that_is_remembered_is_the_one_that_is_made_anew(ana, berto) -> None:
    """Match by match, struck-out ones too; where nothing has changed the matches are not read."""
    versions = [made.accepted(owner, f"bot-{number}") for number, owner in enumerate((ana, berto, ana, berto))]
    cup = made.started(ana, versions)
    forget()

    def agree() -> None:
        shown = standings.standings(cup)
        counts = counting.count_matches([cup])[cup.pk]
        entries = [row.entry for row in shown.rows]
        met = standings.meetings(cup, entries[:2], entries[1:], played=shown.played)
        with transaction.atomic():  # where nothing is remembered
            anew = standings.standings(cup)
            assert counts == counting.count_matches([cup])[cup.pk]
            assert met == standings.meetings(cup, entries[:2], entries[1:])
        assert (shown.rows, dict(shown.cells), shown.statuses) == (anew.rows, dict(anew.cells), anew.statuses)

    agree()
    rows = list(Match.objects.filter(tournament=cup).order_by("id"))
    for match in rows:
        made.play(match)
        agree()
    rows[0].refresh_from_db()
    matches.void(rows[0], why="a test", actor="operator")
    agree()
    with CaptureQueriesContext(connection) as seen:
        standings.standings(cup)
        counting.count_matches([cup])
    assert [query["sql"].split()[3 if "league_change" not in query["sql"] else 0] for query in seen].count(
        "league_party"
    ) == 0
    assert len(seen) == 3


@pytest.mark.django_db(transaction=True)
def test_a_bracket_that_is_remembered_is_the_one_that_is_made_anew(ana, berto) -> None:
    versions = [made.accepted(owner, f"bot-{number}") for number, owner in enumerate((ana, berto, ana))]
    cup = tournaments.create(
        ana, "Bracket", "partnership", boards=1, versions=versions, format="single_elimination", now=made.NOW
    )
    tournaments.start(cup, now=made.NOW)
    cup.refresh_from_db()
    forget()

    def agree() -> None:
        shown = (brackets.read_bracket(cup), brackets.read_all_rounds(cup))
        with transaction.atomic():  # where nothing is remembered
            assert shown == (brackets.read_bracket(cup), brackets.read_all_rounds(cup))

    agree()
    assert brackets.read_bracket(cup)
    made.play(cup.matches.get())
    agree()
    progress.advance(cup, now=made.later(5))
    agree()
    matches.void(cup.matches.order_by("-id")[0], why="a test", actor="operator")
    agree()
    made.accepted(berto, "brand")
    agree()
    bots.stop(versions[0].bot, why="a test", actor="operator")
    agree()


@pytest.mark.django_db(transaction=True)
def test_what_weighs_too_much_goes_and_what_a_transaction_saw_is_not_kept(ana) -> None:
    made_for: list[str] = []

    def make(old: str | None) -> str:
        made_for.append(f"{len(made_for)} after {old}")
        return made_for[-1]

    some: Remembered[str, str] = Remembered(2)
    assert [some.of(key, marks.BOTS, make) for key in "aabca"] == ["0 after None"] * 2 + [
        "1 after None",
        "2 after None",
        "3 after None",
    ]
    with transaction.atomic():
        assert some.of("a", marks.BOTS, make) == "4 after None"
    assert some.of("a", marks.BOTS, make) == "3 after None"
    made.accepted(ana, "another")
    assert some.of("a", marks.BOTS, make) == "5 after 3 after None"

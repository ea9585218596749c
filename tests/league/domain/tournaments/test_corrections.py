"""Corrections by the owner: names and texts, who may enter, disqualified and replaced entries, deletion; each in the public log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.core.errors import Refused
from league.domain.tournaments import corrections, enrolment, events, log, progress, releases, tournaments
from league.domain.tournaments.standings import standings
from league.enums import Entrance
from league.models import Event, LeagueEvent, Tournament
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started, willing


@pytest.fixture
def field(ana, berto):
    """Three accepted versions: two of Ana, one of Berto."""
    return rows.once(make_field, ana, berto)


def make_field(ana, berto):
    return [accepted(ana, "rufo"), willing(accepted(berto, "lola")), accepted(ana, "nena")]


def _words(row) -> list[str]:
    return [line.kind.partition(".")[2] for line in log.public_log(row)]


def _play_all(cup: Tournament) -> None:
    """Play every match; the older version wins."""
    while match := cup.matches.filter(status="queued").first():
        numbers = list(match.parties.order_by("number").values_list("version_id", flat=True))
        play(match, winner=numbers.index(min(numbers)))
    progress.advance(cup, now=later(60))
    cup.refresh_from_db()


def _slugs(cup: Tournament) -> list[tuple[int, str]]:
    return [(row.result.place, row.entry.version.bot.slug) for row in standings(cup).rows]


def test_a_name_and_a_text_change_and_the_log_says_so(ana, berto, field) -> None:
    cup = tournaments.create(ana, "Copa", "partnership", versions=field, now=NOW)
    corrections.rename(cup, "Copa de Mayo", actor="ana", now=NOW)
    corrections.rename(cup, "Copa de Mayo", actor="ana", now=NOW)
    corrections.describe(cup, " Cinco amigos. ", actor="ana", now=NOW)
    assert (cup.name, cup.slug, cup.description) == ("Copa de Mayo", "copa", "Cinco amigos.")
    assert _words(cup)[:2] == ["described", "renamed"]
    with pytest.raises(Refused, match="is taken"):
        tournaments.create(berto, "Copa", "partnership", now=NOW)  # The old name stays taken.
    with pytest.raises(Refused, match="2000"):
        corrections.describe(cup, "x" * 2001, actor="ana")
    with pytest.raises(Refused):
        corrections.rename(cup, "", actor="ana")


def test_an_event_is_renamed_with_its_stages(ana, field) -> None:
    document = {"name": "Clase", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    event = events.create(ana, document, field, now=NOW)
    corrections.rename(event, "Clase 4B", actor="ana", now=NOW)
    assert event.document["name"] == "Clase 4B"
    stage = event.tournaments.get()
    assert stage.name == "Clase 4B, stage 1"
    with pytest.raises(Refused):
        corrections.rename(stage, "Another", actor="ana")


def test_entries_close_and_open_again(ana, berto, field) -> None:
    cup = tournaments.create(ana, "Copa", "partnership", now=NOW)
    corrections.set_entrance(cup, Entrance.OWNER, actor="ana", now=NOW)
    with pytest.raises(Refused, match="chooses"):
        enrolment.enter(cup, field[1], player=berto, now=NOW)
    enrolment.enter(cup, field[0], player=ana, now=NOW)
    corrections.set_entrance(cup, Entrance.ANYBODY, actor="ana", now=NOW)
    enrolment.enter(cup, field[1], player=berto, now=NOW)
    assert _words(cup)[:4] == ["entered", "entries_opened", "entered", "entries_closed"]
    tournaments.start(cup, now=NOW)
    with pytest.raises(Refused, match="has started"):
        corrections.set_entrance(cup, Entrance.OWNER, actor="ana", now=NOW)


def test_a_disqualified_entry_ranks_last_and_no_result_changes(ana, berto, field) -> None:
    cup = started(ana, field)
    before = _slugs(cup)
    first = cup.entries.get(version=field[0])
    for player, entry in ((berto, first), (berto, cup.entries.get(version=field[1]))):
        with pytest.raises(Refused, match="Only the owner"):
            corrections.disqualify(entry, "cheats", player=player, now=NOW)
    with pytest.raises(Refused, match="reason"):
        corrections.disqualify(first, "  ", player=ana, now=NOW)
    corrections.disqualify(first, "Two bots of one person", player=ana, now=NOW)
    corrections.disqualify(first, "Another reason", player=ana, now=NOW)
    assert first.disqualified_for == "Two bots of one person"
    assert cup.matches.filter(status="queued").count() == 3, "its matches are still played"
    _play_all(cup)
    points = {row.entry.version.bot.slug: row.result.points for row in standings(cup).rows}
    assert _slugs(cup) == [(1, "lola"), (2, "nena"), (3, "rufo")]
    assert points["rufo"] > points["lola"] > points["nena"], "results stand"
    assert [entry.place for entry in cup.entries.order_by("version_id")] == [3, 1, 2]
    corrections.reinstate(first, player=ana, now=NOW)
    assert _slugs(cup) == [(1, "rufo"), (2, "lola"), (3, "nena")]
    assert [entry.place for entry in cup.entries.order_by("version_id")] == [1, 2, 3]
    assert len(before) == 3
    assert _words(cup)[0] == "reinstated"
    assert all(match.status == "finished" for match in cup.matches.all())


def test_the_disqualified_after_the_end_and_the_stage_that_follows(ana, field) -> None:
    document = {
        "name": "Clase",
        "game": "partnership",
        "stages": [
            {"format": "round_robin", "boards": 1, "advance": 2},
            {"format": "round_robin", "boards": 1},
        ],
    }
    event = events.create(ana, document, field, now=NOW)
    stage = event.tournaments.get()
    corrections.disqualify(stage.entries.get(version=field[0]), "Wrong person", player=ana, now=NOW)
    _play_all(stage)
    events.advance(event, now=NOW)
    assert {entry.version.bot.slug for entry in event.tournaments.get(stage=2).entries.all()} == {"lola", "nena"}
    with pytest.raises(Refused, match="has begun without this bot"):
        corrections.reinstate(stage.entries.get(version=field[0]), player=ana, now=NOW)
    assert stage.entries.get(version=field[0]).disqualified is not None
    for number in range(60):
        corrections.describe(stage, f"text {number}", actor="ana", now=NOW)
    assert "disqualified" in _words(stage)  # Other lines cannot push it off the page.


def test_nobody_is_disqualified_before_the_start(ana, field) -> None:
    cup = tournaments.create(ana, "Copa", "partnership", versions=field, now=NOW)
    with pytest.raises(Refused, match="Withdraw"):
        corrections.disqualify(cup.entries.get(version=field[1]), "why", player=ana, now=NOW)


def test_a_version_is_replaced_only_before_the_start(ana, berto, field) -> None:
    cup = tournaments.create(ana, "Cup", "partnership", boards=1, versions=field, now=NOW)
    entry = cup.entries.get(version=field[1])
    newer = accepted(berto, "lola")
    with pytest.raises(Refused, match="no version of"):
        corrections.replace_version(entry, field[0], player=ana, now=NOW)
    corrections.replace_version(entry, newer, player=ana, now=NOW)
    corrections.replace_version(entry, newer, player=ana, now=NOW)
    assert entry.version == newer
    with pytest.raises(Refused, match="Only the owner of"):
        corrections.replace_version(entry, field[1], player=ana, now=NOW)  # Nobody weakens the bot of another.
    corrections.replace_version(entry, field[1], player=berto, now=NOW)
    tournaments.start(cup, now=NOW)
    with pytest.raises(Refused, match="has started"):
        corrections.replace_version(entry, newer, player=berto, now=NOW)
    _play_all(cup)
    assert len(_slugs(cup)) == 3
    assert _words(cup).count("replaced") == 2


def test_rows_created_and_deleted_without_end_slow_no_later_one(ana, django_assert_max_num_queries) -> None:
    """An address of a deleted row is not used again, and each one passed over takes a query."""
    deleted = [f"tournament:copa-{number}" for number in range(2, 200)]
    LeagueEvent.objects.bulk_create(
        LeagueEvent(at=NOW, kind="tournament.deleted", subject=subject, data={})
        for subject in ("tournament:copa", *deleted)
    )
    with django_assert_max_num_queries(tournaments.MOST_ADDRESSES + 1):
        slug = tournaments.free_slug("Copa")
    assert slug.startswith("copa-")
    assert f"tournament:{slug}" not in deleted


def test_what_never_began_is_deleted_and_what_began_is_not(ana, berto, field) -> None:
    cup = tournaments.create(ana, "Copa", "partnership", versions=field, now=NOW)
    progress.cancel(cup, actor="ana", now=NOW)
    corrections.delete(cup, actor="ana", now=NOW)
    assert not Tournament.objects.exists()
    assert LeagueEvent.objects.get(kind="tournament.deleted").data == {"name": "Copa"}
    with pytest.raises(Refused, match="is taken"):
        tournaments.create(berto, "Copa", "partnership", now=NOW)
    running = started(ana, field)
    with pytest.raises(Refused, match="has begun"):
        corrections.delete(running, actor="ana", now=NOW)
    document = {"name": "Clase", "game": "partnership", "stages": [{"format": "round_robin"}]}
    event = events.create(ana, document, [], terms=releases.ReleaseTerms(private=True), now=NOW)
    corrections.delete(event, actor="ana", now=NOW)
    assert not Event.objects.exists()


def test_an_open_event_takes_bots_of_everybody_from_its_opening_on(ana, berto, field) -> None:
    document = {"name": "Copa", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    opening = NOW + timedelta(hours=1)
    event = events.create(
        ana, document, [], wait=True, entrance=Entrance.ANYBODY, entries_from=opening, description="Hola", now=NOW
    )
    assert (event.status, event.description) == ("open", "Hola")
    with pytest.raises(Refused, match="open at"):
        events.enter(event, field[1].bot, berto, now=NOW)
    with pytest.raises(Refused, match="not yours"):
        events.enter(event, field[0].bot, berto, now=opening)
    events.enter(event, field[1].bot, berto, now=opening)
    events.enter(event, field[0].bot, ana, now=NOW)
    corrections.set_entrance(event, Entrance.OWNER, actor="ana", now=opening)
    with pytest.raises(Refused, match="Only the owner"):
        events.enter(event, accepted(berto, "paco").bot, berto, now=opening)
    events.leave(event, field[1].bot, berto, now=opening)  # A bot may always leave.
    events.enter(event, willing(accepted(ana, "sol")).bot, ana, now=opening)
    events.start(event, actor="ana", now=opening)
    assert event.tournaments.get().entries.count() == 2
    assert _words(event)[0] == "started"

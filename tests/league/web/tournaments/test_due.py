"""Events whose entries close at a moment: they begin by themselves, and what everybody reached is a file for a spreadsheet."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.formats import date_format

from league.domain.bots import bots
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.tournaments import events, releases
from league.domain.upkeep import reconcile
from league.enums import BotState
from league.models import Event, LeagueEvent, Match
from tests.league.web.page import Page, faults
from tests.league.web.tournaments.test_events import DOCUMENT, play_all
from tests.support import league as made

ONE_STAGE = {"name": "Homework", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
DUE = made.later(600)


@pytest.fixture
def homework(league) -> Event:
    terms = releases.ReleaseTerms(private=True, due=DUE)
    return events.create(league.ana, ONE_STAGE, [league.rufo], terms=terms, secret=made.SECRET, now=made.NOW)


def journal_of(event: Event) -> list[str]:
    return list(LeagueEvent.objects.filter(subject=f"event:{event.slug}").order_by("id").values_list("kind", flat=True))


@pytest.mark.slow
def test_a_private_event_begins_at_its_moment_with_who_is_in(league, homework) -> None:
    for player in (league.berto, league.sol.bot.owner):
        releases.join(homework.slug, homework.invitation, player, now=made.NOW)
    for bot in (league.luna.bot, league.sol.bot):
        events.enter(homework, bot, bot.owner, now=made.later(10))
    newer = made.accepted(league.berto, "luna")

    assert reconcile.reconcile(now=DUE - timedelta(seconds=1)).opened == 0
    assert reconcile.reconcile(now=DUE).opened == 1

    homework.refresh_from_db()
    assert homework.status == "running"
    entries = homework.tournaments.get().entries.select_related("version")
    assert {entry.version.bot.slug for entry in entries} == {"rufo", "luna", "sol"}
    assert newer in [entry.version for entry in entries], "the version that it sends at that moment"
    assert reconcile.reconcile(now=DUE).opened == 0


def test_nobody_enters_or_leaves_after_the_moment(league, homework) -> None:
    releases.join(homework.slug, homework.invitation, league.berto, now=made.NOW)
    events.enter(homework, league.luna.bot, league.berto, now=DUE - timedelta(seconds=1))
    other = made.accepted(league.berto, "vega").bot
    with pytest.raises(Refused, match="closed at"):
        events.enter(homework, other, league.berto, now=DUE)
    with pytest.raises(Refused, match="closed at"):
        events.leave(homework, league.luna.bot, league.berto, now=DUE)


def test_a_bot_that_was_retired_keeps_no_event_from_beginning(league) -> None:
    terms = releases.ReleaseTerms(due=DUE)
    field = [league.rufo.bot, league.luna.bot, league.sol.bot]
    event = events.create(league.ana, ONE_STAGE, field, terms=terms, secret=made.SECRET, now=made.NOW)
    assert event.status == "open", "though nobody had to be asked"
    bots.set_state(league.sol.bot, BotState.RETIRED, actor="cira", now=made.later(30))

    reconcile.reconcile(now=DUE)

    event.refresh_from_db()
    assert event.status == "running"
    assert {entry.version.bot.slug for entry in event.tournaments.get().entries.all()} == {"rufo", "luna"}
    left_out = LeagueEvent.objects.get(kind="event.left_out")
    assert left_out.data["bot"] == "sol"


@pytest.mark.slow
def test_one_that_cannot_begin_stays_open_and_says_why(league, homework, reader) -> None:
    assert reconcile.reconcile(now=DUE).opened == 1
    assert reconcile.reconcile(now=DUE).opened == 0, "it is not tried for ever"

    homework.refresh_from_db()
    assert (homework.status, homework.due) == ("open", None)
    assert journal_of(homework)[-1] == "event.not_started"
    owner = Client()
    owner.force_login(league.ana.user)
    page = Page(owner.get(f"/e/{homework.slug}/", headers={"accept-language": "en"}).content.decode())
    assert faults(page) == []
    assert "The tournament could not start on time" in page.text
    events.enter(homework, made.accepted(league.ana, "vega").bot, league.ana)
    events.start(homework, actor="ana")
    assert homework.status == "running"


def test_its_owner_chooses_another_moment_and_none_for_one_that_has_begun(league) -> None:
    owner = Client()
    owner.force_login(league.ana.user)
    soon = clock.present() + timedelta(hours=1)
    text = soon.strftime("%Y-%m-%dT%H:%M")
    field = [league.rufo, league.luna]
    new = {
        "name": "Due",
        "bots": ["rufo", "luna"],
        "format": "round_robin",
        "boards": "1",
        "due": text,
        "action": "open",
    }
    answer = owner.post("/t/new/?game=partnership", new)
    assert answer.status_code == 302, Page(answer.content.decode()).text
    event = Event.objects.get(name="Due")
    assert (event.status, event.due.strftime("%Y-%m-%dT%H:%M")) == ("open", text)
    page = Page(owner.get(f"/e/{event.slug}/", headers={"accept-language": "en"}).content.decode())
    assert f"Entries close: {date_format(event.due, 'j M Y, H:i')} UTC" in page.text

    later = soon + timedelta(hours=1)
    body = {"audience": "public", "due": later.isoformat()}
    answer = owner.post(f"/api/v1/events/{event.slug}/show", body, content_type="application/json")
    assert answer.json()["due"].startswith(later.strftime("%Y-%m-%dT%H:%M"))
    event.refresh_from_db()
    assert event.due == later
    with pytest.raises(Refused, match="within the next"):
        releases.change(event, releases.ReleaseTerms(due=made.NOW), actor="ana")

    begun = events.create(
        league.ana, DOCUMENT, [*field, league.sol, made.accepted(league.ana, "vega")], secret=made.SECRET, now=made.NOW
    )
    with pytest.raises(Refused, match="has started"):
        releases.change(begun, releases.ReleaseTerms(due=later), actor="ana")


@pytest.mark.slow
def test_marks_are_a_row_for_everybody(league, homework) -> None:
    for name in ("eva", "dora"):
        releases.join(homework.slug, homework.invitation, players.create(name, now=made.NOW), now=made.NOW)
    releases.join(homework.slug, homework.invitation, league.berto, now=made.NOW)
    events.enter(homework, league.luna.bot, league.berto, now=made.later(10))
    owner, guest, stranger = Client(), Client(), Client()
    owner.force_login(league.ana.user)
    guest.force_login(league.berto.user)
    reconcile.reconcile(now=DUE)
    while match := Match.objects.filter(status="queued", kind="tournament").first():
        made.play(match, winner=0)
    play_all()

    def rows(client: Client) -> list[dict[str, str]]:
        answer = client.get(f"/e/{homework.slug}/marks.csv")
        assert answer["Content-Type"].startswith("text/csv")
        return list(csv.DictReader(io.StringIO(answer.content.decode())))

    table = rows(owner)
    assert [row["player"] for row in table][2:] == ["dora", "eva"], "who has entered nothing stands below"
    assert {row["bot"]: row["place"] for row in table[:2]} == {row["bot"]: row["place"] for row in rows(guest)}
    assert sorted(row["bot"] for row in table[:2]) == ["luna", "rufo"]
    assert table[0]["entered"]
    assert len(rows(guest)) == 2
    assert stranger.get(f"/e/{homework.slug}/marks.csv").status_code == 404

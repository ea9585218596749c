"""Events and circuits as rows: stages follow each other, seasons are opened once, through any repetition."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django_celery_beat.models import PeriodicTask

from league.domain.bots import house
from league.domain.bots.bots import set_state
from league.domain.core.errors import Refused
from league.domain.tournaments import circuits, events, progress
from league.domain.upkeep import reconcile
from league.models import Bot, BotVersion, Entry, Event, LeagueEvent, Match, Season, Tournament
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play
from tests.support.parts import mostly_slow


@pytest.fixture
def field(ana, berto):
    """Six accepted versions, of two players."""
    return rows.once(make_field, ana, berto)


def make_field(ana, berto):
    owners = (ana, berto)
    return [accepted(owners[i % 2], f"bot{i}") for i in range(6)]


def play_all(*, now: datetime = NOW) -> None:
    """Every open match, the older version winning, and the scheduler, until nothing is left."""
    for _ in range(300):
        match = Match.objects.filter(status="queued").first()
        if match is None:
            report = reconcile.reconcile(now=now)
            if not report.inserted and not report.opened:
                return
            continue
        numbers = list(match.parties.order_by("number").values_list("version_id", flat=True))
        play(match, winner=numbers.index(min(numbers)))
        progress.advance(match.tournament, now=now)
    raise AssertionError("no end")


@pytest.mark.slow
def test_an_event_goes_from_stage_to_stage(ana, field) -> None:
    event = events.create(ana, GOOD, field, secret=SECRET, now=NOW)

    assert LeagueEvent.objects.get(kind="event.created").actor == "ana"
    groups = list(event.tournaments.order_by("group"))
    assert [
        (tournament.stage, tournament.group, tournament.entries.count(), tournament.status) for tournament in groups
    ] == [
        (1, 1, 3, "running"),
        (1, 2, 3, "running"),
    ]
    assert [tournament.name for tournament in groups] == [f"{event.name}, stage 1, group {number}" for number in (1, 2)]
    seeds = [
        list(tournament.entries.order_by("seed").values_list("version__bot__slug", flat=True)) for tournament in groups
    ]
    assert seeds == [["bot0", "bot3", "bot4"], ["bot1", "bot2", "bot5"]]
    assert events.advance(event, now=NOW) is False

    play_all(now=later(5))

    event.refresh_from_db()
    assert event.status == "finished"
    final = event.tournaments.get(stage=2)
    assert final.name == f"{event.name}, stage 2"
    assert (final.format, final.boards, final.entries.count()) == ("double_elimination", 4, 4)
    assert final.entries.get(place=1).version == field[0]
    assert reconcile.reconcile(now=later(9)).opened == 0
    assert Tournament.objects.count() == 3


@pytest.mark.slow
def test_an_event_made_again_from_its_secret_has_the_same_deals(ana, field) -> None:
    first = events.create(ana, GOOD, field, secret=SECRET, now=NOW).tournaments.get(group=2)
    second = events.create(ana, GOOD, field, secret=SECRET, now=NOW).tournaments.get(group=2)

    assert bytes(first.secret) == bytes(second.secret) != SECRET


def test_an_event_without_a_secret_gets_32_bytes_of_chance(ana, field) -> None:
    assert len(bytes(events.create(ana, GOOD, field, now=NOW).secret)) == 32


def test_a_bad_event_leaves_nothing_behind(ana, field) -> None:
    with pytest.raises(Refused, match=r"stages\[0\].format: there is no format"):
        events.create(ana, {**GOOD, "stages": [{"format": "chess"}]}, field, now=NOW)
    with pytest.raises(Refused, match="needs 3 entries or more"):
        events.create(ana, {**GOOD, "stages": [{"format": "double_elimination"}]}, field[:2], now=NOW)
    assert (Event.objects.count(), Tournament.objects.count()) == (0, 0)


@pytest.mark.slow
def test_a_cancelled_stage_ends_its_event(ana, field) -> None:
    event = events.create(ana, GOOD, field, now=NOW)
    progress.cancel(event.tournaments.first(), actor="ana", now=NOW)

    assert reconcile.reconcile(now=NOW).opened == 1
    event.refresh_from_db()
    assert event.status == "cancelled"


@pytest.mark.slow
@pytest.mark.parametrize("act", mostly_slow(["paused", "retired", "refused", "banned", "stopped"], "retired".__eq__))
def test_nobody_ends_an_event_by_what_becomes_of_their_bot_between_two_stages(ana, field, act: str) -> None:
    event = events.create(ana, GOOD, field, secret=SECRET, now=NOW)
    while (match := Match.objects.filter(status="queued").first()) is not None:
        numbers = list(match.parties.order_by("number").values_list("version_id", flat=True))
        play(match, winner=numbers.index(min(numbers)))
        progress.advance(match.tournament, now=NOW)
    best = field[0]
    if act == "refused":
        BotVersion.objects.filter(pk=best.pk).update(refused=[GOOD["game"]])
    elif act == "banned":
        Bot.objects.filter(pk=best.bot_id).update(owner_banned=True)
    elif act == "stopped":
        Bot.objects.filter(pk=best.bot_id).update(stopped=NOW)
    else:
        set_state(best.bot, act, actor=best.bot.owner.name, now=NOW)

    assert reconcile.reconcile(now=NOW).opened == 1

    event.refresh_from_db()
    assert event.status == "running"
    names = {entry.version.bot.slug for entry in event.tournaments.get(stage=2).entries.all()}
    stays = act in ("paused", "refused")
    assert names == ({"bot0", "bot1", "bot2", "bot3"} if stays else {"bot1", "bot2", "bot3", "bot4"})


@pytest.fixture
def circuit(ana, field):
    """Fridays at 20:00 in Madrid, divisions of three, one up and one down. NOW is a Thursday."""
    liga = circuits.create(
        ana,
        "Liga",
        "partnership",
        days="fri",
        at="20:00",
        time_zone="Europe/Madrid",
        size=3,
        moves=1,
        boards=1,
        per_player=9,
        now=NOW,
    )
    for version in field:
        circuits.join(liga, version.bot, player=version.bot.owner, now=NOW)
    return liga


def bots(tournament: Tournament) -> list[str]:
    return list(tournament.entries.order_by("place", "seed").values_list("version__bot__slug", flat=True))


def test_seasons_are_opened_when_due_and_once(circuit) -> None:
    friday = datetime(2026, 1, 2, 19, tzinfo=UTC)

    assert circuits.open_due(now=friday - timedelta(seconds=1)) == 0
    assert circuits.open_due(now=friday) == 1
    assert circuits.open_due(now=friday) == 0
    assert reconcile.reconcile(now=friday + timedelta(minutes=1)).opened == 0

    season = Season.objects.get()
    assert (season.number, season.due, season.opened, season.reason) == (1, friday, friday, "")
    event = LeagueEvent.objects.get(kind="season.opened")
    assert (event.at, event.subject, event.data["number"]) == (friday, f"circuit:{circuit.slug}", 1)
    begun = LeagueEvent.objects.filter(kind="tournament.moved", data__to="running")
    assert set(begun.values_list("actor", flat=True)) == {"ana"}, "the owner of the circuit"
    assert [
        (tournament.name, tournament.status, bots(tournament)) for tournament in season.tournaments.order_by("group")
    ] == [
        ("Liga 1.1", "running", ["bot0", "bot1", "bot2"]),
        ("Liga 1.2", "running", ["bot3", "bot4", "bot5"]),
    ]


@pytest.mark.slow
def test_next_season_follows_from_the_last_one(circuit, ana, field) -> None:
    friday = datetime(2026, 1, 2, 19, tzinfo=UTC)
    circuits.open_due(now=friday)
    assert circuits.open_due(now=friday + timedelta(days=8)) == 0, "the season before is not over"
    play_all(now=friday)
    newcomer = accepted(ana, "bot9")
    circuits.join(circuit, newcomer.bot, player=newcomer.bot.owner, now=NOW)
    circuits.leave(circuit, field[5].bot, player=field[5].bot.owner, now=NOW)

    assert circuits.open_due(now=friday + timedelta(days=22)) == 1

    season = circuit.seasons.get(number=2)
    assert season.due == friday + timedelta(days=21)  # Missed seasons are not made up for
    assert [sorted(bots(tournament)) for tournament in season.tournaments.order_by("group")] == [
        ["bot0", "bot1", "bot3"],
        ["bot2", "bot4", "bot9"],
    ]


def test_a_season_that_nobody_can_play_says_why(ana) -> None:
    circuits.create(ana, "Sola", "partnership", days="fri", at="20:00", time_zone="UTC", now=NOW)

    assert circuits.open_due(now=NOW + timedelta(days=3)) == 1
    assert Season.objects.get().reason.startswith("0 bots can play, and a table needs 2")


def test_house_bots_fill_a_season_that_few_have_joined_and_the_quarter_counts_places(ana, berto) -> None:
    for name in ("greedy", "random", "champion"):
        accepted(house.player(now=NOW), name)
    rufo, hours = accepted(ana, "rufo"), {"days": "fri", "at": "20:00", "time_zone": "Europe/Madrid"}
    weekly = circuits.create(
        house.player(), "Semanal", "partnership", **hours, format="swiss", boards=1, size=64, fill=3, now=NOW
    )
    friday = datetime(2026, 1, 2, 19, tzinfo=UTC)
    circuits.open_due(now=friday)
    assert Season.objects.get().reason.startswith("0 bots can play"), "house bots alone play no season"
    circuits.join(weekly, rufo.bot, player=ana, now=friday)

    # The scheduler was down over the hour; two of them come back.
    assert circuits.open_due(now=friday + timedelta(days=9)) == 1
    assert circuits.open_due(now=friday + timedelta(days=9)) == 0

    [tournament] = Tournament.objects.filter(season__circuit=weekly)
    assert sorted(bots(tournament)) == ["greedy", "random", "rufo"]
    assert tournament.counts, "the league chose game, hour and house bots"
    Entry.objects.filter(tournament=tournament).update(place=1)
    Entry.objects.filter(tournament=tournament, version=rufo).update(place=3)
    assert circuits.table(weekly, now=friday + timedelta(days=9)) == [], "it is not finished"
    Tournament.objects.filter(pk=tournament.pk).update(status="finished")
    assert circuits.table(weekly, now=friday + timedelta(days=9)) == [circuits.CircuitPlace("rufo", 10, 1, 0, 1)]
    assert circuits.table(weekly, now=friday + timedelta(days=90)) == [], "another quarter has begun"


def test_a_lower_division_begins_where_the_one_above_ends(circuit, field) -> None:
    friday = datetime(2026, 1, 2, 19, tzinfo=UTC)
    circuits.open_due(now=friday)
    for tournament in Tournament.objects.filter(season__circuit=circuit):
        for place, entry in enumerate(tournament.entries.order_by("seed"), 1):
            Entry.objects.filter(pk=entry.pk).update(place=place)
        Tournament.objects.filter(pk=tournament.pk).update(status="finished")
    places = circuits.table(circuit, now=friday)
    assert [row.points for row in places] == list(circuits.POINTS[:6])
    assert [row.bot for row in places] == [f"bot{number}" for number in range(6)]
    Entry.objects.filter(tournament__season__circuit=circuit, tournament__group=1, place__lte=2).update(place=1)
    assert [row.place for row in circuits.table(circuit, now=friday)][:3] == [1, 1, 3], "equal bots share a place"


def test_celery_calls_at_the_due_moments_and_a_circuit_can_rest(circuit) -> None:
    task = PeriodicTask.objects.get(task="league.tasks.open_seasons")
    assert (task.crontab.day_of_week, task.crontab.hour, task.crontab.minute) == ("fri", "20", "0")
    assert str(task.crontab.timezone) == "Europe/Madrid"

    circuits.set_active(circuit, False, actor="ana", now=NOW)

    assert not PeriodicTask.objects.get(pk=task.pk).enabled
    assert circuits.open_due(now=NOW + timedelta(days=30)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"days": "holiday"}, "days are weekdays"),
        ({"time_zone": "Mars"}, "is not a time zone"),
        ({"size": 1}, "a division needs at least 2 entries"),
        ({"moves": 9}, "at most 4 can move up or down"),
        ({"format": "ladder"}, "needs a budget"),
        ({"name": ""}, "1 to 60 characters"),
        ({"name": "L" * 61}, "1 to 60 characters"),
    ],
)
def test_circuits_say_what_is_allowed(ana, change, message) -> None:
    fields = {"name": "Liga", "game": "partnership", "days": "fri", "at": "20:00", "time_zone": "UTC", **change}
    with pytest.raises(Refused, match=message):
        circuits.create(ana, **fields, now=NOW)


@pytest.mark.parametrize("name", ["L", " L ", "L" * 60])
def test_the_shortest_and_the_longest_name_of_a_circuit_are_taken(ana, name: str) -> None:
    circuit = circuits.create(ana, name, "partnership", days="fri", at="20:00", time_zone="UTC", now=NOW)
    assert circuit.name == name.strip()

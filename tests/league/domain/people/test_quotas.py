"""Quotas of a player: each limit at its border, by the functions that add to it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings as the_settings

from league.domain.bots import bots
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import workers
from league.domain.people import players, quotas
from league.domain.tournaments import circuits, enrolment, events, forecast, progress, tournaments
from league.models import Bot, LeagueEvent, Match, Tournament
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play, started, uploaded
from tests.support.parts import mostly_slow


def where(player: players.Player, name: str) -> tuple[int, int | None]:
    limit = quotas.limit(player, name, now=NOW)
    return limit.used, limit.most


@pytest.fixture
def bots_of_two(ana, berto) -> list[Bot]:
    return rows.once(make_bots_of_two, ana, berto)


def make_bots_of_two(ana, berto) -> list[Bot]:
    return [accepted((ana, berto)[i % 2], f"bot-{i}").bot for i in range(4)]


def test_boards_are_booked_at_the_start_and_given_back_as_they_are_played(ana, bots_of_two, settings) -> None:
    settings.QUOTA_BOARDS = 20
    cup = started(ana, bots_of_two, boards=2, name="Cup")  # 6 matches
    assert where(ana, quotas.BOARDS) == (12, 20)
    assert (cup.planned_matches, cup.booked_boards) == (6, 12)

    with pytest.raises(
        TooMany, match=r"this needs 12 boards, and 12 of yours are queued; the limit is 20\. .* in about \d+ minutes"
    ) as late:
        started(ana, bots_of_two, boards=2, name="Second")
    assert late.value.retry_after >= 1
    assert not Match.objects.filter(tournament__name="Second").exists()
    for match in cup.matches.all()[:2]:
        play(match)
    assert where(ana, quotas.BOARDS) == (8, 20)

    started(ana, bots_of_two, boards=2, name="Third")
    assert where(ana, quotas.BOARDS) == (20, 20)
    progress.cancel(cup, actor="ana", now=NOW)
    assert where(ana, quotas.BOARDS) == (12, 20)


def test_what_is_above_the_limit_is_refused_with_what_would_fit(ana, bots_of_two, settings) -> None:
    settings.QUOTA_BOARDS = 20
    fits = "this needs 48 boards, and a player may have at most 20 queued. It fits with 3 boards per match, or with 2 entries"

    with pytest.raises(Refused, match=fits):
        started(ana, bots_of_two, boards=8)
    for owner in (None, ana):
        with pytest.raises(Refused, match=fits):
            forecast.forecast("partnership", entries=4, boards=8, format="round_robin", limited=True, owner=owner)
    assert forecast.forecast("partnership", entries=4, boards=3, format="round_robin", limited=True).boards == (18, 18)
    with pytest.raises(Refused, match="It does not fit with fewer boards per match or fewer entries"):
        forecast.forecast(
            "partnership", entries=2, boards=4, format="duel", parameters={"cap": 100}, limited=True, owner=ana
        )
    players.create("house", reserved=True, now=NOW)
    house = players.Player.objects.get(name="house")
    assert forecast.forecast("partnership", entries=4, boards=8, format="round_robin", limited=True, owner=house)


def test_more_cycles_are_asked_for(ana, bots_of_two, settings) -> None:
    settings.QUOTA_BOARDS = 20
    cup = started(ana, bots_of_two, boards=2)

    with pytest.raises(Refused, match="this needs 24 boards"):
        tournaments.extend(cup, {"cycles": 2}, actor="ana", now=NOW)
    cup.refresh_from_db()
    assert (cup.parameters, cup.booked_boards, cup.matches.count()) == ({}, 12, 6)

    quotas.set_quota(ana, quotas.BOARDS, 24, why="a long cup", actor="operator", now=NOW)
    assert tournaments.extend(cup, {"cycles": 2}, actor="ana", now=NOW) == 6
    assert (where(ana, quotas.BOARDS), cup.matches.count()) == ((24, 24), 12)


def test_whoever_enters_a_running_ladder_books_boards(ana, bots_of_two, settings) -> None:
    settings.QUOTA_BOARDS = 70
    ladder = tournaments.create(
        ana, "Ladder", "partnership", boards=2, versions=bots_of_two[:2], format="ladder", parameters={"budget": 20},
        secret=SECRET, now=NOW,
    )  # fmt: skip
    tournaments.start(ladder, now=NOW)
    was = where(ana, quotas.BOARDS)[0]

    enrolment.enter(ladder, bots_of_two[2], now=NOW)
    assert where(ana, quotas.BOARDS)[0] > was
    with pytest.raises(Refused, match="boards"):
        enrolment.enter(ladder, bots_of_two[3], now=NOW)


def test_tournaments_events_and_circuits_that_are_not_over_count_together(ana, bots_of_two, settings) -> None:
    settings.QUOTA_TOURNAMENTS = 3
    first = tournaments.create(ana, "Cup", "partnership", boards=1, now=NOW)
    stages = [
        {"format": "swiss", "parameters": {"rounds": 1}, "boards": 1, "advance": 2},
        {"format": "single_elimination", "boards": 1},
    ]
    document = {"name": "Event", "game": "partnership", "stages": stages}
    events.create(ana, document, bots_of_two, secret=SECRET, now=NOW)
    circuits.create(ana, "Liga", "partnership", days="mon", at="20:00", time_zone="UTC", now=NOW)
    assert where(ana, quotas.TOURNAMENTS) == (3, 3)

    again = "you have 3 unfinished tournaments, events and circuits; the limit is 3"
    with pytest.raises(Refused, match=again):
        tournaments.create(ana, "Late", "partnership", boards=1, now=NOW)
    with pytest.raises(Refused, match=again):
        events.create(ana, document | {"name": "Late"}, bots_of_two, secret=SECRET, now=NOW)
    progress.cancel(first, actor="ana", now=NOW)
    tournaments.create(ana, "Late", "partnership", boards=1, now=NOW)


def test_all_stages_of_an_event_are_asked_for_when_it_is_made(ana, bots_of_two, settings) -> None:
    settings.QUOTA_BOARDS = 8
    stages = [
        {"format": "swiss", "parameters": {"rounds": 1}, "boards": 2, "advance": 2},
        {"format": "single_elimination", "boards": 6},
    ]

    with pytest.raises(Refused, match=r"all stages together need \d+ boards, and a player may have at most 8"):
        events.create(ana, {"name": "E", "game": "partnership", "stages": stages}, bots_of_two, secret=SECRET, now=NOW)


def test_what_others_have_counts_for_nobody_else(ana, berto, bots_of_two) -> None:
    nothing = players.create("nobody", now=NOW)
    started(ana, bots_of_two, boards=2)
    uploaded(ana, "uno")
    uploaded(berto, "dos")
    used = {limit.name: limit.used for limit in quotas.limits(ana, now=NOW)}
    assert used[quotas.VALIDATIONS] == 1
    assert used[quotas.BOTS] == 3
    assert {limit.name: limit.used for limit in quotas.limits(nothing, now=NOW)} == dict.fromkeys(used, 0)


def test_bots_validations_and_bytes(ana, settings) -> None:
    settings.QUOTA_BOTS, settings.QUOTA_VALIDATIONS = 2, 3
    for name in ("uno", "dos"):
        uploaded(ana, name)
    with pytest.raises(Refused, match="you have 2 active bots; the limit is 2"):
        uploaded(ana, "tres")
    uploaded(ana, "dos")
    with pytest.raises(TooMany, match="3 of your versions are being validated; the limit is 3"):
        uploaded(ana, "dos")
    Match.objects.update(status="finished")
    bots.BotVersion.objects.update(status="accepted")
    bots.set_state(Bot.objects.get(slug="uno"), "retired", actor="ana", now=NOW)
    uploaded(ana, "tres")

    size = where(ana, quotas.BYTES)[0]
    assert size > 400
    quotas.set_quota(ana, quotas.BYTES, size + 10, why="small", actor="operator", now=NOW)
    with pytest.raises(Refused, match=r"your packages take 0\.0 megabytes"):
        uploaded(ana, "tres")
    assert where(ana, quotas.BYTES)[0] == size


def test_uploads_say_when_again(ana, settings) -> None:
    settings.UPLOADS_PER_HOUR = 2
    uploaded(ana, "uno", now=NOW)
    uploaded(ana, "dos", now=later(600))

    limit = quotas.limit(ana, quotas.UPLOADS, now=later(900))
    assert (limit.used, limit.most, limit.free, limit.again) == (2, 2, 0, NOW + timedelta(hours=1))
    with pytest.raises(TooMany, match="Try again in 45 minutes") as refused:
        uploaded(ana, "tres", now=later(900))
    assert refused.value.retry_after == 2700
    uploaded(ana, "tres", now=later(3601))


def test_an_operator_sets_a_limit_and_the_journal_has_it(ana) -> None:
    default = the_settings.QUOTA_BOTS
    for _ in range(2):
        quotas.set_quota(ana, quotas.BOTS, 99, why="a class", actor="operator", now=NOW)
    assert where(ana, quotas.BOTS) == (0, 99)
    quotas.set_quota(ana, quotas.BOTS, None, why="over", actor="operator", now=NOW)

    assert where(ana, quotas.BOTS) == (0, default)
    journal = LeagueEvent.objects.filter(kind="quota.set", subject="player:ana").order_by("pk")
    assert [(event.data["was"], event.data["to"], event.data["why"]) for event in journal] == [
        (None, 99, "a class"),
        (99, None, "over"),
    ]
    with pytest.raises(Refused, match="there is no limit 'bananas'; choose one of boards, "):
        quotas.set_quota(ana, "bananas", 1, why="", actor="operator", now=NOW)


@pytest.mark.slow
def test_a_large_tournament_enters_the_queue_bit_by_bit(ana, bots_of_two, monkeypatch) -> None:
    """Its start inserts what there is room for; the scheduler goes on as they are played, whatever was struck out and played again."""
    monkeypatch.setattr(progress, "WINDOW", 2)
    cup = started(ana, bots_of_two, boards=1)
    assert (cup.matches.count(), cup.planned_matches) == (2, 6)
    assert progress.schedule(cup, now=NOW) == 0

    sizes = []
    while Match.objects.filter(tournament=cup, status="queued").exists():
        play(cup.matches.filter(status="queued").order_by("id").first())
        assert not progress.advance(cup, now=NOW) or cup.matches.count() == 6
        progress.schedule(cup, now=NOW)
        sizes.append(cup.matches.count())
    assert sizes == [3, 4, 5, 6, 6, 6]
    assert len(set(cup.matches.values_list("table", flat=True))) == 6
    assert progress.advance(Tournament.objects.select_related("pool").get(pk=cup.pk), now=NOW) or cup.status


@pytest.mark.parametrize(("able", "wait_s"), mostly_slow([(0, 120), (1, 120), (3, 40)], (3, 40).__eq__))
def test_who_has_too_many_boards_is_told_when_the_workers_will_have_played_enough(
    ana, bots_of_two, settings, able: int, wait_s: int
) -> None:
    """Two hundred boards too many, of two sittings of 0.3 seconds each."""
    settings.QUOTA_BOARDS = 1000
    started(ana, bots_of_two, boards=100)
    for number in range(able):
        workers.register(f"w{number}", tier="landlock", now=NOW)
    workers.register("refuses", tier="", refusal="x", now=NOW)

    with pytest.raises(TooMany, match="this needs 600 boards, and 600 of yours are queued") as late:
        started(ana, bots_of_two, boards=100, name="Second")

    assert late.value.retry_after == wait_s

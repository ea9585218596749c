"""Round robins: entries, schedules by reconciliation, the end, the secret."""

from __future__ import annotations

import hashlib

import pytest

from league.domain.bots import bots
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import matches
from league.domain.ratings import pools
from league.domain.tournaments import enrolment, progress, standings, tournaments
from league.domain.upkeep import reconcile
from league.enums import BotState, MatchStatus, TournamentStatus
from league.models import LeagueEvent, Match, Pool, Tournament
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play, running, started, uploaded


@pytest.fixture
def field(ana, berto):
    """Four accepted versions, two of each player."""
    return rows.once(make_field, ana, berto)


def make_field(ana, berto):
    return [accepted(player, name) for player, name in ((ana, "rufo"), (berto, "lola"), (ana, "nena"), (berto, "paco"))]


def test_create_commits_to_the_secret(ana, field) -> None:
    cup = tournaments.create(ana, "Copa de Primavera", "partnership", boards=3, versions=field, secret=SECRET, now=NOW)

    assert (cup.slug, cup.status, cup.boards, cup.entries.count()) == ("copa-de-primavera", TournamentStatus.OPEN, 3, 4)
    assert cup.secret_sha256 == hashlib.sha256(SECRET).hexdigest()
    assert tournaments.published_secret(cup) is None


def test_who_gives_no_secret_gets_32_bytes_of_chance(ana, field) -> None:
    cups = [tournaments.create(ana, name, "partnership", boards=1, versions=field, now=NOW) for name in ("One", "Two")]

    assert [len(bytes(cup.secret)) for cup in cups] == [32, 32]
    assert bytes(cups[0].secret) != bytes(cups[1].secret)


def test_start_inserts_every_pair_once_and_again_adds_nothing(ana, field) -> None:
    cup = started(ana, list(reversed(field)))

    pairs = sorted(tuple(sorted(p.version_id for p in match.parties.all())) for match in cup.matches.all())
    ids = sorted(version.pk for version in field)
    assert pairs == [(a, b) for a in ids for b in ids if a < b]
    assert [entry.version_id for entry in cup.entries.order_by("number")] == ids
    assert progress.schedule(cup, now=NOW) == 0
    tournaments.start(cup, now=NOW)
    assert cup.matches.count() == 6


@pytest.mark.slow
def test_missing_matches_are_inserted_by_the_scheduler(ana, field) -> None:
    cup = started(ana, field)
    before = {match.key: match.public_id for match in cup.matches.all()}
    cup.matches.filter(pk__in=list(cup.matches.values_list("pk", flat=True)[:4])).delete()

    assert reconcile.reconcile(now=NOW).inserted == 4
    assert reconcile.reconcile(now=NOW).inserted == 0

    assert {match.key: match.public_id for match in cup.matches.all()} == before


def test_same_owner_meetings_are_unrated(ana, field) -> None:
    cup = started(ana, field)

    unrated = {
        tuple(sorted(p.version.bot.slug for p in match.parties.all())) for match in cup.matches.filter(rated=False)
    }

    assert unrated == {("nena", "rufo"), ("lola", "paco")}


def test_individual_seats_play_every_table(ana, field) -> None:
    cup = started(ana, field, game="cabrero", players=3, boards=1)

    assert sorted(match.table for match in cup.matches.all()) == ["0-1-2", "0-1-3", "0-2-3", "1-2-3"]
    assert {match.parties.count() for match in cup.matches.all()} == {3}


def test_too_few_entries_cannot_start(ana, field) -> None:
    cup = tournaments.create(ana, "Small", "cabrero", players=3, versions=field[:2], now=NOW)

    with pytest.raises(Refused, match="has 2 entries, and a table needs 3"):
        tournaments.start(cup, now=NOW)

    assert Tournament.objects.get().status == TournamentStatus.OPEN


def test_entries_are_checked(ana, berto, field) -> None:
    cup = tournaments.create(ana, "Cup", "subastado", now=NOW)
    with pytest.raises(Refused, match="does not play subastado"):
        enrolment.enter(cup, field[0], now=NOW)
    cup = tournaments.create(ana, "Cup", "partnership", versions=field[:1], now=NOW)
    assert cup.slug == "cup-2"
    with pytest.raises(Refused, match="validating; only versions that passed"):
        enrolment.enter(cup, uploaded(ana, "late"), now=NOW)
    bots.set_state(field[1].bot, BotState.PAUSED, actor="berto", now=NOW)
    with pytest.raises(Refused, match="is paused"):
        enrolment.enter(cup, field[1], now=NOW)
    with pytest.raises(Refused, match="no accepted version"):
        enrolment.enter(cup, uploaded(berto, "later").bot, now=NOW)

    assert enrolment.enter(cup, field[0], now=NOW).number == 0  # again: nothing changes
    enrolment.withdraw(cup, field[0], now=NOW)
    enrolment.withdraw(cup, field[0], now=NOW)
    assert cup.entries.count() == 0


def test_entries_are_frozen_once_started(ana, field) -> None:
    cup = started(ana, field[:3])

    with pytest.raises(Refused, match="only while it is open"):
        enrolment.enter(cup, field[3], now=NOW)


@pytest.mark.slow
def test_a_withdrawal_from_a_running_tournament_escapes_no_loss(ana, berto, field) -> None:
    cup = started(ana, field[:3])
    rival = next(version for version in field[:3] if version.bot.owner_id == berto.pk)
    matches = cup.matches.count()

    with pytest.raises(Refused, match="only the owner"):  # Nobody can remove a rival this way
        enrolment.withdraw(cup, rival, player=ana, now=NOW)
    enrolment.withdraw(cup, rival, now=later(1))
    enrolment.withdraw(cup, rival, now=later(2))
    for match in cup.matches.order_by("id"):
        play(match)
    progress.advance(cup, now=later(3))

    assert cup.matches.filter(status="finished").count() == matches == 3
    entry = cup.entries.get(version=rival)
    assert (entry.withdrawn, entry.place is not None) == (later(1), True)
    assert LeagueEvent.objects.filter(kind="tournament.withdrawn", subject=f"tournament:{cup.slug}").count() == 1
    with pytest.raises(Refused, match="so no bot can be withdrawn"):
        enrolment.withdraw(cup, rival, now=later(4))


def test_tournament_finishes_with_its_last_match_and_reveals_the_secret(ana, field) -> None:
    cup = started(ana, field[:3])
    queue = list(cup.matches.order_by("id"))
    for match in queue[:-1]:
        play(match)
        assert progress.advance(cup, now=NOW) is False
    play(queue[-1], now=later(9))

    assert progress.advance(cup, now=later(10)) is True
    assert progress.advance(cup, now=later(11)) is False

    cup.refresh_from_db()
    assert (cup.status, cup.finished) == (TournamentStatus.FINISHED, later(10))
    assert tournaments.published_secret(cup) == SECRET.hex()


def test_a_void_match_does_not_hold_up_the_end(ana, field) -> None:
    cup = started(ana, field[:2])
    matches.void(cup.matches.get(), actor="operator", why="broken", now=NOW)

    assert reconcile.reconcile(now=NOW).finished == 1


def test_cancel_takes_back_what_waits_and_what_runs(ana, field) -> None:
    cup = started(ana, field[:3])
    play(cup.matches.order_by("id")[0])
    running()

    progress.cancel(cup, actor="ana", why="rained off", now=NOW)

    event = LeagueEvent.objects.get(subject=f"tournament:{cup.slug}", data__to="cancelled")
    assert (event.actor, event.data["why"], cup.finished) == ("ana", "rained off", NOW)
    assert sorted(cup.matches.values_list("status", flat=True)) == ["cancelled", "cancelled", "finished"]
    with pytest.raises(IllegalMove):
        tournaments.start(cup, now=NOW)


def test_lost_cancellations_are_made_up_for(ana, field) -> None:
    cup = started(ana, field[:2])
    Tournament.objects.update(status=TournamentStatus.CANCELLED)

    assert reconcile.reconcile(now=NOW).cancelled == 1
    assert cup.matches.get().status == MatchStatus.CANCELLED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": " "}, "1 to 80 characters"),
        ({"boards": 0}, "1 to 256 boards"),
        ({"boards": 2.5}, "1 to 256 boards"),
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"players": 9}, "played by"),
        ({"options": {"colour": "red"}}, "no option 'colour'"),
        ({"options": {"target": [1]}}, "must be a text, a number"),
        ({"limits": {"move_s": -1}}, "cannot be used"),
        ({"limits": {"speed": 1}}, "cannot be used"),
    ],
)
def test_create_refuses_what_cannot_be(ana, change, message) -> None:
    with pytest.raises(Refused, match=message):
        tournaments.create(ana, **{"name": "Cup", "game": "partnership", **change}, now=NOW)

    assert Tournament.objects.count() == 0


def test_pools_ignore_options_that_say_the_default(db) -> None:
    usual = pools.load("partnership").options_all
    name, value = next(iter(usual.items()))

    assert pools.pool("partnership", options={name: value}) == pools.pool("partnership") == pools.pool("partnership", 4)
    assert Pool.objects.get().options == {}


def test_same_secret_and_names_give_the_same_matches(ana, field) -> None:
    cup = started(ana, field[:2])
    first = cup.matches.get().public_id
    Match.objects.all().delete()
    progress.schedule(cup, now=NOW)

    assert cup.matches.get().public_id == first
    assert started(ana, field[:2], name="Other").matches.get().public_id != first


@pytest.mark.parametrize(
    ("game", "players", "boards"),
    [
        ("partnership", 4, 16),  # two sides
        ("individual", 3, 8),
        ("arrastrado", 4, 12),  # four sides and chips: twice as many
        ("remate", 5, 8),
        ("cabrero", 4, 4),  # a board is a whole match
    ],
)
def test_boards_of_a_match_follow_from_the_table(game: str, players: int, boards: int) -> None:
    assert tournaments.default_boards(game, players) == boards


def test_places_begin_with_the_first_and_equals_share_one(ana, field) -> None:
    cup = started(ana, field)
    for match in cup.matches.all():
        play(match)
    assert progress.advance(cup, now=NOW)

    places = sorted(cup.entries.values_list("place", flat=True))

    assert places[0] == 1
    assert all(place == 1 + sum(other < place for other in places) for place in places)


def test_schedule_says_how_many_matches_were_missing(ana, field) -> None:
    cup = started(ana, field)
    cup.matches.filter(pk__in=list(cup.matches.values_list("pk", flat=True)[:2])).delete()

    assert progress.schedule(cup, now=NOW) == 2


def test_standings_count_in_the_unit_of_the_game(ana, field) -> None:
    """Games are counted in thousandths, so that a part of one is a whole number."""
    cup = started(ana, field[:2], game="corriente")
    match = play(cup.matches.get())
    size = pools.game_of(cup.pool).score_size
    numbers = {party.version_id: party.number for party in match.parties.all()}
    boards = list(match.boards.values_list("scores", flat=True))

    for row in standings.standings(cup).rows:
        mean = sum(board[numbers[row.entry.version_id]] for board in boards) / len(boards)
        assert row.result.score_per_board == pytest.approx(mean / size)

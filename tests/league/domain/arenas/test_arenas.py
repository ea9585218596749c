"""Arenas for people: who is paired with whom and when, what counts, and that neither leaving nor friends pay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.runner import FaultReport
from engine.runner.table import Question, SeatView, TableResult
from league.domain.arenas import arenas, playing
from league.domain.bots import house
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.tables import holding, people, rooms, seating, standing
from league.models import Arena, ArenaEntry, ArenaSide, LeagueEvent, Player, Table
from tests.support import rows, seats
from tests.support.league import NOW, accepted, later

GAMES = ("partnership", "individual", "corriente")
NAMES = ("ana", "berto", "carla")


def make_people() -> list[Player]:
    for name in ("greedy", "counting", "champion"):
        accepted(house.player(now=NOW), name, games=GAMES)
    everybody = [players.create(name, now=NOW) for name in NAMES]
    accepted(everybody[0], "rufo", games=GAMES)
    return everybody


@pytest.fixture
def persons(db) -> list[Player]:
    return rows.once(make_people)


def opened(game: str = "corriente", **columns) -> Arena:
    return arenas.create(game, NOW, now=NOW, **columns)


def entry(arena: Arena, player: Player) -> ArenaEntry:
    return ArenaEntry.objects.get(arena=arena, player=player)


def drawn(arena: Arena, *persons: Player, at: float = 0) -> Table:
    """Let these people wait, and return the one table that the draw makes."""
    before = set(Table.objects.values_list("pk", flat=True))
    for player in persons:
        arenas.play(arena, player, now=later(at))
    playing.run(now=later(at))
    playing.run(now=later(at + 5))
    return Table.objects.select_related("pool").exclude(pk__in=before).get()


def held(row: Table) -> holding.TableLease:
    lease = holding.claim("host:1", now=later(6))
    assert lease is not None
    assert lease.row == row
    return lease


def finished(row: Table, scores: list[int], *, at: float = 60, fault: FaultReport | None = None) -> None:
    holding.finish(held(row), TableResult([scores], [{}], fault=fault), 0, now=later(at))
    playing.run(now=later(at))


def asked(row: Table, seat: int, *, at: float = 10) -> None:
    lease = held(row)
    others = [SeatView(other, [], []) for other in holding.places(row) if other != seat]
    holding.ask(lease, Question(0, 1, ["play 1o", "play 3o"], ["1o", "3o"], [], [], seat, others), [], now=later(at))


def records(arena: Arena) -> dict[str, tuple[int, int, int]]:
    return {
        str(row.player or row.bot): (row.points, row.games, row.wins)
        for row in arena.entries.filter(games__gt=0).select_related("player", "bot")
    }


def test_whoever_waits_is_paired_at_once_and_a_bot_comes_after_some_seconds(persons, settings):
    ana, _berto, carla = persons
    arena = opened()
    assert sorted(row.bot.slug for row in arena.entries.all()) == ["champion", "counting", "greedy"]
    for player in persons:
        arenas.play(arena, player, now=NOW)
        arenas.play(arena, player, now=later(1))
    assert playing.run(now=later(1)) == 1, "two of the three"
    pair = Table.objects.get()
    assert (pair.rated, pair.shared, pair.gathering, pair.clock_s, pair.boards) == (False, True, False, 30, 1)
    rest = arena.entries.get(waiting__isnull=False)
    assert rest.waiting == NOW, "from the first press on"
    assert playing.run(now=later(4)) == 0
    assert playing.run(now=later(5)) == 1
    alone = Table.objects.exclude(pk=pair.pk).get()
    assert [person.player for person in alone.people.all()] == [rest.player]
    assert set(seats.names(alone)) & {"greedy", "counting", "champion"}
    with pytest.raises(Refused, match="already sitting"):
        arenas.play(arena, ana, now=later(9))
    assert arenas.table_of(entry(arena, ana)) in (pair, alone)
    assert arenas.sides_of(pair)[0].entry.arena == arena
    settings.TABLES = 2
    seating.leave(carla, arenas.table_of(entry(arena, carla)).public_id, now=later(10))


def test_a_partner_is_the_same_bot_on_both_sides(persons):
    arena = opened("partnership")
    row = drawn(arena, *persons[:2])
    names = seats.names(row)
    assert sorted(names) == ["ana", "berto", "greedy", "greedy"]
    assert abs(names.index("ana") - names.index("berto")) % 2 == 1, "on two sides"
    alone = drawn(arena, persons[2], at=20)
    (side,) = ArenaSide.objects.filter(table=alone, entry__bot__isnull=False).select_related("entry__bot")
    others = [name for seat, name in enumerate(seats.names(alone)) if seat % 2 == side.number]
    assert others == [side.entry.bot.slug] * 2, "a bot plays both seats of its side"


@pytest.mark.parametrize(
    ("won", "points"), [(("ana", 70, 60), (2, 0)), (("ana", 60, 70), (0, 2)), (("ana", 65, 65), (1, 1))]
)
def test_points_of_a_hand_and_no_rating(persons, won, points):
    ana, berto, _carla = persons
    arena = opened()
    row = drawn(arena, ana, berto)
    scores = [won[2]] * row.pool.players
    scores[row.people.get(player=ana).number] = won[1]
    finished(row, scores)
    standings = records(arena)
    assert (standings["ana"][0], standings["berto"][0]) == points
    playing.run(now=later(70))
    assert records(arena) == standings, "counted once"
    assert not standing.game_records(ana)
    assert entry(arena, ana).waiting is None, "nobody is paired who may have gone"
    assert entry(arena, ana).rests_until is None


@pytest.mark.parametrize("way", ["leaves", "is away", "leaves last"])
def test_who_leaves_or_stays_away_loses_and_rests(persons, way):
    ana, berto, _carla = persons
    arena = opened()
    row = drawn(arena, ana, berto)
    seat = row.people.get(player=ana).number
    asked(row, seat)
    if way == "is away":
        playing.run(now=later(40))
        assert people.present(ana) == row
        playing.run(now=later(41))
    else:
        seating.leave(ana, row.public_id, now=later(20))
        if way == "leaves last":
            seating.leave(berto, row.public_id, now=later(21))
        playing.run(now=later(22))
    row.refresh_from_db()
    assert row.status == "left"
    assert records(arena) == {"ana": (0, 1, 0), "berto": (2, 1, 1)}
    assert people.present(berto) is None
    with pytest.raises(Refused, match="gave a hand up"):
        arenas.play(arena, ana, now=later(100))
    arenas.play(arena, ana, now=later(42 + 120))
    assert not LeagueEvent.objects.filter(kind="rating.moved").exists()


def test_a_person_alone_who_stays_away_loses_to_the_bot(persons):
    ana = persons[0]
    arena = opened()
    row = drawn(arena, ana)
    asked(row, row.people.get().number)
    with pytest.raises(Refused, match="away for too long"):
        rooms.come_back(ana, row.public_id)
    playing.run(now=later(41))
    row.refresh_from_db()
    assert row.status == "left"
    standings = records(arena)
    assert standings.pop("ana") == (0, 1, 0)
    assert list(standings.values()) == [(2, 1, 1)]


def test_who_answers_in_time_stays(persons):
    ana = persons[0]
    arena = opened()
    row = drawn(arena, ana)
    asked(row, row.people.get().number)
    seating.act(ana, row.public_id, 0, "play 1o", now=later(39))
    playing.run(now=later(60))
    row.refresh_from_db()
    assert row.status == "held"


def test_a_failing_bot_loses_and_a_void_table_counts_for_nobody(persons):
    ana, berto, _carla = persons
    arena = opened()
    finished(drawn(arena, ana), [0, 99], fault=FaultReport(0, 1, 1, 0, 3, "crash", ""))
    assert records(arena).pop("ana") == (2, 1, 1)
    row = drawn(arena, berto, at=100)
    Table.objects.filter(pk=row.pk).update(status="void")
    playing.run(now=later(120))
    assert "berto" not in records(arena)
    assert not ArenaSide.objects.filter(points=None).exists()


def test_no_bot_of_one_s_own_and_no_friend_more_than_three_times(persons):
    ana, berto, _carla = persons
    arena = opened()
    rufo = ana.bots.get()
    with pytest.raises(Refused, match="only an owner"):
        arenas.enter_bot(arena, rufo, berto, now=NOW)
    rufo.in_class = True  # Others would see it.
    with pytest.raises(Refused, match="only your class sees"):
        arenas.enter_bot(arena, rufo, ana, now=NOW)
    rufo.in_class = False
    for _ in range(2):
        arenas.enter_bot(arena, rufo, ana, now=NOW)
    assert arena.entries.filter(bot=rufo).count() == 1
    meetings = 0
    for game in range(9):
        at = 100 * game
        for player in (ana, berto):
            arenas.play(arena, player, now=later(at))
        playing.run(now=later(at + 5))
        tables = Table.objects.filter(sides__points=None).distinct()
        meetings += tables.count() == 1
        for row in tables:
            if row.people.filter(player=ana).exists():
                assert "rufo" not in seats.names(row)
            Table.objects.filter(pk=row.pk).update(status="finished", scores=[[1, 2]], finished=later(at))
            people.rise(row)
        playing.run(now=later(at + 50))
    assert meetings == 3
    other = arenas.create("corriente", later(3600), now=NOW)
    arenas.enter_bot(other, rufo, ana, now=NOW)
    arenas.withdraw_bot(other, rufo, ana)
    assert not other.entries.filter(bot=rufo).exists()


def test_three_single_players_sit_together_and_the_last_to_leave_beats_the_first(persons):
    ana, berto, carla = persons
    arena = arenas.create("individual", NOW, players=3, now=NOW)
    row = drawn(arena, ana, berto, carla)
    assert sorted(seats.names(row)) == list(NAMES)
    lease = held(row)
    seating.leave(ana, row.public_id, now=later(10))
    playing.run(now=later(11))
    row.refresh_from_db()
    assert row.status == "held", "the others play on"
    scores = [50, 50, 50]
    scores[row.people.get(player=ana).number] = 99
    scores[row.people.get(player=carla).number] = 60
    holding.finish(lease, TableResult([scores], [{}]), 0, now=later(60))
    playing.run(now=later(61))
    assert records(arena) == {"ana": (0, 1, 0), "berto": (1, 1, 0), "carla": (2, 1, 1)}
    other = arenas.create("individual", later(60), players=3, now=NOW)
    with_bot = drawn(other, berto, carla, at=200)
    assert len(set(seats.names(with_bot)) & {"greedy", "counting", "champion"}) == 1


def test_an_arena_opens_and_ends_by_the_clock_and_comes_back_a_week_later(persons):
    ana, berto, carla = persons
    start = datetime(2026, 3, 27, 19, tzinfo=UTC)  # 20:00 in Madrid; two days later the clocks go forward
    arena = arenas.create("corriente", start, time_zone="Europe/Madrid", now=NOW)
    assert arenas.create("corriente", start, now=NOW) == arena
    arenas.play(arena, ana, now=NOW)
    arenas.stop(arena, ana, now=NOW)
    assert arenas.own_entry(arena, ana) is None
    arenas.play(arena, ana, now=NOW)
    assert entry(arena, ana).waiting is None, "before the start nobody waits"
    for player in persons:
        arenas.play(arena, player, now=start)
    Player.objects.filter(pk=carla.pk).update(banned=start)
    with pytest.raises(Refused, match="banned"):
        arenas.play(arena, carla, now=start)
    playing.run(now=start)
    row = Table.objects.get()
    over = start + timedelta(hours=1)
    playing.run(now=over)
    arena.refresh_from_db()
    assert arena.finished is None, "the last hand still counts"
    with pytest.raises(Refused, match="is over"):
        arenas.play(arena, berto, now=over)
    Table.objects.filter(pk=row.pk).update(status="finished", scores=[[1, 1]], finished=over)
    for _ in range(2):
        playing.run(now=over + timedelta(minutes=1))
    arena.refresh_from_db()
    assert arena.finished is not None
    assert set(arena.entries.filter(games=1).values_list("place", flat=True)) == {1}, "a shared place"
    following = Arena.objects.exclude(pk=arena.pk).get()
    assert following.start == datetime(2026, 4, 3, 18, tzinfo=UTC)
    assert following.entries.filter(player=None).count() == 3


def test_a_scheduler_that_slept_for_weeks_goes_on_with_the_next_hour(persons):
    arena = arenas.create("corriente", NOW, time_zone="Europe/Madrid", now=NOW)
    playing.run(now=NOW + timedelta(days=30))
    (following,) = Arena.objects.exclude(pk=arena.pk)
    assert following.start == NOW + timedelta(days=35)
    with pytest.raises(Refused, match="not a time zone"):
        arenas.create("brisca", NOW, time_zone="Europe/Atlantis", now=NOW)
    with pytest.raises(Refused, match="up to a day"):
        arenas.create("corriente", later(1), minutes=0, now=NOW)

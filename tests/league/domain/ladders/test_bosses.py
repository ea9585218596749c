"""Boss leagues: who rises, who does not, once, and nobody at the cost of rated matches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from django.db import transaction

from league.domain.bots import consent
from league.domain.ladders import drawing, places
from league.domain.matches import workers
from league.domain.people import players
from league.domain.ratings import pools
from league.enums import BossLeague, MatchStatus
from league.models import Board, Boss, BossTest, Bot, BotVersion, Match, Player, Rating, Rung, Sitting
from tests.league.domain.ladders.test_version_tests import next_version
from tests.support.league import NOW, accepted, later
from tests.support.parts import mostly_slow

GAME = "partnership"
NEXT_SEASON = datetime(NOW.year + 1, NOW.month, 1, tzinfo=UTC)
HOUSE = ("random", "greedy", "counting")


@pytest.fixture
def house(db, settings) -> Player:
    """The league with three house bots, which are the bosses, and which rest for a year."""
    settings.LADDERS = True
    settings.HOUSE_REST_S = 10**8
    workers.register("w1", tier="landlock", now=NOW)
    owner = players.create("house", reserved=True, now=NOW)
    for slug in HOUSE:
        accepted(owner, slug, games=[GAME])
    places.enter(now=NOW)
    drawing.draw(now=NOW)
    rest()
    return owner


def rest() -> None:
    """Let no bot be due on the ladder, so that only tests are drawn."""
    Match.objects.filter(key__startswith="l:").delete()
    Rung.objects.update(due=datetime(NOW.year + 9, 1, 1, tzinfo=UTC))


def enter(player: Player, name: str) -> BotVersion:
    version = accepted(player, name, games=[GAME])
    places.enter(now=later(1))
    rest()
    return version


def store(match: Match, scores: Sequence[int] = (1, 0), *, fault: int | None = None) -> None:
    """Store the result of a match against a boss: the same scores on each board, and a fault of a party on the first one."""
    boards = [Board(match=match, number=number, scores=list(scores)) for number in range(1, match.boards_planned + 1)]
    Board.objects.bulk_create(boards)
    if fault is not None:
        Sitting.objects.create(
            board=boards[0], number=0, seating=[0, 1], scores=[1, 0], fault="crash", fault_party=fault
        )
    Match.objects.filter(pk=match.pk).update(status=MatchStatus.FINISHED, finished=NOW)


def waiting_match() -> Match:
    return Match.objects.get(key__startswith="b:", status="queued")


def play_test(*scores: int) -> BossTest:
    """Play the running test to its end, with these scores on all boards."""
    test = BossTest.objects.get(verdict="")
    while not test.verdict:
        store(waiting_match(), scores)
        drawing.draw(now=later(2))
        test.refresh_from_db()
    return test


def league_of(version: BotVersion) -> int:
    return Rung.objects.get(bot=version.bot).league


def test_the_house_bots_are_the_first_bosses(house):
    bosses = Boss.objects.order_by("league").values_list("league", "version__bot__slug")
    assert list(bosses) == list(zip(range(4), ("random", "greedy", "counting", "counting"), strict=True))
    assert not BossTest.objects.exists(), "house bots do not rise"


def test_house_bots_that_are_about_to_enter_are_waited_for(house):
    Boss.objects.all().delete()
    BotVersion.objects.filter(bot__slug="random").update(status="validating")
    drawing.draw(now=later(2))
    assert not Boss.objects.exists()


def test_a_bot_rises_by_beating_each_boss_and_by_nothing_else(house, ana):
    rufo = enter(ana, "rufo")
    for league in (BossLeague.WOOD, BossLeague.BRONZE, BossLeague.SILVER, BossLeague.GOLD):
        drawing.draw(now=later(2))
        match = waiting_match()
        assert (match.rated, match.priority, match.boards_planned) == (False, drawing.BOSS_PRIORITY, drawing.BOARDS)
        seats = match.parties.order_by("number").values_list("version__bot__slug", flat=True)
        assert list(seats) == ["rufo", HOUSE[min(league, 2)]]
        assert drawing.draw(now=later(2)) == 0, "one match of it at a time"
        test = play_test(1, 0)
        assert (test.verdict, test.boss.league) == ("stronger", league)
        # The house bot of silver guards gold, too, where it has to be beaten by more, which takes more boards.
        assert (test.margin, test.won) == ((60, 32) if league == BossLeague.GOLD else (0, 24))
        assert league_of(rufo) == league + 1
    assert drawing.draw(now=later(3)) == 0, "nobody is above the crown"


@pytest.mark.parametrize("scores", mostly_slow([((0, 1),), ((1, 1),)], lambda case: case == ((0, 1),)))
def test_a_version_has_one_attempt_and_the_next_one_needs_more_evidence(house, ana, scores):
    rufo = enter(ana, "rufo")
    drawing.draw(now=later(2))
    test = play_test(*scores)
    assert (test.verdict, test.attempt, league_of(rufo)) == ("not_stronger", 1, BossLeague.WOOD)
    assert drawing.draw(now=later(3)) == 0

    new = next_version(rufo, [GAME])
    rest()
    assert drawing.draw(now=later(4)) >= 1
    assert list(BossTest.objects.filter(verdict="").values_list("version", "attempt")) == [(new.pk, 2)]
    other = enter(ana, "lola")
    BossTest.objects.filter(verdict="").update(verdict="cap")
    Match.objects.filter(status="queued").delete()
    drawing.draw(now=later(5))
    assert BossTest.objects.get(version=other).attempt == 3, "another bot of the same owner is no new chance"


def test_boards_on_which_the_bot_failed_are_lost(house, ana):
    enter(ana, "rufo")
    drawing.draw(now=later(2))
    store(waiting_match(), (1, 0), fault=0)
    drawing.draw(now=later(3))
    test = BossTest.objects.get()
    assert (test.won, test.lost) == (7, 1)
    store(waiting_match(), (1, 0), fault=1)
    drawing.draw(now=later(4))
    test.refresh_from_db()
    assert (test.won, test.lost) == (15, 1)


def test_a_crash_after_the_deciding_match_raises_the_bot_once(house, ana):
    class Crash(Exception):
        pass

    rufo = enter(ana, "rufo")
    for _ in range(3):
        drawing.draw(now=later(2))
        store(waiting_match())
    with suppress(Crash), transaction.atomic():
        drawing.draw(now=later(3))
        assert league_of(rufo) == BossLeague.BRONZE
        raise Crash
    assert league_of(rufo) == BossLeague.WOOD
    drawing.draw(now=later(3))
    drawing.draw(now=later(3))
    assert league_of(rufo) == BossLeague.BRONZE


def test_boards_are_fixed_before_the_test(house, ana):
    enter(ana, "rufo")
    secrets = set()
    for _ in range(2):
        with suppress(ZeroDivisionError), transaction.atomic():
            drawing.draw(now=later(2))
            secrets.add(bytes(waiting_match().secret))
            raise ZeroDivisionError
    assert len(secrets) == 1


def offer(version: BotVersion, elo: float) -> None:
    pool = pools.pool(GAME)
    columns = {"boards": 500, "opponents": 9, "score": 0.5, "points_per_board": 0, "faults": 0, "rank_best": 1}
    more = {"rank_worst": 1, "provisional": False, "updated": NOW, "margin": 0.0}
    Rating.objects.create(pool=pool, version=version, elo=elo, certain=elo, **columns, **more)
    if not version.bot.is_house:
        consent.offer_as_boss(version.bot, on=True, actor=version.bot.owner.name, now=NOW)


def test_a_season_starts_once_with_the_best_offered_bots_and_everybody_keeps_the_league(house, ana, berto):
    strong, weak, rival = enter(ana, "strong"), enter(ana, "weak"), enter(berto, "rival")
    for slug, elo in zip(HOUSE, (800.0, 1000.0, 1200.0), strict=True):
        offer(BotVersion.objects.get(bot__slug=slug), elo)
    offer(strong, 1300.0)
    offer(rival, 1250.0)
    Rung.objects.filter(bot=strong.bot).update(league=BossLeague.CROWN)
    Rung.objects.filter(bot=weak.bot).update(league=BossLeague.SILVER)
    drawing.draw(now=NOW)
    assert Boss.objects.count() == 4, "an offer counts from the next season on"
    [old] = BossTest.objects.filter(verdict="", version__bot__owner=berto)

    Match.objects.filter(status="queued").delete()
    workers.register("w1", tier="landlock", now=NEXT_SEASON)
    drawing.draw(now=NEXT_SEASON)
    drawing.draw(now=NEXT_SEASON)

    season = Boss.objects.filter(version__bot__is_house=False).order_by("league")
    assert list(season.values_list("league", "version", "stand_in")) == [
        (BossLeague.SILVER, rival.pk, None),
        (BossLeague.GOLD, strong.pk, None),
    ]
    old.refresh_from_db()
    assert old.verdict == "superseded"
    assert (league_of(strong), league_of(weak), league_of(rival)) == (BossLeague.GOLD, BossLeague.SILVER, 0)


def test_bots_of_the_owner_of_a_boss_have_to_beat_the_next_house_bot(house, ana):
    boss, other = enter(ana, "boss"), enter(ana, "other")
    counting = BotVersion.objects.get(bot__slug="counting")
    Boss.objects.filter(league=BossLeague.BRONZE).update(version=boss, stand_in=counting)
    Rung.objects.filter(bot=other.bot).update(league=BossLeague.BRONZE)
    Rung.objects.filter(bot=boss.bot).update(contends=None)
    drawing.draw(now=later(2))
    assert BossTest.objects.get().opponent == counting


def test_the_house_bot_takes_over_from_a_boss_that_may_not_play(house, ana, berto):
    boss, rufo = enter(ana, "boss"), enter(berto, "rufo")
    Boss.objects.filter(league=BossLeague.WOOD).update(version=boss)
    Rung.objects.filter(bot=boss.bot).update(contends=None)
    drawing.draw(now=later(2))
    assert BossTest.objects.get(version=rufo).opponent == boss
    Bot.objects.filter(pk=boss.bot_id).update(stopped=NOW)
    Match.objects.filter(key__startswith="b:").update(status="cancelled")
    drawing.draw(now=later(3))
    assert Boss.objects.get(league=BossLeague.WOOD).version.bot.slug == "random"
    tests = BossTest.objects.filter(version=rufo).order_by("pk").values_list("opponent__bot__slug", "verdict")
    assert list(tests) == [("boss", "superseded"), ("random", "")]


@pytest.mark.slow
def test_while_others_are_due_one_table_in_eight_is_a_test(house, ana, berto):
    for name in ("rufo", "lola", "nina"):
        accepted(players.create(f"of-{name}", now=NOW), name, games=[GAME])
    places.enter(now=later(1))
    drawn: list[str] = []
    for step in range(12):
        drawing.draw(now=later(2 + step))
        Rung.objects.filter(bot__is_house=False).update(due=NOW)
        for match in Match.objects.filter(kind="ladder", status="queued"):
            drawn.append(match.key[0])
            store(match, (0, 0))
            Match.objects.filter(pk=match.pk).update(counted=NOW)
    assert 2 <= drawn.count("b") <= 1 + len(drawn) // drawing.BOSS_SHARE

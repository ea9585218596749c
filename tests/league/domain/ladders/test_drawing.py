"""The standing ladders: who enters, who is drawn, when, and what two schedulers or a dying one leave behind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from league.domain.bots import bots, consent
from league.domain.bots import willing as willing_rules
from league.domain.bots.willing import willing
from league.domain.ladders import drawing, places
from league.domain.matches import holds, leases, reports, workers
from league.domain.people import players
from league.domain.ratings import pools, ratings
from league.domain.upkeep import reconcile
from league.enums import EntryPolicy, MatchKind
from league.models import Bot, BotVersion, LadderDraw, Match, Party, Pool, Rating, Rung
from league.pure.pairing.standing import rest_s
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, result, started, uploaded

GAME = "partnership"


@dataclass
class Ladder:
    """A worker, and bots of as many owners on the ladder of one game."""

    versions: list[BotVersion]
    pool: Pool


def make_ladder() -> Ladder:
    versions = [accepted(players.create(f"p{n}", now=NOW), f"bot-{n}", games=[GAME]) for n in range(6)]
    workers.register("w1", tier="landlock", now=NOW)
    places.enter(now=NOW)
    return Ladder(versions, pools.pool(GAME))


@pytest.fixture
def ladder(db, settings) -> Ladder:
    settings.LADDERS = True
    return rows.once(make_ladder)


def queued() -> list[Match]:
    return list(Match.objects.filter(kind=MatchKind.LADDER, status="queued").order_by("pk"))


def seated(match: Match) -> set[int]:
    return set(match.parties.values_list("version_id", flat=True))


def finish_all(pool: Pool, at: float) -> int:
    """Play the queued matches and count them."""
    waiting = queued()
    for match in waiting:
        play(match, now=later(at))
    ratings.refresh(pool, now=later(at))
    return len(waiting)


def test_an_idle_league_draws_its_own_matches_and_no_more_than_its_workers_play(ladder):
    assert drawing.draw(now=later(1)) == drawing.AHEAD
    assert drawing.draw(now=later(1)) == 0, "there is no room for more"

    first, second = queued()
    assert (first.kind, first.rated, first.tournament, first.priority) == ("ladder", True, None, drawing.PRIORITY)
    assert first.boards_planned == drawing.BOARDS
    sat = seated(first) | seated(second)
    assert finish_all(ladder.pool, 1) == 2
    assert set(Rating.objects.filter(pool=ladder.pool).values_list("version", flat=True)) == sat
    while sat != {version.pk for version in ladder.versions}:
        assert drawing.draw(now=later(2)) == 2
        assert seated(queued()[0]) - sat, "who has not played comes first"
        sat |= set().union(*map(seated, queued()))
        finish_all(ladder.pool, 2)


def test_no_worker_no_ladder(ladder):
    workers.unregister("w1", now=NOW)

    assert drawing.draw(now=NOW) == 0


@pytest.mark.slow
def test_a_ladder_takes_the_time_that_events_leave(ladder, ana):
    cup = started(ana, ladder.versions, boards=1)

    assert drawing.draw(now=NOW) == 0
    for match in cup.matches.order_by("pk")[: cup.matches.count() - 1]:
        play(match)
    assert drawing.draw(now=NOW) == 1
    assert reconcile.play_ladders(now=NOW) == 0


@pytest.mark.slow
def test_a_new_version_takes_the_place_of_the_old_one_and_is_drawn_first(ladder):
    for at in range(30):
        drawing.draw(now=later(at))
        finish_all(ladder.pool, at)
    old = ladder.versions[0]
    workers.note_alive("w1", now=later(30))  # No draw without a worker
    new = uploaded(old.bot.owner, "bot-0", games=[GAME], now=later(30))
    assert places.enter(now=later(30)) == 0, "it is being validated"

    BotVersion.objects.filter(pk=new.pk).update(status="accepted")
    Match.objects.filter(kind="validation").update(status="cancelled")
    assert places.enter(now=later(31)) == 1
    assert places.enter(now=later(31)) == 0
    assert drawing.draw(now=later(31))

    assert new.pk in seated(queued()[0])
    assert Rung.objects.get(bot=old.bot).version == new
    [other] = seated(queued()[0]) - {new.pk}
    assert Rung.objects.get(version=other).tied, "the first table ties it to all others"


def accept_anew(owners: list[BotVersion], at: float) -> list[int]:
    """A new version of each of these bots, on the ladder."""
    fresh = [uploaded(old.bot.owner, old.bot.slug, games=[GAME], now=later(at)) for old in owners]
    BotVersion.objects.filter(pk__in=[version.pk for version in fresh]).update(status="accepted")
    Match.objects.filter(kind="validation").update(status="cancelled")
    assert places.enter(now=later(at)) == len(fresh)
    return [version.pk for version in fresh]


def claims_until_seated(version_ids: list[int], pool: Pool, at: float) -> list[Match]:
    """Let a worker claim a table a second, the ladder drawn before each, until all these versions sat at a rated one; return the claims."""
    claimed: list[Match] = []
    while not set(version_ids) <= set().union(*(seated(match) for match in claimed if match.rated)):
        at += 1
        drawing.draw(now=later(at))
        claim = leases.claim("w1", now=later(at))
        assert claim is not None
        assert len(claimed) < 30
        leases.start(claim, now=later(at))
        reports.report(claim, result(claim), now=later(at))
        ratings.refresh(pool, now=later(at))
        claimed.append(claim)
    return claimed


@pytest.mark.slow
def test_the_first_tables_of_new_versions_wait_for_what_was_queued_and_for_each_other_alone(ladder):
    for at in range(20):
        drawing.draw(now=later(at))
        finish_all(ladder.pool, at)
    for new, at in ((1, 99_000), (3, 199_000)):
        workers.register("w1", tier="landlock", now=later(at))
        assert drawing.draw(now=later(at)) == drawing.AHEAD, "others are due, too"
        before = [match.pk for match in queued()]

        version_ids = accept_anew(ladder.versions[:new], at + 1)
        claimed = claims_until_seated(version_ids, ladder.pool, at + 1)

        assert {match.pk for match in claimed[: drawing.AHEAD]} == set(before), "in whatever order"
        tests = [match for match in claimed if not match.rated]  # Version tests
        assert len(tests) <= new
        assert len(claimed) <= drawing.AHEAD + new + len(tests)
        assert all(seated(match) & set(version_ids) for match in claimed[drawing.AHEAD :]), "settled bots come later"
        numbers = {match.boards_planned for match in claimed}
        assert numbers == {drawing.BOARDS}, (
            "hello names this number: it must not tell a new bot or a version test from others"
        )
        finish_all(ladder.pool, at + 99)


@pytest.mark.slow
def test_beside_an_event_the_first_table_comes_when_so_little_waits_that_workers_would_stand_idle(ladder, ana):
    cup = started(ana, ladder.versions, boards=1)
    events = cup.matches.count()
    [new] = accept_anew(ladder.versions[:1], 1)

    claimed = claims_until_seated([new], ladder.pool, 2)

    assert [match.tournament_id for match in claimed[:events]] == [cup.pk] * events, "an event is never delayed"
    assert len(claimed) <= events + 2 * drawing.AHEAD


def leave(bot: Bot, how: str) -> None:
    if how == "switch":
        consent.let_on_ladders(bot, on=False, actor=bot.owner.name, now=NOW)
    elif how == "policy":
        consent.set_policy(bot, EntryPolicy.ASK, actor=bot.owner.name, now=NOW)
    elif how == "pause":
        bots.set_state(bot, "paused", actor=bot.owner.name, now=NOW)
    else:
        bots.set_state(bot, "retired", actor=bot.owner.name, now=NOW)


def come_back(bot: Bot) -> None:
    bot.refresh_from_db()
    consent.let_on_ladders(bot, on=True, actor=bot.owner.name, now=NOW)
    consent.set_policy(bot, EntryPolicy.ANYBODY, actor=bot.owner.name, now=NOW)
    bots.set_state(bot, "active", actor=bot.owner.name, now=NOW)


def may_be_drawn(bot: Bot) -> bool:
    return Bot.objects.filter(willing(""), pk=bot.pk).exists()


@pytest.mark.parametrize("how", ["switch", "policy", "pause", "retire"])
def test_who_leaves_plays_what_is_drawn_and_cannot_come_back_for_a_better_opponent(ladder, how):
    drawing.draw(now=NOW)
    waiting = queued()
    bot = Party.objects.filter(match=waiting[0]).first().version.bot
    leave(bot, how)

    assert drawing.tidy(now=NOW) == 0, "a drawn table cannot be refused"
    assert holds.playable_matches(Match.objects.filter(pk__in=[row.pk for row in waiting])).count() == len(waiting)
    assert not may_be_drawn(bot), "the next draw leaves it out"
    if how == "retire":
        return
    come_back(bot)
    willing_rules.end_absences(now=NOW + willing_rules.AWAY - timedelta(seconds=1))
    assert not may_be_drawn(bot), "a switch that is turned off and on again refuses draws for a day"
    leave(bot, how)
    come_back(bot)
    reconcile.play_ladders(now=NOW + willing_rules.AWAY)
    bots.release_held(now=NOW + willing_rules.AWAY)
    assert may_be_drawn(bot)


@pytest.mark.parametrize("how", ["stop", "faults", "ban", "site"])
def test_what_the_league_withholds_is_taken_out_of_the_queue(ladder, settings, how):
    drawing.draw(now=NOW)
    waiting = queued()
    bot = Party.objects.filter(match=waiting[0]).first().version.bot
    its = Party.objects.filter(match__in=waiting, version__bot=bot).count()  # It may sit at both tables.
    if how == "stop":
        bots.stop(bot, why="it floods", actor="op", now=NOW)
    elif how == "faults":
        Bot.objects.filter(pk=bot.pk).update(state="paused", paused_for="three faults in a row")
    elif how == "ban":
        Bot.objects.filter(pk=bot.pk).update(owner_banned=True)
    else:
        settings.LADDERS = False

    assert drawing.tidy(now=NOW) == (len(waiting) if how == "site" else its)
    assert not may_be_drawn(bot) or how == "site"


def test_nobody_without_the_key_of_the_server_foresees_a_draw(ladder, settings):
    def drawn(key: str) -> list[set[int]]:
        settings.SECRET_KEY = key
        with transaction.atomic():
            for number in range(2):
                LadderDraw.objects.update_or_create(pk=1, defaults={"drawn": number})
                Rung.objects.update(due=NOW, tied=True)
                drawing.draw(now=NOW)
                Match.objects.filter(kind=MatchKind.LADDER).update(status="cancelled")
            tables = [seated(match) for match in Match.objects.filter(kind=MatchKind.LADDER).order_by("pk")]
            transaction.set_rollback(True)
        return tables

    assert drawn("a" * 50) == drawn("a" * 50)
    assert drawn("a" * 50) != drawn("b" * 50)


@pytest.mark.slow
def test_bots_of_one_owner_do_not_meet_and_house_bots_keep_everybody_company(ladder, ana, berto):
    Rung.objects.all().delete()
    ana_versions = [accepted(ana, f"ana-{n}", games=[GAME]) for n in range(3)]
    places.enter(now=NOW)
    assert drawing.draw(now=NOW) == 0
    assert set(Rung.objects.values_list("due", flat=True)) >= {NOW + drawing.ALONE}

    house = players.create("house", reserved=True, now=NOW)
    theirs = [accepted(house, f"house-{n}", games=[GAME]) for n in range(2)]
    places.enter(now=NOW)
    tables = []
    for at in range(60, 80):
        workers.note_alive("w1", now=later(at))
        drawing.draw(now=later(at))
        tables += [seated(match) for match in queued()]
        finish_all(ladder.pool, at)

    own = {version.pk for version in ana_versions}
    assert not [table for table in tables if table <= own]
    assert {version.pk for version in (*ana_versions, *theirs)} == {pk for table in tables for pk in table}


@pytest.mark.slow
def test_who_is_placed_rests_and_so_an_idle_ladder_comes_to_rest(ladder):
    at = 0
    while drawing.draw(now=later(at)):
        finish_all(ladder.pool, at)
        at += 1

    boards = Counter(Party.objects.filter(match__status="finished").values_list("version", flat=True).order_by())
    assert set(boards) == {version.pk for version in ladder.versions}
    assert set(Rung.objects.values_list("placed", "tied")) <= {(1, True), (1, False)}
    first = Rung.objects.order_by("due").first()
    assert first.due > later(rest_s(48) - 1)
    # Who sat at one table last may be due at the same moment
    longest = set(Rung.objects.filter(due=first.due).values_list("version", flat=True))
    workers.note_alive("w1", now=first.due)
    assert drawing.draw(now=first.due)
    assert longest & seated(queued()[0])


@pytest.mark.slow
def test_house_bots_rest_among_themselves_and_are_there_for_the_bots_of_players(db, settings, ana) -> None:
    settings.LADDERS, settings.HOUSE_REST_S = True, 600
    workers.register("w1", tier="none", now=NOW)
    house = players.create(players.HOUSE, reserved=True, now=NOW)
    theirs = [accepted(house, name, games=[GAME, "brisca"]) for name in ("greedy", "random")]
    Bot.objects.update(is_house=True)
    places.enter(now=NOW)
    assert set(Rung.objects.values_list("due", flat=True)) == {NOW, later(300)}, "their first tables are spread"

    pool, tables = pools.pool(GAME), 0
    for at in range(0, 300, 20):
        workers.note_alive("w1", now=later(at))
        drawing.draw(now=later(at))
        tables += finish_all(pool, at)
    assert tables == 2, "one for each, because nobody waits for them"

    newcomer = accepted(ana, "rufo", games=[GAME])
    places.enter(now=later(300))
    workers.note_alive("w1", now=later(300))
    drawing.draw(now=later(300))
    assert {newcomer.pk} < set().union(*map(seated, queued())) <= {newcomer.pk, *(version.pk for version in theirs)}


@pytest.mark.slow
def test_dying_at_any_statement_leaves_nothing_half_done(ladder):
    class Death(Exception):
        pass

    def dies_at(number: int):
        count = 0

        def wrapper(execute, sql, *rest):
            nonlocal count
            count += not sql.startswith("RELEASE")  # In a test a transaction ends without a commit
            if count == number + 1 and not sql.startswith(
                "RELEASE"
            ):  # once: what the database takes back then, it would take back by itself
                raise Death
            return execute(sql, *rest)

        return wrapper

    before = sorted(Rung.objects.values_list("pk", "due", "placed"))
    for number in range(200):
        try:
            with connection.execute_wrapper(dies_at(number)):
                drawn = drawing.draw(now=later(1))
        except Death:
            assert not queued()
            assert sorted(Rung.objects.values_list("pk", "due", "placed")) == before
            continue
        break

    assert drawn == len(queued()) == LadderDraw.objects.get().drawn == 2
    assert Party.objects.filter(match__in=queued()).count() == 4


@pytest.mark.slow
def test_a_draw_asks_no_more_of_a_larger_league(ladder, db):
    def count() -> int:
        Match.objects.filter(kind="ladder").delete()
        Rung.objects.update(due=NOW, placed=0)
        with CaptureQueriesContext(connection) as queries:
            assert drawing.draw(now=NOW) == 2
        return len(queries)

    count()
    small = count()
    for n in range(20):
        accepted(players.create(f"more-{n}", now=NOW), f"more-{n}", games=[GAME])
    places.enter(now=NOW)

    # Some more or fewer, by whose lines in the queue the tables join; not one for each bot
    assert count() < small + 10


@pytest.mark.slow
def test_who_waited_long_rests_as_if_since_an_hour_ago(ladder, ana):
    """Else it would come before all others until it has made up for months."""
    for match in started(ana, ladder.versions, boards=1).matches.all():
        play(match, now=NOW)
    ratings.refresh(ladder.pool, now=NOW)
    Rating.objects.filter(pool=ladder.pool).update(boards=(boards := 400))
    Rung.objects.update(due=NOW - timedelta(days=90), placed=1)
    assert drawing.draw(now=NOW)

    drawn = set().union(*(seated(match) for match in queued()))
    rest = timedelta(seconds=rest_s(boards + queued()[0].boards_planned))
    assert rest > timedelta(0)
    due = set(Rung.objects.filter(version__in=drawn).values_list("due", flat=True))
    assert due == {NOW - timedelta(hours=1) + rest}

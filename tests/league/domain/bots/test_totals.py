"""The sums of what bots played: each rated match counts once, and the sums equal those over all rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.bots import totals
from league.domain.matches import embargoes, encounters, logs, matches, replays
from league.domain.people import players
from league.models import Match, MatchChoices, MatchStyle, MeetingSum, Party, PlayedSum, Sitting
from league.pure import style
from tests.support import league as made
from tests.support.league import NOW, accepted, later, play, started


@pytest.fixture
def trio(ana, berto):
    return [accepted(player, name) for player, name in ((ana, "rufo"), (berto, "lola"), (berto, "nena"))]


def counted() -> int:
    count = 0
    while fresh := totals.count_new(now=NOW):
        count += fresh
    return count


def row(version) -> dict[str, int]:
    return PlayedSum.objects.filter(version=version).values(*totals.RESULTS, *style.COUNTS).get()


@pytest.mark.slow
def test_each_match_counts_once_and_the_sums_are_those_of_all_rows(trio, ana) -> None:
    rufo, lola, _ = trio
    for number in (1, 2):
        play(started(ana, [rufo, lola], boards=3, name=f"Cup {number}").matches.get())
    assert (totals.count_new(most=1, now=NOW), totals.count_new(now=NOW), totals.count_new(now=NOW)) == (1, 1, 0)

    parties = Party.objects.filter(version=rufo, match__kind="tournament")
    assert parties.count() == 2
    sums = row(rufo)
    for name in ("points", "wins", "draws", "losses"):
        assert sums[name] == sum(parties.values_list(name, flat=True))
    assert (sums["matches"], sums["boards"], sums["faults"]) == (2, 6, 0)
    expected = style.Style()
    for sitting in Sitting.objects.filter(board__match__kind="tournament"):
        number = parties.get(match=sitting.board.match_id).number
        seating = sitting.seating
        expected += style.count(replays.unpack(sitting)["events"], seating, 2)[number]
    assert style.Style(*(sums[name] for name in style.COUNTS)) == expected
    assert expected.places > 0
    every = row(None)
    assert all(every[name] == sums[name] + row(lola)[name] for name in every)

    [here] = encounters.list_encounters(rufo.bot, lola.bot)
    met = MeetingSum.objects.get(bot=rufo.bot)
    assert (met.opponent, met.matches, met.boards) == (lola.bot, 2, 6)
    assert (met.wins, met.draws, met.losses, met.difference) == (
        here.wins,
        here.draws,
        here.losses,
        sum(here.differences),
    )
    back = MeetingSum.objects.get(bot=lola.bot)
    assert (back.wins, back.losses, back.difference) == (met.losses, met.wins, -met.difference)


@pytest.mark.slow
def test_what_is_struck_out_goes_out_of_the_sums_also_without_its_replay(trio, ana) -> None:
    cups = [started(ana, trio[:2], name=name) for name in ("One", "Two")]
    first, second = [play(cup.matches.get()) for cup in cups]
    assert counted() == 2
    logs.MatchLog.objects.filter(match=first).update(data=b"", let_go=NOW)

    matches.void(first, why="odd", actor="eva", now=NOW)
    first.refresh_from_db()
    again, _ = matches.play_again(first, why="odd", actor="eva", now=NOW)
    assert (first.summed, again.summed) == (True, False), "it will count when it is played"
    again.delete()
    assert counted() == 1
    alone = row(trio[0])
    PlayedSum.objects.all().delete()
    MeetingSum.objects.all().delete()
    MatchStyle.objects.all().delete()
    MatchChoices.objects.all().delete()
    Match.objects.filter(pk=second.pk).update(summed=False)
    assert counted() == 1
    assert row(trio[0]) == alone
    matches.unrate(second, why="odd", actor="eva", now=NOW)
    assert counted() == 1
    assert set(row(trio[0]).values()) == {0}
    assert not MatchStyle.objects.exists()
    assert totals.results_of(trio[0].bot) == []
    assert totals.manner_of(trio[0].bot, second.pool) is None


def test_cards_that_are_held_back_or_cannot_be_read_tell_nothing_of_style(trio, ana) -> None:
    first, second = [play(started(ana, trio[:2], name=name).matches.get()) for name in ("One", "Two")]
    embargoes.change(first, later(9e5), why="a final", actor="eva", now=NOW)
    logs.MatchLog.objects.filter(match=second).update(data=b"damaged")
    assert counted() == 2
    assert row(trio[0])["matches"] == 2
    assert row(trio[0])["places"] == 0
    assert totals.manner_of(trio[0].bot, first.pool) is None


def test_partners_and_versions_of_one_bot_do_not_meet(ana, berto) -> None:
    bots = [accepted(player, name) for player in (ana, berto) for name in (f"{player.name}-a", f"{player.name}-b")]
    match = play(started(players.create("cira", now=NOW), bots, boards=1, mixed=True).matches.order_by("id")[0])
    counted()
    parties = list(match.parties.select_related("version").order_by("number"))
    partners = {(parties[number].version.bot_id, parties[other].version.bot_id) for number, other in ((0, 2), (1, 3))}
    met = set(MeetingSum.objects.values_list("bot", "opponent"))
    assert len(met) == (8 if match.rated else 0)
    assert not met & (partners | {(b, a) for a, b in partners})


@pytest.mark.slow
def test_the_newest_version_stands_beside_the_one_before_and_all(trio, ana) -> None:
    rufo, lola, _ = trio
    play(started(ana, [rufo, lola]).matches.get())
    again = made.accepted(ana, "rufo")
    match = play(started(ana, [again, lola], name="Two").matches.get())
    counted()
    PlayedSum.objects.filter(version=again).update(places=40, sung=10, leads=8, trump_leads=2, capotes=0)
    PlayedSum.objects.filter(version=rufo).update(places=20, sung=1, leads=0, trump_leads=0, capotes=0)
    PlayedSum.objects.filter(version=None).update(places=100, sung=20, leads=50, trump_leads=5, capotes=0)

    manner = totals.manner_of(rufo.bot, match.pool)

    assert manner is not None
    assert (manner.version, manner.before, manner.places) == (2, 1, 40)
    assert manner.traits == [
        totals.Trait("sung", 0.25, 0.05, 0.2),
        totals.Trait("trump_leads", 0.25, None, 0.1),
    ]
    [result] = totals.results_of(rufo.bot)
    assert (result.boards, result.wins + result.draws + result.losses) == (4, 4)
    assert totals.results_of_player(ana) == [result]


@pytest.mark.slow
def test_a_look_costs_the_same_after_more_matches(trio, ana) -> None:
    rufo, lola, _ = trio
    counts = []
    for number in range(2):
        match = play(started(ana, [rufo, lola], boards=1, name=f"Cup {number}").matches.get())
        counted()
        pool, bot = match.pool, rufo.bot
        with CaptureQueriesContext(connection) as queries:
            totals.results_of(bot)
            totals.manner_of(bot, pool)
            totals.count_new(now=NOW)
        counts.append(len(queries))
    assert counts == [5, 5]

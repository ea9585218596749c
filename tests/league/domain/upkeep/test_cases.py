"""Cases of collusion: what opens one, what does not, the analyses that it asks for, and how people close it."""

from __future__ import annotations

import pytest
from django.db.models import Q

from engine.analysis import JUDGE
from engine.judging import DecisionVerdict
from league.domain.audits import cases as audit_cases
from league.domain.bots import moves, totals
from league.domain.judgements import bodies, reading
from league.domain.operators import acting
from league.domain.people import players
from league.domain.ratings import pools
from league.domain.tournaments import progress
from league.domain.upkeep import cases
from league.enums import JudgementStatus
from league.models import Board, Bot, BotVersion, Case, Judgement, LeagueEvent, Match, MeetingSum, Pool, Rating
from league.pure.rating import collusion
from league.pure.rating.collusion import LEAST_BOARDS, PairRecord, surprise, throwing
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, later, play, started


def rate(pool: Pool, *versions: BotVersion) -> None:
    """Give these versions settled ratings of 1000."""
    fields = {
        "elo": 1000.0,
        "margin": 20.0,
        "boards": 900,
        "opponents": 9,
        "score": 0.5,
        "points_per_board": 0.0,
        "faults": 0,
    }
    ranks = {"rank_best": 1, "rank_worst": 9, "provisional": False, "updated": NOW}
    Rating.objects.bulk_create(Rating(pool=pool, version=version, **fields, **ranks) for version in versions)


def meet(pool: Pool, first: BotVersion, second: BotVersion, boards: int, wins: int) -> None:
    """Let two bots meet; the first wins some boards and the second the rest."""
    MeetingSum.objects.filter(Q(bot=first.bot, opponent=second.bot) | Q(bot=second.bot, opponent=first.bot)).delete()
    for bot, opponent, won in ((first.bot, second.bot, wins), (second.bot, first.bot, boards - wins)):
        MeetingSum.objects.create(pool=pool, bot=bot, opponent=opponent, boards=boards, wins=won, losses=boards - won)


def test_what_ratings_do_not_explain_is_a_case_for_people_and_changes_nothing(ana, berto):
    rufo, lola, sol = accepted(ana, "rufo"), accepted(berto, "lola"), accepted(players.create("carla", now=NOW), "sol")
    twin, greedy = accepted(ana, "twin"), accepted(players.create("house", reserved=True, now=NOW), "greedy")
    pool = pools.pool("partnership")
    rate(pool, rufo, lola, sol, twin, greedy)
    meet(pool, rufo, lola, 96, 6)  # Thrown
    meet(pool, rufo, sol, 96, 40)  # Chance
    meet(pool, rufo, twin, 96, 0)  # One owner
    meet(pool, rufo, greedy, 96, 0)  # A house bot has no friends.
    before = list(Rating.objects.order_by("pk").values())

    assert cases.look([pool], now=NOW) == 1
    assert cases.look([pool], now=NOW) == 0
    case = Case.objects.get()
    assert (case.loser, case.winner, case.boards, case.points, case.expected) == (ana, berto, 96, 6, 48)
    assert list(Rating.objects.order_by("pk").values()) == before

    assert audit_cases.close(case, actor="olga", conclusion="honest", why="a style", now=NOW)
    assert not audit_cases.close(case, actor="olga", conclusion="honest", why="again", now=NOW)
    assert list(
        LeagueEvent.objects.filter(subject=f"case:{case.pk}").order_by("pk").values_list("kind", flat=True)
    ) == [
        "case.opened",
        "case.closed",
    ]
    assert cases.look([pool], now=NOW) == 0, "it is closed"
    meet(pool, rufo, lola, 96 * cases.AGAIN, 12)
    assert cases.look([pool], now=NOW) == 1, "it goes on"


def test_many_bots_of_two_owners_are_one_case(ana, berto):
    pool = pools.pool("partnership")
    pairs = [(accepted(ana, f"a{n}"), accepted(berto, f"b{n}")) for n in range(4)]
    for first, second in pairs:
        rate(pool, first, second)
        meet(pool, first, second, 24, 1)

    assert cases.look([pool], now=NOW) == 1
    assert Case.objects.get().boards == 96


@pytest.mark.parametrize(
    ("encounters", "makes_a_case"),
    [
        ([PairRecord(LEAST_BOARDS - 1, 0, 1000, 1000, 10)], False),  # Too few boards
        ([PairRecord(200, 30, 1000, 1000, 10)], True),
        ([PairRecord(200, 30, 1000, 1300, 10)], False),  # As predicted
        ([PairRecord(200, 30, 1000, 1000, 150)], False),  # Nobody knows how strong they are.
        ([PairRecord(64, 60, 1800, 1000, 10)], False),  # A bot that nearly always wins loses four boards.
        ([PairRecord(200, 170, 1000, 1000, 10)], False),  # The other one is the loser.
    ],
)
def test_how_much_makes_a_case(encounters, makes_a_case):
    assert surprise(encounters).makes_a_case == makes_a_case


@pytest.mark.parametrize(
    ("strata", "boards", "deviations"),
    [
        ([], None, None),
        ([([(5.0, 10)], [(1.0, 10)] * 9)], None, None),  # One board has no spread.
        ([([(0.0, 0)] * 9, [(1.0, 10)] * 9)], None, None),  # No decision could be judged.
        ([([(10.0, 10)] * 9, [(10.0, 10)] * 9)], 9, 0.0),
        ([([(20.0, 10)] * 9, [(10.0, 10)] * 8)], 8, 10.0),  # Only the style can explain it: a tenth of the usual loss.
        ([([(20.0, 10)] * 9, [(10.0, 10)] * 8), ([(0.0, 10)] * 9, [(10.0, 10)] * 8)], 16, 0.0),  # Versions level out.
        ([([(0.0, 10)] * 9, [(10.0, 10)] * 9)], 9, -10.0),
    ],
)
def test_losses_by_decision_are_compared_version_by_version(strata, boards, deviations):
    result = throwing(strata)
    assert (result and result.boards) == boards
    assert (result and result.deviations) == deviations


def analysed(match: Match, lost: float) -> None:
    """Store an analysis of a match in which each decision of the first party gave away so much, and a little more on some boards."""
    seatings = reading.seatings(Judgement(match=match))
    body = bodies.Body(
        sittings={
            (board, number): [
                DecisionVerdict(
                    *(step, step, step, 1, seat, "lead", "1O", True), (party == 0) * lost + board % 2, (), 0, 0
                )
                for step, (seat, party) in enumerate(enumerate(seats))
            ]
            for (board, number), seats in seatings.items()
        }
    )
    Judgement.objects.create(
        match=match, kind="fair", judge=JUDGE, samples=12, status="done", body=bodies.pack(body), created=NOW
    )


@pytest.fixture
def thrown(ana, berto):
    """Rufo has met lola with some bad results, and carla's sol; a match of each kind is played, of which rufo wins one board and loses three."""
    return rows.once(make_thrown, ana, berto)


def make_thrown(ana, berto) -> list[Match]:
    carla = players.create("carla", now=NOW)
    rufo, lola, sol = accepted(ana, "rufo"), accepted(berto, "lola"), accepted(carla, "sol")
    rate(pools.pool("partnership"), rufo, lola, sol)
    meet(pools.pool("partnership"), rufo, lola, 96, 36)
    matches = [
        play(started(ana, [rufo, other], boards=4, name=name).matches.get(), winner=1, now=later(1))
        for name, other in (("One", lola), ("Two", sol))
    ]
    Board.objects.filter(number=1).update(scores=[100, 30])
    for match in matches:
        assert match.rated
        progress.advance(match.tournament, now=later(1))
    return matches


@pytest.mark.parametrize(("lost", "opens"), [(6.0, 1), (1.0, 0)])
def test_who_throws_some_boards_is_found_by_decisions(thrown, client, monkeypatch, lost, opens):
    monkeypatch.setattr(collusion, "LEAST_JUDGED", 3)
    pool = pools.pool("partnership")
    assert cases.look([pool], now=later(2)) == 0, "the results alone say little"
    assert set(Judgement.objects.values_list("match", flat=True)) == {match.pk for match in thrown}
    Judgement.objects.all().delete()
    for match, here in zip(thrown, (lost, 1.0), strict=True):
        analysed(match, here)

    assert cases.look([pool], now=later(3)) == opens
    assert cases.look([pool], now=later(4)) == 0
    for case in Case.objects.all():
        losses = cases.evidence(case)
        assert losses is not None
        assert losses.makes_a_case(case.deviations)
        assert (losses.boards, losses.against - losses.others) == (3, pytest.approx(lost - 1))
        client.force_login(players.create("olga", staff=True, now=NOW).user)
        text = client.get(f"/operators/?subject=case:{case.pk}").content.decode()
        assert "against others (3 boards; " in text
        assert "The bots played worse here." in text
        audit_cases.close(case, actor="olga", conclusion="honest", why="a style", now=later(5))
    assert cases.look([pool], now=later(6)) == 0, "people have judged it"


def test_workers_repeat_what_a_volunteer_has_computed_since_a_case_was_opened(thrown, settings):
    settings.JUDGE_DEALS = 12
    pool = pools.pool("partnership")
    rufo, lola = (BotVersion.objects.get(bot__slug=name) for name in ("rufo", "lola"))
    meet(pool, rufo, lola, 96, 6)
    for match in thrown:
        analysed(match, 6.0)
    assert cases.look([pool], now=later(2)) == 1
    Judgement.objects.update(by_volunteer=True)  # A player had asked for them just before.
    assert cases.look([pool], now=later(3)) == 0
    assert list(Judgement.objects.values_list("status", "by_volunteer")) == [(JudgementStatus.ASKED, False)] * 2


def test_few_pairs_are_watched_in_a_day(thrown, monkeypatch):
    monkeypatch.setattr(cases, "WATCHED_A_DAY", 0)
    assert cases.look(Pool.objects.all(), now=later(2)) == 0
    assert not Judgement.objects.exists()


def test_results_count_for_who_owned_the_bot_when_it_played(thrown, ana, berto, monkeypatch):
    """Handing a bot on, even to the partner and on to somebody else, takes no result out of a case; the next owner has no part in it."""
    monkeypatch.setattr(collusion, "LEAST_BOARDS", 4)
    monkeypatch.setattr(collusion, "LEAST_JUDGED", 3)
    monkeypatch.setattr(collusion, "WATCHED", -9.0)
    pool, rufo = pools.pool("partnership"), ana.bots.get()
    MeetingSum.objects.all().delete()
    totals.count_new(now=later(2))
    for match, lost in zip(thrown, (6.0, 1.0), strict=True):
        analysed(match, lost)
    dora = players.create("dora", now=NOW)
    for giver, taker, at in ((ana, berto, 10), (berto, dora, 20)):
        moves.offer(rufo, taker.name, player=giver, now=later(at))
        moves.accept(rufo, player=taker, now=later(at))
    assert Bot.objects.get(pk=rufo.pk).owner == dora

    assert cases.look([pool], now=later(30)) == 1
    case = Case.objects.get()
    assert (case.loser, case.winner, case.boards) == (ana, berto, 4)
    assert cases.matches_of(case) == [thrown[0]]


@pytest.mark.slow
def test_a_case_has_the_matches_analysed_and_operators_see_it(client, ana, berto, settings):
    settings.JUDGE_DEALS = (
        2  # An analysis yields the processor to everything else, so a busy machine would take too long.
    )
    rufo, lola, sol = accepted(ana, "rufo"), accepted(berto, "lola"), accepted(players.create("carla", now=NOW), "sol")
    for name, other in (("One", lola), ("Two", sol)):
        play(started(ana, [rufo, other], boards=1, name=name).matches.get(), now=later(1))
    pool = pools.pool("partnership")
    rate(pool, rufo, lola, sol)
    meet(pool, rufo, lola, 96, 6)

    assert cases.look([pool], now=later(2)) == 1
    case = Case.objects.get()
    assert cases.evidence(case) is None
    assert Judgement.objects.filter(asked_by=None).count() == 2
    while (job := jobs.ANALYSIS.claim("host:1", now=later(3))) is not None:
        assert jobs.run(job, now=later(3))
    assert set(Judgement.objects.values_list("status", flat=True)) == {JudgementStatus.DONE}
    assert cases.evidence(case) is None, "a board of each kind says nothing"
    olga = players.create("olga", staff=True, now=NOW)
    client.force_login(olga.user)
    text = client.get(f"/operators/?subject=case:{case.pk}").content.decode()
    assert "ana against berto" in text
    assert "6 points of 96 boards" in text
    client.force_login(ana.user)
    assert client.get(f"/operators/?subject=case:{case.pk}").status_code == 403
    acting.act("conclude", [f"case:{case.pk}"], {"conclusion": "unclear"}, why="a test", operator=None, dry_run=False)
    case.refresh_from_db()
    assert (case.conclusion, case.why) == ("unclear", "a test")

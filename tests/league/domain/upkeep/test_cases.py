"""Cases of collusion: what opens one, what does not, the analyses that it asks for, and how people close it."""

from __future__ import annotations

import pytest
from django.db.models import Q

from league.domain.audits import cases as audit_cases
from league.domain.operators import acting
from league.domain.people import players
from league.domain.ratings import pools
from league.domain.upkeep import cases
from league.enums import JudgementStatus
from league.models import BotVersion, Case, Judgement, LeagueEvent, MeetingSum, Pool, Rating
from league.pure.rating.collusion import LEAST_BOARDS, PairRecord, surprise
from tests.support import jobs
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
    losses = cases.evidence(case)
    assert losses is not None
    assert losses.against >= 0 <= losses.others

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

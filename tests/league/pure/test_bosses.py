"""The rules of the boss leagues: luck raises nobody, strength does, and no boss is a gift."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from math import comb
from pathlib import Path

import pytest

import engine
from engine import sprt
from league.pure import bosses
from league.pure.bosses import BossCandidate as Candidate
from league.pure.bosses import boss_rules, choose_bosses

MATCH = 8  # Boards between two looks at the results.


@cache
def ratio(lost: int, won: int) -> float:
    return sprt.llr((lost, 0, won), bosses.ELO0, bosses.ELO1)


def chance_to_rise(elo: float, attempt: int) -> tuple[float, float]:
    """The exact chance that a bot rises in one test without draws, and the expected number of boards."""
    rules, share = boss_rules(attempt), sprt.expected(elo)
    steps = [comb(MATCH, won) * share**won * (1 - share) ** (MATCH - won) for won in range(MATCH + 1)]
    going, risen, expected = {0: 1.0}, 0.0, 0.0
    for boards in range(MATCH, rules.cap + 1, MATCH):
        after: dict[int, float] = defaultdict(float)
        for before, chance in going.items():
            for won, step in enumerate(steps):
                after[before + won] += chance * step
        expected += MATCH * sum(going.values())
        going = {}
        for won, chance in after.items():
            verdict = ""
            if boards >= rules.first:
                value = ratio(boards - won, won)
                verdict = "stronger" if value >= rules.bounds.upper else "no" if value <= rules.bounds.lower else ""
            if verdict == "stronger":
                risen += chance
            elif not verdict and chance > 1e-9:
                going[won] = chance
    return risen, expected


def test_an_equal_bot_rises_by_luck_in_at_most_one_season_of_twenty_however_often_it_is_uploaded():
    by_luck = [chance_to_rise(0.0, attempt)[0] for attempt in (1, 2, 3, 4)]
    assert by_luck == sorted(by_luck, reverse=True)
    # Later attempts share the rest of the error rate.
    rest = bosses.ALPHA - sum(map(bosses.error_rate, (1, 2, 3, 4)))
    assert sum(by_luck) + rest <= bosses.ALPHA
    assert sum(map(bosses.error_rate, range(1, 10_000))) == pytest.approx(bosses.ALPHA, abs=1e-5)


def test_a_clearly_stronger_bot_rises_soon_and_even_late():
    chance, boards = chance_to_rise(100.0, 1)
    assert chance > 0.97
    assert boards < 150
    assert chance_to_rise(100.0, 5)[0] > 0.9


@pytest.mark.parametrize("elo", [0, 60, 100, 150])
def test_the_document_has_the_chances(elo):
    cells = [f"{chance:.1%}, {boards:.0f} boards" for chance, boards in (chance_to_rise(elo, k) for k in (1, 3, 5))]
    text = (Path(engine.__file__).parents[1] / "docs" / "boss-leagues.md").read_text(encoding="utf-8")
    assert f"| {elo} Elo | {' | '.join(cells)} |" in text


@pytest.mark.slow
def test_simulated_seasons_with_ten_uploads_and_with_draws_agree():
    rng, drawn = random.Random(5), 0.3

    def rises(attempt: int) -> bool:
        rules, counts = boss_rules(attempt), [0, 0, 0]
        while True:
            for _ in range(MATCH):
                counts[1 if rng.random() < drawn else rng.choice((0, 2))] += 1
            verdict = rules.decide(*counts)[1]
            if verdict:
                return verdict == "stronger"

    seasons = 150
    risen = sum(any(rises(attempt) for attempt in range(1, 11)) for _ in range(seasons))
    assert risen / seasons <= bosses.ALPHA + 0.03


def test_a_test_ends_at_its_cap_and_not_before_its_first_boards():
    rules = boss_rules(1)
    assert rules.decide(0, 0, 8)[1] == ""
    assert rules.decide(0, 0, 24)[1] == "stronger"
    assert rules.decide(24, 0, 0)[1] == "not_stronger"
    assert rules.decide(185, 0, 215)[1] == "cap"


def test_a_season_is_a_quarter_of_a_year():
    assert bosses.season_of(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)) == 20264
    assert bosses.season_of(datetime(2027, 1, 1, tzinfo=UTC)) == 20271
    assert bosses.season_end(20264) == datetime(2027, 1, 1, tzinfo=UTC)
    assert bosses.season_end(20261) == datetime(2026, 4, 1, tzinfo=UTC)


HOUSE = [Candidate(n, 0, 800.0 + 200 * n) for n in range(5)]  # Versions 0 to 4: 800, 1000, 1200, 1400, 1600.


def test_a_house_bot_that_guards_more_leagues_has_to_be_beaten_by_more_in_each():
    assert [boss.margin for boss in choose_bosses(HOUSE[:3], [])] == [0, 0, 0, bosses.MARGIN]
    assert [boss.margin for boss in choose_bosses(HOUSE[:1], [])] == [0, 60, 120, 180]
    lead = sprt.expected(bosses.MARGIN)
    won = round(400 * lead)
    plain, ahead = boss_rules(1), boss_rules(1, bosses.MARGIN)
    assert plain.decide(400 - won, 0, won)[1] == "stronger", "as strong as the margin: it has beaten silver, not gold"
    assert ahead.decide(400 - won, 0, won)[1] != "stronger"
    assert ahead.decide(400 - won - 40, 0, won + 40)[1] == "stronger"


@pytest.mark.parametrize(
    ("house", "offered", "expected"),
    [
        (HOUSE, [], [(0, None), (1, None), (2, None), (4, None)]),
        (HOUSE[:3], [], [(0, None), (1, None), (2, None), (2, None)]),
        ([], [Candidate(9, 7, 1500.0)], [(None, None)] * 4),
        # The best one in its band, once for each owner; who is weaker than the house bot stays out.
        (
            HOUSE,
            [Candidate(9, 7, 1700.0), Candidate(10, 7, 1300.0), Candidate(11, 8, 1250.0), Candidate(12, 9, 700.0)],
            [(0, None), (1, None), (11, 4), (9, None)],
        ),
        # Without a house bot in gold the best takes gold, if it is stronger than the one in silver by the margin.
        (
            HOUSE[:3],
            [Candidate(9, 7, 1300.0), Candidate(10, 8, 1290.0), Candidate(11, 9, 1100.0)],
            [(0, None), (11, 2), (2, None), (9, None)],
        ),
        ([Candidate(0, 0, None)], [Candidate(9, 7, 1300.0)], [(0, None)] * 4),
        (HOUSE, [Candidate(9, 7, None)], [(0, None), (1, None), (2, None), (4, None)]),
    ],
)
def test_bosses_are_the_house_bots_or_the_best_offered_ones_between_them(house, offered, expected):
    assert [(boss.version, boss.stand_in) for boss in choose_bosses(house, offered)] == expected

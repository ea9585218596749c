"""Owners take turns by expected seconds, and the tournaments of each owner among themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from league.domain.matches import fairness, leases, validation
from league.domain.people import players
from league.enums import BotState
from league.models import Bot, Match, Player, Tournament
from tests.support.league import NOW, accepted, in_turn, later, started, uploaded

WORKERS = 4


@dataclass
class Simulation:
    """Workers that claim for real, the next match ahead too, and are done after the seconds that were expected."""

    crew: int = WORKERS
    now: float = 0.0
    order: list[Match] = field(default_factory=list)
    hands: dict[str, list[tuple[float, Match]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hands = {f"w{number}": [] for number in range(self.crew)}

    def fill(self) -> None:
        """Every worker has a match to play and one that it goes on with."""
        for name, hand in self.hands.items():
            while len(hand) < 2:
                match = leases.claim(name, now=later(0))
                if match is None:
                    break
                self.order.append(match)
                hand.append(((hand[-1][0] if hand else self.now) + match.expected_s, match))

    def step(self) -> None:
        """The next match that ends, ends; its worker claims."""
        name = min((name for name in self.hands if self.hands[name]), key=lambda name: self.hands[name][0][0])
        self.now, match = self.hands[name].pop(0)
        Match.objects.filter(pk=match.pk).update(status="finished", finished=later(self.now))
        self.fill()


def seconds_by_owner(matches: list[Match]) -> Counter[int]:
    spent: Counter[int] = Counter()
    for match in matches:
        spent[match.owner_id] += match.expected_s
    return spent


def line_of(owner: Player) -> list[Match]:
    return list(Match.objects.filter(owner=owner, status="queued").order_by("virtual_s", "id"))


@pytest.mark.slow
def test_a_flood_delays_the_first_match_of_another_by_two_of_its_matches_a_worker_at_most(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(7)))
    for number in range(3):
        started(ana, versions, boards=8, name=f"Flood {number}")  # 63 matches
    league = Simulation()
    league.fill()
    for _ in range(9):
        league.step()

    cup = started(berto, versions[:2], boards=8, name="Mine")
    before = len(league.order)
    while league.order[-1].tournament_id != cup.pk:
        league.step()

    waited_for = [match for match in league.order[before:] if match.tournament_id != cup.pk]
    assert waited_for == [], "no other match was begun before it: it waits only for those that the workers hold"
    assert all(len(hand) <= 2 for hand in league.hands.values())


@pytest.mark.slow
def test_owners_share_by_seconds_whatever_their_work_is_cut_into(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(5)))
    for number in range(3):
        started(ana, versions, boards=1, name=f"Small {number}")  # 30 short matches in three tournaments
    started(berto, versions[:4], boards=16, name="Long")  # 6 matches, each sixteen times as long
    longest = max(Match.objects.filter(kind="tournament").values_list("expected_s", flat=True))

    order = []
    while match := leases.claim("w", now=NOW):
        order.append(match)
        spent = seconds_by_owner(order)
        if Match.objects.filter(status="queued", owner=ana).exists():
            assert abs(spent[ana.pk] - spent[berto.pk]) <= 2 * longest

    assert len(order) == 36
    assert [match.owner_id for match in order[-3:]] == [berto.pk] * 3, "who has less work is done first"


@pytest.mark.slow
def test_tournaments_of_one_owner_share_by_seconds_and_take_nothing_from_others(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(6)))
    large = started(ana, versions, boards=8, name="Large")  # 15 matches
    other = started(berto, versions, boards=8, name="Other")
    small = started(ana, versions[:3], boards=4, name="Small")  # 3 of half the length, between those that waited before

    order = [leases.claim("w", now=NOW).tournament_id for _ in range(12)]

    counts = Counter(order)
    assert counts[small.pk] == 3
    assert abs(counts[other.pk] - counts[large.pk] - counts[small.pk] / 2) <= 1


@pytest.mark.slow
def test_who_was_idle_saves_nothing_up_and_who_played_alone_owes_nothing(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(6)))
    started(ana, versions, boards=1, name="Alone")
    league = Simulation(crew=1)
    league.fill()
    while any(league.hands.values()):
        league.step()

    first, second = started(berto, versions, boards=1, name="B"), started(ana, versions, boards=1, name="A")

    order = Counter(leases.claim("w", now=NOW).tournament_id for _ in range(10))
    assert abs(order[first.pk] - order[second.pk]) <= 2


@pytest.mark.slow
def test_a_place_kept_while_a_bot_was_paused_is_none_before_all_others(ana, berto) -> None:
    """It waits for its test, all others pass it, and then it has work for an hour: that stands no longer before a newcomer."""
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(6)))
    cup = started(ana, versions[:2], boards=64, name="Held")
    Match.objects.filter(tournament=cup).update(expected_s=3600.0)
    Bot.objects.filter(pk=versions[0].bot_id).update(state=BotState.PAUSED, paused_for="fails", retest_at=later(9))
    started(berto, versions[1:], boards=8, name="Goes on")
    for _ in range(5):
        assert leases.claim("w", now=NOW).tournament_id != cup.pk
    now = fairness.position_served(0)
    Bot.objects.filter(pk=versions[0].bot_id).update(state=BotState.ACTIVE, paused_for="", retest_at=None)

    assert fairness.catch_up(now=NOW) == 1
    assert line_of(ana)[0].virtual_s == now
    assert fairness.catch_up(now=NOW) == 0


@pytest.mark.slow
def test_uploads_take_turns_by_owner_too(ana, berto) -> None:
    for number in range(6):
        uploaded(ana, f"flood-{number}")
    assert leases.claim("w1", now=NOW).owner_id == ana.pk
    version = uploaded(berto, "mine")

    assert [leases.claim("w1", now=NOW).owner_id for _ in range(2)] == [berto.pk, ana.pk]
    assert version.status == "validating"
    assert Match.objects.filter(status="queued").first().expected_s == validation.GAME_S


def test_a_house_and_a_player_are_two_owners(ana) -> None:
    house = players.create("house", reserved=True, now=NOW)
    versions = [accepted(ana, "rufo"), accepted(house, "greedy")]
    cup: Tournament = started(house, versions)

    assert set(cup.matches.values_list("owner", flat=True)) == {house.pk}

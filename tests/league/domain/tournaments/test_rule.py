"""The rule of what counts: the league's own draws and events, and nothing that the owner of a bot arranged."""

from __future__ import annotations

import pytest
from django.urls import reverse

from league.domain.people import players
from league.domain.tournaments import events, rule, tournaments
from league.enums import Counting
from league.models import Match, Tournament
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support.league import NOW, SECRET, accepted, in_turn, later


@pytest.mark.parametrize(
    ("organiser", "hidden", "counting", "rated"),
    [
        ("player", False, Counting.PLAYER, 0),
        ("operator", False, Counting.LEAGUE, 3),
        ("house", False, Counting.LEAGUE, 3),
        ("operator", True, Counting.HIDDEN, 0),
        ("operator with a bot", False, Counting.PLAYER, 0),
    ],
)
def test_only_events_of_the_league_count_and_pages_say_so(client, ana, berto, organiser, hidden, counting, rated):
    rufo, lola = in_turn(ana, berto, "rufo", "lola")
    carla = players.create("carla", now=NOW)
    nena = accepted(carla, "nena")
    owner = {
        "player": lambda: ana,
        "house": lambda: players.create("house", reserved=True, now=NOW),
        "operator": lambda: players.create("op", staff=True, now=NOW),
        "operator with a bot": lambda: players.create("op", staff=True, now=NOW),
    }[organiser]()
    third = accepted(owner, "mine") if organiser == "operator with a bot" else nena
    cup = tournaments.create(
        owner, "Cup", "partnership", boards=1, versions=[rufo, lola, third], secret=SECRET, now=NOW
    )
    if hidden:
        Tournament.objects.filter(pk=cup.pk).update(opens=later(60))
        cup.refresh_from_db()
    tournaments.start(cup, now=NOW)

    assert rule.counting(cup) == counting
    assert Match.objects.filter(tournament=cup, rated=True).count() == rated
    assert Match.objects.filter(tournament=cup).count() == 3
    assert str(counting.label) in client.get(reverse("tournament", args=[cup.slug])).content.decode()
    assert client.get(f"/api/v1/tournaments/{cup.slug}").json()["counting"] == counting


def test_no_stage_or_group_of_an_event_counts_in_which_its_owner_plays(ana):
    op = players.create("op", staff=True, now=NOW)
    field = [accepted((ana, players.create(f"p{n}", now=NOW))[n % 2], f"bot{n}") for n in range(5)]
    counts = []
    for number, sixth in enumerate([accepted(ana, "theirs"), accepted(op, "own")]):
        event = events.create(op, {**GOOD, "name": f"Event {number}"}, [*field, sixth], secret=SECRET, now=NOW)
        counts.append(
            (rule.counting(event), set(Match.objects.filter(tournament__event=event).values_list("rated", flat=True)))
        )
    assert counts[1] == (Counting.PLAYER, {False})
    assert counts[0][0] == Counting.LEAGUE
    assert True in counts[0][1]


def test_who_is_no_operator_any_more_keeps_what_was_promised_and_gets_no_more(ana):
    ana.user.is_staff = True
    ana.user.save()
    promised = tournaments.create(ana, "Cup", "partnership", boards=1, secret=SECRET, now=NOW)
    ana.user.is_staff = False
    ana.user.save()
    later_cup = tournaments.create(ana, "Second", "partnership", boards=1, secret=SECRET, now=NOW)

    assert [rule.counting(cup) for cup in (promised, later_cup)] == [Counting.LEAGUE, Counting.PLAYER]

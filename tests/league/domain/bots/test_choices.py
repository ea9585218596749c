"""The explorer's sums: each public rated match counts once, and they equal a count by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.management import call_command

import engine
from league.domain.bots import choices, totals
from league.domain.matches import embargoes, logs, matches, replays
from league.domain.people import players
from league.domain.ratings import pools
from league.models import Bot, ChoiceSum, Match, MatchChoices, Sitting
from tests.support.league import NOW, accepted, later, play, started

GAMES = ("partnership", "corriente", "cabrero", "subastado", "podrida")


@pytest.fixture
def pair(ana, berto):
    return [accepted(player, name, games=GAMES) for player, name in ((ana, "rufo"), (berto, "lola"))]


@pytest.fixture
def four(pair):
    return [*pair, *(accepted(players.create(name, now=NOW), name, games=GAMES) for name in ("nena", "pepa"))]


def stored(**conditions) -> list[tuple]:
    return sorted(ChoiceSum.objects.filter(**conditions).values_list("pool", *choices.KEY, *choices.COLUMNS))


@pytest.mark.parametrize("game", GAMES)
def test_the_sums_equal_a_count_by_hand(four, ana, game) -> None:
    seats = engine.load(game)
    match = play(started(ana, four[: len(seats.sides)], game=game, boards=3).matches.first())
    assert totals.count_new(now=NOW) == 1
    numbers: Counter[str] = Counter()
    worth: Counter[str] = Counter()
    for sitting in Sitting.objects.filter(board__match=match):
        record = replays.unpack(sitting)
        sides = record["events"][0]["sides"]
        score = "marks" if game == "cabrero" else "scores"
        before = [0] * record["players"]
        for start, event in enumerate(record["events"]):
            if event["e"] != "deal":
                continue
            deal = record["events"][start:]
            end = next(place for place, item in enumerate(deal) if item["e"] == "score")
            gains = [b - a for a, b in zip(before, deal[end][score], strict=True)]
            before = deal[end][score]
            places: set[tuple[str, int]] = set()
            for item in deal[:end]:
                kind = {"call": "call", "predict": "predict", "play": "lead"}.get(item["e"])
                place = (kind, item["seat"] if kind in ("call", "predict") else 0)
                if kind is None or place in places:
                    continue
                places.add(place)
                numbers[kind] += 1
                own = next(side for side in sides if item["seat"] in side)
                others = [gains[side[0]] for side in sides if side != own]
                worth[kind] += (sum(others) - gains[own[0]] * len(others)) * (1 if game == "cabrero" else -1)
    sums = Counter(), Counter()
    for row in ChoiceSum.objects.filter(hand="", band=0, choice=""):
        kind = row.kind.partition(".")[0]
        sums[0][kind] += row.number
        sums[1][kind] += row.worth
        parts = ChoiceSum.objects.filter(pool=row.pool, kind=row.kind)
        for others in (
            parts.filter(hand="", band=0).exclude(choice=""),
            parts.filter(band=0, choice="").exclude(hand=""),
        ):
            assert (row.number, row.worth) == tuple(map(sum, zip(*others.values_list("number", "worth"), strict=True)))
        assert (row.worth_worth, row.number_all) == (row.worth**2, row.number**2)
    assert {kind: number for kind, number in sums[0].items() if kind != "song"} == dict(numbers)
    assert {kind: sums[1][kind] for kind in numbers} == dict(worth)


def test_each_match_counts_once_and_a_voided_one_no_longer(pair, ana) -> None:
    first, second = [play(started(ana, pair, name=name).matches.get()) for name in ("One", "Two")]
    assert [totals.count_new(most=1, now=NOW) for _ in range(3)] == [1, 1, 0]
    both = stored()
    assert MatchChoices.objects.count() == 2
    assert len(list(choices.recount(first.pool, again=True, now=NOW))) == 2
    assert stored() == both
    logs.MatchLog.objects.filter(match=first).update(data=b"", let_go=NOW)
    matches.void(first, why="odd", actor="eva", now=NOW)
    assert totals.count_new(now=NOW) == 1
    rest = stored(matches__gt=0)
    assert list(MatchChoices.objects.values_list("match", flat=True)) == [second.pk]
    ChoiceSum.objects.all().delete()
    MatchChoices.objects.all().delete()
    assert list(choices.recount(first.pool, again=False, now=NOW)) == [second.pk]
    assert stored() == rest
    assert set(ChoiceSum.objects.values_list("matches", flat=True)) == {1}


def test_the_worker_counts_and_the_scheduler_only_adds(pair, ana, monkeypatch) -> None:
    matches_played = [play(started(ana, pair, name=name).matches.get()) for name in ("One", "Two", "Three")]
    first, second, third = [logs.MatchLog.objects.get(match=match) for match in matches_played]
    assert first.choices["parties"] == choices.count(choices.with_cards(Match.objects.all()).get(pk=first.pk), now=NOW)
    logs.MatchLog.objects.filter(pk=second.pk).update(choices=first.choices)  # Of another log.
    logs.MatchLog.objects.filter(pk=third.pk).update(choices=None)  # Of a worker of an earlier release.
    with monkeypatch.context() as patch:
        patch.setattr(choices.choices, "read", None)
        assert totals.count_new(now=NOW) == 3
    assert list(MatchChoices.objects.values_list("match", flat=True)) == [first.pk]
    assert len(list(choices.recount(matches_played[0].pool, again=False, now=NOW))) == 2


def test_a_crash_half_way_counts_nothing(pair, ana, monkeypatch) -> None:
    match = play(started(ana, pair).matches.get())

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(choices, "_store", fail)
        with pytest.raises(KeyboardInterrupt):
            totals.count_new(now=NOW)
    assert not ChoiceSum.objects.exists()
    assert totals.count_new(now=NOW) == 1
    assert set(ChoiceSum.objects.values_list("matches", flat=True)) == {1}
    assert MatchChoices.objects.get().match_id == match.pk


def embargoed(match: Match) -> None:
    embargoes.change(match, later(9e5), why="a final", actor="eva", now=NOW)


@pytest.mark.parametrize(
    "hide",
    [
        embargoed,
        lambda match: Match.objects.filter(pk=match.pk).update(in_class=True),
        lambda match: Bot.objects.filter(versions__parties__match=match).update(in_class=True),
        lambda match: type(match.tournament).objects.filter(pk=match.tournament_id).update(opens=later(9e5)),
        lambda match: logs.MatchLog.objects.filter(match=match).update(data=b"damaged"),
        lambda match: Match.objects.filter(pk=match.pk).update(rated=False),
    ],
    ids=["embargo", "match in class", "bot in class", "hidden", "damaged", "unrated"],
)
def test_a_match_whose_cards_are_not_for_everybody_never_counts(pair, ana, hide) -> None:
    match = play(started(ana, pair).matches.get())
    hide(match)
    totals.count_new(now=NOW)
    assert list(choices.recount(match.pool, again=True, now=NOW)) == []
    assert not ChoiceSum.objects.exists()


def test_the_command_counts_what_is_missing_and_recounts(pair, ana, capsys) -> None:
    played = [play(started(ana, pair, name=name).matches.get()) for name in ("One", "Two")]
    totals.count_new(now=NOW)
    whole = stored()
    choices.subtract(
        [played[0].pk], {played[0].pk: list(played[0].parties.select_related("version").order_by("number"))}
    )
    assert stored() != whole
    for arguments, line in (((), "1 matches"), ((), "0 matches"), (("--rebuild",), "2 matches")):
        call_command("count_choices", "--game", "partnership", *arguments)
        assert capsys.readouterr().out.startswith(line)
        assert stored() == whole


def test_an_anchor_whose_rating_misses_its_edge_by_the_last_digit_is_in_the_upper_band() -> None:
    assert [choices.band_of(elo) for elo in (999.99, 999.9999999999999, 1000.0, 1149.0, 1150.0, 1300.0)] == [
        2,
        3,
        3,
        3,
        4,
        5,
    ]


@pytest.mark.parametrize(
    ("matches", "bots", "expected"), [(10, 3, True), (9, 3, False), (10, 2, False), (50, 1, False)]
)
def test_figures_are_shown_only_for_enough_matches_and_bots(db, matches, bots, expected) -> None:
    added: dict = {}
    for number in range(matches):
        choices._collect([(1, [["lead", "t1", "t1", 1, 5]])], [100 + number % bots], added)
    row = ChoiceSum(**dict(zip((*choices.COLUMNS, "bots"), added["lead", "t1", 0, "t1"], strict=True)))
    assert choices.is_shown(row) is expected
    choices._store(pools.pool("partnership").pk, added, 1)
    assert {row.choice for row in choices.shown(ChoiceSum.objects.all())} == ({"t1"} if expected else set())


def test_intervals_are_over_matches() -> None:
    """Three matches of 2, 2 and 4 choices, 1, 2 and 1 of them this one, worth 10, 20 and 30."""
    row = ChoiceSum(
        choice="t1", matches=3, number=4, worth=60, worth_worth=1400, worth_number=80, number_number=6, number_all=10
    )
    every = ChoiceSum(matches=3, number=8, number_number=24)
    figures = choices.figures(row, every, 2)
    assert (figures.share, figures.mean) == (0.5, 7.5)
    # Residuals of the share: 0, 1, -1; of the worth: -5, -10, 15
    assert figures.margin == pytest.approx(4.303 * (350 * 3 / 2) ** 0.5 / 4 / 2, abs=1e-3)
    assert (figures.low, figures.high) == (0.0, 1.0)

"""The rows that tests insert are those that the league's own functions write."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction

from league.domain.matches import leases
from league.domain.people import players
from league.domain.ratings import pools, ratings
from league.enums import EntryPolicy
from league.models import Bot, BotVersion, Change, LeagueEvent, Match, Player, Pool, Tournament
from tests.support import league
from tests.support.parts import mostly_slow

GAMES = ("partnership", "corriente", "cabrero")


def rows() -> dict[str, dict[Any, dict[str, Any]]]:
    """Every row of every table but the counts of changes, by its key."""
    models = [model for model in apps.get_models() if model is not Change]
    return {
        model.__name__: {row["pk"]: row for row in model._base_manager.values("pk", *fields(model))} for model in models
    }


def fields(model: Any) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if not field.primary_key]


def written(name: str, act: Any) -> list[str]:
    """The rows that `act` writes about the bot of this name, without what is its own: names, keys and bytes of files."""
    before = rows()
    act()
    new = [
        (table, {field: value for field, value in row.items() if field != "pk"})
        for table, by_key in rows().items()
        for key, row in by_key.items()
        if before[table].get(key) != row
    ]
    bot = Bot.objects.get(slug=name)
    version = BotVersion.objects.get(bot=bot)
    match = Match.objects.filter(parties__version=version).distinct().get()
    own = {"bot_id": bot.pk, "version_id": version.pk, "match_id": match.pk, "pk": version.pk, "row": bot.pk}
    texts = []
    for table, row in new:
        text = repr(
            [
                table,
                {
                    k: "" if own.get(k) == v or k == "line_id" else bytes(v) if k == "secret" else v
                    for k, v in row.items()
                    if k not in ("data", "size")
                },
            ]
        )
        if table != "Package":
            text += repr({k: v for k, v in row.get("data", {}).items() if k != "pk"})
        for word in (version.package_id, match.public_id, name):
            text = text.replace(word, "*")
        texts.append(re.sub(rf"\b(v:|validation-|version:){version.pk}\b", r"\1*", text))
    return sorted(texts)


@pytest.mark.parametrize(
    ("policy", "house"),
    mostly_slow(product(EntryPolicy.values, (False, True)), {("ask", False), ("usual", True)}.__contains__),
)
def test_an_accepted_bot_is_as_if_it_had_been_uploaded(policy: str, house: bool, ana: Player) -> None:
    owner = players.create(players.HOUSE, reserved=True, now=league.NOW) if house else ana
    for game in GAMES:  # their pools are there, as for all but the first bot
        pools.pool(game)
    how = {"games": GAMES, "policy": policy}
    real = written("uno", lambda: league.accepted_by_upload(owner, "uno", **how))
    assert len(real) >= 9
    Bot.objects.update(is_house=False)  # else the second one is tried against the first
    assert written("dos", lambda: league.accepted(owner, "dos", **how)) == real


def test_the_first_bot_of_a_game_brings_its_pool(ana: Player) -> None:
    league.accepted(ana, "uno", games=GAMES)
    assert sorted(Pool.objects.values_list("game", flat=True)) == sorted(GAMES)


@pytest.mark.parametrize("mixed", [False, True])
def test_a_tournament_is_as_if_the_league_had_started_it(mixed: bool, ana: Player, berto: Player) -> None:
    """Its owner has some of the bots; an earlier one has rated some of them, and waits in the queue."""
    bots = [league.accepted((ana, berto)[number % 2], f"bot-{number}") for number in range(5)]
    before = league.started_by_the_league(berto, bots[1:], boards=3, mixed=mixed)
    league.play(before.matches.order_by("pk")[0])
    ratings.refresh(before.pool, now=league.NOW)
    how = {"boards": 2, "name": "Copa del Rey", "mixed": mixed}
    assert not Tournament.objects.filter(name=how["name"]).exists()
    with transaction.atomic():
        inserted = league.started(ana, bots[::-1], **how)
        of_inserted = rows()
        transaction.set_rollback(True)
    real = league.started_by_the_league(ana, bots[::-1], **how)

    assert of_inserted == rows()
    assert real.matches.count() >= 3
    assert [getattr(inserted, name) for name in fields(Tournament)] == [
        getattr(real, name) for name in fields(Tournament)
    ]


def test_a_match_is_as_if_it_had_been_claimed(ana: Player, berto: Player) -> None:
    bots = [league.accepted(ana, "uno"), league.accepted(berto, "dos")]
    cup, other = (league.started(ana, bots, boards=1, name=name) for name in ("Cup", "Other"))
    claimed = leases.claim("w1", prefer=cup.matches.get().pk, now=league.NOW)
    assert claimed is not None
    leases.start(claimed, now=league.NOW)
    inserted = league.begun(other.matches.get())
    own = {"id", "public_id", "key", "table", "secret", "tournament_id", "round_id", "turn", "virtual_s"}
    stored_rows = [Match.objects.filter(pk=match.pk).values().get() for match in (claimed, inserted)]
    assert [{name: row[name] for name in row if name not in own} for row in stored_rows] == [
        {name: stored_rows[0][name] for name in stored_rows[0] if name not in own}
    ] * 2
    events = [
        list(
            LeagueEvent.objects.filter(subject=f"match:{match.public_id}")
            .order_by("pk")
            .values("kind", "at", "actor", "data")
        )
        for match in (claimed, inserted)
    ]
    assert events[0] == events[1] != []

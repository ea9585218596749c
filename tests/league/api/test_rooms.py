"""Tables that people share, the lobby, challenges and arenas by the API: every role, no hand of others, and no cards from a program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from league.domain.arenas import arenas
from league.domain.bots import house
from league.domain.core import clock
from league.domain.people import bans, players, tokens
from league.domain.tables import challenges, people, rooms, seating
from league.models import Arena, Block, Player, Table, TablePerson
from tests.league.api.client import Api
from tests.league.api.conftest import api_of
from tests.support import league, rows
from tests.support.parts import mostly_slow

GAME, FOUR = "corriente", "partnership"
# `host` and `guest` wait at a shared table to which `asked` is challenged; `blocked` is blocked by the host, `banned` is banned.
ROLES = ("nobody", "stranger", "asked", "blocked", "banned", "guest", "host", "staff")


@dataclass
class Place:
    """A shared table that is gathering, one that runs, and an arena that runs."""

    table: Table
    running: Table
    arena: Arena


def make_place() -> Place:
    now = clock.present()
    league.accepted(house.player(), "greedy", games=[GAME, FOUR])
    persons = {
        name: players.create(name, staff=name == "staff", now=now - timedelta(days=9))
        for name in (*ROLES[1:], "first", "second")
    }
    league.accepted(persons["asked"], "rufo", games=[GAME])
    Block.objects.create(owner=persons["host"], blocked=persons["blocked"], created=now)
    table = rooms.gather(persons["host"], FOUR, listed=True)
    rooms.take_seat(persons["guest"], table.public_id)
    challenges.challenge(persons["host"], table.public_id, "asked")
    running = rooms.gather(persons["first"], GAME, watching="nobody")
    rooms.take_seat(persons["second"], running.public_id)
    for name in ("first", "second"):
        rooms.get_ready(persons[name], running.public_id)
    arena = arenas.create(GAME, now - timedelta(minutes=1))
    bans.ban(persons["banned"], why="x", actor="op")
    return Place(table, running, arena)


@pytest.fixture
def place(db) -> Place:
    """That place."""
    return rows.once(make_place)


def caller_of(role: str) -> Api:
    return Api() if role == "nobody" else Api(tokens.create(Player.objects.get(name=role), "x")[1])


def undone(act: Any) -> int:
    """Return the status of an answer, and undo what the request did."""
    with transaction.atomic():
        status = act().status_code
        transaction.set_rollback(True)
    return int(status)


T, R, A = "tables/{table}", "tables/{running}", "arenas/{arena}"
SEES = [200, 200, 200, 200, 401, 200, 200, 200]
SIGNED_IN = [401, 200, 200, 200, 401, 200, 200, 200]
# Status by role, in the order of ROLES; the host's seat is 0, the guest's 1.
CASES: list[tuple[str, str, Any, list[int]]] = [
    ("GET", "lobby", None, SEES),
    ("POST", "lobby", {"game": GAME}, [401, 201, 201, 201, 401, 409, 409, 201]),
    ("GET", T, None, SEES),
    ("GET", R, None, [404, 404, 404, 404, 401, 404, 404, 404]),
    ("PATCH", T, {"level": "hard"}, [401, 404, 404, 404, 401, 409, 200, 404]),
    ("POST", f"{T}/seat", {"seat": 2}, [401, 200, 200, 409, 401, 200, 200, 200]),
    ("POST", f"{R}/seat", {}, [401, 404, 404, 404, 401, 404, 404, 404]),
    ("PATCH", f"{T}/seat", {"ready": True}, [401, 409, 409, 409, 401, 200, 200, 409]),
    ("PATCH", f"{T}/seat", {"away": False}, [401, 403, 403, 403, 401, 403, 403, 403]),
    ("POST", f"{T}/start", None, [401, 409, 409, 409, 401, 409, 200, 409]),
    ("POST", f"{T}/swap", {"seat": 1}, [401, 409, 409, 409, 401, 409, 200, 409]),
    ("POST", f"{T}/send-away", {"seat": 1}, [401, 409, 409, 409, 401, 409, 200, 409]),
    ("POST", f"{T}/leave", None, [401, 404, 404, 404, 401, 200, 200, 404]),
    ("POST", f"{T}/rematch", None, [401, 409, 409, 409, 401, 409, 409, 409]),
    ("POST", f"{T}/phrases", {"phrase": "luck"}, [401, 409, 409, 409, 401, 200, 200, 409]),
    ("POST", f"{T}/phrases", {"phrase": "shout"}, [401, 400, 400, 400, 401, 400, 400, 400]),
    ("POST", f"{R}/phrases", {"phrase": "luck"}, [401, 404, 404, 404, 401, 404, 404, 404]),
    ("POST", "deals/{table}/tables", None, [401, 404, 404, 404, 401, 404, 404, 404]),
    ("POST", f"{T}/choices", {"turn": 0, "do": "next"}, [401, 404, 404, 404, 401, 403, 403, 404]),
    ("GET", f"{T}/challenges", None, SEES),
    ("GET", f"{R}/challenges", None, [404, 404, 404, 404, 401, 404, 404, 404]),
    ("POST", f"{T}/challenges", {"player": "staff"}, [401, 409, 409, 409, 401, 201, 201, 409]),
    ("POST", f"{T}/challenges", {"player": "asked"}, [401, 409, 409, 409, 401, 409, 409, 409]),
    ("DELETE", f"{T}/challenges/asked", None, [401, 409, 204, 409, 401, 409, 204, 409]),
    ("GET", "me/challenges", None, SIGNED_IN),
    ("PATCH", "me/challenges", {"takes": False}, SIGNED_IN),
    ("GET", "arenas", None, SEES),
    ("GET", A, None, SEES),
    ("GET", f"{A}/standing", None, SEES),
    ("POST", f"{A}/play", None, [401, 200, 200, 200, 401, 409, 409, 200]),
    ("POST", f"{A}/stop", None, SIGNED_IN),
    ("POST", f"{A}/bots", {"bot": "rufo"}, [401, 403, 200, 403, 401, 403, 403, 403]),
    ("POST", f"{A}/bots", {"bot": "rufo", "leave": True}, [401, 403, 200, 403, 401, 403, 403, 403]),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"), mostly_slow(CASES, lambda case: case[1].startswith((T, R, "lobby")))
)
def test_each_role_may_do_what_the_pages_allow(place, method, path, body, expected) -> None:
    here = path.format(table=place.table.public_id, running=place.running.public_id, arena=place.arena.slug)
    results = {role: undone(partial(caller_of(role).call, method, here, body)) for role in ROLES}
    assert results == dict(zip(ROLES, expected, strict=True))


def as_page(player: Player) -> Client:
    """Return a browser in which the player has logged in."""
    client = Client()
    client.force_login(player.user)
    return client


def test_no_answer_shows_a_hand_to_others_and_no_token_plays_a_card(place) -> None:
    first, second = (Player.objects.get(name=name) for name in ("first", "second"))
    cards = {0: ["1o", "3o"], 1: ["1c", "3c"]}
    for seat, hand in cards.items():
        events = [{"e": "deal", "hand": hand}]
        legal = [f"play {card}" for card in hand] if seat == 0 else []
        TablePerson.objects.filter(table=place.running, number=seat).update(hand=hand, events=events, legal=legal)
    Table.objects.filter(pk=place.running.pk).update(
        watching="hidden", turn=3, question=2, spectated=[{"e": "deal", "cards": 2}]
    )
    where = f"tables/{place.running.public_id}"
    for name in (*ROLES[:4], *ROLES[5:]):
        answer = json.dumps(caller_of(name).get(where).json())
        assert not any(f'"{card}"' in answer for hand in cards.values() for card in hand), name
    for seat, player in enumerate((first, second)):
        own = caller_of(player.name).get(where).json()
        assert (own["hand"], own["turn"]) == (cards[seat], 2 if seat == 0 else None)
        assert not any(f'"{card}"' in json.dumps(own) for card in cards[1 - seat])
        assert [person["player"] for person in own["shared"]["people"]] == ["first", "second"]

    choice = {"turn": 2, "do": "play 1o"}
    refused = caller_of("first").post(f"{where}/choices", choice)
    assert (refused.status_code, refused.json()["type"]) == (403, "/api/v1/#forbidden")
    assert "not with an API key" in refused.json()["detail"]
    TablePerson.objects.filter(table=place.running, number=0).update(away=True)
    assert caller_of("first").call("PATCH", f"{where}/seat", {"away": False}).status_code == 403
    page = as_page(first)
    answers = [
        page.generic(method, f"/api/v1/{where}/{what}", json.dumps(body), content_type="application/json").status_code
        for method, what, body in (("PATCH", "seat", {"away": False}), ("POST", "choices", choice))
    ]
    assert answers == [200, 200]


def test_a_table_from_the_lobby_to_the_rematch(place) -> None:
    ana, berto = (players.create(name, now=clock.present() - timedelta(days=9)) for name in ("ana", "berto"))
    as_ana, as_berto = api_of(ana), api_of(berto)
    wish = {"game": GAME, "listed": True, "clock_s": 120, "increment_s": 3, "watching": "nobody"}
    first, again = (as_ana.post("lobby", wish, headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())
    where = first["Location"].removeprefix("/api/v1/")
    shared = first.json()["shared"]
    assert (shared["host"], shared["gathering"], shared["clock_s"], shared["increment_s"]) == ("ana", True, 120, 3)
    assert [row["people"] for row in as_berto.results("lobby")] == [["host", "guest"], ["ana"]]
    for body in (
        {"game": "chess"},
        {"game": GAME, "level": "godlike"},
        {"game": GAME, "clock_s": 7},
        {"game": GAME, "watching": "all"},
        {"game": "a\0b"},
        {"game": GAME, "options": {"x": 1}},
        {"game": GAME, "players": 10**9},
        {"level": "normal"},
        [],
    ):
        assert as_berto.post("lobby", body).status_code in (400, 409), body
    changed = as_ana.call("PATCH", where, {"boards": 2}).json()
    assert (changed["boards"], changed["shared"]["clock_s"], changed["pool"]["game"]) == (2, 120, GAME)
    answers = [caller.post(f"{where}/phrases", {"phrase": "thanks"}) for caller in (as_ana, as_ana)]
    assert [answer.status_code for answer in answers] == [200, 429], "one phrase in four seconds"
    assert [person["phrase"] for person in answers[0].json()["shared"]["people"]] == ["thanks"]
    assert as_ana.call("PATCH", where, {"game": FOUR}).json()["pool"]["game"] == FOUR
    for body in ({}, {"seat": 99}, {"ready": True, "away": False}, {"away": True}, {"ready": "maybe"}):
        assert as_ana.call("PATCH", f"{where}/seat", body).status_code == 400, body
    assert as_ana.post(f"{where}/challenges", {"player": "berto"}).status_code == 201
    assert [row["table"] for row in as_berto.results("me/challenges")] == [first.json()["id"]]
    assert as_berto.post(f"{where}/seat", {}).json()["seat"] == 1
    assert as_berto.results("me/challenges") == []
    assert as_ana.post(f"{where}/swap", {"seat": 1}).json()["seat"] == 1
    for caller in (as_ana, as_berto):
        answer = caller.call("PATCH", f"{where}/seat", {"ready": True}).json()
    assert (answer["shared"]["gathering"], answer["status"]) == (False, "waiting")
    assert as_ana.call("PATCH", where, {"boards": 1}).status_code == 409
    for player in (ana, berto):
        seating.leave(player, answer["id"])
    onward = as_ana.post(f"{where}/rematch", None)
    assert (onward.status_code, onward.json()["shared"]["listed"]) == (201, False)
    assert as_berto.post(f"{where}/rematch", None).json()["id"] == onward.json()["id"]
    assert people.present(berto) == Table.objects.get(public_id=onward.json()["id"])
    assert as_ana.get(where).status_code == 200, "their own table"


def test_a_program_opens_a_table_with_the_same_deals(place) -> None:
    as_host, as_stranger = caller_of("host"), caller_of("stranger")
    key = place.table.public_id
    assert as_host.call("PATCH", f"tables/{key}", {"same_deals": True}).json()["shared"]["deals"] == key
    opened = as_stranger.post(f"deals/{key}/tables")
    assert (opened.status_code, opened.json()["shared"]["deals"]) == (201, key)
    secrets = Table.objects.filter(public_id__in=[key, opened.json()["id"]]).values_list("secret", flat=True)
    assert len({bytes(secret) for secret in secrets}) == 1
    TablePerson.objects.filter(table=place.table, player__name="guest").update(seated=False, events=[{"e": "deal"}])
    assert caller_of("guest").post(f"deals/{key}/tables").status_code == 409, "they have seen the cards"


def test_only_a_table_and_the_challenged_know_of_a_challenge(place) -> None:
    where = f"tables/{place.table.public_id}/challenges"
    readers = {role for role in ROLES if role != "banned" and caller_of(role).results(where)}
    assert readers == {"asked", "guest", "host"}


def test_an_arena_shows_only_ones_own_part(place) -> None:
    where = f"arenas/{place.arena.slug}"
    stranger = caller_of("stranger")
    assert stranger.post(f"{where}/play", None).json()["own"]["waiting"] is not None
    assert caller_of("guest").get(where).json()["own"] is None
    assert stranger.post(f"{where}/stop", None).json()["own"]["waiting"] is None
    place.arena.entries.filter(bot__slug="greedy").update(games=2, points=3)
    assert place.arena.entries.filter(player__name="stranger").update(games=1, points=3) == 1
    rows_seen = [(row["place"], row["player"], row["bot"]) for row in stranger.results(f"{where}/standing")]
    assert rows_seen == [(1, "stranger", None), (1, None, "greedy")]
    assert caller_of("asked").post(f"{where}/bots", {"bot": "nobody"}).status_code == 400
    assert stranger.get("arenas/none").status_code == 404

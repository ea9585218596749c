"""Names: no bot, player, tournament, event or circuit can pass for another."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from league.domain.bots import bots
from league.domain.core import names
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.tournaments import circuits, events, tournaments
from league.models import Bot, Player, TakenName
from tests.support.league import NOW, accepted, source, uploaded

HANGUL_FILLER, BRAILLE_BLANK, OVERRIDE = "\u3164", "\u2800", "\u202e"
CYRILLIC = "gr\u0435edy"
MARKS = "Z" + "\u0301" * 59
BAD = [HANGUL_FILLER, f"Cup{BRAILLE_BLANK}", f"Cup {OVERRIDE}puC", CYRILLIC, MARKS]


def event(name: str) -> dict[str, object]:
    return {"name": name, "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}


def circuit(owner: Player, name: str):
    return circuits.create(owner, name, "partnership", days="fri", at="20:00", time_zone="UTC", now=NOW)


@pytest.mark.parametrize("name", BAD)
def test_names_that_cannot_be_read_are_refused_everywhere(ana, name: str) -> None:
    pair = [accepted(ana, "rufo"), accepted(ana, "lola")]

    for make in (
        lambda: bots.upload(ana, name, source(), "bot.py", now=NOW),
        lambda: tournaments.create(ana, name, "partnership", now=NOW),
        lambda: events.create(ana, event(name), pair, now=NOW),
        lambda: circuit(ana, name),
        lambda: players.create(name, now=NOW),
    ):
        with pytest.raises(Refused, match=r"U\+|cannot be used"):
            make()
    assert set(TakenName.objects.values_list("name", flat=True)) == {"ana", "rufo", "lola"}


def test_a_bot_named_like_another_is_refused_whoever_owns_it(ana, berto) -> None:
    uploaded(ana, "max")

    for owner in (ana, berto):
        with pytest.raises(Refused, match="'rnax' looks like 'max', which is taken"):
            uploaded(owner, "rnax")
    assert uploaded(ana, "Max").number == 2
    assert Bot.objects.count() == 1


def test_a_player_named_like_another_or_like_a_reserved_name_is_refused(ana) -> None:
    players.create("bill", now=NOW)

    with pytest.raises(Refused, match="'bi1l' looks like 'bill'"):
        players.create("bi1l", now=NOW)
    for name in ("adrnin", "h0use", "league"):
        with pytest.raises(Refused, match="reserved"):
            players.create(name, now=NOW)


def test_the_player_of_an_account_made_by_hand_gets_a_name_that_looks_like_none(db) -> None:
    players.create("bill", now=NOW)
    user = get_user_model().objects.create_user("Bi1l")

    assert players.player_of_user(user, now=NOW).name == f"bi1l-{user.pk}"
    assert players.player_of_user(user, now=NOW).name == f"bi1l-{user.pk}"


def test_tournaments_events_and_circuits_cannot_pass_for_those_of_another(ana, berto) -> None:
    tournaments.create(ana, "Copa Ideal", "partnership", now=NOW)
    pair = [accepted(ana, "rufo"), accepted(ana, "lola")]

    for make in (
        lambda name: tournaments.create(berto, name, "partnership", now=NOW),
        lambda name: events.create(berto, event(name), pair, now=NOW),
        lambda name: circuit(berto, name),
    ):
        for name in ("Copa Ideal", "copa  IDEAL", "Copa ldeal", "Copa Ideal, stage 2", "Copa Ideal 2.1"):
            with pytest.raises(Refused, match="looks like 'Copa Ideal', which is taken"):
                make(name)
    assert tournaments.create(ana, "Copa Ideal", "partnership", now=NOW).slug == "copa-ideal-2"
    assert circuit(ana, "Copa Ideal").name == "Copa Ideal"


def test_nobody_can_stop_a_stage_by_taking_its_name_before(ana, berto) -> None:
    """The parts of an event are named by the league, and not compared."""
    names.take(names.EVENT, "Liga, stage 1", holder="player:berto")
    pair = [accepted(ana, "rufo"), accepted(ana, "lola")]

    liga = events.create(ana, event("Liga"), pair, now=NOW)

    assert [tournament.name for tournament in liga.tournaments.all()] == ["Liga, stage 1"]


def test_names_are_kept_composed(ana) -> None:
    assert tournaments.create(ana, " Copa  de oton\u0303o", "partnership", now=NOW).name == "Copa de otoño"
    assert circuit(ana, "Liga  sola").name == "Liga sola"


def test_a_name_that_was_refused_leaves_nothing_behind(ana) -> None:
    """Ideal has two looks; one is free."""
    names.take(names.BOT, "ideal", holder="bot:ideal")

    with pytest.raises(Refused, match="looks like 'ideal'"):
        names.take(names.BOT, "Ideal", holder="bot:x")
    assert list(TakenName.objects.filter(kind="bot").values_list("skeleton", "holder")) == [("ideal", "bot:ideal")]

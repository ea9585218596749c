"""A closed account: no row names its owner, nothing private is left, and neither tournaments nor ratings notice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from engine.runner.table import Question
from league.domain.bots import bots, closing, drafts, house, tries
from league.domain.core import names
from league.domain.core.errors import Refused
from league.domain.matches import holds
from league.domain.people import players, subscriptions, tokens
from league.domain.people.sessions import SessionStore
from league.domain.tables import holding, seating
from league.domain.tournaments import progress, tournaments
from league.enums import BotState, MatchStatus, RequestStatus, TournamentStatus
from league.models import Block, Bot, EntryRequest, LeagueEvent, Match, Player, Table, Tournament
from tests.support.league import NOW, accepted, later, play, started, uploaded

NAME = "maria-luisa"
MAY_NAME = {"LeagueEvent", "TakenName"}  # The journal, and the name that nobody may take.


@pytest.fixture
def maria(db) -> Player:
    """Create a player with a row in every table that names a player or is private."""
    maria = players.create(NAME, password="a long password", email=f"{NAME}@example.org", now=NOW)
    berto = players.create("berto", now=NOW)
    accepted(house.player(now=NOW), "greedy")
    theirs = accepted(berto, "trufo")
    accepted(maria, "rufa")
    tokens.create(maria, f"laptop of {NAME}", now=NOW)
    drafts.save(maria, drafts.NEW, f"# by {NAME}", now=NOW)
    tries.begin(maria, f"# by {NAME}", "partnership", "greedy", name=NAME, now=NOW)
    subscriptions.ask(maria, language="es", site="https://league.example", now=NOW)
    Block.objects.create(owner=berto, blocked=maria, created=NOW)
    cup = tournaments.create(maria, "Cup", "partnership", boards=1, now=NOW)
    EntryRequest.objects.create(
        bot=theirs.bot, asker=maria, tournament=cup, message=f"please, {NAME}", created=NOW, status=RequestStatus.ASKED
    )
    store = SessionStore()
    store.update({"_auth_user_id": str(maria.user_id)})
    store.save()
    return maria


def rows_with(text: str) -> Iterator[str]:
    """Yield the table of each row that has the text in a column."""
    for model in [*apps.get_app_config("league").get_models(), User, Session]:
        for row in model._default_manager.values():
            if text in str(row):
                yield model.__name__


def test_no_row_names_a_player_who_has_left(maria) -> None:
    lease = seating.sit(maria, "partnership", "greedy", boards=1, now=NOW)
    assert {"Player", "User", "ApiToken", "Draft", "Try", "EntryRequest", "SearchWord"} <= set(rows_with("maria"))

    new = closing.close(maria, now=later(60))

    assert set(rows_with("maria")) <= MAY_NAME
    assert not Table.objects.filter(pk=lease.pk).exists()
    assert not Session.objects.exists()
    assert Player.objects.get(pk=maria.pk).name == new
    assert new.startswith(players.CLOSED)
    assert EntryRequest.objects.get().status == RequestStatus.WITHDRAWN
    assert (LeagueEvent.objects.get(kind="player.closed").subject, closing.close(maria)) == (f"player:{new}", new)


def test_nobody_takes_the_name_and_nobody_signs_in(maria, client) -> None:
    new = closing.close(maria, now=NOW)

    for name in (NAME, "maria-1uisa"):
        with pytest.raises(Refused, match=r"taken|looks like"):
            players.create(name, now=later(10**9))
    with pytest.raises(Refused, match="reserved"):
        players.create(f"{players.CLOSED}x", now=NOW)
    assert closing.former([NAME, "berto"]) == {NAME}
    for name in (NAME, new):
        assert not client.login(username=name, password="a long password")


def test_a_tournament_goes_on_to_its_end(maria) -> None:
    rufa = bots.sent_version(maria.bots.get())
    theirs = accepted(players.create("carla", now=NOW), "otro")
    cup = started(players.create("dora", now=NOW), [rufa, theirs], name="Other cup")

    closing.close(maria, now=later(1))

    assert maria.bots.get().state == BotState.RETIRED
    waiting = holds.playable_matches(Match.line.filter(tournament=cup, status=MatchStatus.QUEUED))
    assert waiting.exists()
    for match in waiting:
        play(match, winner=0, now=later(3))
    progress.advance(cup, now=later(4))
    assert Tournament.objects.get(pk=cup.pk).status == TournamentStatus.FINISHED


def test_a_worker_that_has_the_table_is_told_that_it_has_gone(maria) -> None:
    seating.sit(maria, "partnership", "greedy", boards=1, now=NOW)
    lease = holding.claim("w1", now=NOW)
    assert lease is not None

    closing.close(maria, now=later(1))

    lease.beat(now=later(2))
    assert lease.lost
    with pytest.raises(Exception, match=r".") as lost:
        holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=later(2))
    assert type(lost.value).__name__ in ("LeaseLost", "DoesNotExist")


def test_an_upload_that_began_before_comes_too_late(maria) -> None:
    before = Player.objects.get(pk=maria.pk)
    closing.close(maria, now=later(1))

    with pytest.raises(Refused, match="closed"):
        uploaded(before, "otra")
    with pytest.raises(Refused, match="retired"):
        uploaded(before, "rufa")
    assert not Bot.objects.filter(slug="otra").exists()


def test_the_house_and_operators_are_refused(maria) -> None:
    with pytest.raises(Refused, match="house"):
        closing.close(house.player(now=NOW), now=NOW)
    User.objects.filter(pk=maria.user_id).update(is_staff=True)
    with pytest.raises(Refused, match="operator"):
        closing.close(maria, now=NOW)
    assert not names.is_free(names.PLAYER, NAME)
    assert Player.objects.get(pk=maria.pk).name == NAME

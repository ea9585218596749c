"""Remote bots: whole matches with a real worker, lost connections and workers, who is drawn, and that no other pool knows them."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.conf import settings as league
from django.db import connection
from django.test import Client

from league.domain.bots import bots, challenges, consent, house
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.jobs.worker import WorkerLoop
from league.domain.ladders import places
from league.domain.matches import conversations, leases, workers
from league.domain.ratings import overall, ratings
from league.domain.remote import drawing, links
from league.domain.upkeep import invariants
from league.enums import BotState, MatchKind, MatchStatus, VersionStatus
from league.models import Bot, Match, Party, Rating, RemoteLine, RemoteLink, Rung
from tests.support.league import accepted
from tests.support.processes import wait_for
from tests.support.remote import GAMES, remote, toml

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = {"start_s": 5, "move_s": 0.5, "bank_s": 0.5}


@pytest.fixture
def able(worker: WorkerLoop) -> WorkerLoop:
    """A worker that plays matches of remote bots, and a house bot."""
    accepted(house.player(), "greedy", games=GAMES)
    workers.register(worker.name, tier="none")
    return worker


@dataclass
class Author:
    """The program of an author: it plays the first legal action, at most `most` times."""

    bot: Bot
    most: int = 10**6
    fresh: bool = True  # True if it knows nothing of the match yet.
    heard: list[links.RemoteRequest] = field(default_factory=list)

    def play(self, match: Match) -> Author:
        """Play until the match is over, or until it has answered often enough."""
        while match.public_id in links.live_matches(self.bot) and len(self.heard) < self.most:
            for request in links.requests(self.bot, [] if self.fresh else [match.public_id]):
                self.fresh = False
                self.heard.append(request)
                assert links.answer(self.bot, request.match, request.number, first_choice(request.line))
        return self


def first_choice(line: str) -> str:
    message = json.loads(line)
    return {
        "hello": lambda: '{"type":"ready"}',
        "act": lambda: json.dumps({"id": message["id"], "do": message["legal"][0]}),
        "end": lambda: "",
    }[message["type"]]()


def drawn() -> Match:
    """Draw one match, and return it."""
    assert drawing.play() == 1
    return Match.objects.select_related("pool").latest("pk")


def is_over(match: Match) -> bool:
    match.refresh_from_db()
    return match.status in (MatchStatus.FINISHED, MatchStatus.VOID)


def end(match: Match) -> Match:
    wait_for(lambda: is_over(match), f"end of match {match.public_id}", 120)
    return match


def test_a_remote_bot_and_a_house_bot_play_a_match_that_counts_in_a_pool_of_its_own(able, ana) -> None:
    version = remote(ana, "rufo")
    match = drawn()
    assert (match.kind, match.rated, match.pool.remote, match.boards_planned) == (MatchKind.REMOTE, True, True, 4)
    assert leases.claim(able.name) is None, "no worker takes it in place of another match"
    assert able.remote.look()
    author = Author(version.bot).play(match)
    assert end(match).status == MatchStatus.FINISHED
    places_of_boards = [
        [sitting.number for sitting in board.sittings.all()] for board in match.boards.order_by("number")
    ]
    assert places_of_boards == [[0], [1], [0], [1]], "a bot that remembers would know the cards of another sitting"
    assert not match.parties.exclude(fault="").exists()
    assert invariants.check_all() == []
    own = match.parties.get(version=version).number
    rows = [(board.number, sitting) for board in match.boards.order_by("number") for sitting in board.sittings.all()]
    exchanges = [
        line
        for board, sitting in rows[-2:]
        for line in conversations.conversation(match, board, sitting.number, sitting.seating.index(own))
    ]
    acts = [line.request.decode().rstrip("\n") for line in exchanges if b'"end"' not in line.request[:12]]
    assert sorted(request.line for request in author.heard if '"end"' not in request.line[:12]) == sorted(acts), (
        "it is sent what a sandboxed bot is sent"
    )
    assert not any(request.before for request in author.heard)
    ratings.refresh(match.pool)
    assert set(Rating.objects.values_list("pool__remote", "version__bot__slug")) == {(True, "rufo"), (True, "greedy")}
    page = Client().get("/g/brisca/").content.decode()
    assert page.count('class="chip">remote<') == 1, "the list of remote bots says so"
    assert "remote bots" in page
    assert not overall.usual_pools()["brisca"].remote, "nor does it count over all games"
    assert links.tidy(now=clock.present() + timedelta(hours=1)) == len(author.heard)


def test_a_draw_is_among_a_few_and_a_worker_takes_several_matches_at_once(able, ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(drawing, "MOST", 1)
    first, second = remote(ana, "rufo"), remote(berto, "sota")

    def both_wait() -> bool:
        assert drawing.play() <= 1, "the other bot was not looked at"
        return Match.objects.filter(parties__version__in=[first, second]).count() == 2

    wait_for(both_wait, "each bot is drawn", 60, every=0)
    assert able.remote.look()
    assert not Match.objects.filter(status=MatchStatus.QUEUED).exists(), "one look has taken both"
    able.stopping.set()


@pytest.mark.slow
def test_two_remote_bots_meet_and_those_of_one_person_do_not(able, ana, berto) -> None:
    Bot.objects.filter(is_house=True).update(state=BotState.PAUSED)
    first, own = remote(ana, "rufo"), remote(ana, "luna")
    assert drawing.play() == 0
    second = remote(berto, "sota")
    match = drawn()
    seated = set(match.parties.values_list("version", flat=True))
    assert second.pk in seated
    assert len(seated & {first.pk, own.pk}) == 1
    assert able.remote.look()
    threads = [
        threading.Thread(target=played_apart, args=(version.bot, match))
        for version in (first, own, second)
        if version.pk in seated
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert end(match).status == MatchStatus.FINISHED
    assert not match.parties.exclude(fault="").exists()


def played_apart(bot: Bot, match: Match) -> None:
    try:
        Author(bot).play(match)
    finally:
        connection.close()


@pytest.mark.slow
def test_a_lost_connection_costs_time_and_silence_the_rest_of_the_pass(able, ana, monkeypatch) -> None:
    monkeypatch.setattr(drawing, "LIMITS", QUICK)
    version = remote(ana, "rufo")
    match = drawn()
    assert able.remote.look()
    Author(version.bot, most=4).play(match)
    second = Author(version.bot, most=3).play(match)
    resumed = second.heard[0]
    assert [json.loads(line)["type"] for line, _ in resumed.before] == ["hello", "act", "act", "act"], (
        "another process goes on"
    )
    assert second.heard[1].before == []
    (late,) = wait_for(lambda: links.requests(version.bot), "the next request", 60)
    wait_for(
        lambda: not RemoteLine.objects.filter(party__version=version, answer=None, number=late.number).exists(),
        "the end of its time",
        60,
    )
    assert not links.answer(version.bot, match.public_id, late.number, first_choice(late.line)), "too late"
    assert end(match).status == MatchStatus.FINISHED
    own, rival = match.parties.get(version=version), match.parties.exclude(version=version).get()
    assert {fault["kind"] for fault in own.faults} == {"timeout", "start_timeout"}
    assert (own.wins, rival.wins, rival.fault) == (0, 4, "")


@pytest.mark.parametrize("how", ["lost", "stopped"])
def test_a_fault_of_the_league_makes_a_match_void_because_its_cards_were_seen(able, ana, how: str) -> None:
    version = remote(ana, "rufo")
    match = drawn()
    assert able.remote.look()
    Author(version.bot, most=3).play(match)
    if how == "stopped":
        able.stopping.set()
        able.remote.close()
    later = clock.present() + timedelta(seconds=2 * league.LEASE_S)
    assert leases.expire(now=later) == 1
    match.refresh_from_db()
    assert (match.status, match.attempts) == (MatchStatus.VOID, 1)
    again = drawn()
    assert bytes(again.secret) != bytes(match.secret)
    assert again.table != match.table, "nobody meets these cards again"


def test_a_match_that_has_not_begun_is_given_to_another_worker_or_cancelled(able, ana) -> None:
    remote(ana, "rufo")
    match = drawn()
    (leased,) = leases.claim_several("host:2", 1, remote=True)
    assert leases.release(leased, why="")
    match.refresh_from_db()
    assert match.status == MatchStatus.QUEUED
    drawing.play(now=clock.present() + 2 * drawing.PATIENCE)
    match.refresh_from_db()
    assert match.status == MatchStatus.CANCELLED


def ago(bot: Bot) -> None:
    RemoteLink.objects.filter(bot=bot).update(seen=clock.present() - 2 * links.GONE)


@pytest.mark.parametrize(
    "leave",
    [
        lambda bot: bots.set_state(bot, BotState.PAUSED, actor="ana"),
        lambda bot: bots.set_state(bot, BotState.RETIRED, actor="ana"),
        lambda bot: bots.stop(bot, why="", actor="operator"),
        lambda bot: consent.let_on_ladders(bot, on=False, actor="ana"),
        lambda bot: Bot.objects.filter(pk=bot.pk).update(owner_banned=True),
        lambda bot: Bot.objects.filter(pk=bot.pk).update(in_class=True),
        lambda bot: links.note_seen(bot, 0),
        ago,
    ],
)
def test_a_bot_that_has_left_is_not_drawn(able, ana, leave) -> None:
    leave(remote(ana, "rufo").bot)
    assert drawing.play() == 0


def test_a_bot_and_a_league_play_a_limited_number_at_a_time(able, ana, berto, settings) -> None:
    settings.REMOTE_PER_WORKER, settings.REMOTE_MATCHES = 5, 3
    remote(ana, "rufo", most=50)
    assert drawing.play() == 3
    assert drawing.play() == 0
    for name in ("luna", "tordo"):
        remote(ana, name, most=50)
    sota = remote(berto, "sota", most=50)
    assert drawing.play() == 2, "that is all that the workers play"
    assert Party.objects.filter(version=sota).count() == 2, "owners take turns"


def test_a_remote_bot_is_in_no_other_contest(able, ana, berto) -> None:
    version = remote(ana, "rufo")
    own = accepted(berto, "sota", games=GAMES)
    assert version.status == VersionStatus.REMOTE
    for act in (
        lambda: bots.check_playable(version, "brisca"),
        lambda: bots.sent_version(version.bot),
        lambda: challenges.challenge(berto, own, [version.bot], "brisca"),
        lambda: bots.choose_version(version.bot, 1, actor="ana"),
        lambda: links.note_seen(own.bot, 1),
        lambda: bots.upload(ana, "rufo", b"print()", "rufo.py", GAMES),
        lambda: bots.upload(berto, "sota", toml("sota"), "bot.zip"),
        lambda: bots.upload(ana, "par", toml("par", games=["partnership"]), "bot.zip"),
    ):
        with pytest.raises(Refused):
            act()
    places.enter()
    assert not Rung.objects.filter(version=version).exists()
    assert not Match.work.filter(kind=MatchKind.VALIDATION, parties__version=version).exists()

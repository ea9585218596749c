"""Consent: nobody's bot plays against the wish of its owner, and no answer is a way to escape a loss or to bother anybody."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.bots import bots, consent
from league.domain.bots.consent import EntryAnswer
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players, quotas
from league.domain.tournaments import circuits, enrolment, events, progress, requests, tournaments
from league.domain.upkeep import reconcile
from league.enums import EntryPolicy, RequestStatus
from league.models import Bot, BotVersion, Entry, EntryRequest, LeagueEvent
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support.league import NOW, accepted, later, play


@pytest.fixture
def own_version(ana):
    """Ana's bot."""
    return accepted(ana, "rufo")


@pytest.fixture
def theirs(berto):
    """Berto's bot, about which he has said nothing."""
    return accepted(berto, "luna", policy=EntryPolicy.USUAL)


@pytest.fixture
def cup(ana, own_version):
    """Ana's, open, with her own bot."""
    return tournaments.create(ana, "Cup", "partnership", boards=1, versions=[own_version], now=NOW)


def asked(cup, version, **more) -> EntryRequest:
    """The request for it."""
    request = enrolment.enter(cup, version.bot, now=NOW, **more)
    assert isinstance(request, EntryRequest)
    return request


def entered(cup) -> list[str]:
    """Names of the bots in it."""
    return sorted(cup.entries.values_list("version__bot__slug", flat=True))


@pytest.mark.parametrize(
    ("policy", "private", "public", "unrated"),
    [
        (EntryPolicy.USUAL, EntryAnswer.ASK, EntryAnswer.YES, EntryAnswer.YES),
        (EntryPolicy.ANYBODY, EntryAnswer.YES, EntryAnswer.YES, EntryAnswer.YES),
        (EntryPolicy.ASK, EntryAnswer.ASK, EntryAnswer.ASK, EntryAnswer.YES),
        (EntryPolicy.NOBODY, EntryAnswer.NOBODY, EntryAnswer.NOBODY, EntryAnswer.NOBODY),
    ],
)
def test_what_each_policy_says(ana, theirs, policy, private, public, unrated) -> None:
    bot = theirs.bot
    consent.set_policy(bot, policy, actor="berto", now=NOW)

    assert consent.decide(bot, own=False, blocked=False, public=False) == private
    assert consent.decide(bot, own=False, blocked=False, public=True) == public
    assert consent.decide(bot, own=False, blocked=False, public=False, rated=False) == unrated
    assert consent.decide(bot, own=False, blocked=True, public=True, rated=False) == EntryAnswer.NOT_YOU
    assert consent.decide(bot, own=True, blocked=False, public=False) == EntryAnswer.YES
    assert consent.expected_answers([bot], ana) == {bot.pk: private}


def test_a_stranger_enters_nobodys_bot_unasked(ana, berto, cup, theirs) -> None:
    request = asked(cup, theirs, message="  come\nand   play ")

    assert (request.status, request.asker, request.message) == (RequestStatus.ASKED, ana, "come and play")
    assert asked(cup, theirs) == request  # again: nothing changes
    assert entered(cup) == ["rufo"]
    assert (
        list(requests.waiting(cup)) == list(requests.requests_of(berto)) == list(requests.requests_of(ana)) == [request]
    )
    with pytest.raises(Refused, match="only berto can do this"):
        requests.grant(request, player=ana, now=NOW)

    for _ in range(2):
        assert requests.grant(request, player=berto, now=later(1)).status == RequestStatus.GRANTED
    assert entered(cup) == ["luna", "rufo"]
    moved = LeagueEvent.objects.filter(subject=f"request:{request.pk}").order_by("pk")
    assert [(event.kind, event.actor) for event in moved] == [("request.asked", "ana"), ("request.moved", "berto")]


def test_a_tournament_that_starts_at_once_asks_nobody(ana, own_version, theirs) -> None:
    tournament = tournaments.create(ana, "Cup", "partnership", boards=1, versions=[own_version, theirs.bot], now=NOW)

    with pytest.raises(Refused, match="owners of luna want to be asked"):
        tournaments.start_at_once(tournament, actor="ana", now=NOW)
    assert (tournament.status, entered(tournament)) == ("open", ["rufo"])


def test_requests_that_are_open_at_the_start_expire(ana, berto, cup, theirs) -> None:
    request = asked(cup, theirs)
    enrolment.enter(cup, accepted(ana, "nena"), now=NOW)
    tournaments.start(cup, actor="ana", now=later(1))

    request.refresh_from_db()
    assert (request.status, request.answered) == (RequestStatus.EXPIRED, later(1))
    with pytest.raises(Refused, match="is expired"):
        requests.grant(request, player=berto, now=later(2))
    assert entered(cup) == ["nena", "rufo"]


def test_who_was_refused_asks_no_more_and_the_owner_may_think_again(berto, cup, theirs) -> None:
    request = asked(cup, theirs)
    for _ in range(2):
        requests.refuse(request, player=berto, now=NOW)

    with pytest.raises(Refused, match="does not want it to play here"):
        enrolment.enter(cup, theirs, now=NOW)
    assert EntryRequest.objects.count() == 1
    requests.grant(request, player=berto, now=NOW)
    assert entered(cup) == ["luna", "rufo"]


def test_a_bot_that_its_owner_has_taken_out_is_not_entered_again(ana, berto, cup) -> None:
    free = accepted(berto, "sol")  # anybody may enter it
    enrolment.enter(cup, free, player=ana, now=NOW)
    enrolment.withdraw(cup, free, player=berto, now=NOW)

    with pytest.raises(Refused, match="does not want it to play here"):
        enrolment.enter(cup, free, player=ana, now=NOW)
    assert isinstance(enrolment.enter(cup, free, player=berto, now=NOW), Entry)  # the owner may


def test_who_asks_may_take_it_back(ana, berto, cup, theirs) -> None:
    request = asked(cup, theirs)
    with pytest.raises(Refused, match="only ana can do this"):
        requests.withdraw(request, player=berto, now=NOW)
    for _ in range(2):
        requests.withdraw(request, player=ana, now=NOW)
    with pytest.raises(Refused, match="is withdrawn"):
        requests.grant(request, player=berto, now=NOW)

    assert asked(cup, theirs) != request  # A second request
    assert quotas.limit(ana, quotas.REQUESTS, now=NOW).used == 2


def test_asking_has_a_limit(ana, cup, theirs, settings) -> None:
    settings.QUOTA_REQUESTS = 1
    requests.withdraw(asked(cup, theirs), player=ana, now=NOW)

    with pytest.raises(TooMany, match="asked for 1 bots of other players in the last day") as refusal:
        enrolment.enter(cup, theirs, now=later(3600))
    assert refusal.value.retry_after == 23 * 3600
    assert isinstance(enrolment.enter(cup, theirs, now=later(24 * 3600 + 1)), EntryRequest)


def test_who_is_blocked_asks_nothing(ana, berto, cup, theirs) -> None:
    request = asked(cup, theirs)
    for _ in range(2):
        consent.block(berto, "ana", now=NOW)

    request.refresh_from_db()
    assert request.status == RequestStatus.REFUSED
    free = accepted(berto, "sol")
    with pytest.raises(Refused, match="accepts no requests from you"):
        enrolment.enter(cup, free, now=NOW)
    consent.unblock(berto, "ana", now=NOW)
    assert isinstance(enrolment.enter(cup, free, now=NOW), Entry)
    with pytest.raises(Refused, match="cannot block yourself"):
        consent.block(berto, "berto", now=NOW)


def test_what_has_entered_stays_when_the_policy_changes(ana, berto, cup, theirs) -> None:
    requests.grant(asked(cup, theirs), player=berto, now=NOW)
    consent.set_policy(theirs.bot, EntryPolicy.NOBODY, actor="berto", now=NOW)

    assert entered(cup) == ["luna", "rufo"]
    other = tournaments.create(ana, "Other", "partnership", boards=1, now=NOW)
    with pytest.raises(Refused, match="lets nobody else enter"):
        enrolment.enter(other, theirs, now=NOW)
    with pytest.raises(Refused, match="from usual, anybody"):
        consent.set_policy(theirs.bot, "somebody", actor="berto", now=NOW)


def test_public_leagues_and_the_house_ask_nobody(berto, cup, theirs) -> None:
    operator = players.create("olga", staff=True, now=NOW)
    public = tournaments.create(operator, "Open", "partnership", boards=1, versions=[theirs], now=NOW)
    house = accepted(players.create("house", reserved=True, now=NOW), "greedy", policy=EntryPolicy.NOBODY)
    Bot.objects.filter(pk=house.bot_id).update(is_house=True)

    assert entered(public) == ["luna"]
    assert isinstance(enrolment.enter(cup, Bot.objects.get(pk=house.bot_id), now=NOW), Entry)


def test_an_answer_that_cannot_be_carried_out_changes_nothing(berto, cup, theirs) -> None:
    request = asked(cup, theirs)
    bots.set_state(theirs.bot, "paused", actor="berto", now=NOW)

    with pytest.raises(Refused, match="is paused"):
        requests.grant(request, player=berto, now=NOW)
    request.refresh_from_db()
    assert request.status == RequestStatus.ASKED


def test_only_the_two_owners_enter_a_bot(berto, cup) -> None:
    cira = players.create("cira", now=NOW)
    with pytest.raises(Refused, match="only the owners"):
        enrolment.enter(cup, accepted(berto, "sol"), player=cira, now=NOW)


def test_a_ladder_takes_granted_bots_while_it_runs_and_lets_them_expire_at_its_end(
    ana, berto, own_version, theirs
) -> None:
    ladder = tournaments.create(
        ana, "Ladder", "partnership", boards=1, versions=[own_version, accepted(ana, "nena")], format="ladder", now=NOW
    )
    request, other = asked(ladder, theirs), asked(ladder, accepted(berto, "sol", policy=EntryPolicy.ASK))
    tournaments.start(ladder, actor="ana", now=NOW)
    requests.grant(request, player=berto, now=NOW)
    progress.close(ladder, actor="ana", now=later(9))

    other.refresh_from_db()
    assert (entered(ladder), other.status) == (["luna", "nena", "rufo"], RequestStatus.EXPIRED)


@pytest.mark.slow
def test_an_event_waits_for_its_answers(ana, berto, theirs) -> None:
    own = [accepted(ana, f"bot{number}") for number in range(6)]
    other = accepted(berto, "sol", policy=EntryPolicy.ASK)
    event = events.create(ana, GOOD, [*own, theirs.bot, other], message="come", now=NOW)

    assert (event.status, event.tournaments.count()) == ("open", 0)
    assert consent.names_asked(event) == "luna, sol"
    first, second = requests.waiting(event)
    requests.grant(first, player=berto, now=NOW)
    requests.withdraw(event.requests.get(bot=own[5].bot), player=ana, now=NOW)  # her own, out again
    for _ in range(2):
        events.start(event, actor="ana", now=later(1))

    second.refresh_from_db()
    names = event.tournaments.values_list("entries__version__bot__slug", flat=True)
    assert (event.status, second.status) == ("running", RequestStatus.EXPIRED)
    assert sorted(names) == ["bot0", "bot1", "bot2", "bot3", "bot4", "luna"]
    with pytest.raises(Refused, match="was granted"):
        requests.refuse(first, player=berto, now=NOW)
    with pytest.raises(Refused, match="only an open event"):
        events.cancel(event, actor="ana", now=NOW)


def test_an_event_that_waits_can_be_taken_back(ana, berto, own_version, theirs) -> None:
    event = events.create(
        ana, GOOD, [own_version, theirs.bot, *(accepted(ana, name) for name in ("a", "b", "c", "d"))], now=NOW
    )
    [request] = requests.waiting(event)
    for _ in range(2):
        events.cancel(event, actor="ana", now=later(1))

    request.refresh_from_db()
    assert (event.status, request.status) == ("cancelled", RequestStatus.EXPIRED)
    with pytest.raises(Refused, match="only an open event"):
        events.start(event, actor="ana", now=NOW)


@pytest.mark.slow
def test_who_has_withdrawn_goes_on_to_no_further_stage(ana) -> None:
    field = [accepted(ana, f"bot{number}") for number in range(6)]
    event = events.create(ana, GOOD, field, now=NOW)
    cups = list(event.tournaments.order_by("group"))
    leader = cups[0].entries.get(number=0).version
    enrolment.withdraw(cups[0], leader, now=NOW)
    for cup in cups:
        while not progress.advance(cup, now=NOW):
            for match in cup.matches.filter(status="queued"):
                seat = match.parties.filter(version=leader).values_list("number", flat=True).first()
                play(match, winner=seat or 0)
    events.advance(event, now=NOW)

    assert cups[0].entries.get(version=leader).place == 1
    stage = event.tournaments.get(stage=2)
    assert stage.entries.count() == 4
    assert not stage.entries.filter(version=leader).exists()


def test_a_circuit_asks_as_well(ana, berto, theirs) -> None:
    words = {"days": "fri", "at": "20:00", "time_zone": "Europe/Madrid", "now": NOW}
    circuit = circuits.create(ana, "Liga", "partnership", **words)
    request = circuits.join(circuit, theirs.bot, player=ana, now=NOW)
    assert request is not None
    assert list(circuit.bots.all()) == []

    requests.grant(request, player=berto, now=NOW)
    assert list(circuit.bots.all()) == [theirs.bot]
    circuits.leave(circuit, theirs.bot, player=berto, now=NOW)
    circuits.leave(circuit, theirs.bot, player=berto, now=NOW)
    with pytest.raises(Refused, match="does not want it to play here"):
        circuits.join(circuit, theirs.bot, player=ana, now=NOW)
    assert circuits.join(circuit, theirs.bot, player=berto, now=NOW) is None
    with pytest.raises(Refused, match="only the owners"):
        circuits.join(circuit, theirs.bot, player=players.create("cira", now=NOW), now=NOW)


@pytest.mark.slow
def test_what_nobody_answers_ends_after_thirty_days_where_nothing_else_ends_it(ana, berto, own_version, theirs) -> None:
    words = {"days": "fri", "at": "20:00", "time_zone": "Europe/Madrid", "now": NOW}
    circuit = circuits.create(ana, "Liga", "partnership", **words)
    pair = [own_version, accepted(ana, "nena")]
    ladder = tournaments.create(ana, "Ladder", "partnership", boards=1, versions=pair, format="ladder", now=NOW)
    tournaments.start(ladder, now=NOW)
    cup = tournaments.create(ana, "Cup", "partnership", boards=1, now=NOW)
    circuit_request = circuits.join(circuit, theirs.bot, player=ana, now=NOW)
    other, third = asked(ladder, theirs), asked(cup, theirs)

    assert consent.expire(now=NOW + timedelta(days=30, seconds=-1)) == 0
    assert reconcile.reconcile(now=NOW + timedelta(days=30)).unanswered == 2
    for request, status in ((circuit_request, "expired"), (other, "expired"), (third, "asked")):
        request.refresh_from_db()
        assert request.status == status
    with pytest.raises(Refused, match="cannot change any more"):
        requests.grant(circuit_request, player=berto, now=NOW)

    again = circuits.join(circuit, theirs.bot, player=ana, now=NOW + timedelta(days=31))
    assert again is not None
    requests.grant(again, player=berto, now=NOW + timedelta(days=31))
    assert list(circuit.bots.all()) == [theirs.bot]


def locked(cup, version, player) -> list[str]:
    """The tables of which single rows are taken hold of, besides that of tournaments, while somebody enters a bot."""
    with CaptureQueriesContext(connection) as queries:
        enrolment.enter(cup, version, player=player, now=NOW)
    alone = re.compile(r'SELECT "(\w+)"."id"[^,]* FROM "\1" WHERE "\1"."id" (=|IN) [^=]*( FOR NO KEY UPDATE)?')
    return [match[1] for query in queries if (match := alone.fullmatch(query["sql"]))]


def test_the_word_of_an_owner_holds_while_another_enters_the_bot(ana, berto, cup) -> None:
    """The asking player is locked first, since there may be many owners to ask. Your own bots and house bots need no consent.

    The owners of a bot are locked, because their bots count together.
    """
    luna = accepted(berto, "luna")
    house_bot = accepted(players.create(players.HOUSE, reserved=True, now=NOW), "greedy")
    Bot.objects.filter(pk=house_bot.bot_id).update(is_house=True)

    assert locked(cup, luna, ana) == ["league_player", "league_bot"]
    assert locked(cup, accepted(cira := players.create("cira", now=NOW), "sol"), cira) == ["league_player"]
    assert locked(cup, BotVersion.objects.get(pk=house_bot.pk), ana) == []
    assert entered(cup) == ["greedy", "luna", "rufo", "sol"]


def test_who_enters_is_written_down_and_entering_again_changes_nothing(ana, berto, cup) -> None:
    luna = accepted(berto, "luna")
    first = enrolment.enter(cup, luna, player=berto, now=NOW)
    assert enrolment.enter(cup, luna, now=later(1)) == first
    other = enrolment.enter(cup, accepted(berto, "sol"), now=later(2))
    assert other != first

    journal = LeagueEvent.objects.filter(kind="tournament.entered", subject="tournament:cup").order_by("id")
    assert list(journal.values_list("actor", "at"))[-2:] == [("berto", NOW), ("ana", later(2))]


def test_a_version_that_had_left_a_running_ladder_comes_back_to_its_place(ana, berto, own_version) -> None:
    luna = accepted(berto, "luna")
    pair = [own_version, luna]
    ladder = tournaments.create(ana, "Ladder", "partnership", boards=1, versions=pair, format="ladder", now=NOW)
    tournaments.start(ladder, now=NOW)
    enrolment.withdraw(ladder, luna, now=later(1))
    gone = ladder.entries.get(version=luna)
    assert gone.withdrawn == later(1)

    with pytest.raises(Refused, match="it can return at"):  # A draw can be foreseen, and would be refused
        enrolment.enter(ladder, luna, player=berto, now=later(2))
    back = enrolment.enter(ladder, luna, player=berto, now=later(86_401))

    assert (back.pk, back.number, back.withdrawn) == (gone.pk, gone.number, None)
    assert ladder.entries.get(version=luna).withdrawn is None


def test_nobody_is_asked_for_a_bot_that_cannot_play(ana, berto, cup, theirs) -> None:
    Bot.objects.filter(pk=theirs.bot_id).update(stopped=NOW)

    with pytest.raises(Refused, match="an operator has paused"):
        enrolment.enter(cup, theirs, player=ana, now=NOW)
    assert not EntryRequest.objects.exists()

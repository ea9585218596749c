"""Bots that fail again and again are paused with one notice, tested by the league, and come back; slow ones delay nobody."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from engine.runner import FaultReport
from league.domain.bots import bots
from league.domain.core import queue
from league.domain.core.errors import Refused
from league.domain.matches import health, leases, reports, workers
from league.domain.tournaments import tournaments
from league.domain.upkeep import reconcile
from league.enums import BotState
from league.models import Bot, LeagueEvent, Match, Party, Worker
from tests.support import rows
from tests.support.league import NOW, accepted, in_turn, later, play, result, started


def crash(match: Match, bot: str, *, now, worker: str = "w1") -> None:
    """Play a match in which a bot fails."""
    claim = leases.claim(worker, prefer=match.pk, now=now)
    assert claim is not None
    assert claim.pk == match.pk
    leases.start(claim, now=now)
    place = claim.parties.filter(version__bot__slug=bot).order_by("number")[0].number
    first = 1
    fault = FaultReport(place, place, first, 0, 4, "crash", "exit code 3")
    assert reports.report(claim, result(claim, faults=[fault]), now=now) == reports.Receipt.STORED


@pytest.fixture
def cup(ana, berto):
    """Five bots; rufo fails in three matches of four."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    versions = [accepted(ana, "rufo"), *(accepted(berto, f"good-{i}") for i in range(4))]
    cup = started(berto, versions, boards=1)
    matches = list(cup.matches.filter(parties__version__bot__slug="rufo").order_by("id"))
    assert len(matches) == 4
    for second, match in enumerate(matches[: health.FAULTS]):
        assert Bot.objects.get(slug="rufo").state == BotState.ACTIVE
        crash(match, "rufo", now=later(second))
    return cup


def rufo() -> Bot:
    return Bot.objects.get(slug="rufo")


def test_a_bot_that_fails_three_times_in_a_row_is_paused_with_one_notice(cup, ana) -> None:
    assert rufo().state == BotState.PAUSED
    assert "rufo v1 made a fault in each of its last 3 matches, in the last one: crash" in rufo().paused_for
    assert LeagueEvent.objects.filter(kind="bot.paused", subject="bot:rufo").count() == 1
    with pytest.raises(Refused, match="paused"):
        tournaments.create(ana, "Next", "partnership", boards=1, versions=[rufo()], now=later(9))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rivals", "good", "state"),
    [
        pytest.param(5, {2}, BotState.ACTIVE, id="good-matches-between"),
        pytest.param(health.FAULTS + 2, {0, 1}, BotState.PAUSED, id="good-matches-before"),
    ],
)
def test_only_faults_in_a_row_pause(ana, berto, rivals: int, good: set[int], state: BotState) -> None:
    versions = [accepted(ana, "rufo"), *(accepted(berto, f"good-{i}") for i in range(rivals))]
    cup = started(berto, versions, boards=1)
    for second, match in enumerate(cup.matches.filter(parties__version__bot__slug="rufo").order_by("id")):
        assert rufo().state == BotState.ACTIVE
        if second in good:
            play(match, now=later(second))
        else:
            crash(match, "rufo", now=later(second))

    assert rufo().state == state


@pytest.mark.slow
def test_its_matches_wait_for_the_first_test_and_say_so(cup) -> None:
    workers.register("w1", tier="landlock", now=later(5))
    reconcile.reconcile(now=later(5))
    (waiting,) = cup.matches.filter(status="queued", parties__version__bot__slug="rufo")

    assert waiting.reason == workers.ON_HOLD
    queue = workers.queue(now=later(5))
    assert (queue.waiting["retest"], queue.waiting["turn"]) == (1, 6)
    claimed = {leases.claim("w1", now=later(5)).pk for _ in range(6)}
    assert waiting.pk not in claimed
    assert leases.claim("w1", now=later(5)) is None
    assert reconcile.count_waiting(now=later(5), most=9) == 0


def test_a_bot_that_passes_its_test_is_back(cup) -> None:
    soon = later(10) + health.PAUSES[0]
    assert reconcile.reconcile(now=soon).tested == 1
    assert reconcile.reconcile(now=soon).tested == 0
    test = Match.objects.get(key__startswith="h:")
    assert (test.rated, test.pool_id, test.parties.get(number=0).version.bot.slug) == (False, cup.pool_id, "rufo")
    assert leases.claim("w1", now=soon).pk == test.pk  # It comes before everything else
    match = Match.objects.get(pk=test.pk)
    leases.start(match, now=soon)
    reports.report(match, result(match), now=soon)

    assert (rufo().state, rufo().paused_for, rufo().retest_at) == (BotState.ACTIVE, "", None)
    assert LeagueEvent.objects.filter(kind="bot.resumed", subject="bot:rufo").count() == 1
    workers.explain(now=soon)
    assert not Match.objects.filter(reason=workers.ON_HOLD).exists()


@pytest.mark.slow
def test_a_bot_that_passes_each_test_and_fails_in_matches_waits_longer_each_time(ana, berto, monkeypatch) -> None:
    """Otherwise it is paused and resumed every minute, with two notices each time, and spoils three matches in between."""
    monkeypatch.setattr(health, "PAUSES", health.PAUSES[::2])
    good = health.FAULTS * (len(health.PAUSES) + 1)
    versions = [accepted(ana, "rufo"), *(accepted(berto, f"good-{i}") for i in range(good))]
    matches = iter(started(berto, versions, boards=1).matches.filter(parties__version__bot__slug="rufo").order_by("id"))
    now = later(0)
    for number in range(len(health.PAUSES) + 1):
        for _ in range(health.FAULTS):
            crash(next(matches), "rufo", now=now)
        assert rufo().state == BotState.PAUSED
        assert rufo().retest_at == now + health.PAUSES[min(number, len(health.PAUSES) - 1)]
        now = rufo().retest_at
        assert reconcile.reconcile(now=now).tested == 1
        test = Match.objects.get(key__startswith="h:", status="queued")
        claim = leases.claim("w1", prefer=test.pk, now=now)
        leases.start(claim, now=now)
        reports.report(claim, result(claim), now=now)
        assert rufo().state == BotState.ACTIVE
        now += timedelta(seconds=1)
    first_day = LeagueEvent.objects.filter(kind="bot.paused", at__lt=later(0) + timedelta(days=1))
    assert first_day.count() <= len(health.PAUSES)


def test_a_new_version_begins_with_the_shortest_pause(cup, ana) -> None:
    old, soon = rufo().versions.get(), later(10) + health.PAUSES[0]
    assert reconcile.reconcile(now=soon).tested == 1
    test = leases.claim("w1", prefer=Match.objects.get(key__startswith="h:").pk, now=soon)
    leases.start(test, now=soon)
    assert health._resumed_in_vain(old, soon) == 0
    reports.report(test, result(test), now=soon)

    assert health._resumed_in_vain(old, soon) == 1
    assert health._resumed_in_vain(accepted(ana, "rufo"), soon) == 0
    assert health._resumed_in_vain(old, soon + health.MEMORY) == 0


@pytest.mark.slow
def test_a_bot_that_fails_its_test_is_tried_later_and_holds_nobody_up(cup) -> None:
    now = later(10)
    for number in range(1, 4):
        now = max(now, rufo().retest_at)
        assert reconcile.reconcile(now=now).tested == 1
        crash(Match.objects.get(key__startswith="h:", status="queued"), "rufo", now=now)
        assert (rufo().state, rufo().retests) == (BotState.PAUSED, number)
        assert rufo().retest_at == now + health.PAUSES[number]
    assert LeagueEvent.objects.filter(kind="bot.paused", subject="bot:rufo").count() == 1
    claimed = [leases.claim("w1", now=now) for _ in range(7)]
    assert None not in claimed


@pytest.mark.slow
def test_a_test_that_becomes_void_is_made_again(cup) -> None:
    soon = later(10) + health.PAUSES[0]
    reconcile.reconcile(now=soon)
    Match.objects.filter(key__startswith="h:").update(status="void")

    assert reconcile.reconcile(now=soon + timedelta(seconds=5)).tested == 1
    assert Match.objects.filter(key__startswith="h:", status="queued").count() == 1


@pytest.mark.slow
def test_its_owner_may_take_it_back_before(cup) -> None:
    bots.set_state(rufo(), BotState.ACTIVE, actor="ana", now=later(10))

    assert (rufo().paused_for, rufo().retest_at) == ("", None)
    assert reconcile.reconcile(now=later(9999)).tested == 0


@pytest.mark.slow
def test_a_slow_bot_never_has_more_than_half_of_the_workers(ana, berto) -> None:
    """Its matches stand first in line; those of all who do not wait for it at its table are played beside it, by all workers but one."""
    slow, *others = [accepted((ana, berto)[i > 0], f"bot-{i}") for i in range(6)]
    for name in ("w1", "w2"):
        workers.register(name, tier="landlock", now=NOW)
    first = [started(ana, [slow, other], boards=1, name=f"Slow {i}") for i, other in enumerate(others)]
    rest = started(berto, others, boards=1, name="Others")
    Match.objects.filter(tournament__in=first).update(virtual_s=0)

    stuck = leases.claim("w1", now=NOW)
    assert stuck is not None
    assert stuck.tournament in first
    leases.start(stuck, now=NOW)
    free = rest.matches.exclude(parties__version=others[0]).count()
    assert free == 6
    played = []
    for second in range(free):
        queue.beat(stuck, now=later(second))
        workers.note_alive("w1", now=later(second))
        match = leases.claim("w2", now=later(second))
        leases.start(match, now=later(second))
        reports.report(match, result(match), now=later(second))
        played.append(match.tournament_id)

    assert played == [rest.pk] * free  # while the slow one sat at its first match, with four more in front of these
    assert leases.claim("w2", now=later(20)).tournament in first  # nothing else is left: nobody is idle


@pytest.mark.slow
def test_who_sits_with_a_slow_bot_goes_on_elsewhere(ana, berto) -> None:
    """Two workers: while one is held by the slow bot, the other plays its opponent's next matches in their turn."""
    slow, fast, *others = [accepted((ana, berto)[i > 0], f"bot-{i}") for i in range(5)]
    for name in ("w1", "w2"):
        workers.register(name, tier="landlock", now=NOW)
    for match in started(ana, [slow, fast], boards=1, name="Before").matches.all():
        play(match)
    parties = Party.objects.filter(match__tournament__name="Before")
    parties.filter(version=slow).update(wall_s=90.0, decisions=40)
    parties.filter(version=fast).update(wall_s=0.1, decisions=40)
    first = [started(ana, [slow, other], boards=1, name=f"Slow {i}") for i, other in enumerate([fast, *others])]
    rest = started(berto, [fast, *others], boards=1, name="Others")
    Match.objects.filter(tournament__in=first).update(virtual_s=0)
    Match.objects.filter(tournament=rest).update(virtual_s=1)

    stuck = leases.claim("w1", now=NOW)
    leases.start(stuck, now=NOW)
    assert set(stuck.parties.values_list("version", flat=True)) == {slow.pk, fast.pk}
    played = []
    for second in range(rest.matches.count()):
        queue.beat(stuck, now=later(second))
        workers.note_alive("w1", now=later(second))
        match = leases.claim("w2", now=later(second))
        leases.start(match, now=later(second))
        reports.report(match, result(match), now=later(second))
        played.append(match)

    assert {match.tournament_id for match in played} == {rest.pk}
    assert [match.pk for match in played] == list(rest.matches.order_by("virtual_s", "id").values_list("pk", flat=True))
    assert played[0].parties.filter(version=fast).exists(), "the opponent of the slow one does not wait for it"


@pytest.mark.slow
def test_tournaments_take_turns(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(8)))
    large = started(ana, versions, boards=1, name="Large")  # 28 matches
    for _ in range(5):
        leases.claim("w", now=NOW)
    small = started(ana, versions[:3], boards=1, name="Small")  # 3 matches

    order = [leases.claim("w", now=NOW).tournament_id for _ in range(8)]

    assert order.count(small.pk) == 3
    assert order.index(small.pk) <= 2
    assert order[-1] == large.pk
    assert settings.MAX_ENTRIES >= 8


def test_a_worker_that_refuses_says_why_and_one_that_goes_on_in_which_tier(db) -> None:
    workers.register("w1", tier="landlock", now=NOW)
    workers.change("w1", tier="", refusal="no room", now=later(5))
    assert Worker.objects.values_list("tier", "refusal", "seen").get() == ("", "no room", later(5))
    workers.change("w1", tier="bubblewrap", refusal="", now=later(9))
    assert Worker.objects.values_list("tier", "refusal", "seen").get() == ("bubblewrap", "", later(9))
    workers.change("unknown", tier="", refusal="no room", now=later(9))

    events = LeagueEvent.objects.filter(kind__in=["worker.refused", "worker.resumed"]).order_by("pk")
    assert list(events.values_list("kind", "subject", "actor", "at", "data")) == [
        ("worker.refused", "worker:w1", "w1", later(5), {"tier": "", "why": "no room"}),
        ("worker.resumed", "worker:w1", "w1", later(9), {"tier": "bubblewrap"}),
    ]

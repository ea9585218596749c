"""Claims, heartbeats, expiry and fencing."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.db.models import F

from engine.runner import metering, runtimes
from league.domain.core import queue
from league.domain.core.errors import IllegalMove
from league.domain.matches import holds, kinds, leases, matches, snapshot, validation, workers
from league.domain.tournaments import progress
from league.domain.upkeep import reconcile
from league.enums import MatchStatus
from league.models import Audit, Bot, BotVersion, LeagueEvent, Match, Player, StoredSnapshot, Tournament, Worker
from league.service import logs
from tests.support import rows
from tests.support.league import NOW, accepted, in_turn, later, play, running, started, uploaded, with_token

LEASE = timedelta(seconds=settings.LEASE_S)


def three_bots(ana: Player, berto: Player) -> list[BotVersion]:
    """One of Ana's, two of Berto's."""
    return rows.once(make_three_bots, ana, berto)


def cup_of_three(ana: Player, berto: Player) -> Tournament:
    """A tournament of these bots, which runs."""
    return rows.once(make_cup_of_three, ana, berto)


def make_cup_of_three(ana: Player, berto: Player) -> Tournament:
    return started(ana, make_three_bots(ana, berto))


def make_three_bots(ana: Player, berto: Player) -> list[BotVersion]:
    return [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena")]


@pytest.mark.slow
def test_claim_takes_the_oldest_of_the_highest_priority(ana, berto) -> None:
    oldest, two, three = three_bots(ana, berto)
    tournament = started(ana, [oldest, two, three])
    first, second, third = tournament.matches.order_by("id")
    Match.objects.filter(pk=third.pk).update(priority=1)

    taken = [leases.claim("w1", now=NOW) for _ in range(4)]

    assert [match and match.pk for match in taken] == [third.pk, first.pk, second.pk, None]
    assert [match.token for match in taken[:3]] == [1, 1, 1]
    assert {match.lease_until for match in taken[:3]} == {NOW + LEASE}


def test_claim_prefers_the_hinted_match_and_else_takes_the_next(ana, berto) -> None:
    tournament = cup_of_three(ana, berto)
    first, _, third = tournament.matches.order_by("id")

    assert leases.claim("w1", prefer=third.pk, now=NOW).pk == third.pk
    assert leases.claim("w2", prefer=third.pk, now=NOW).pk == first.pk


def test_uploads_have_half_of_the_claims_while_a_tournament_waits(ana, berto) -> None:
    """However many uploads wait; without a tournament they have all claims, and ladder matches wait for them."""
    cup = cup_of_three(ana, berto)
    for number in range(5):
        uploaded(berto, f"new-{number}")
    order = []
    urgent = False
    for _ in range(8):
        match = leases.claim("w1", after_urgent=urgent, now=NOW)
        assert match is not None
        urgent = match.priority > 0
        order.append(match.kind)
    assert order == ["validation", "tournament"] * 3 + ["validation"] * 2
    uploaded(berto, "late")
    upload = Match.objects.get(kind="validation", status="queued")
    cup.matches.update(status="queued", lease_until=None)
    assert leases.claim("w1", after_urgent=True, prefer=upload.pk, now=NOW).kind == "tournament", (
        "a hint changes no turn"
    )
    cup.matches.update(kind="ladder", priority=-2)
    assert leases.claim("w1", after_urgent=True, now=NOW).pk == upload.pk


@pytest.mark.slow
def test_claim_ahead_leaves_to_idle_workers_what_they_can_play(ana, berto) -> None:
    cup_of_three(ana, berto)
    for name in ("w1", "w2", "w3"):
        workers.register(name, tier="landlock", now=NOW)
    workers.register("refuses", tier="", refusal="no sandbox", now=NOW)

    assert leases.claim("w1", now=NOW) is not None
    assert leases.claim("w1", ahead=True, now=NOW) is None  # two wait, and w2 and w3 have nothing to do
    assert leases.claim("w2", now=NOW) is not None
    assert leases.claim("w1", ahead=True, now=NOW) is None
    workers.unregister("w3", now=NOW)
    assert leases.claim("w1", ahead=True, now=NOW) is not None


def test_claim_ahead_takes_nothing_that_was_tried_before(ana, berto) -> None:
    tournament = cup_of_three(ana, berto)
    first, second, third = tournament.matches.order_by("virtual_s", "id")
    Match.objects.filter(pk__in=[second.pk, third.pk]).update(attempts=1)

    assert leases.claim("w1", ahead=True, now=NOW).pk == first.pk
    assert leases.claim("w1", ahead=True, now=NOW) is None
    assert leases.claim("w1", now=NOW).pk == second.pk


def test_heartbeat_prolongs_and_reports_loss(ana) -> None:
    uploaded(ana, "rufo")
    match = running()

    assert queue.beat(match, progress=40, now=later(20)) is True
    assert queue.beat(with_token(match, 2), progress=99, now=later(25)) is False

    row = Match.objects.get()
    assert (row.progress, row.lease_until) == (40, later(20) + LEASE)


@pytest.mark.slow
def test_what_is_logged_of_a_match_names_the_request_that_queued_it(ana, berto, caplog) -> None:
    """Its own line of the scheduler, and those of matches that the scheduler adds or has played again, too."""
    caplog.handler.setFormatter(logs.Json())
    with logs.about(request="start-of-cup"):
        cup = started(ana, three_bots(ana, berto))
    with logs.about(request="an-upload"):
        version = uploaded(ana, "mine")
    Match.objects.filter(tournament=cup).first().delete()

    progress.schedule(cup, now=NOW)  # The scheduler does this, without a request
    lost = running()
    with leases.log_context(lost):
        assert logs.asked_by() == "an-upload"
    Match.objects.filter(pk=lost.pk).update(attempts=settings.MAX_ATTEMPTS)
    leases.expire(now=later(1e6))
    validation.repeat_void(now=later(2e6))

    line = json.loads(caplog.text.splitlines()[-1])
    assert (line["match"], line["request"]) == (lost.public_id, "an-upload")
    assert "is overdue: it was not over after" in line["message"]
    assert set(cup.matches.values_list("request", flat=True)) == {"start-of-cup"}
    again = Match.objects.filter(parties__version=version).order_by().distinct()
    assert [again.count(), *again.values_list("request", flat=True).distinct()] == [2, "an-upload"]
    remaining = set(cup.matches.values_list("pk", flat=True)[1:])
    cup.matches.exclude(pk__in=remaining).delete()
    with logs.about(request="somebody"):
        assert progress.schedule(cup, now=later(2e6)) == 1
    assert cup.matches.exclude(pk__in=remaining).get().request == "somebody"


def test_expire_leaves_live_leases_alone(ana) -> None:
    uploaded(ana, "rufo")
    running()

    assert leases.expire(now=NOW + LEASE) == 0
    assert Match.objects.get().status == MatchStatus.RUNNING


def test_expired_match_waits_and_is_claimed_with_a_new_token(ana) -> None:
    uploaded(ana, "rufo")
    first = running("w1")
    queue.beat(first, progress=40, now=NOW)
    gone = NOW + LEASE + timedelta(seconds=1)

    assert leases.expire(now=gone) == 1
    row = Match.objects.get()
    assert (row.status, row.reason) == (MatchStatus.QUEUED, "attempt 1: worker w1 was lost")
    assert leases.claim("w2", now=gone) is None  # a little patience, in case the fault is lasting
    second = leases.claim("w2", now=gone + timedelta(seconds=2))

    assert (second.pk, second.token, second.attempts, second.worker) == (first.pk, 2, 2, "w2")
    assert (second.progress, second.reason) == (0, "")
    assert queue.beat(first, now=gone) is False


def test_match_is_void_after_too_many_attempts(ana) -> None:
    uploaded(ana, "rufo")
    now = NOW
    for _ in range(settings.MAX_ATTEMPTS):
        now += timedelta(hours=1)
        match = leases.claim("w1", now=now)
        leases.start(match, now=now)
        assert leases.fail(match, why="no disk", now=now) is True

    assert queue.beat(match, now=now) is False  # The worker has released it
    assert leases.expire(now=now) == 1
    row = Match.objects.get()
    assert (row.status, row.attempts) == (MatchStatus.VOID, settings.MAX_ATTEMPTS)
    assert row.reason == f"void after {settings.MAX_ATTEMPTS} attempts; the last one failed: no disk"
    assert leases.claim("w1", now=later(10**7)) is None


def test_the_reason_that_all_may_read_names_no_folder_and_the_event_does(ana) -> None:
    uploaded(ana, "rufo")
    match = running()
    why = "OSError: [Errno 28] No space left on device: '/srv/tute/sandbox/trees/x-1f', see https://tute.example/docs/a or ./b/c"

    assert leases.fail(match, why=why, now=NOW) is True

    public_reason = "OSError: [Errno 28] No space left on device: 'x-1f', see https://tute.example/docs/a or ./b/c"
    assert Match.objects.get().reason == f"attempt 1: {public_reason}"
    assert LeagueEvent.objects.get(subject=f"match:{match.public_id}", data__to="queued").data["why"] == why


def test_release_costs_no_attempt_and_is_claimed_at_once(ana) -> None:
    uploaded(ana, "rufo")
    match = running()

    assert leases.release(match, why="told to stop", now=NOW) is True
    again = leases.claim("w2", now=NOW)

    assert (again.pk, again.attempts, again.token) == (match.pk, 1, 2)


def test_fail_and_release_with_an_old_token_change_nothing(ana) -> None:
    uploaded(ana, "rufo")
    match = running()

    assert leases.fail(with_token(match, 0), why="late", now=NOW) is False
    assert leases.release(with_token(match, 0), why="late", now=NOW) is False
    assert Match.objects.get().status == MatchStatus.RUNNING


def test_cancelled_match_is_lost_to_its_worker(ana) -> None:
    uploaded(ana, "rufo")
    match = running()

    matches.cancel(Match.objects.get(), actor="ana", why="wrong game", now=NOW)

    assert queue.beat(match, now=NOW) is False
    with pytest.raises(IllegalMove):
        leases.start(match, now=NOW)


def test_a_match_that_is_struck_out_keeps_the_moment_of_its_end(ana, berto) -> None:
    waiting, played = cup_of_three(ana, berto).matches.all()[:2]
    play(played, now=later(5))

    for match in (waiting, played):
        matches.void(Match.objects.get(pk=match.pk), actor="operator", why="x", now=later(60))

    assert Match.objects.get(pk=waiting.pk).finished == later(60)
    assert Match.objects.get(pk=played.pk).finished == later(5)


def test_each_failure_doubles_the_pause(ana) -> None:
    uploaded(ana, "rufo")
    pauses, now = [], NOW
    for _ in range(settings.MAX_ATTEMPTS - 1):
        match = leases.claim("w1", now=now)
        leases.start(match, now=now)
        leases.fail(match, why="no disk", now=now)
        row = Match.objects.get()
        pauses.append((row.not_before - now).total_seconds())
        now = row.not_before

    assert len(pauses) >= 2
    assert pauses == [queue.BACKOFF_S * 2**attempt for attempt in range(len(pauses))]


def test_leaving_a_result_out_of_the_ratings_is_written_down_once(ana, berto) -> None:
    match = play(started(ana, in_turn(ana, berto, "rufo", "lola")).matches.get())
    for _ in range(2):
        matches.unrate(match, actor="operator", why="a friendly", now=NOW)

    event = LeagueEvent.objects.get(kind="match.unrated")
    assert (event.actor, event.data["why"], event.subject) == ("operator", "a friendly", f"match:{match.public_id}")


def test_a_heartbeat_prolongs_a_lease_only_until_the_match_must_be_over(ana, berto) -> None:
    started(ana, in_turn(ana, berto, "rufo", "lola"), boards=16)
    match = running()
    most = kinds.time_limit_s(match)
    assert match.ends_by == later(most)
    assert most == kinds.ROOM * 576 + kinds.ROOM_S

    assert queue.beat(match, now=later(most - 5)) is True
    match.refresh_from_db()
    assert match.lease_until == later(most)
    assert queue.beat(match, now=later(most)) is False

    assert leases.expire(now=later(most + 1)) == 1
    match.refresh_from_db()
    assert (match.status, match.ends_by) == (MatchStatus.QUEUED, None)
    assert match.reason == f"attempt 1: it was not over after {most:.0f} s on worker w1"


@pytest.mark.parametrize("kind", ["tournament", "audit", "validation"])
def test_the_time_of_work_is_enough_for_bots_whose_instructions_are_counted(kind, ana, berto) -> None:
    """Otherwise such a bot could outlast the lease of a match that it loses, until the match is void."""
    versions = [accepted(player, name) for player, name in ((ana, "rufo"), (berto, "lola"))]
    match = started(ana, versions, boards=16).matches.get()
    key = f"v:{versions[0].pk}:2" if kind == "validation" else match.key
    Match.work.filter(pk=match.pk).update(kind=kind, key=key)
    Audit.objects.create(work=match, match=match, sitting=0, seat=0, version=versions[0], reason="sample", created=NOW)
    match.refresh_from_db()
    usual = kinds.time_limit_s(match)
    BotVersion.objects.filter(pk=versions[0].pk).update(runtime="wasm")
    assert kinds.time_limit_s(match) - usual >= kinds.ROOM * 576 * (metering.ROOM - 1)


def test_a_validation_has_a_most_for_whatever_it_declares(ana) -> None:
    uploaded(ana, "rufo", games=())
    match = running()

    assert validation.most_s(match) < kinds.time_limit_s(match) < 3600
    assert match.ends_by == later(kinds.time_limit_s(match))


def crew(*names: str) -> None:
    """Workers that may play."""
    for name in names:
        workers.register(name, tier="landlock", now=NOW)


def test_slow_matches_hold_half_of_the_workers_at_most(ana, berto) -> None:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena"), accepted(ana, "sol")]
    started(ana, versions)
    Match.objects.filter(kind="tournament").update(slow=True)
    crew("w1", "w2", "w3", "w4")

    claims = [leases.claim(name, now=NOW) for name in ("w1", "w2", "w3")]

    assert [match is None for match in claims] == [False, False, True]
    uploaded(ana, "luna")
    quick = leases.claim("w3", now=NOW)
    assert quick is not None
    assert quick.kind == "validation"
    assert leases.claim("w4", now=NOW) is None


def test_a_single_worker_plays_slow_matches_when_their_turn_comes_and_after_the_others(ana, berto) -> None:
    cup_of_three(ana, berto)
    first, second, third = Match.objects.filter(kind="tournament").order_by("virtual_s", "id")
    Match.objects.filter(pk=first.pk).update(slow=True)
    crew("w1")

    order = [leases.claim("w1", now=NOW) for _ in range(3)]

    assert [match.pk for match in order if match] == [second.pk, third.pk, first.pk]


@pytest.mark.slow
def test_the_slow_match_that_began_last_lets_an_upload_pass_and_stays_with_its_worker(ana, berto) -> None:
    cup_of_three(ana, berto)
    crew("w1", "w2", "w3")
    early, late, quick = (running(name, now=later(place)) for place, name in enumerate(("w1", "w2", "w3")))
    for match in (early, late):
        assert queue.beat(match, slow=True, now=later(5))
    assert not any(leases.must_yield(match, now=later(5)) for match in (early, late, quick))

    uploaded(ana, "luna", now=later(6))
    assert [leases.must_yield(match, now=later(6)) for match in (early, late, quick)] == [False, True, False]
    uploaded(berto, "sol", now=later(6))
    assert leases.must_yield(early, now=later(6))

    upload = leases.claim("w2", uploads_only=True, now=later(7))
    assert upload is not None
    late.refresh_from_db()
    over_by = late.ends_by
    assert leases.stand_still(late, upload, now=later(7))
    leases.start(upload, now=later(7))
    late.refresh_from_db()
    assert (late.status, late.worker, late.gave_way, late.attempts, late.token) == (MatchStatus.RUNNING, "w2", 1, 1, 1)
    assert late.ends_by == over_by + timedelta(seconds=kinds.time_limit_s(upload))
    # the other upload is for the other slow match, since this worker validates one already
    assert [leases.must_yield(match, now=later(8)) for match in (early, late, quick)] == [True, False, False]
    assert not leases.stand_still(with_token(late, 0), upload, now=later(8))


def test_only_an_upload_is_played_beside_a_slow_match(ana, berto) -> None:
    started(ana, in_turn(ana, berto, "rufo", "lola"))
    uploaded(ana, "luna")
    Match.objects.filter(kind="validation").update(slow=True)

    assert leases.claim("w1", uploads_only=True, now=NOW) is None


def test_a_slow_validation_gives_way_to_another_three_times(ana, berto) -> None:
    uploaded(ana, "luna")
    crew("w1")
    slow = running("w1")
    assert queue.beat(slow, slow=True, now=later(5))
    uploaded(berto, "sol", now=later(6))

    for turn in range(leases.MOST_YIELDS):
        assert leases.must_yield(slow, now=later(6))
        assert leases.yield_lease(slow, now=later(7))
        slow.refresh_from_db()
        assert (slow.status, slow.slow, slow.gave_way, slow.attempts) == (MatchStatus.QUEUED, True, turn + 1, 0)
        assert "gave way to uploads" in slow.reason
        assert Match.objects.filter(pk=slow.pk, token=slow.token).update(
            status=MatchStatus.RUNNING, worker="w1", attempts=1, started=later(7), lease_until=later(60)
        )
    assert not leases.must_yield(slow, now=later(8))


def test_a_slow_match_that_catches_up_leaves_the_lane(ana) -> None:
    uploaded(ana, "rufo")
    match = running()
    queue.beat(match, slow=True, now=NOW)
    queue.beat(match, progress=60, slow=False, now=NOW)

    match.refresh_from_db()
    assert match.slow is False


def test_short_matches_are_claimed_by_several_where_the_queue_is_long(ana, berto) -> None:
    versions = in_turn(ana, berto, *(f"bot-{i}" for i in range(6)))
    cup = started(ana, versions)  # 15 matches
    workers.register("w1", tier="landlock", now=NOW)
    line = list(cup.matches.order_by("virtual_s", "id"))
    cup.matches.update(expected_s=0.3)

    taken = leases.claim_several("w1", now=NOW)

    assert [match.pk for match in taken] == [match.pk for match in line[:3]], (
        "a second of work, in the order of the line"
    )
    assert [(match.token, bytes(match.secret), match.lease_until) for match in taken] == [
        (1, bytes(match.secret), NOW + LEASE) for match in line[:3]
    ]
    assert LeagueEvent.objects.filter(kind="match.moved", actor="w1").count() == 3
    cup.matches.filter(status="queued").update(expected_s=2)
    assert len(leases.claim_several("w1", now=NOW)) == 1, "they are long"
    cup.matches.filter(status="queued").update(expected_s=0.3)
    for name in ("w2", "w3"):
        workers.register(name, tier="landlock", now=NOW)
    assert len(leases.claim_several("w1", now=NOW)) == 1, "others would be left without work"


@pytest.mark.slow
def test_what_waits_in_a_workers_line_is_an_attempt_only_once_its_bots_begin(ana, berto) -> None:
    cup = started(ana, in_turn(ana, berto, *(f"bot-{i}" for i in range(6))))
    workers.register("w1", tier="landlock", now=NOW)
    cup.matches.update(expected_s=0.3)
    first, second, third = leases.claim_several("w1", now=NOW)
    assert {match.attempts for match in cup.matches.all()} == {0}

    leases.start(first, now=NOW)
    assert leases.count_attempt(second)
    assert leases.release(third, why="told to stop", now=NOW)
    assert not leases.count_attempt(third), "it is no longer this worker's"
    again = leases.claim_several("w1", prefer=third.pk, now=NOW)[0]
    assert (again.pk, again.attempts) == (third.pk, 1), "alone, it begins at once"
    assert leases.release(again, why="told to stop", now=NOW)
    [*_, untouched] = leases.claim_several("w1", now=NOW)
    leases.expire(now=later(settings.LEASE_S + 1))

    states = {match.pk: (match.status, match.attempts, match.not_before is None) for match in cup.matches.all()}
    assert states[first.pk] == states[second.pk] == ("queued", 1, False), "their bots may have ended the worker"
    assert states[third.pk] == states[untouched.pk] == ("queued", 0, True)


@pytest.mark.slow
def test_a_claim_judges_a_match_as_the_database_does(ana, berto) -> None:
    """`holds.is_playable` of a row and `holds.playable_matches` of all are the same rule."""
    cup = started(ana, in_turn(ana, berto, "rufo", "lola"))
    [match] = cup.matches.all()
    bots, here = Bot.objects.filter(versions__parties__match=match), type(cup).objects.filter(pk=cup.pk)
    paused = {"state": "paused", "paused_for": "crash", "retests": 0}
    for kind, counts in product(("tournament", "ladder", "validation"), (True, False)):
        cases: list[tuple[Any, dict[str, Any], bool]] = [
            (bots, {}, True),
            (bots, paused, False),
            (bots, paused | {"retests": 1}, True),
            (bots, paused | {"paused_for": ""}, True),
            (bots, {"held_until": NOW}, counts or kind == "tournament"),
            (bots, {"stopped": NOW}, False),
            (bots, {"owner_banned": True}, kind == "tournament"),
            (here, {"paused": NOW}, False),
            (here, {"stopped": NOW}, False),
            (here, {"status": "finished"}, False),
            (here, {"status": "cancelled"}, False),
        ]
        Match.objects.update(kind=kind, rated=counts)
        for changed, columns, playable in cases:
            with transaction.atomic():
                changed.update(**columns)
                at_hand = Match.objects.select_related("tournament").get(pk=match.pk)
                expected = Match.objects.filter(pk=match.pk)
                assert holds.is_playable(at_hand) == holds.playable_matches(expected).exists(), (kind, columns)
                assert kind == "validation" or holds.is_playable(at_hand) == playable, columns
                transaction.set_rollback(True)


def test_nothing_begins_that_was_paused_or_cancelled_since_its_claim(ana, berto) -> None:
    cup = cup_of_three(ana, berto)
    first, two = (leases.claim("w1", now=NOW) for _ in range(2))

    progress.pause(cup, actor="ana", now=NOW)
    with pytest.raises(IllegalMove, match="paused before it began"):
        leases.start(first, now=NOW)
    assert leases.release(first, why="paused", now=NOW)
    progress.resume(cup, actor="ana", now=NOW)
    leases.start(two, now=NOW)
    progress.pause(cup, actor="ana", now=NOW)
    assert queue.beat(two, now=NOW), "what has begun is played to its end"


@pytest.mark.slow
def test_claims_pass_over_what_the_scheduler_has_seen_held_back_and_find_what_was_let_go_since(ana, berto) -> None:
    cup = started(ana, in_turn(ana, berto, "rufo", "lola"), name="Paused")
    other = started(berto, [accepted(ana, "rita"), accepted(berto, "nora")], name="Other")
    progress.pause(cup, actor="ana", now=NOW)
    reconcile.reconcile(now=NOW)
    assert list(Match.objects.filter(held_back=True)) == list(cup.matches.all())

    progress.resume(cup, actor="ana", now=NOW)
    assert leases.claim("w1", now=NOW).tournament_id == other.pk, "it is passed over until the scheduler comes round"
    assert leases.claim("w2", now=NOW).tournament_id == cup.pk, "but nobody is idle for that"

    assert leases.claim("w3", now=NOW) is None
    leased = Match.objects.get(tournament=cup)
    assert leases.release(leased, why="stopped", now=NOW)
    reconcile.reconcile(now=NOW)
    assert not Match.objects.filter(held_back=True).exists()


def test_of_many_workers_the_scheduler_tells_each_what_it_has_to_know_of_the_others(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(snapshot, "FEW", 1)
    cup_of_three(ana, berto)
    snapshot.update(now=NOW)
    assert not StoredSnapshot.objects.exists()
    for name in ("w1", "w2"):
        workers.register(name, tier="landlock", now=NOW)
    snapshot.update(now=NOW)
    view = snapshot.queue_snapshot("w1", now=NOW)
    assert (view.crew, view.idle, view.waiting, view.slow, view.greedy) == (2, 2, 3, 0, ())

    assert leases.claim("w1", now=NOW)
    assert snapshot.queue_snapshot("w1", now=NOW) == view, "one row is read, and nobody counted again"
    assert snapshot.queue_snapshot("w1", now=later(6)).idle == 1, "no scheduler has come round: it looks itself"


# Runtimes of two bots, those of another worker, True if it broke off here -> the work that is left to the other. This machine has no node.
LEFT = {
    "the other has what is missing": ("node python", "python node", False, "tournament remote audit"),
    "nobody has it, so the match fails and says why": ("node python", "python", False, ""),
    "nobody has both": ("node wasm", "python node", False, "audit"),
    "it broke off here": ("python wasm", "python wasm", True, "tournament audit"),
    "it broke off here, and the other cannot play it": ("python wasm", "python", True, "audit"),
    "the other is of a release that did not say": ("python wasm", "", True, "tournament audit"),
    "compiled for the Python of the other": (
        "python=3.2 python",
        "python python=3.2",
        False,
        "tournament remote audit",
    ),
    "compiled for the Python of nobody, so it is built again first": (
        "python=3.2 python",
        "python python=3.1",
        False,
        "tournament remote audit",
    ),
    "compiled by its author for the Python of nobody, so its end says so": (
        "python=3.2 python",
        "python python=3.1",
        False,
        "",
    ),
    "compiled for both": (f"python={runtimes.SERIES} python", f"python python={runtimes.SERIES}", False, ""),
}


@pytest.mark.parametrize("case", LEFT)
@pytest.mark.parametrize("kind", ["tournament", "remote", "audit"])
def test_work_is_left_to_a_worker_that_can_do_it(case, kind, ana, berto, monkeypatch, tmp_path) -> None:
    names, reported, is_avoided, kinds_left = LEFT[case]
    versions = [accepted(player, name) for player, name in ((ana, "rufo"), (berto, "lola"))]
    match = started(ana, versions).matches.get()
    for version, runtime in zip(versions, names.split(), strict=True):
        source = F("package") if "=" in runtime and "author" not in case else None
        BotVersion.objects.filter(pk=version.pk).update(runtime=runtime.replace("=", " "), source=source)
    priority = kinds.REMOTE_PRIORITY if kind == "remote" else match.priority
    Match.work.filter(pk=match.pk).update(kind=kind, avoid="here" if is_avoided else "", priority=priority)
    if kind == "audit":  # It needs the runtime of one bot only.
        Audit.objects.create(
            work=match, match=match, sitting=0, seat=0, version=versions[0], reason="sample", created=NOW
        )
    workers.register("elsewhere", tier="landlock", now=NOW)
    Worker.objects.update(runtimes=[name.replace("=", " ") for name in reported.split()])
    monkeypatch.setenv("PATH", str(tmp_path))

    claimed = leases.claim_several("here", 1, remote=kind == "remote", now=NOW)
    assert bool(claimed) is (kind not in kinds_left)

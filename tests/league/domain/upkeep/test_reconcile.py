"""The scheduler, the workers' register, the reasons for waiting."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from league.domain.core.loops import Loops
from league.domain.matches import workers
from league.domain.upkeep import reconcile
from league.models import Match, Rating, Worker
from tests.support.league import NOW, accepted, later, play, running, started, uploaded


def test_nothing_to_do_changes_nothing(db) -> None:
    assert set(reconcile.reconcile(now=NOW).counts().values()) == {0}


def test_everything_is_put_right_at_once_and_once(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    play(cup.matches.get())
    uploaded(ana, "nena")
    running()
    soon = NOW + timedelta(seconds=settings.LEASE_S + 1)

    report = reconcile.reconcile(now=soon)

    assert report.counts() == {
        "expired": 1,
        "unjudged": 0,
        "summed": 0,
        "played": 1,
        "noticed": 4,
        "unheld": 0,
        "abandoned": 0,
        "arenas": 0,
        "removed": 0,
        "inserted": 0,
        "cancelled": 0,
        "finished": 1,
        "opened": 0,
        "measured": 0,
        "stored": 0,
        "suspected": 0,
        "refreshed": 1,
        "drawn": 0,
        "tested": 0,
        "rebuilt": 0,
        "built": 0,
        "fetched": 0,
        "tuned": 0,
        "studied": 0,
        "validated": 0,
        "published": 0,
        "unbanned": 0,
        "unanswered": 0,
        "released": 0,
        "lifted": 0,
        "paired": 0,
        "connected": 0,
        "confirmed": 0,
        "explained": 0,
    }
    text = "expired 1, unjudged 0, unheld 0, abandoned 0, arenas 0, removed 0, inserted 0, finished 1, opened 0, measured 0, cancelled 0, "
    text += "stored 0, suspected 0, refreshed 1, drawn 0, tested 0, rebuilt 0, built 0, fetched 0, tuned 0, studied 0, validated 0, released 0, "
    text += "published 0, unbanned 0, unanswered 0, lifted 0, explained 0, paired 0, connected 0, confirmed 0, summed 0, played 1, noticed 4"
    assert str(report) == text
    assert Rating.objects.count() == 2
    assert set(Rating.objects.values_list("updated", flat=True)) == {soon}
    assert set(reconcile.reconcile(now=soon).counts().values()) == {0}


def test_waiting_counts_what_may_be_claimed_now(ana) -> None:
    for name in ("uno", "dos", "tres"):
        uploaded(ana, name)
    Match.objects.filter(pk=Match.objects.first().pk).update(not_before=later(60))

    assert reconcile.count_waiting(now=NOW, most=64) == 2
    assert reconcile.count_waiting(now=NOW, most=1) == 1
    assert reconcile.count_waiting(now=later(61), most=64) == 3


def test_queue_says_why_nothing_moves(ana) -> None:
    assert workers.queue(now=NOW).starved == ""
    uploaded(ana, "rufo")
    assert workers.queue(now=NOW).starved.startswith("no worker is running; start one with")

    workers.register("h:1", tier="", refusal="no Landlock here", now=NOW)
    queue = workers.queue(now=NOW)
    assert (queue.queued, queue.workers, queue.refusing) == (1, 0, 1)
    assert queue.starved.endswith("no Landlock here")

    workers.register("h:2", tier="landlock", now=NOW)
    assert workers.queue(now=NOW).starved == ""


def test_reason_is_written_into_waiting_matches_and_taken_back(ana) -> None:
    uploaded(ana, "rufo")

    assert workers.explain(now=NOW) == 1
    assert workers.explain(now=NOW) == 0
    assert Match.objects.get().reason.startswith("no worker is running")
    workers.register("h:1", tier="landlock", now=NOW)
    assert workers.explain(now=NOW) == 1
    assert Match.objects.get().reason == ""


def test_a_worker_that_has_lost_a_loop_is_none(ana) -> None:
    """It ends; where it crashes at each start, its row is always fresh."""
    uploaded(ana, "rufo")
    workers.register("h:1", tier="landlock", now=NOW)
    loops = Loops()
    loops.trouble = "the loop 'hints' is lost: ModuleNotFoundError: No module named 'packaging'"
    workers.note_alive("h:1", loops=loops, now=NOW)

    queue = workers.queue(now=NOW)
    assert (queue.workers, queue.refusing, queue.waiting["worker"]) == (0, 0, 1)
    assert workers.count_able(now=NOW) == 0


def test_silent_workers_are_not_there_and_old_ones_are_forgotten(ana) -> None:
    uploaded(ana, "rufo")
    workers.register("h:1", tier="landlock", now=NOW)

    assert workers.queue(now=NOW + workers.SILENT + timedelta(seconds=1)).workers == 0
    workers.note_alive("h:1", now=later(600))
    assert workers.queue(now=later(610)).workers == 1
    workers.register("h:2", tier="landlock", now=NOW + workers.FORGOTTEN + timedelta(days=1))
    assert [worker.name for worker in Worker.objects.all()] == ["h:2"]
    workers.unregister("h:2", now=NOW)
    workers.unregister("h:2", now=NOW)
    assert Worker.objects.count() == 0

"""Repair voids, replays and rates again: once, however often it is called, and never by a dry run."""

from __future__ import annotations

import pytest

import engine
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.ratings import ratings, totals
from league.domain.upkeep import reconcile, repair
from league.models import LeagueEvent, Match, Player, Pool, Rating, RatingPoint, Tournament
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started, uploaded

WHY = "the last trick was not counted"


@pytest.fixture
def cup(ana, berto) -> Tournament:
    """A finished cup of three bots, rated."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana: Player, berto: Player) -> Tournament:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "sol")]
    cup = started(ana, versions, boards=2)
    for match in cup.matches.order_by("id"):
        play(match)
    reconcile.reconcile(now=NOW)
    cup.refresh_from_db()
    assert cup.status == "finished"
    return cup


def everything() -> list[object]:
    """Every row that a repair could touch."""
    return [
        list(Match.objects.order_by("id").values()),
        list(Rating.objects.order_by("id").values()),
        list(RatingPoint.objects.order_by("id").values()),
        list(Tournament.objects.order_by("id").values()),
        LeagueEvent.objects.count(),
        Pool.objects.count(),
        [totals.read_stored(pool).digest for pool in Pool.objects.order_by("id")],
    ]


def old_rules(cup: Tournament) -> Pool:
    """Let all be played by revision 0 of the rules, which is no more."""
    revision = engine.load("partnership").revision
    Pool.objects.filter(pk=cup.pool_id).update(revision=revision - 1, key="old")
    return Pool.objects.get(pk=cup.pool_id)


def test_struck_out_and_played_again_on_the_same_deals(cup) -> None:
    match = cup.matches.select_related("pool", "tournament").order_by("id")[0]
    before = {board.number: board.scores for board in match.boards.all()}

    report = repair.strike([match], why=WHY, actor="operator", again=True, now=later(5))

    fresh = Match.objects.get(public_id=report.again[0])
    assert (report.struck, report.reopened) == ([match.public_id], ["cup"])
    assert (fresh.status, fresh.table, bytes(fresh.secret)) == ("queued", match.table, bytes(match.secret))
    assert [p.version_id for p in fresh.parties.order_by("number")] == [
        p.version_id for p in match.parties.order_by("number")
    ]
    cup.refresh_from_db()
    assert (cup.status, cup.finished) == ("running", None)
    assert Rating.objects.filter(boards=4).count() < 3  # two of them have lost a match's boards

    play(fresh, now=later(6))
    reconcile.reconcile(now=later(7))
    cup.refresh_from_db()
    assert cup.status == "finished"
    assert {board.number: board.scores for board in fresh.boards.all()} == before  # same deals, and here the same play
    assert Rating.objects.filter(boards__gte=2).count() == 3
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()


def test_striking_out_twice_is_striking_out_once(cup) -> None:
    def again() -> repair.RepairReport:
        match = cup.matches.select_related("pool", "tournament").order_by("id")[0]
        return repair.strike([match], why=WHY, actor="operator", again=True, now=later(5))

    assert not again().is_empty
    state = everything()
    report = again()

    assert (report.struck, report.changes) == ([], [])
    assert everything() == state


def test_dry_run_says_what_would_change_and_changes_nothing(cup) -> None:
    match = cup.matches.select_related("pool", "tournament").filter(rated=True).order_by("id")[0]
    state = everything()

    look = repair.strike([match], why=WHY, actor="operator", again=True, dry_run=True, now=later(5))

    assert everything() == state
    cup.refresh_from_db()
    match = cup.matches.select_related("pool", "tournament").get(pk=match.pk)
    report = repair.strike([match], why=WHY, actor="operator", again=True, now=later(5))
    assert look == report
    assert len(report.changes) >= 2


@pytest.mark.slow
def test_wrong_rules_are_repaired_by_revision(cup) -> None:
    old = old_rules(cup)

    look = repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", dry_run=True, now=later(5))
    assert Pool.objects.get(pk=old.pk).ratings.count() == 3
    report = repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", now=later(5))

    assert (look.struck, look.again, look.changes) == (report.struck, report.again, report.changes)
    assert len(report.struck) == len(report.again) == 3
    assert {change.after for change in report.changes} == {None}
    cup.refresh_from_db()
    present = cup.pool
    assert (present.pk != old.pk, present.revision) == (True, engine.load("partnership").revision)
    assert set(Match.objects.filter(public_id__in=report.again).values_list("pool", "tournament")) == {
        (present.pk, cup.pk)
    }
    event = LeagueEvent.objects.get(kind="league.repaired")
    assert (event.actor, event.data["why"], event.data["struck"]) == ("operator", WHY, 3)

    state = everything()
    assert repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", now=later(6)).is_empty
    assert everything() == state

    for match in Match.objects.filter(public_id__in=report.again).order_by("id"):
        play(match, now=later(7))
    reconcile.reconcile(now=later(8))
    cup.refresh_from_db()
    assert cup.status == "finished"
    assert present.ratings.count() == 3
    assert repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", now=later(9)).is_empty


@pytest.mark.slow
def test_present_rules_are_repaired_up_to_a_moment_only(cup) -> None:
    revision = engine.load("partnership").revision
    with pytest.raises(Refused, match="say until when results are wrong"):
        repair.repair_revisions("partnership", 0, revision, why=WHY, actor="operator", now=later(5))

    def mend() -> repair.RepairReport:
        return repair.repair_revisions(
            "partnership", 0, revision, why=WHY, actor="operator", before=later(2), now=later(5)
        )

    assert len(mend().again) == 3
    for match in cup.matches.filter(status="queued").order_by("id"):
        play(match, now=later(7))
    assert mend().is_empty


def test_unrated_results_stay_and_count_no_more(cup) -> None:
    old_rules(cup)

    report = repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", unrate=True, now=later(5))

    rated = sorted(report.unrated)
    assert rated
    assert not report.struck
    assert set(cup.matches.values_list("status", flat=True)) == {"finished"}
    assert Rating.objects.count() == 0
    assert repair.repair_revisions("partnership", 0, 0, why=WHY, actor="operator", unrate=True, now=later(5)).is_empty


def test_pools_are_fitted_anew_with_an_event(cup) -> None:
    elo = dict(Rating.objects.values_list("version_id", "elo"))
    Rating.objects.update(elo=0)

    look = repair.rebuild_pools([cup.pool], dry_run=True, now=later(5))
    assert set(Rating.objects.values_list("elo", flat=True)) == {0}
    report = repair.rebuild_pools([cup.pool], now=later(5))

    assert look.changes == report.changes
    assert {change.before for change in report.changes} == {0}
    assert dict(Rating.objects.values_list("version_id", "elo")) == pytest.approx(elo)
    assert LeagueEvent.objects.filter(kind="pool.rebuilt", subject=f"pool:{cup.pool_id}").exists()
    assert not ratings.stale_pools()


def test_only_what_was_struck_out_is_played_again(cup, ana) -> None:
    with pytest.raises(Refused, match="only void and cancelled matches"):
        matches.play_again(cup.matches.order_by("id")[0], actor="operator", why=WHY, now=NOW)
    uploaded(ana, "tarde")
    validation = Match.objects.filter(kind="validation", status="queued").get()
    matches.void(validation, actor="operator", why=WHY, now=NOW)
    with pytest.raises(Refused, match="revalidate"):
        matches.play_again(validation, actor="operator", why=WHY, now=NOW)


@pytest.mark.parametrize(("game", "first", "last"), [("no_game", 1, 1), ("partnership", 2, 1)])
def test_repair_refuses_what_it_cannot_understand(db, game: str, first: int, last: int) -> None:
    with pytest.raises(Refused):
        repair.repair_revisions(game, first, last, why=WHY, actor="operator")

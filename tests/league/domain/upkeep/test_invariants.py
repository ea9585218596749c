"""Each invariant is broken by hand, past the league's own code, and must be found; a league that was left alone has no finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db.models import F

from league.domain.matches import leases, matches
from league.domain.ratings import ratings, totals
from league.domain.tournaments import progress
from league.domain.upkeep import invariants
from league.models import (
    Board,
    Bot,
    BotVersion,
    IdempotencyKey,
    LeagueEvent,
    Match,
    Party,
    Player,
    Pool,
    PoolSums,
    Rating,
    RatingPoint,
    Sitting,
    Tournament,
)
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started, uploaded
from tests.support.parts import mostly_slow

SOON = NOW + 3 * invariants.GRACE


@pytest.fixture
def cup(ana, berto) -> Tournament:
    """Three matches that are played and count, and one that is void."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana: Player, berto: Player) -> Tournament:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(ana, "nena")]
    cup = started(berto, versions, boards=2)
    for match in cup.matches.all():
        play(match)
    progress.advance(cup, now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    extra = started(berto, versions[:2], boards=1, name="Struck")
    play(extra.matches.get())
    ratings.refresh(cup.pool, now=NOW)
    matches.void(extra.matches.get(), actor="operator", why="x", now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    return cup


def rated() -> Match:
    return Match.objects.filter(status="finished", rated=True).order_by("id")[0]


def twice() -> None:
    match = rated()
    pool = match.pool
    doubled = totals.read_stored(pool) + totals.tally_matches(pool, totals.read_matches([match.pk]).values())
    totals.write_stored(pool, doubled, matches=3, now=NOW)


def lend(**columns: object) -> Callable[[], None]:
    return lambda: Match.objects.filter(pk=rated().pk).update(**columns)


def orphan() -> None:
    Match.objects.filter(pk=rated().pk).update(status="cancelled", counted=None)


def second_end() -> None:
    end = LeagueEvent.objects.get(subject=f"match:{rated().public_id}", data__to="finished")
    LeagueEvent.objects.create(at=end.at, kind=end.kind, subject=end.subject, data=end.data)


def held() -> None:
    Match.objects.filter(pk=rated().pk).update(status="running", lease_until=NOW, counted=None)


def begin_again(after: float = 11) -> None:
    """Lease a match of the running tournament `after` seconds after its owner, or a bot's owner, has forbidden it."""
    match = Match.objects.filter(tournament__slug="cup", parties__version__bot__slug="rufo").order_by("id")[0]
    LeagueEvent.objects.create(
        at=later(after), kind="match.moved", subject=f"match:{match.public_id}", data={"to": "leased"}
    )


def wish(kind: str, subject: str, **data: object) -> Callable[[], None]:
    """Somebody says no; some matches are begun nevertheless: one in this moment, one later, one after they have said yes."""

    def break_it() -> None:
        LeagueEvent.objects.create(at=NOW, kind=kind, subject=subject, data=data)
        if kind.startswith("bot"):
            begin_again(30)
            LeagueEvent.objects.create(at=later(60), kind="bot.hold_ended", subject=subject)
        else:
            begin_again()
            LeagueEvent.objects.create(at=later(60), kind="tournament.resumed", subject=subject)

    return break_it


def key(location: str = "", **columns: object) -> Callable[[], object]:
    """A key of a request."""
    fields = {"key": "k1", "request_sha256": "0" * 64, "created": NOW, "location": location, "status": 201}
    return lambda: IdempotencyKey.objects.create(player=Player.objects.get(name="ana"), **fields | columns)


BREAKS: dict[str, tuple[str, str, Callable[[], object]]] = {
    "board rated twice": ("sums", "counted twice", twice),
    "sums lost": ("sums", "missing or were changed", lambda: PoolSums.objects.all().delete()),
    "board changed": ("sums", "missing or were changed", lambda: Board.objects.filter(match=rated()).update(scores=[1, 2])),
    "void and rated": ("counted", "is void", lend(status="void")),
    "unrated and counted": ("counted", "unrated", lend(rated=False)),
    "void in the history": ("counted", "is in the rating history", lend(counted=None)),
    "not counted": ("counted", "does not count", lend(counted=None)),
    "rating changed": ("ratings", "differ from a cold fit", lambda: Rating.objects.update(elo=F("elo") + 1e-3)),
    "rating lost": ("ratings", "versions are rated", lambda: Rating.objects.all()[0].delete()),
    "board lost": ("results", "boards were planned", lambda: Board.objects.filter(match=rated(), number=2).delete()),
    "log lost": ("results", "add up to", lambda: Sitting.objects.filter(board__match=rated(), number=1).delete()),
    "sitting changed": ("results", "add up to", lambda: Sitting.objects.filter(board__match=rated()).update(scores=[9, 9, 9, 9])),
    "party changed": ("results", "other points", lambda: Party.objects.filter(match=rated()).update(wins=7)),
    "other rules": ("rules", "by revision 7 of its rules", lend(host={"revision": 7})),
    "orphan log": ("orphans", "has boards", orphan),
    "finished twice": ("ends", "2 times", second_end),
    "never finished": ("ends", "0 times", lambda: LeagueEvent.objects.filter(data__to="finished").delete()),
    "stuck lease": ("stuck", "with a lease until", held),
    "lease without an end": ("stuck", "with a lease until None", lend(status="leased", lease_until=None, counted=None)),
    "far future": ("stuck", "waits until", lend(status="queued", not_before=later(90_000), counted=None)),
    "over and alive": ("stuck", "matches are unfinished", lend(status="queued", counted=None)),
    "begun in a pause": ("wishes", "tournament:cup was paused", wish("tournament.paused", "tournament:cup")),
    "begun when cancelled": ("wishes", "tournament:cup was paused", wish("tournament.moved", "tournament:cup", to="cancelled")),
    "begun with a paused bot": ("wishes", "bot:rufo was paused", wish("bot.moved", "bot:rufo", to="paused", held=True)),
    "key without its tournament": ("keys", "which does not exist", key("/api/v1/tournaments/nowhere")),
    "key without its version": ("keys", "which does not exist", key("/api/v1/versions/999999")),
    "key without an answer": ("keys", "has had no response", key(status=None)),
    "version left alone": ("stuck", "none of its matches is left", lambda: BotVersion.objects.filter(bot__slug="rufo").update(status="validating")),
}  # fmt: skip
FIRST_OF_EACH_CHECK = set({check: name for name, (check, *_) in reversed(BREAKS.items())}.values())


def test_a_league_that_was_left_alone_has_no_finding(cup) -> None:
    assert invariants.check_all(now=NOW) == []
    assert invariants.check_all(now=SOON) == []
    assert invariants.check_all(since=SOON, now=SOON) == []
    assert invariants.last_result() == invariants.CheckResult(SOON, 0, [])


@pytest.mark.parametrize("name", mostly_slow(BREAKS, FIRST_OF_EACH_CHECK.__contains__))
def test_what_is_broken_is_found(cup, name: str, caplog) -> None:
    check, words, break_it = BREAKS[name]
    break_it()

    findings = invariants.check_all(now=SOON)

    matching = [finding for finding in findings if finding.check == check and words in finding.what]
    assert matching, [str(finding) for finding in findings]
    assert all(finding.do for finding in findings)
    assert f"invariant broken: {matching[0]}" in caplog.text
    assert invariants.last_result().count == len(findings)
    assert invariants.last_result().findings == findings


def test_wishes_and_keys_that_were_kept_are_no_finding(cup) -> None:
    """Begun in the moment of the pause or after it, and a pause that held nothing back, since it was the second of a week."""
    LeagueEvent.objects.create(at=NOW, kind="tournament.paused", subject="tournament:cup")
    begin_again(9)
    LeagueEvent.objects.create(at=later(60), kind="tournament.resumed", subject="tournament:cup")
    begin_again(61)
    begin_again(59)  # The worker read the clock during the pause and the table after it
    LeagueEvent.objects.create(at=NOW, kind="bot.moved", subject="bot:rufo", data={"to": "paused"})
    key(f"/api/v1/tournaments/{cup.slug}")()
    key(f"/api/v1/versions/{BotVersion.objects.get(bot__slug='rufo').pk}", key="k2")()
    key(status=409, key="k3")()
    assert invariants.check_all(now=SOON) == []


GRACE, HOUR, MOMENT = invariants.GRACE, timedelta(hours=1), timedelta(seconds=1)


@pytest.mark.parametrize(
    ("words", "columns", "past"),
    [
        (
            "with a lease until",
            {"status": "running", "lease_until": SOON - GRACE},
            {"lease_until": SOON - GRACE - MOMENT},
        ),
        (
            "waits until",
            {"status": "queued", "not_before": SOON + HOUR + GRACE},
            {"not_before": SOON + HOUR + GRACE + MOMENT},
        ),
    ],
)
def test_what_is_late_has_its_grace_to_the_end(cup, words: str, columns: dict, past: dict) -> None:
    lend(counted=None, **columns)()
    match = Match.objects.get(status=columns["status"])

    def stuck() -> list[invariants.Finding]:
        return [finding for finding in invariants.stuck_rows(None, SOON) if words in finding.what]

    assert stuck() == []
    Match.objects.filter(pk=match.pk).update(**past)
    assert [finding.subject for finding in stuck()] == [f"match:{match.public_id}"]


def test_a_tournament_that_has_just_ended_has_its_grace(cup) -> None:
    lend(status="queued", counted=None)()

    def stuck(finished: datetime) -> bool:
        Tournament.objects.filter(pk=cup.pk).update(finished=finished)
        return any("are unfinished" in finding.what for finding in invariants.stuck_rows(None, SOON))

    assert not stuck(SOON - GRACE)
    assert stuck(SOON - GRACE - MOMENT)
    Tournament.objects.filter(pk=cup.pk).update(status="running")
    assert not stuck(SOON - 2 * GRACE)


def test_a_version_that_was_just_uploaded_has_its_grace_and_needs_no_more_while_a_match_waits(cup) -> None:
    def stuck(created: datetime) -> list[str]:
        BotVersion.objects.filter(bot__slug="rufo").update(status="validating", created=created)
        return [finding.subject for finding in invariants.stuck_rows(None, SOON) if "is validating" in finding.what]

    version = BotVersion.objects.get(bot__slug="rufo")
    assert stuck(SOON - GRACE) == []
    assert stuck(SOON - GRACE - MOMENT) == [f"version:{version.pk}"]
    Match.objects.filter(kind="validation", parties__version=version).update(status="queued")
    assert stuck(SOON - GRACE - MOMENT) == []


def test_work_in_progress_is_no_finding(cup, ana) -> None:
    uploaded(ana, "tarde")
    match = leases.claim("w1", now=NOW)
    assert match is not None

    assert invariants.check_all(now=NOW + timedelta(seconds=60)) == []


def test_other_rules_of_a_worker_that_did_not_tell_are_found_by_its_record(cup) -> None:
    """It is of a release that took any match; the record says by which revision it was made."""
    Match.objects.update(host={})
    Pool.objects.filter(pk=cup.pool_id).update(revision=7)

    texts = [finding.what for finding in invariants.check_all(since=NOW, now=SOON) if finding.check == "rules"]

    assert texts == ["was played by revision 1 of its rules; its pool has revision 7"] * 3


def test_old_boards_are_trusted_when_asked_to(cup) -> None:
    Party.objects.filter(match=rated()).update(wins=7)

    assert invariants.check_all(since=later(1), now=SOON) == []
    assert {finding.check for finding in invariants.check_all(since=later(-1), now=SOON)} == {"results"}


def test_history_of_a_match_that_left_the_ratings_is_found(cup) -> None:
    struck = Match.objects.get(status="void")
    assert not RatingPoint.objects.filter(match=struck).exists()
    point = RatingPoint.objects.first()
    assert point is not None
    point.pk, point.match = None, struck
    point.save()

    assert [(finding.check, finding.subject) for finding in invariants.check_all(now=SOON)] == [
        ("counted", f"match:{struck.public_id}")
    ]


@pytest.mark.slow
def test_partners_of_mixed_pairs_are_no_opponents_of_each_other(ana, berto) -> None:
    """Wins count between opponents only: the check counts as the report does."""
    owners = (ana, berto, ana, berto)
    versions = [accepted(owner, name) for owner, name in zip(owners, ("rufo", "lola", "nena", "pepa"), strict=True)]
    cup = started(berto, versions, boards=2, mixed=True)
    for match in cup.matches.all():
        play(match)

    assert invariants.check_all(now=NOW) == []


def test_names_that_can_be_taken_for_each_other_are_listed_and_kept(ana, berto) -> None:
    """Rows from before names were compared."""
    uploaded(ana, "max")
    Bot.objects.create(owner=berto, slug="rnax", created=NOW)
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], name="Copa")
    Tournament.objects.filter(pk=cup.pk).update(name="Copa ")
    extra = started(berto, [accepted(ana, "x"), accepted(berto, "y")], name="Liga")
    Tournament.objects.filter(pk=extra.pk).update(name="Cора")

    findings = [(finding.subject, finding.what) for finding in invariants.names_apart(None, SOON)]

    assert findings == [
        ("bot:rnax", "has a bot name that looks like that of bot:max"),
        ("tournament:liga", "has a tournament name that looks like that of tournament:copa"),
    ]


@pytest.mark.parametrize("resumed", [True, False])
@pytest.mark.parametrize("since", [None, -100, 30])
def test_a_wish_holds_from_a_moment_after_it_to_its_end(cup, resumed: bool, since: int | None) -> None:
    """The findings are the matches started within the pause and after `since`; a pause without an end lasts until now."""
    moment = invariants.MOMENT.total_seconds()
    begun = [0, moment, moment + 1, 29, 30, 31, 59, 60, 61]
    LeagueEvent.objects.create(at=NOW, kind="tournament.paused", subject="tournament:cup")
    for second in begun:
        begin_again(second)
    if resumed:
        LeagueEvent.objects.create(at=later(60), kind="tournament.resumed", subject="tournament:cup")
    begin_again(58)  # a line below the end is no fault; without one it is

    findings = invariants.kept_wishes(None if since is None else later(since), later(70 if resumed else 60))

    expected = [second for second in begun if max(moment, since or 0) < second < 60] + [58] * (not resumed)
    assert [
        f"started at {later(second)}," in finding.what for second, finding in zip(expected, findings, strict=True)
    ] == [True] * len(expected)

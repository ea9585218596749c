"""Invariants: statements about the rows that are true at any time, whichever process was killed. Checks only read; each finding says what to do.

Rows that the scheduler is about to repair are no findings: only rows older than GRACE are checked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Value
from django.db.models.functions import Concat

from league.domain.core import clock, journal
from league.domain.matches import holds, logs, replays, reports
from league.domain.ratings import pools, ratings, totals
from league.enums import BotState, MatchKind, MatchStatus, TournamentStatus, VersionStatus
from league.models import (
    Board,
    Bot,
    BotVersion,
    Circuit,
    Event,
    IdempotencyKey,
    LeagueEvent,
    Match,
    Party,
    Player,
    Pool,
    Rating,
    RatingPoint,
    Sitting,
    Tournament,
)
from league.pure.names import skeletons, without_part
from league.pure.portable import ELO_DIGITS
from league.pure.rating.bradley_terry import REVISION

log = logging.getLogger("league.invariants")
GRACE = timedelta(minutes=10)
MOMENT = timedelta(seconds=10)  # Time until every worker sees a new pause.
# The most difference between a stored rating and one fitted from scratch, in Elo: a little more than one rounding step.
CLOSE_ELO = 1.5 * 10**-ELO_DIGITS
CHUNK = 200  # Matches whose boards are checked together.
MOST_KEPT = 100  # The most findings listed in one event.
# Descriptions by reason of logs.Unopened.
WRONG = {
    "missing": "is no longer stored",
    "damaged": "is damaged",
    "exchanged": "belongs to another match",
}
REBUILD = "run manage.py refresh_ratings --rebuild; if it happens again, a process of another release is running"


@dataclass(frozen=True)
class Finding:
    """A fault in the tables: the check that found it, the row, what is wrong and what to do."""

    check: str
    subject: str
    what: str
    do: str

    def __str__(self) -> str:
        return f"{self.check}: {self.subject}: {self.what}. To do: {self.do}"


def check_all(*, since: datetime | None = None, now: datetime | None = None, actor: str = "") -> list[Finding]:
    """Run all checks; matches that finished before `since` are trusted. The result goes to the journal, each finding as an error to the log."""
    now = clock.now_or(now)
    findings = [finding for check in CHECKS for finding in check(since, now)]
    for finding in findings:
        log.error("invariant broken: %s", finding)
    listed = [asdict(finding) for finding in findings[:MOST_KEPT]]
    whole = since is None
    journal.append("league.checked", "league", now=now, actor=actor, count=len(findings), whole=whole, findings=listed)
    return findings


@dataclass(frozen=True)
class CheckResult:
    """The result of the last run of all checks."""

    at: datetime | None
    count: int
    findings: list[Finding]


def last_result() -> CheckResult:
    """Return the result of the last run. One query."""
    event = LeagueEvent.objects.filter(subject="league", kind="league.checked").order_by("-id").first()
    if event is None:
        return CheckResult(None, 0, [])
    return CheckResult(event.at, event.data["count"], [Finding(**finding) for finding in event.data["findings"]])


# ---- matches and their boards


def _finished(since: datetime | None) -> QuerySet[Match]:
    matches = Match.objects.filter(status=MatchStatus.FINISHED)
    return matches if since is None else matches.filter(finished__gte=since)


def whole_results(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that a finished match has all boards and sittings, and that parties, boards and sittings add up."""
    ids = list(_finished(since).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        yield from _results(ids[start : start + CHUNK])


def _results(ids: list[int]) -> Iterator[Finding]:
    do = "run manage.py rerun_match {0} --why 'broken record', and find out what else wrote to the database"
    boards: dict[int, list[Board]] = {pk: [] for pk in ids}
    for board in Board.objects.filter(match__in=ids).order_by("match_id", "number"):
        boards[board.match_id].append(board)
    sittings: dict[int, list[Sitting]] = {}
    for sitting in Sitting.objects.filter(board__match__in=ids).order_by("board_id", "number"):
        sittings.setdefault(sitting.board_id, []).append(sitting)
    parties: dict[int, list[Party]] = {pk: [] for pk in ids}
    for party in Party.objects.filter(match__in=ids).defer("stderr", "faults").order_by("match_id", "number"):
        parties[party.match_id].append(party)
    for match in Match.objects.filter(pk__in=ids).select_related("pool").order_by("pk"):
        for what in _wrong(match, boards[match.pk], sittings, parties[match.pk]):
            yield Finding("results", f"match:{match.public_id}", what, do.format(match.public_id))


def _wrong(
    match: Match, boards: list[Board], sittings: dict[int, list[Sitting]], parties: list[Party]
) -> Iterator[str]:
    sides = pools.game_of(match.pool).sides
    last = match.first_board + match.boards_planned
    if [board.number for board in boards] != list(range(match.first_board, last)):
        yield f"{match.boards_planned} boards were planned from {match.first_board} on; there are {[board.number for board in boards]}"
        return
    for board in boards:
        played = sittings.get(board.pk, [])
        expected = [sum(_score(sitting, party.number, sides) for sitting in played) for party in parties]
        # In a match of remote bots each board has one sitting, in turn.
        first = (board.number - match.first_board) % len(parties) if match.pool.remote else 0
        if not played or [sitting.number for sitting in played] != list(range(first, first + len(played))):
            yield f"board {board.number} has the sittings {[sitting.number for sitting in played]}"
        elif board.scores != expected:
            yield f"board {board.number} has the scores {board.scores}; its sittings add up to {expected}"
    counts = reports.tally([board.scores for board in boards], len(parties), pools.sides(match.pool))
    for party, count in zip(parties, counts, strict=True):
        points = sum(board.scores[party.number] for board in boards)
        if (party.points, party.wins, party.draws, party.losses) != (points, *count):
            yield f"party {party.number} has other points or wins than its boards"


def _score(sitting: Sitting, party: int, sides: tuple[tuple[int, ...], ...]) -> int:
    """Return the score of a party in a sitting: the sum over the sides on which it sits."""
    seats_by_side = [[seat for seat in side if sitting.seating[seat] == party] for side in sides]
    return sum(sitting.scores[seats[0]] for seats in seats_by_side if seats)


def kept_replays(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that every finished match has its log with all sittings: neither damaged nor missing, nor that of another match."""
    ids = list(_finished(since).order_by("pk").values_list("pk", flat=True))
    do = "run manage.py repair --replays, which plays it again from its actions where it can"
    for start in range(0, len(ids), CHUNK):
        for match, why in _doubts(ids[start : start + CHUNK]):
            yield Finding("replays", f"match:{match.public_id}", why, do)


def _doubts(ids: list[int]) -> Iterator[tuple[Match, str]]:
    places: dict[int, set[tuple[int, int]]] = {}
    sittings = Sitting.objects.filter(board__match__in=ids)
    for pk, board, number in sittings.values_list("board__match", "board__number", "number"):
        places.setdefault(pk, set()).add((board, number))
    for match in Match.objects.filter(pk__in=places).select_related("log").order_by("pk").iterator(chunk_size=CHUNK):
        if doubt := logs.doubt(match):
            yield match, f"the log of match {match.public_id} {WRONG[doubt]}"
        elif not logs.was_let_go(match) and (lacking := places[match.pk] - set(logs.opened(match).places())):
            yield match, f"the log of match {match.public_id} lacks board and sitting {min(lacking)}"


def own_rules(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that each match was played by the revision of its pool. For workers of an older release, the records of the last hours are read."""
    do = "run manage.py void_match {0} --why 'played by other rules' --again, and stop the workers of the other release"
    rows = _finished(since).order_by("pk").values_list("pk", "public_id", "host__revision", "pool__revision")
    for pk, name, played, expected in rows.iterator(chunk_size=CHUNK):
        revision = _recorded(pk) if played is None and since is not None else played
        if revision not in (None, expected):
            what = f"was played by revision {revision} of its rules; its pool has revision {expected}"
            yield Finding("rules", f"match:{name}", what, do.format(name))


def _recorded(match: int) -> int | None:
    sitting = Sitting.objects.filter(board__match=match).select_related("board__match").order_by("pk").first()
    try:
        return None if sitting is None else replays.unpack(sitting).get("revision")
    except replays.Unreadable:
        return None  # Another check reports it.


def orphan_boards(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that boards, and so logs, belong to finished matches only."""
    never = Match.objects.exclude(status__in=[MatchStatus.FINISHED, MatchStatus.VOID]).filter(boards__isnull=False)
    for match in never.distinct():
        do = "nothing reads them; delete the boards by hand, and find out what else wrote to the database"
        yield Finding("orphans", f"match:{match.public_id}", f"is {match.status}, and has boards", do)


def one_end(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that each finished match was moved to finished exactly once."""
    # Read before the events, so that each of these matches has one.
    finished = list(_finished(since).values_list("public_id", flat=True))
    ends = LeagueEvent.objects.filter(kind="match.moved", data__to=MatchStatus.FINISHED)
    if since is not None:
        ends = ends.filter(at__gte=since - GRACE)
    times = dict(ends.values_list("subject").annotate(times=Count("id")).order_by())
    for public_id in finished:
        count = times.get(f"match:{public_id}", 0)
        if count != 1:
            do = "compare its events in the admin; something wrote a status without the league's own move()"
            yield Finding("ends", f"match:{public_id}", f"its events finished it {count} times", do)


def stuck_rows(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that no lease outlives its end, no match waits for the far future, and no tournament or version waits for finished matches."""
    late = now - GRACE
    gone = Match.objects.filter(status__in=Match.HELD).filter(Q(lease_until=None) | Q(lease_until__lt=late))
    for match in gone:
        do = "check that a scheduler is running; manage.py reconcile takes the match back"
        yield Finding(
            "stuck", f"match:{match.public_id}", f"is {match.status} with a lease until {match.lease_until}", do
        )
    future = Match.objects.filter(status=MatchStatus.QUEUED, not_before__gt=now + timedelta(hours=1) + GRACE)
    for match in future:
        do = "run manage.py rerun_match ID --why ..., which plays it as a new match"
        yield Finding("stuck", f"match:{match.public_id}", f"waits until {match.not_before}", do)
    live = Q(matches__status__in=[MatchStatus.QUEUED, *Match.HELD])
    for cup in Tournament.objects.annotate(live=Count("matches", filter=live), newest=Count("matches")):
        is_over = cup.status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
        if is_over and cup.live and (cup.finished or now) < late:
            do = "if the tournament is cancelled, run manage.py reconcile, which cancels them; else void them"
            yield Finding(
                "stuck", f"tournament:{cup.slug}", f"is {cup.status}, but {cup.live} of its matches are unfinished", do
            )
    validating = BotVersion.objects.filter(status=VersionStatus.VALIDATING, created__lt=late).select_related("bot")
    # The scheduler repeats a void validation within a day.
    alive = Q(status__in=[MatchStatus.QUEUED, *Match.HELD]) | Q(
        status=MatchStatus.VOID, finished__gt=late - timedelta(days=1)
    )
    for version in validating.exclude(parties__match__in=Match.objects.filter(alive, kind=MatchKind.VALIDATION)):
        do = f"run manage.py revalidate {version.bot.slug}:{version.number}"
        yield Finding("stuck", f"version:{version.pk}", "is validating, but none of its matches is left", do)


# ---- pauses and cancellations


def kept_wishes(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that no match started while its tournament was paused or cancelled, or while a pause of its bot kept it waiting."""
    do = "compare its events in the admin with those of the pause; check for a process of another release"
    for subject, matches, wishes in (*_wishes_of_tournaments(), *_wishes_of_bots()):
        names = matches.filter(kind__in=holds.PLAYED).annotate(name=Concat(Value("match:"), "public_id"))
        started = LeagueEvent.objects.filter(
            kind="match.moved", data__to=MatchStatus.LEASED, subject__in=names.values("name")
        )
        for pause, end in wishes:
            after, before = max(pause.at + MOMENT, since or pause.at), end.at if end else now
            # A claim reads the clock before it sees the state. Thus its time may be earlier than the end of the pause, although its journal line
            # comes later.
            sooner = (started.filter(pk__lt=end.pk) if end else started).order_by("pk")
            for event in sooner.filter(at__gt=after, at__lt=before) if after < before else ():
                what = f"started at {event.at}, but {subject} was paused since {pause.at}"
                yield Finding("wishes", event.subject, what, do)


# Name and matches of a subject, and the events that began and ended each of its pauses; None: not ended.
Wishes = tuple[str, QuerySet[Match], list[tuple[LeagueEvent, LeagueEvent | None]]]


def _wishes_of_tournaments() -> Iterator[Wishes]:
    pauses = LeagueEvent.objects.filter(kind__in=("tournament.paused", "tournament.resumed", "tournament.moved"))
    for subject, events in _by_subject(pauses).items():
        slug = subject.partition(":")[2]
        states = [(event, _pauses_tournament(event)) for event in events]
        if any(is_paused for _, is_paused in states):
            yield subject, Match.objects.filter(tournament__slug=slug), _spans(states)


def _pauses_tournament(event: LeagueEvent) -> bool:
    return event.kind == "tournament.paused" or event.data.get("to") == TournamentStatus.CANCELLED


def _wishes_of_bots() -> Iterator[Wishes]:
    pauses = LeagueEvent.objects.filter(kind__in=("bot.moved", "bot.hold_ended"))
    for subject, events in _by_subject(pauses).items():
        slug = subject.partition(":")[2]
        states = [
            (event, event.data.get("to") == BotState.PAUSED and event.data.get("held", False)) for event in events
        ]
        if any(is_paused for _, is_paused in states):
            yield subject, Match.objects.filter(parties__version__bot__slug=slug), _spans(states)


def _by_subject(events: QuerySet[LeagueEvent]) -> dict[str, list[LeagueEvent]]:
    events_by_subject: dict[str, list[LeagueEvent]] = {}
    for event in events.order_by("id"):
        events_by_subject.setdefault(event.subject, []).append(event)
    return events_by_subject


def _spans(states: list[tuple[LeagueEvent, bool]]) -> list[tuple[LeagueEvent, LeagueEvent | None]]:
    """Return begin and end of each pause from events that set the state, or set it again; None: not ended."""
    ends: list[LeagueEvent | None] = [event for event, _ in states[1:]]
    return [(event, end) for (event, is_paused), end in zip(states, [*ends, None], strict=True) if is_paused]


# The table that a creating address fills, by the word in the address.
CREATED = {
    "tournaments": Tournament,
    "events": Event,
    "circuits": Circuit,
    "versions": BotVersion,
}


def kept_keys(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that everything that a request with an Idempotency-Key created still exists, and that no such request runs for ever."""
    for row in IdempotencyKey.objects.filter(status__isnull=True, created__lt=now - GRACE).select_related("player"):
        what = f"the key {row.key!r} has had no response since {row.created}"
        yield Finding(
            "keys", f"player:{row.player.name}", what, "nothing to do: a repetition of the request may use it"
        )
    do = "something deleted the row without the league; a repeated request gets a response about a missing row"
    answered = IdempotencyKey.objects.filter(status=201).exclude(location="").select_related("player").order_by("pk")
    created: dict[str, dict[str, IdempotencyKey]] = {}
    for row in answered:
        word, name = row.location.split("/")[-2:]
        created.setdefault(word, {})[name] = row
    for word, table in CREATED.items():
        rows = created.get(word, {})
        column = "pk" if table is BotVersion else "slug"
        existing = table._default_manager.filter(**{f"{column}__in": rows}).values_list(column, flat=True)
        for name in rows.keys() - {str(value) for value in existing}:
            what = f"the key {rows[name].key!r} created {rows[name].location}, which does not exist"
            yield Finding("keys", f"player:{rows[name].player.name}", what, do)


# ---- names


def names_apart(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that no two bots, players, tournaments, events or circuits have names that look alike. Names older than this rule are allowed."""
    do = "look at both; retire or void the one that imitates the other"
    for kind, names in _named().items():
        first: dict[str, tuple[str, str]] = {}
        for subject, name, holder in names:
            earlier_holders = [first.setdefault(look, (subject, holder)) for look in skeletons(name)]
            for other in sorted({earlier for earlier, earlier_holder in earlier_holders if earlier_holder != holder}):
                yield Finding("names", subject, f"has a {kind} name that looks like that of {other}", do)


def _named() -> dict[str, list[tuple[str, str, str]]]:
    """Return subject, name and holder of each name, oldest first. Stages and seasons have the name of their event or circuit."""
    bots = Bot.objects.order_by("pk").values_list("slug", flat=True)
    people = Player.objects.order_by("pk").values_list("name", flat=True)
    own = Tournament.objects.filter(event=None, season=None)
    events = [
        (row.created, f"{kind}:{row.slug}", row.name, f"player:{row.owner.name}")
        for kind, rows in (("tournament", own), ("event", Event.objects.all()), ("circuit", Circuit.objects.all()))
        for row in rows.select_related("owner")
    ]
    return {
        "player": [(f"player:{name}", name, f"player:{name}") for name in people],
        "bot": [(f"bot:{slug}", slug, f"bot:{slug}") for slug in bots],
        "tournament": [(subject, without_part(name), holder) for _, subject, name, holder in sorted(events)],
    }


# ---- ratings


def counted_rightly(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that every counted match is finished, rated and no validation, and that no void match is in totals or history."""
    late = now - GRACE
    out = ~Q(status=MatchStatus.FINISHED) | Q(rated=False) | Q(kind=MatchKind.VALIDATION)
    for match in Match.objects.exclude(counted=None).filter(out):
        changes = LeagueEvent.objects.filter(subject=f"match:{match.public_id}", at__gt=late)
        if not changes.filter(kind__in=("match.moved", "match.unrated")).exists():
            what = f"counts, but is {match.status}, {'rated' if match.rated else 'unrated'}"
            yield Finding("counted", f"match:{match.public_id}", what, REBUILD)
    points = RatingPoint.objects.filter(match__counted=None).values_list("match__public_id", flat=True)
    for public_id in points.order_by().distinct():
        yield Finding("counted", f"match:{public_id}", "does not count, but is in the rating history", REBUILD)
    forgotten = _finished(None).filter(rated=True, counted=None, finished__lt=late).exclude(kind=MatchKind.VALIDATION)
    for match in forgotten:
        do = "check that a scheduler is running; manage.py refresh_ratings counts it"
        yield Finding("counted", f"match:{match.public_id}", "finished a while ago, but does not count", do)


def cold_fits(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Check that the stored totals equal those of the counted boards exactly, and the ratings equal a fit from scratch up to CLOSE_ELO."""
    for pool in Pool.objects.filter(Q(sums__isnull=False) | Q(ratings__isnull=False)).distinct().order_by("pk"):
        with transaction.atomic():  # The lock keeps matches from being counted in the meantime.
            yield from _cold(Pool.objects.select_for_update(no_key=True).get(pk=pool.pk), now)


def _cold(pool: Pool, now: datetime) -> Iterator[Finding]:
    name = f"pool:{pool.pk}"
    cold = totals.recount(pool)
    if totals.read_stored(pool).dump() != cold.dump():
        more = int(totals.read_stored(pool).totals[:, 1].sum()) - int(cold.totals[:, 1].sum())
        how = "boards were counted twice or from nowhere" if more > 0 else "boards are missing or were changed"
        yield Finding("sums", name, f"the stored totals are not those of the boards ({how})", REBUILD)
    if pool.ratings_revision != REVISION:
        return  # The scheduler is about to refit them.
    ratings.settle(pool, now)  # The table of a large pool may be due later; compute it now, and check that one.
    fitted = {row.bot: row.elo for row in ratings.fit_pool(pool, cold).rows}
    stored = dict(Rating.objects.filter(pool=pool).values_list("version_id", "elo"))
    apart = max((abs(fitted[version] - stored[version]) for version in fitted.keys() & stored.keys()), default=0.0)
    if fitted.keys() != stored.keys():
        yield Finding("ratings", name, f"{len(stored)} versions are rated, but {len(fitted)} have boards", REBUILD)
    elif not apart <= CLOSE_ELO:
        yield Finding("ratings", name, f"the ratings differ from a cold fit by up to {apart:.2g} Elo", REBUILD)


Check = Callable[[datetime | None, datetime], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    whole_results,
    kept_replays,
    own_rules,
    orphan_boards,
    one_end,
    stuck_rows,
    kept_wishes,
    kept_keys,
    names_apart,
    counted_rightly,
    cold_fits,
)

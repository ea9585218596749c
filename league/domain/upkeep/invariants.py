"""Checks of what must be true of the rows at any moment, whichever process was killed. They only read; each finding says what to do.

A row that is about to be put right by the scheduler is no finding: everything here has had GRACE.
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
from league.domain.matches.leases import HELD
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
MOMENT = timedelta(seconds=10)  # from the time that a wish bears until every worker sees it
CLOSE_ELO = (
    1.5 * 10**-ELO_DIGITS
)  # of a kept rating and a cold fit: beside a limit between two numbers they may be rounded apart
CHUNK = 200  # matches whose boards are looked at together
MOST_KEPT = 100  # findings that one event names
WRONG = {
    "missing": "is not kept any more",
    "damaged": "is damaged",
    "exchanged": "belongs to another match",
}  # words of logs.Unopened
REBUILD = "manage.py refresh_ratings --rebuild; if it comes again, a process of another release is at work"


@dataclass(frozen=True)
class Finding:
    """One fault in the tables: which check found it, where, what is wrong and what to do."""

    check: str
    subject: str
    what: str
    do: str

    def __str__(self) -> str:
        return f"{self.check}: {self.subject}: {self.what}. To do: {self.do}"


def check_all(*, since: datetime | None = None, now: datetime | None = None, by: str = "") -> list[Finding]:
    """All checks; matches that finished before `since` are trusted (None: none is). The outcome is an event; each finding an error in the log."""
    now = clock.now_or(now)
    found = [finding for check in CHECKS for finding in check(since, now)]
    for finding in found:
        log.error("invariant broken: %s", finding)
    kept = [asdict(finding) for finding in found[:MOST_KEPT]]
    whole = since is None
    journal.append("league.checked", "league", now=now, actor=by, count=len(found), whole=whole, findings=kept)
    return found


@dataclass(frozen=True)
class CheckResult:
    """What the last run found."""

    at: datetime | None
    count: int
    findings: list[Finding]


def last_result() -> CheckResult:
    """The outcome of the last run. One query."""
    event = LeagueEvent.objects.filter(subject="league", kind="league.checked").order_by("-id").first()
    if event is None:
        return CheckResult(None, 0, [])
    return CheckResult(event.at, event.data["count"], [Finding(**finding) for finding in event.data["findings"]])


# ---- matches and their boards


def _finished(since: datetime | None) -> QuerySet[Match]:
    found = Match.objects.filter(status=MatchStatus.FINISHED)
    return found if since is None else found.filter(finished__gte=since)


def whole_results(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """A finished match has all its boards with all sittings, and the sums of its parties are those of the boards, these of the sittings."""
    ids = list(_finished(since).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        yield from _results(ids[start : start + CHUNK])


def _results(ids: list[int]) -> Iterator[Finding]:
    do = "manage.py rerun_match {0} --why 'broken record', and look for what wrote to the database besides the league"
    boards: dict[int, list[Board]] = {pk: [] for pk in ids}
    for board in Board.objects.filter(match__in=ids).order_by("match_id", "number"):
        boards[board.match_id].append(board)
    sittings: dict[int, list[Sitting]] = {}
    for sitting in Sitting.objects.filter(board__match__in=ids).defer("replay").order_by("board_id", "number"):
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
        if not played or [sitting.number for sitting in played] != list(range(len(played))):
            yield f"board {board.number} has the sittings {[sitting.number for sitting in played]}"
        elif board.scores != expected:
            yield f"board {board.number} has the scores {board.scores}; its sittings add up to {expected}"
    counts = reports.tally([board.scores for board in boards], len(parties), pools.sides(match.pool))
    for party, count in zip(parties, counts, strict=True):
        points = sum(board.scores[party.number] for board in boards)
        if (party.points, party.wins, party.draws, party.losses) != (points, *count):
            yield f"party {party.number} has other points or wins than its boards"


def _score(sitting: Sitting, party: int, sides: tuple[tuple[int, ...], ...]) -> int:
    """What a party got in one sitting: the score of each side on which it sits, once."""
    held = [[seat for seat in side if sitting.seating[seat] == party] for side in sides]
    return sum(sitting.scores[seats[0]] for seats in held if seats)


def kept_replays(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Every finished match has the log that was stored for it, with all sittings: it is not damaged, missing or that of another match."""
    ids = list(_finished(since).order_by("pk").values_list("pk", flat=True))
    do = "manage.py repair --replays plays it again from its actions where it can"
    for start in range(0, len(ids), CHUNK):
        for match, why in _doubts(ids[start : start + CHUNK]):
            yield Finding("replays", f"match:{match.public_id}", why, do)


def _doubts(ids: list[int]) -> Iterator[tuple[Match, str]]:
    columns = ("number", "replay", "digest", "board__number", "board__match__public_id")
    loose = Sitting.objects.filter(board__match__in=ids).exclude(digest="", replay=b"").select_related("board__match")
    for sitting in loose.only(*columns).order_by("pk").iterator(chunk_size=CHUNK):
        try:
            why = replays.doubt(sitting) if sitting.digest else replays.unpack(sitting) and None
        except replays.Unreadable as error:
            why = error
        if why:
            yield sitting.board.match, str(why)
    logged = Sitting.objects.filter(board__match__in=ids, digest="", replay=b"")
    places: dict[int, set[tuple[int, int]]] = {}
    for pk, board, number in logged.values_list("board__match", "board__number", "number"):
        places.setdefault(pk, set()).add((board, number))
    for match in Match.objects.filter(pk__in=places).select_related("log").order_by("pk").iterator(chunk_size=CHUNK):
        if doubt := logs.doubt(match):
            yield match, f"the log of match {match.public_id} {WRONG[doubt]}"
        elif not logs.was_let_go(match) and (lacking := places[match.pk] - set(logs.opened(match).places())):
            yield match, f"the log of match {match.public_id} lacks board and sitting {min(lacking)}"


def own_rules(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """A finished match was played by the revision of its pool. Where a worker of an earlier release did not tell, a record of the last hours does."""
    do = "manage.py void_match {0} --why 'played by other rules' --again, and stop the workers of the other release"
    told = _finished(since).order_by("pk").values_list("pk", "public_id", "host__revision", "pool__revision")
    for pk, name, played, wanted in told.iterator(chunk_size=CHUNK):
        revision = _recorded(pk) if played is None and since is not None else played
        if revision not in (None, wanted):
            what = f"was played by revision {revision} of its rules; its pool is of revision {wanted}"
            yield Finding("rules", f"match:{name}", what, do.format(name))


def _recorded(match: int) -> int | None:
    sitting = Sitting.objects.filter(board__match=match).select_related("board__match").order_by("pk").first()
    try:
        return None if sitting is None else replays.unpack(sitting).get("revision")
    except replays.Unreadable:
        return None  # another check says so


def orphan_boards(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Boards, and so logs, belong to matches that were played to their end."""
    never = Match.objects.exclude(status__in=[MatchStatus.FINISHED, MatchStatus.VOID]).filter(boards__isnull=False)
    for match in never.distinct():
        do = "nothing reads them; delete the boards by hand, and look for what wrote to the database besides the league"
        yield Finding("orphans", f"match:{match.public_id}", f"is {match.status}, and has boards", do)


def one_end(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """A finished match was moved to finished exactly once."""
    finished = list(
        _finished(since).values_list("public_id", flat=True)
    )  # before the events: what finishes in between has one
    ends = LeagueEvent.objects.filter(kind="match.moved", data__to=MatchStatus.FINISHED)
    if since is not None:
        ends = ends.filter(at__gte=since - GRACE)
    times = dict(ends.values_list("subject").annotate(times=Count("id")).order_by())
    for public_id in finished:
        count = times.get(f"match:{public_id}", 0)
        if count != 1:
            do = "compare its events in the admin; a status was written past the league's own move()"
            yield Finding("ends", f"match:{public_id}", f"was finished {count} times by its events", do)


def stuck_rows(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """No lease is held past its end, no match waits for a far future, no tournament or version waits for matches that are over."""
    late = now - GRACE
    gone = Match.objects.filter(status__in=HELD).filter(Q(lease_until=None) | Q(lease_until__lt=late))
    for match in gone:
        do = "is a scheduler running? manage.py reconcile takes the match back"
        yield Finding(
            "stuck", f"match:{match.public_id}", f"is {match.status} with a lease until {match.lease_until}", do
        )
    future = Match.objects.filter(status=MatchStatus.QUEUED, not_before__gt=now + timedelta(hours=1) + GRACE)
    for match in future:
        do = "manage.py rerun_match ID --why ... plays it as a new match"
        yield Finding("stuck", f"match:{match.public_id}", f"waits until {match.not_before}", do)
    live = Q(matches__status__in=[MatchStatus.QUEUED, *HELD])
    for cup in Tournament.objects.annotate(live=Count("matches", filter=live), newest=Count("matches")):
        over = cup.status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
        if over and cup.live and (cup.finished or now) < late:
            do = "manage.py reconcile cancels them, if the tournament is cancelled; else void them"
            yield Finding(
                "stuck", f"tournament:{cup.slug}", f"is {cup.status}, and {cup.live} matches are not over", do
            )
    validating = BotVersion.objects.filter(status=VersionStatus.VALIDATING, created__lt=late).select_related("bot")
    # One that became void is repeated by the scheduler, after a pause of a day at most
    alive = Q(status__in=[MatchStatus.QUEUED, *HELD]) | Q(
        status=MatchStatus.VOID, finished__gt=late - timedelta(days=1)
    )
    for version in validating.exclude(parties__match__in=Match.objects.filter(alive, kind=MatchKind.VALIDATION)):
        do = f"manage.py revalidate {version.bot.slug}:{version.number}"
        yield Finding("stuck", f"version:{version.pk}", "is validating, and no match of it is left", do)


# ---- what people wanted


def kept_wishes(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """No match was begun while its tournament was paused or cancelled, or while the pause of a bot at its table held it back."""
    do = "compare its events in the admin with those of the pause; is a process of another release at work?"
    for subject, matches, wishes in (*_wishes_of_tournaments(), *_wishes_of_bots()):
        named = matches.filter(kind__in=holds.PLAYED).annotate(name=Concat(Value("match:"), "public_id"))
        begun = LeagueEvent.objects.filter(
            kind="match.moved", data__to=MatchStatus.LEASED, subject__in=named.values("name")
        )
        for held, end in wishes:
            after, before = max(held.at + MOMENT, since or held.at), end.at if end else now
            # A claim reads the clock before it looks: one that sees the end of a pause may bear an earlier moment, but stands behind it
            sooner = (begun.filter(pk__lt=end.pk) if end else begun).order_by("pk")
            for event in sooner.filter(at__gt=after, at__lt=before) if after < before else ():
                what = f"was begun at {event.at}; {subject} held it since {held.at}"
                yield Finding("wishes", event.subject, what, do)


# The matches of somebody, and the events from which and until which they were held back; None: until now
Wishes = tuple[str, QuerySet[Match], list[tuple[LeagueEvent, LeagueEvent | None]]]


def _wishes_of_tournaments() -> Iterator[Wishes]:
    told = LeagueEvent.objects.filter(kind__in=("tournament.paused", "tournament.resumed", "tournament.moved"))
    for subject, events in _by_subject(told).items():
        slug = subject.partition(":")[2]
        holds = [(event, _holds_tournament(event)) for event in events]
        if any(held for _, held in holds):
            yield subject, Match.objects.filter(tournament__slug=slug), _spans(holds)


def _holds_tournament(event: LeagueEvent) -> bool:
    return event.kind == "tournament.paused" or event.data.get("to") == TournamentStatus.CANCELLED


def _wishes_of_bots() -> Iterator[Wishes]:
    told = LeagueEvent.objects.filter(kind__in=("bot.moved", "bot.hold_ended"))
    for subject, events in _by_subject(told).items():
        slug = subject.partition(":")[2]
        holds = [(event, event.data.get("to") == BotState.PAUSED and event.data.get("held", False)) for event in events]
        if any(held for _, held in holds):
            yield subject, Match.objects.filter(parties__version__bot__slug=slug), _spans(holds)


def _by_subject(events: QuerySet[LeagueEvent]) -> dict[str, list[LeagueEvent]]:
    found: dict[str, list[LeagueEvent]] = {}
    for event in events.order_by("id"):
        found.setdefault(event.subject, []).append(event)
    return found


def _spans(holds: list[tuple[LeagueEvent, bool]]) -> list[tuple[LeagueEvent, LeagueEvent | None]]:
    """From when until when it was held back, of the events at which that changed or was said again; None: until now."""
    ends: list[LeagueEvent | None] = [event for event, _ in holds[1:]]
    return [(event, end) for (event, held), end in zip(holds, [*ends, None], strict=True) if held]


MADE = {
    "tournaments": Tournament,
    "events": Event,
    "circuits": Circuit,
    "versions": BotVersion,
}  # by the word in the address


def kept_keys(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """What a request with an Idempotency-Key was told to have made is there; no request is at work for ever."""
    for row in IdempotencyKey.objects.filter(status__isnull=True, created__lt=now - GRACE).select_related("player"):
        what = f"the key {row.key!r} has had no answer since {row.created}"
        yield Finding(
            "keys", f"player:{row.player.name}", what, "nothing: a repetition of the request is free to use it"
        )
    do = "the row was deleted past the league; who repeats the request is told of what is not there"
    answered = IdempotencyKey.objects.filter(status=201).exclude(location="").select_related("player").order_by("pk")
    made: dict[str, dict[str, IdempotencyKey]] = {}
    for row in answered:
        word, name = row.location.split("/")[-2:]
        made.setdefault(word, {})[name] = row
    for word, table in MADE.items():
        rows = made.get(word, {})
        column = "pk" if table is BotVersion else "slug"
        there = table._default_manager.filter(**{f"{column}__in": rows}).values_list(column, flat=True)
        for name in rows.keys() - {str(value) for value in there}:
            what = f"the key {rows[name].key!r} made {rows[name].location}, which is not there"
            yield Finding("keys", f"player:{rows[name].player.name}", what, do)


# ---- names


def names_apart(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """No bot, player, tournament, event or circuit can pass for another. What was named before names were compared is kept."""
    do = "look at both; retire, or strike out, the one that was made to be taken for the other"
    for kind, named in _named().items():
        first: dict[str, tuple[str, str]] = {}
        for subject, name, holder in named:
            known = [first.setdefault(look, (subject, holder)) for look in skeletons(name)]
            for other in sorted({earlier for earlier, whose in known if whose != holder}):
                yield Finding("names", subject, f"has a {kind} name that looks like that of {other}", do)


def _named() -> dict[str, list[tuple[str, str, str]]]:
    """Subject, name and holder of each name, the oldest first. Stages and seasons bear the name of their event or circuit."""
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
    """What counts is finished, rated and no validation; nothing void counts, in sums or history."""
    late = now - GRACE
    out = ~Q(status=MatchStatus.FINISHED) | Q(rated=False) | Q(kind=MatchKind.VALIDATION)
    for match in Match.objects.exclude(counted=None).filter(out):
        changes = LeagueEvent.objects.filter(subject=f"match:{match.public_id}", at__gt=late)
        if not changes.filter(kind__in=("match.moved", "match.unrated")).exists():
            what = f"counts, and is {match.status}, {'rated' if match.rated else 'unrated'}"
            yield Finding("counted", f"match:{match.public_id}", what, REBUILD)
    points = RatingPoint.objects.filter(match__counted=None).values_list("match__public_id", flat=True)
    for public_id in points.order_by().distinct():
        yield Finding("counted", f"match:{public_id}", "does not count, and stands in the history of ratings", REBUILD)
    forgotten = _finished(None).filter(rated=True, counted=None, finished__lt=late).exclude(kind=MatchKind.VALIDATION)
    for match in forgotten:
        do = "is a scheduler running? manage.py refresh_ratings counts it"
        yield Finding("counted", f"match:{match.public_id}", "has been finished for a while and does not count", do)


def cold_fits(since: datetime | None, now: datetime) -> Iterator[Finding]:
    """The kept sums are those of the counted boards to the bit, the ratings those of a cold fit to CLOSE_ELO."""
    for pool in Pool.objects.filter(Q(sums__isnull=False) | Q(ratings__isnull=False)).distinct().order_by("pk"):
        with transaction.atomic():  # no match is counted meanwhile
            yield from _cold(Pool.objects.select_for_update(no_key=True).get(pk=pool.pk), now)


def _cold(pool: Pool, now: datetime) -> Iterator[Finding]:
    name = f"pool:{pool.pk}"
    cold = totals.recount(pool)
    if totals.read_stored(pool).dump() != cold.dump():
        more = int(totals.read_stored(pool).totals[:, 1].sum()) - int(cold.totals[:, 1].sum())
        how = "boards were counted twice or from nowhere" if more > 0 else "boards are missing or were changed"
        yield Finding("sums", name, f"the kept sums are not those of the boards ({how})", REBUILD)
    if pool.ratings_revision != REVISION:
        return  # the scheduler is about to fit them anew
    ratings.settle(pool, now)  # of a large pool the table follows after a while: it is proven, not what leads to it
    fitted = {row.bot: row.elo for row in ratings.fit_pool(pool, cold).rows}
    shown = dict(Rating.objects.filter(pool=pool).values_list("version_id", "elo"))
    apart = max((abs(fitted[version] - shown[version]) for version in fitted.keys() & shown.keys()), default=0.0)
    if fitted.keys() != shown.keys():
        yield Finding("ratings", name, f"{len(shown)} versions are rated; the boards know {len(fitted)}", REBUILD)
    elif not apart <= CLOSE_ELO:
        yield Finding("ratings", name, f"the ratings are up to {apart:.2g} Elo off those of a cold fit", REBUILD)


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

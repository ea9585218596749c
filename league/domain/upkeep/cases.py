"""Cases of collusion: once a day, results of two owners that their ratings do not explain. People judge them; nothing happens by itself.

A large shortfall makes a case by itself. From a small one on, the league analyses some matches of the pair, and as many of the same versions
against others: who throws boards gives away more points in a decision of a lost board against one owner than against the rest, and that makes a
case, too.
Every result counts for who owned the bots when it was played.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from math import hypot

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet

from engine.analysis import JUDGE, Tally
from league.domain.bots import totals
from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.judgements import asking, bodies, reading
from league.domain.people import ownership
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Board, Bot, Case, Judgement, Match, MeetingSum, Party, Pool, Rating
from league.pure.portable import comparable
from league.pure.rating import collusion
from league.pure.rating.collusion import Throwing
from league.pure.rating.leaderboard import Z95

EVIDENCE = 24  # Matches that are analysed, against the other owner and against everybody else.
CANDIDATES = 5 * EVIDENCE  # The latest matches from which they are chosen.
WATCHED_A_DAY = 2  # Pairs of owners of a pool whose matches are sent to analysis in a day.
AGAIN = 2  # A closed case is opened again when the boards have grown by this factor.
REMEMBERED = timedelta(days=365)  # How far back the results of bots that were handed on are read.

Former = Mapping[int, list[tuple[datetime, int]]]  # See `ownership.former_owners`.
Meeting = tuple[
    int, int, int, int, int, int, int
]  # Bot, its owner, opponent, its owner; boards, wins and draws of the bot.


def look(pools: Iterable[Pool], *, now: datetime | None = None) -> int:
    """Open or update the cases of these pools; return the number of new ones. Reads every pair of bots that met in them: meant for once a day."""
    now = clock.now_or(now)
    former = ownership.former_owners(now - REMEMBERED)
    return sum(_look(pool, former, now) for pool in pools)


def _look(pool: Pool, former: Former, now: datetime) -> int:
    opened, budget = 0, WATCHED_A_DAY
    results = {pair: collusion.surprise(met) for pair, met in _encounters(pool, former, now).items()}
    for (loser, winner), result in sorted(results.items(), key=lambda item: (-item[1].deviations, item[0])):
        if not result.is_watched:
            break
        case = Case(pool=pool, loser_id=loser, winner_id=winner, created=now, boards=result.boards)
        case.points, case.expected, case.deviations = result.points, result.expected, result.deviations
        losses = None if result.makes_a_case else _evidence(case, former)
        if result.makes_a_case or (losses is not None and losses.makes_a_case(result.deviations)):
            opened += _open(case, former, now)
        elif budget and _is_free(case):
            budget -= _ask_for_analyses(case, former, now) > 0
    return opened


def _open(case: Case, former: Former, now: datetime) -> bool:
    """Open a case, or bring the numbers of the open one up to date; return True if it is new."""
    with transaction.atomic():
        before = _before(case)
        if before is not None and before.closed is None:
            numbers = {name: getattr(case, name) for name in ("boards", "points", "expected", "deviations")}
            Case.objects.filter(pk=before.pk).update(**numbers)
            _ask_for_analyses(before, former, now)  # Volunteers may have done those that players had asked for.
            return False
        if not _is_free(case):
            return False
        case.save()
        journal.append("case.opened", f"case:{case.pk}", now=now)
        _ask_for_analyses(case, former, now)
        return True


def _before(case: Case) -> Case | None:
    return Case.objects.filter(pool=case.pool, loser=case.loser_id, winner=case.winner_id).order_by("-pk").first()


def _is_free(case: Case) -> bool:
    """Return False if people have closed a case of these owners, and few boards have been played since."""
    before = _before(case)
    return before is None or before.closed is None or case.boards >= AGAIN * before.boards


def _encounters(pool: Pool, former: Former, now: datetime) -> dict[tuple[int, int], list[collusion.PairRecord]]:
    """Return the encounters of each owner with each other one, without house bots. Two queries, and some for the bots that were handed on.

    Totals are by bot, so the comparison favours the owner: the weakest version of the first bot against the strongest one of the other.
    """
    by_bot = Rating.objects.filter(pool=pool).values("version__bot").order_by()
    strengths = {
        bot: (low, high, margin)
        for bot, low, high, margin in by_bot.annotate(
            low=Min("elo"), high=Max("elo"), margin=Max("margin")
        ).values_list("version__bot", "low", "high", "margin")
    }
    met: defaultdict[tuple[int, int], list[collusion.PairRecord]] = defaultdict(list)
    meetings = chain(_settled_meetings(pool, former), _moved_meetings(pool, former, now))
    for bot, owner, opponent, other, boards, wins, draws in meetings:
        if owner != other and bot in strengths and opponent in strengths:
            (low, _, margin), (_, high, other_margin) = strengths[bot], strengths[opponent]
            sd = comparable(hypot(margin, other_margin) / Z95)
            met[owner, other].append(collusion.PairRecord(boards, wins + draws / 2, low, high, sd))
    return met


def _settled_meetings(pool: Pool, former: Former) -> Iterator[Meeting]:
    """Yield the meetings of the bots that have had one owner."""
    rows = MeetingSum.objects.filter(pool=pool, boards__gt=0, bot__is_house=False, opponent__is_house=False)
    columns = ("bot", "bot__owner", "opponent", "opponent__owner", "boards", "wins", "draws")
    return (row for row in rows.values_list(*columns).iterator() if row[0] not in former and row[2] not in former)


def _moved_meetings(pool: Pool, former: Former, now: datetime) -> Iterator[Meeting]:
    """Yield the meetings of bots that were handed on, match by match, with the owners of that time."""
    matches, bots = _rated(pool).filter(finished__gt=now - REMEMBERED), sorted(former)
    ids: set[int] = set()
    for start in range(0, len(bots), ownership.MOST_NAMED):
        some = bots[start : start + ownership.MOST_NAMED]
        ids.update(matches.filter(parties__version__bot__in=some).values_list("pk", flat=True))
    owners: dict[int, int | None] = {}
    for match, met in totals.meetings_of(sorted(ids)):
        unknown = {bot for bot, *_ in met} - owners.keys()
        if unknown:
            rows = Bot.objects.filter(pk__in=unknown).values_list("pk", "owner", "is_house")
            owners.update({pk: None if is_house else owner for pk, owner, is_house in rows})
        for (bot, _, opponent), added in met.items():
            owner, other = owners[bot], owners[opponent]
            if owner is not None and other is not None and (bot in former or opponent in former):
                people = _owner_then(match, bot, owner, former), _owner_then(match, opponent, other, former)
                yield bot, people[0], opponent, people[1], added["boards"], added["wins"], added["draws"]


def _owner_then(match: Match, bot: int, owner: int, former: Former) -> int:
    """Return who owned a bot when a match ended; `owner` owns it now."""
    return next((was for until, was in former.get(bot, ()) if match.finished and match.finished <= until), owner)


def _rated(pool: Pool | int) -> QuerySet[Match]:
    return Match.objects.filter(pool=pool, rated=True, status=MatchStatus.FINISHED)


def _matches(
    case: Case, former: Former, *, against: bool, versions: Collection[int] | None = None
) -> list[tuple[Match, dict[int, int]]]:
    """Return the latest matches for the evidence, each with the versions of the loser's parties. Two queries.

    against: those with the winner's bots, or those without; versions: only those with one of these versions of the loser.
    """
    own, theirs = (
        Party.objects.filter(
            Q(version__bot__owner=player)
            | Q(version__bot__in=[bot for bot, terms in former.items() if any(was == player for _, was in terms)])
        )
        for player in (case.loser_id, case.winner_id)
    )
    if versions is not None:
        own = own.filter(version__in=versions)
    rows = _rated(case.pool_id).filter(pk__in=own.values("match"), finished__lte=case.created)
    if against:
        rows = rows.filter(pk__in=theirs.values("match"))
    rows = rows.select_related("tournament").prefetch_related("parties__version__bot")
    chosen = []
    for match in rows.order_by("-finished", "-pk")[:CANDIDATES]:
        people = {
            party: _owner_then(match, party.version.bot_id, party.version.bot.owner_id, former)
            for party in match.parties.all()
        }
        numbers = {party.number: party.version_id for party, player in people.items() if player == case.loser_id}
        if versions is not None:
            numbers = {number: version for number, version in numbers.items() if version in versions}
        if numbers and (case.winner_id in people.values()) == against:
            chosen.append((match, numbers))
    return chosen[:EVIDENCE]


def _both_kinds(case: Case, former: Former) -> tuple[list[tuple[Match, dict[int, int]]], ...]:
    against = _matches(case, former, against=True)
    versions = {version for _, numbers in against for version in numbers.values()}
    return against, _matches(case, former, against=False, versions=versions)


def matches_of(case: Case) -> list[Match]:
    """Return the latest matches against the winner's bots that the evidence uses. Some queries."""
    return [match for match, _ in _matches(case, _former_of(case), against=True)]


def _former_of(case: Case) -> Former:
    return ownership.former_owners(case.created - REMEMBERED)


def _ask_for_analyses(case: Case, former: Former, now: datetime) -> int:
    """Ask for the analyses of both kinds of matches that are missing, and return their number."""
    matches = [match for match, _ in chain(*_both_kinds(case, former)) if asking.reason_not(match) is None]
    return sum(asking.ask_for_league(match, JudgementKind.FAIR, now=now) for match in matches)


def evidence(case: Case) -> Throwing | None:
    """Return what the analyses say; None until both kinds of matches have some. Some queries for each of at most 2 * EVIDENCE matches."""
    return _evidence(case, _former_of(case))


def _evidence(case: Case, former: Former) -> Throwing | None:
    against, others = (_boards(rows) for rows in _both_kinds(case, former))
    return collusion.throwing([(boards, others[version]) for version, boards in against.items()])


def _boards(rows: Iterable[tuple[Match, dict[int, int]]]) -> dict[int, list[tuple[float, int]]]:
    """Return what each version gave away on the boards that it lost in the analysed matches: the loss and the judged decisions."""
    boards: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    numbers_of = {match.pk: numbers for match, numbers in rows}
    results = Board.objects.filter(match__in=numbers_of).values_list("match", "number", "scores")
    scores = {(match, board): points for match, board, points in results}
    analyses = Judgement.objects.filter(judge=JUDGE, kind=JudgementKind.FAIR, status=JudgementStatus.DONE)
    analyses = analyses.filter(by_volunteer=False)  # Nobody is judged by what a stranger has computed.
    for row in analyses.filter(match__in=numbers_of).order_by("match", "samples"):
        numbers = numbers_of.pop(row.match_id, {})  # Another analysis was made over another number of deals.
        tallies: defaultdict[int, Tally] = defaultdict(Tally)
        with suppress(Refused):  # Damaged: the page of the analysis says so.
            for decision in reading.placed(bodies.unpack(bytes(row.body)), reading.seatings(row)):
                points = scores[row.match_id, decision.board]
                if decision.party in numbers and points[decision.party] < max(points):
                    tallies[numbers[decision.party]].add(decision.board, decision.verdict.lost)
        for version, tally in tallies.items():
            boards[version] += tally.boards.values()
    return boards


def open_cases() -> QuerySet[Case]:
    """Select the open cases, the most surprising first. No query."""
    return Case.objects.filter(closed=None).select_related("pool", "loser", "winner").order_by("-deviations", "pk")

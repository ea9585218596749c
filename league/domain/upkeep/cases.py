"""Cases of collusion: once a day, results of two owners that their ratings do not explain. People judge them; nothing happens by itself.

A new case asks for analyses of some of these matches, and of as many matches of the same bots against others: who throws boards gives away more
points in each decision against one opponent than against the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import hypot

from django.db import transaction
from django.db.models import F, Max, Min, QuerySet

from engine.analysis import JUDGE, Tally
from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.judgements import asking, bodies, reading
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Case, Judgement, Match, MeetingSum, Party, Pool, Rating
from league.pure.portable import comparable
from league.pure.rating import collusion
from league.pure.rating.leaderboard import Z95

EVIDENCE = 6  # Matches that are analysed, against the other owner and against everybody else.
AGAIN = 2  # A closed case is opened again when the boards have grown by this factor.


def look(pools: Iterable[Pool], *, now: datetime | None = None) -> int:
    """Open or update the cases of these pools; return the number of new ones. Reads every pair of bots that met in them: meant for once a day."""
    now = clock.now_or(now)
    return sum(_look(pool, now) for pool in pools)


def _look(pool: Pool, now: datetime) -> int:
    opened = 0
    for (loser, winner), met in sorted(_encounters(pool).items()):
        result = collusion.surprise(met)
        if not result.makes_a_case:
            continue
        numbers = {
            "boards": result.boards,
            "points": result.points,
            "expected": result.expected,
            "deviations": result.deviations,
        }
        with transaction.atomic():
            rows = Case.objects.filter(pool=pool, loser=loser, winner=winner)
            before = rows.order_by("-pk").first()
            if before is not None and before.closed is None:
                rows.filter(pk=before.pk).update(**numbers)
            elif before is None or result.boards >= AGAIN * before.boards:
                case = Case.objects.create(pool=pool, loser_id=loser, winner_id=winner, created=now, **numbers)
                journal.append("case.opened", f"case:{case.pk}", now=now)
                _ask_for_analyses(case, now)
                opened += 1
    return opened


def _encounters(pool: Pool) -> dict[tuple[int, int], list[collusion.PairRecord]]:
    """Return the encounters of each owner with each other one, without house bots. Two queries.

    Totals are by bot, so the comparison favours the owner: the weakest version of the first bot against the strongest one of the other.
    """
    by_bot = Rating.objects.filter(pool=pool).values("version__bot").order_by()
    strengths = {
        bot: (low, high, margin)
        for bot, low, high, margin in by_bot.annotate(
            low=Min("elo"), high=Max("elo"), margin=Max("margin")
        ).values_list("version__bot", "low", "high", "margin")
    }
    rows = MeetingSum.objects.filter(pool=pool, boards__gt=0, bot__is_house=False, opponent__is_house=False)
    rows = rows.exclude(bot__owner=F("opponent__owner"))
    met: defaultdict[tuple[int, int], list[collusion.PairRecord]] = defaultdict(list)
    columns = ("bot", "bot__owner", "opponent", "opponent__owner", "boards", "wins", "draws")
    for bot, owner, opponent, other, boards, wins, draws in rows.values_list(*columns).iterator():
        if bot in strengths and opponent in strengths:
            (low, _, margin), (_, high, other_margin) = strengths[bot], strengths[opponent]
            sd = comparable(hypot(margin, other_margin) / Z95)
            met[owner, other].append(collusion.PairRecord(boards, wins + draws / 2, low, high, sd))
    return met


def matches_of(case: Case, *, against: bool) -> QuerySet[Match]:
    """Select the latest matches that the evidence uses: against the winner's bots, or against everybody else. No query."""
    own = Party.objects.filter(version__bot__owner=case.loser_id).values("match")
    theirs = Party.objects.filter(version__bot__owner=case.winner_id).values("match")
    rows = Match.objects.filter(pool=case.pool_id, rated=True, status=MatchStatus.FINISHED, pk__in=own)
    rows = rows.filter(pk__in=theirs) if against else rows.exclude(pk__in=theirs)
    return rows.filter(finished__lte=case.created).select_related("tournament").order_by("-finished", "-pk")[:EVIDENCE]


def _ask_for_analyses(case: Case, now: datetime) -> None:
    for against in (True, False):
        for match in matches_of(case, against=against):
            if asking.reason_not(match) is None:
                asking.ask_for_league(match, JudgementKind.FAIR, now=now)


@dataclass(frozen=True)
class Evidence:
    """The points that a decision of the loser's bots gave away, against the winner's bots and against others; `margin`: of the difference, 95%."""

    against: float
    others: float
    margin: float | None

    @property
    def is_clear(self) -> bool:
        """Return True if they gave away more against the winner than chance explains."""
        return self.margin is not None and self.against - self.others > self.margin


def evidence(case: Case) -> Evidence | None:
    """Return what the analyses say; None until both kinds of matches have one. Some queries for each of at most twelve matches."""
    against, others = _losses(case, against=True), _losses(case, against=False)
    if against.lost is None or others.lost is None:
        return None
    margins = (against.margin, others.margin)
    margin = None if None in margins else comparable(hypot(*(value or 0.0 for value in margins)))
    return Evidence(comparable(against.lost), comparable(others.lost), margin)


def _losses(case: Case, *, against: bool) -> Tally:
    total = Tally()
    analyses = Judgement.objects.filter(judge=JUDGE, kind=JudgementKind.FAIR, status=JudgementStatus.DONE)
    for place, match in enumerate(matches_of(case, against=against)):
        row = analyses.filter(match=match).first()
        if row is None:
            continue
        try:
            body = bodies.unpack(bytes(row.body))
        except Refused:  # Damaged: the page of the analysis says so.
            continue
        own = set(match.parties.filter(version__bot__owner=case.loser_id).values_list("number", flat=True))
        for decision in reading.placed(body, reading.seatings(row)):
            if decision.party in own:
                # Boards of different matches are different clusters.
                total.add(decision.board * EVIDENCE + place, decision.verdict.lost)
    return total


def open_cases() -> QuerySet[Case]:
    """Select the open cases, the most surprising first. No query."""
    return Case.objects.filter(closed=None).select_related("pool", "loser", "winner").order_by("-deviations", "pk")

"""The broadcast: one deal of a finished match at a time, the same for all viewers at any time.

Time is cut into slots. The number of a slot, and the matches that finished at least a minute before it began, determine its deal: nothing is
stored, and viewers are not counted. If matches finished since the last slot, the most interesting one is shown; otherwise the most interesting of
the latest matches take turns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from league.domain.core.errors import Refused
from league.domain.matches import embargoes, replays, sight
from league.enums import MatchKind, MatchStatus
from league.models import Board, Match, Party, RatingPoint, Sitting
from league.pure.portable import ELO_DIGITS, comparable

SLOT_S = 120
LEAD_S = 8  # The start of a slot, before the first card: it names the players and says why the deal is shown
TAIL_S = 14  # The end of a slot, after the last card
STEP_S = (0.4, 2.0)  # The least and the most seconds of one step: the steps of a long deal are shorter
SETTLED = timedelta(seconds=60)  # A match that finished this long ago has all its rows
LATEST = 24  # The number of newest matches from which a slot chooses
MOST_BOARDS = 32  # The most boards of a match that are compared
TURNS = 8  # The number of matches that take turns if no new one finished
UPSET = 100.0  # Rating gap, in Elo, from which on a win of the weaker bot is an upset
LOUD = ("capote", "tute")  # Events that people talk about
QUIET = "match"  # The header of a record, which is not shown as a step


@dataclass(frozen=True)
class Interest:
    """The reason why a board is shown. `kind`: "capote", "tute", "upset", "decisive", "swing" or "latest"; the highest `weight` comes first."""

    kind: str
    weight: float
    elo: int = 0  # The rating gap that the winner of an upset overcame


@dataclass(frozen=True)
class ShownDeal:
    """The deal that a slot shows. first, last: its first and last step, counted from 0 in the sitting."""

    match: Match
    sitting: Sitting
    why: Interest
    winner: Party | None
    first: int
    last: int

    @property
    def step_s(self) -> float:
        """Return the seconds of one step in a slot."""
        return max(STEP_S[0], self.step_in(SLOT_S - LEAD_S - TAIL_S))

    def step_in(self, seconds: float) -> float:
        """Return the seconds of one step if the whole deal takes `seconds`."""
        return min(STEP_S[1], seconds / max(1, self.last - self.first))


def slot_at(now: datetime) -> int:
    """Return the number of the slot at a time."""
    return int(now.timestamp() // SLOT_S)


def begins(slot: int) -> datetime:
    """Return the start of a slot."""
    return datetime.fromtimestamp(slot * SLOT_S, UTC)


def choose(slot: int, *, now: datetime | None = None) -> ShownDeal | None:
    """Return the deal that a slot shows, or None if everybody may see none. A dozen queries; reads some logs.

    Matches that are withheld when the slot begins are not considered. If the chosen match is withheld later, the slot shows nothing.
    """
    until = begins(slot) - SETTLED
    rows = Match.objects.filter(status=MatchStatus.FINISHED, kind=MatchKind.TOURNAMENT, finished__lt=until)
    rows = sight.matches(rows, None, now=begins(slot))
    rows = rows.select_related("pool", "tournament", "log").defer("tournament__secret", "host")
    latest = list(rows.order_by("-finished", "-id")[:LATEST])
    latest = [match for match in latest if not embargoes.in_force(match, now=begins(slot))]
    since = until - timedelta(seconds=SLOT_S)
    fresh = [match for match in latest if match.finished and match.finished >= since]
    ranked = _rank(fresh or latest)
    at = 0 if fresh else slot % max(1, min(TURNS, len(ranked)))
    sittings: dict[int, list[Sitting]] = defaultdict(list)
    chosen = Sitting.objects.filter(board__in=[board for _match, board, _why, _winner in ranked])
    for sitting in chosen.select_related("board").order_by("number"):
        sittings[sitting.board_id].append(sitting)
    for match, board, why, winner in [*ranked[at:], *ranked[:at]]:
        deal = _open(match, sittings[board.pk], why, winner)
        if deal is not None:
            return None if embargoes.in_force(match, now=now) else deal
    return None


Ranked = tuple[Match, Board, Interest, Party | None]


def _rank(matches: Sequence[Match]) -> list[Ranked]:
    """Return the matches, each with its most interesting board; the most interesting match comes first."""
    ids = [match.pk for match in matches]
    parties: dict[int, list[Party]] = {pk: [] for pk in ids}
    for party in Party.objects.filter(match__in=ids).select_related("version__bot").order_by("number"):
        parties[party.match_id].append(party)
    before = {
        (point.match_id, point.version_id): point.elo - point.change
        for point in RatingPoint.objects.filter(match__in=ids)
    }
    boards: dict[int, list[Board]] = {pk: [] for pk in ids}
    for board in Board.objects.filter(match__in=ids).order_by("match", "number"):
        if len(boards[board.match_id]) < MOST_BOARDS:
            boards[board.match_id].append(board)
    ranked = []
    for match in matches:
        if boards[match.pk]:
            played = parties[match.pk]
            winner = _winner(played)
            elo = {
                party.pk: before[match.pk, party.version_id]
                for party in played
                if (match.pk, party.version_id) in before
            }
            number, why = judge(boards[match.pk], winner, played, elo, knock_out=_hangs_on_it(match))
            [board] = (board for board in boards[match.pk] if board.number == number)
            ranked.append((match, board, why, winner))
    return sorted(ranked, key=lambda row: (-row[2].weight, -row[0].pk))


def _hangs_on_it(match: Match) -> bool:
    """Return True if the result decides who reaches the next round or stage."""
    return match.tournament is not None and (
        match.tournament.event_id is not None or "elimination" in match.tournament.format
    )


def _winner(parties: Iterable[Party]) -> Party | None:
    by_points = sorted((party for party in parties if party.points is not None), key=lambda party: -(party.points or 0))
    if len(by_points) < 2 or by_points[0].points == by_points[1].points:
        return None
    return by_points[0]


def judge(
    boards: Sequence[Board],
    winner: Party | None,
    parties: Sequence[Party],
    before: Mapping[int, float],
    *,
    knock_out: bool,
) -> tuple[int, Interest]:
    """Return the number of the board of a match that is shown, and why. before: Elo of its parties before the match, by key of the party."""
    leads = {board.number: _lead(board.scores, winner.number if winner else None) for board in boards}
    widest = max(leads, key=lambda number: (abs(leads[number]), -number))
    if winner is None:
        return widest, Interest("latest", 0.0)
    others = [before[party.pk] for party in parties if party.pk != winner.pk and party.pk in before]
    gap = comparable(max(others) - before[winner.pk], ELO_DIGITS) if others and winner.pk in before else 0.0
    if gap >= UPSET:
        return max(leads, key=lambda number: (leads[number], -number)), Interest("upset", 3 + gap / UPSET, round(gap))
    margin = sum(leads.values())
    if len(boards) > 1 and 0 < margin <= max(leads.values()):
        decisive = max(leads, key=lambda number: (leads[number], -number))
        return decisive, Interest("decisive", 2.5 if knock_out else 1.5)
    mean = sum(map(abs, leads.values())) / len(leads)
    if mean and abs(leads[widest]) >= 2 * mean:
        return widest, Interest("swing", min(2.0, abs(leads[widest]) / mean / 2))
    return widest, Interest("latest", 0.0)


def _lead(scores: Sequence[int], winner: int | None) -> int:
    """Return the winner's lead on a board, negative if the winner lost it; if the match has no winner, the lead of the best party over the next."""
    if winner is None:
        first, second, *_ = sorted(scores, reverse=True)
        return first - second
    return scores[winner] - max(score for party, score in enumerate(scores) if party != winner)


def open_board(match: Match, board: int) -> ShownDeal | None:
    """Return the most interesting deal of a board, or None if its cards cannot be shown. Three queries; reads the log.

    `match` must have been read as in `choose`.
    """
    sittings = Sitting.objects.filter(board__match=match, board__number=board)
    return _open(match, sittings.select_related("board").order_by("number"), Interest("latest", 0.0), None)


def _open(match: Match, sittings: Iterable[Sitting], why: Interest, winner: Party | None) -> ShownDeal | None:
    """Return the most interesting deal of a board, given with its sittings, or None if its cards cannot be shown."""
    best: tuple[int, int, ShownDeal] | None = None
    for sitting in sittings:
        sitting.board.match = match
        try:
            record = replays.replay(sitting)
        except Refused:
            return None
        for loud, length, first, last, kind in _deals(record["events"]):
            reason = Interest(kind, why.weight) if kind and why.kind in ("latest", "swing") else why
            if best is None or (loud, length) > best[:2]:
                best = (loud, length, ShownDeal(match, sitting, reason, winner, first, last))
    return best[2] if best else None


def _deals(events: Iterable[Mapping[str, object]]) -> list[tuple[int, int, int, int, str]]:
    """Return for each deal the number of its LOUD events, its number of steps, its first and last step, and its first LOUD event or ""."""
    deals: list[tuple[int, int, int, int, str]] = []
    step = -1
    for event in events:
        if event["e"] == QUIET:
            continue
        step += 1
        if event["e"] == "deal" or not deals:
            deals.append((0, 0, step, step, ""))
        loud, length, first, _last, kind = deals[-1]
        word = next((str(event.get(name)) for name in ("e", "why") if event.get(name) in LOUD), "")
        deals[-1] = (loud + bool(word), length + 1, first, step, kind or word)
    return deals

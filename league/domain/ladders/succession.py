"""Is a new version better than the one before? Each is tested by itself, in every game of both: a sequential test, match after match, in idle time.

Both sit at one table; where a game takes more, house bots sit with them. Each board counts for the one of the two that scored more on it. The
test asks whether the new version is stronger by 0 Elo or by 30, wrong in one case of twenty at most; after `CAP` boards it is not told apart.
Its matches are of the kind of the ladders and unrated, since both belong to one owner.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine import sprt
from league.domain.ladders.willing import willing
from league.domain.matches import matches
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, SuccessionVerdict
from league.models import Board, Bot, BotVersion, Match, Rung, Succession
from league.pure.portable import comparable

ELO0, ELO1 = 0.0, 30.0  # of a board
BOUNDS = sprt.bounds()
CAP = 1000  # boards
BOARDS = 8
BESIDES = 50  # that are under way or stand still, of those that are looked at
OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)


def count_boards(test: Succession) -> int:
    """Boards that were counted."""
    return test.won + test.drawn + test.lost


def estimate(test: Succession) -> sprt.Estimate | None:
    """What the boards say; None before the first."""
    counts = (test.lost, test.drawn, test.won)
    return sprt.estimate(counts) if sum(counts) else None


@dataclass(frozen=True)
class Shown:
    """A test as pages show it: with what its boards say, and the bound of the log-likelihood ratio at which it ends."""

    test: Succession
    found: sprt.Estimate | None
    bound: float = BOUNDS.upper


def of_bot(bot: Bot, most: int = 25) -> list[Shown]:
    """The tests of a bot's versions, newest first. One query."""
    tests = Succession.objects.filter(version__bot=bot).select_related("version__bot", "before__bot")
    return [Shown(test, estimate(test)) for test in tests.order_by("-pk")[:most]]


def verdict(lost: int, drawn: int, won: int) -> tuple[float, str]:
    """The log-likelihood ratio of these boards of the new version, and what is decided by it; "": nothing yet."""
    ratio = comparable(sprt.llr((lost, drawn, won), ELO0, ELO1))
    if ratio >= BOUNDS.upper:
        return ratio, SuccessionVerdict.STRONGER
    if ratio <= BOUNDS.lower:
        return ratio, SuccessionVerdict.NOT_STRONGER
    return ratio, SuccessionVerdict.CAP if won + drawn + lost >= CAP else ""


def is_open() -> bool:
    """Whether a test goes on. One query."""
    return Succession.objects.filter(willing("version__bot__"), verdict="").exists()


def ready(most: int, *, now: datetime) -> list[Succession]:
    """Tests that go on with another match, those with the fewest first, at most `most`. What was played for them is counted before; some end by that.

    The caller holds the lots (`drawing`). Three queries, and one for each test that was counted.
    """
    open_tests = Succession.objects.filter(willing("version__bot__"), verdict="").order_by("matches", "pk")
    tests = list(open_tests.select_related("version__bot", "before__bot")[: most + BESIDES])
    if not tests:
        return []
    last = {row.key: row for row in Match.objects.filter(key__in=[_key(test) for test in tests if test.matches])}
    scores = defaultdict(list)
    done = [row.pk for row in last.values() if row.status == MatchStatus.FINISHED]
    for match, board in Board.objects.filter(match__in=done).values_list("match_id", "scores"):
        scores[match].append(board)
    found = []
    for test in tests:
        row = last.get(_key(test))
        if row is not None and row.status not in OVER:
            continue
        if row is None or not _count(test, scores[row.pk], now):
            found.append(test)
    return found[:most]


def _key(test: Succession) -> str:
    return f"s:{test.pk}:{test.matches}"


def _count(test: Succession, boards: Sequence[Sequence[int]], now: datetime) -> bool:
    """Count the boards of the last match of a test; whether that ends it. That the match is counted is seen by the next one, or the end."""
    won, drawn, lost = test.won, test.drawn, test.lost
    for new, old, *_ in boards:
        won, drawn, lost = won + (new > old), drawn + (new == old), lost + (new < old)
    test.llr, decided = verdict(lost, drawn, won)
    test.won, test.drawn, test.lost, test.verdict = won, drawn, lost, decided
    if decided:
        _write(test, decided=now)
    return bool(decided)


def _write(test: Succession, **more: object) -> None:
    """Unless a newer version has ended it at this moment."""
    told = {name: getattr(test, name) for name in ("won", "drawn", "lost", "llr", "matches", "verdict")}
    Succession.objects.filter(pk=test.pk, verdict="").update(**told, **more)


def plan_next(test: Succession, *, priority: int) -> matches.MatchPlan | None:
    """The next match of a test that is ready, noted in its row; None where too few house bots are there for its game. A few queries."""
    pool = pools.pool(test.game)
    seats = pools.parties(pool)
    table = [test.version, test.before, *_company(test, seats - 2)]
    if len(table) < seats:
        return None
    test.matches += 1
    _write(test)
    return matches.MatchPlan(
        key=_key(test),
        kind=MatchKind.LADDER,
        pool=pool,
        table=_key(test),
        secret=secrets.token_bytes(32),
        boards=min(BOARDS, CAP - count_boards(test)),
        versions=tuple(table),
        rated=False,
        priority=priority,
    )


def _company(test: Succession, number: int) -> list[BotVersion]:
    """So many house bots, if there are."""
    if number < 1:
        return []
    rows = Rung.objects.filter(willing(), game=test.game, bot__is_house=True).exclude(bot=test.version.bot)
    return [rung.version for rung in rows.select_related("version__bot").order_by("pk")[:number]]


def begin(version: BotVersion, taken: Collection[tuple[str, int]], *, now: datetime) -> None:
    """A version has taken the places of others (game, version) on the ladders: it is tested against each, and what was tested before ends."""
    games = [game for game, _ in taken]
    older = Succession.objects.filter(version__bot=version.bot, game__in=games, verdict="")
    older.exclude(version=version).update(verdict=SuccessionVerdict.SUPERSEDED, decided=now)
    Succession.objects.bulk_create(
        (Succession(game=game, version=version, before_id=before, begun=now) for game, before in taken),
        ignore_conflicts=True,
    )

"""Version tests: is a new version better than the one before? In every game that both play, a sequential test runs in idle time.

Both versions sit at one table; in games with more seats, house bots join them. Of each board, the one of the two with the higher score is the
winner. The test decides between two hypotheses, that the new version is stronger by 0 Elo or by 30, with at most one wrong decision in twenty;
after `CAP` boards it ends undecided. Its matches are of the kind "ladder", and unrated because both versions have the same owner.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from engine import sprt
from league.domain.bots.willing import willing
from league.domain.matches import matches
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, VersionTestVerdict
from league.models import Board, Bot, BotVersion, Match, Rung, VersionTest
from league.pure.portable import comparable

ELO0, ELO1 = 0.0, 30.0  # The two hypotheses, in Elo on a board.
BOUNDS = sprt.bounds()
CAP = 1000  # The most boards of a test.
FEW = 8  # With fewer boards than this, pages do not say which version looks better.
LIKELY = 0.75  # From this likelihood of superiority on, pages call a version probably better.
BOARDS = 8
BESIDES = 50  # Additional tests that are read, because some are still playing.
OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)


def count_boards(test: VersionTest) -> int:
    """Return the number of counted boards."""
    return test.won + test.drawn + test.lost


def estimate(test: VersionTest) -> sprt.Estimate | None:
    """Return the estimate from the boards so far; None before the first."""
    counts = (test.lost, test.drawn, test.won)
    return sprt.estimate(counts) if sum(counts) else None


@dataclass(frozen=True)
class ShownTest:
    """A test as pages show it, with its estimate, and the log-likelihood ratio that would end it."""

    test: VersionTest
    estimate: sprt.Estimate | None
    bound: float = BOUNDS.upper

    @property
    def boards(self) -> int:
        """Return the number of counted boards."""
        return count_boards(self.test)

    @property
    def lead(self) -> str:
        """Return "better", "worse" or "even" for a verdict, else "likely", "unlikely" or "open" from the boards so far."""
        if self.test.verdict:
            ends = {VersionTestVerdict.STRONGER.value: "better", VersionTestVerdict.NOT_STRONGER.value: "worse"}
            return ends.get(self.test.verdict, "even")
        if self.estimate is None or self.boards < FEW:
            return "open"
        return "likely" if self.estimate.los > LIKELY else "unlikely" if self.estimate.los < 1 - LIKELY else "open"

    @property
    def more(self) -> int | None:
        """Return about how many more boards will decide the test if they go on as before, in whole matches; None if that cannot be estimated."""
        if self.test.verdict or self.boards < FEW or not self.test.llr:
            return None
        pace = abs(self.test.llr) / self.boards
        rest = min((self.bound - abs(self.test.llr)) / pace, CAP - self.boards)
        return max(1, ceil(rest / BOARDS)) * BOARDS


def list_tests(bot: Bot, most: int = 25) -> list[ShownTest]:
    """Return the tests of a bot's versions, newest first. One query."""
    tests = VersionTest.objects.filter(version__bot=bot).select_related("version__bot", "before__bot")
    return [ShownTest(test, estimate(test)) for test in tests.order_by("-pk")[:most]]


def verdict(lost: int, drawn: int, won: int) -> tuple[float, str]:
    """Return the log-likelihood ratio of these results of the new version, and the verdict ("": not decided yet)."""
    ratio = comparable(sprt.llr((lost, drawn, won), ELO0, ELO1))
    if ratio >= BOUNDS.upper:
        return ratio, VersionTestVerdict.STRONGER
    if ratio <= BOUNDS.lower:
        return ratio, VersionTestVerdict.NOT_STRONGER
    return ratio, VersionTestVerdict.CAP if won + drawn + lost >= CAP else ""


def is_open() -> bool:
    """Return True if a test is running. One query."""
    return VersionTest.objects.filter(willing("version__bot__"), verdict="").exists()


def ready(most: int, *, now: datetime) -> list[VersionTest]:
    """Count the finished matches of the running tests, which may end them; return at most `most` tests that need another match.

    Tests with fewest matches come first. The caller holds the lock of `LadderDraw` (`drawing`). Three queries, and one for each counted test.
    """
    open_tests = VersionTest.objects.filter(willing("version__bot__"), verdict="").order_by("matches", "pk")
    tests = list(open_tests.select_related("version__bot", "before__bot")[: most + BESIDES])
    if not tests:
        return []
    last = {row.key: row for row in Match.objects.filter(key__in=[_key(test) for test in tests if test.matches])}
    scores = defaultdict(list)
    finished = [row.pk for row in last.values() if row.status == MatchStatus.FINISHED]
    for match, board in Board.objects.filter(match__in=finished).values_list("match_id", "scores"):
        scores[match].append(board)
    waiting = []
    for test in tests:
        row = last.get(_key(test))
        if row is not None and row.status not in OVER:
            continue
        if row is None or not _count(test, scores[row.pk], now):
            waiting.append(test)
    return waiting[:most]


def _key(test: VersionTest) -> str:
    return f"s:{test.pk}:{test.matches}"


def _count(test: VersionTest, boards: Sequence[Sequence[int]], now: datetime) -> bool:
    """Count the boards of a test's last match; return True if they end the test.

    They are not counted again, since the test then has a next match, or has ended.
    """
    won, drawn, lost = test.won, test.drawn, test.lost
    for new, old, *_ in boards:
        won, drawn, lost = won + (new > old), drawn + (new == old), lost + (new < old)
    test.llr, decided = verdict(lost, drawn, won)
    test.won, test.drawn, test.lost, test.verdict = won, drawn, lost, decided
    if decided:
        _write(test, decided=now)
    return bool(decided)


def _write(test: VersionTest, **columns: object) -> None:
    """Write columns of the test, unless a newer version has just ended it."""
    counts = {name: getattr(test, name) for name in ("won", "drawn", "lost", "llr", "matches", "verdict")}
    VersionTest.objects.filter(pk=test.pk, verdict="").update(**counts, **columns)


def plan_next(test: VersionTest, *, priority: int) -> matches.MatchPlan | None:
    """Plan the next match of a test and note it in the test's row; None if its game has too few house bots. A few queries."""
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


def _company(test: VersionTest, number: int) -> list[BotVersion]:
    """Return `number` house bots to fill the table, or fewer if there are not enough."""
    if number < 1:
        return []
    rows = Rung.objects.filter(willing(), game=test.game, bot__is_house=True).exclude(bot=test.version.bot)
    return [rung.version for rung in rows.select_related("version__bot").order_by("pk")[:number]]


def begin(version: BotVersion, replaced: Collection[tuple[str, int]], *, now: datetime) -> None:
    """Start tests of a version against the `replaced` versions on the ladders (game, version), and end earlier tests of its bot there."""
    games = [game for game, _ in replaced]
    older = VersionTest.objects.filter(version__bot=version.bot, game__in=games, verdict="")
    older.exclude(version=version).update(verdict=VersionTestVerdict.SUPERSEDED, decided=now)
    VersionTest.objects.bulk_create(
        (VersionTest(game=game, version=version, before_id=before, begun=now) for game, before in replaced),
        ignore_conflicts=True,
    )

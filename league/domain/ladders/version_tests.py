"""Version tests: is a new version better than the one before, or than the boss of its league? A sequential test runs in idle time.

Both versions sit at one table; in games with more seats, house bots join them. Of each board, the one of the two with the higher score is the
winner. Against the version before, the test decides between two hypotheses, that the new version is stronger by 0 Elo or by 30, with at most one
wrong decision in twenty; after `CAP` boards it ends undecided. `league.pure.bosses` has the rules against a boss. The matches are of the kind
"ladder", and unrated.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Generic, TypeVar

from django.db.models import QuerySet

from engine import sprt
from league.domain.bots.willing import willing
from league.domain.ladders import bosses
from league.domain.matches import matches
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus, VersionTestVerdict
from league.models import Board, BossTest, Bot, BotVersion, Match, Rung, SequentialTest, Sitting, VersionTest
from league.pure.bosses import SequentialRules, boss_rules

BOUNDS = sprt.bounds()
CAP = 1000  # The most boards of a test of two versions of a bot.
RULES = SequentialRules(0.0, 30.0, BOUNDS, 0, CAP)
Test = TypeVar("Test", bound=SequentialTest)
FEW = 8  # With fewer boards than this, pages do not say which version looks better.
LIKELY = 0.75  # From this likelihood of superiority on, pages call a version probably better.
BOARDS = 8
BESIDES = 50  # Additional tests that are read, because some are still playing.
OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)


def count_boards(test: SequentialTest) -> int:
    """Return the number of counted boards."""
    return test.won + test.drawn + test.lost


def estimate(test: SequentialTest) -> sprt.Estimate | None:
    """Return the estimate from the boards so far; None before the first."""
    counts = (test.lost, test.drawn, test.won)
    return sprt.estimate(counts) if sum(counts) else None


@dataclass(frozen=True)
class ShownTest(Generic[Test]):
    """A test as pages show it, with its estimate."""

    test: Test
    estimate: sprt.Estimate | None

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
        rules = rules_of(self.test)
        bound = rules.bounds.upper if self.test.llr > 0 else -rules.bounds.lower
        pace = abs(self.test.llr) / self.boards
        rest = min((bound - abs(self.test.llr)) / pace, rules.cap - self.boards)
        return max(1, ceil(rest / BOARDS)) * BOARDS

    @property
    def position(self) -> tuple[int, int]:
        """Return where between the bounds of the test its evidence is, and where it began, in percent of the way."""
        bounds = rules_of(self.test).bounds
        width = bounds.upper - bounds.lower
        at, start = ((ratio - bounds.lower) / width for ratio in (self.test.llr, 0.0))
        return round(100 * min(1.0, max(0.0, at))), round(100 * start)

    @property
    def progress(self) -> int:
        """Return how much of the evidence for a win there is, in percent: 100 if the test is won."""
        share = max(0.0, self.test.llr / rules_of(self.test).bounds.upper)
        return 100 if self.test.verdict == VersionTestVerdict.STRONGER else min(99, int(100 * share))


def list_tests(bot: Bot) -> list[ShownTest[VersionTest]]:
    """Return the latest tests of a bot's versions, newest first. One query."""
    tests = VersionTest.objects.filter(version__bot=bot).select_related("version__bot", "before__bot")
    return [ShownTest(test, estimate(test)) for test in tests.order_by("-pk")[:25]]


def rules_of(test: SequentialTest) -> SequentialRules:
    """Return the rules of a test."""
    return boss_rules(test.attempt, test.margin) if isinstance(test, BossTest) else RULES


def is_open() -> bool:
    """Return True if a test is running, or one against a boss waits. Three queries at most."""
    running = VersionTest.objects.filter(willing("version__bot__"), verdict="")
    return running.exists() or bosses.running().exists() or bosses.waiting().exists()


def ready(most: int, *, now: datetime) -> list[VersionTest]:
    """Return at most `most` tests of two versions of a bot that need another match. Queries as in `_ready`."""
    rows = VersionTest.objects.filter(willing("version__bot__"), verdict="").select_related(
        "version__bot", "before__bot"
    )
    return _ready(rows, most, now)


def ready_for_bosses(most: int, *, now: datetime) -> list[BossTest]:
    """Return at most `most` tests against bosses that need another match, and start new ones while fewer are running. Queries as in `_ready`."""
    rows = bosses.running().select_related("version__bot", "opponent__bot", "boss")
    tests = _ready(rows, most, now)
    if bosses.begin(max(0, most - rows.count()), now=now):
        tests = _ready(rows, most, now)
    return tests


def _ready(rows: QuerySet[Test], most: int, now: datetime) -> list[Test]:
    """Count the finished matches of these tests, which may end them; return at most `most` tests that need another match.

    Tests with fewest matches come first. The caller holds the lock of `LadderDraw` (`drawing`). Three queries, and one for each counted test.
    """
    tests = list(rows.order_by("matches", "pk")[: most + BESIDES])
    if not tests:
        return []
    last = {row.key: row for row in Match.objects.filter(key__in=[_key(test) for test in tests if test.matches])}
    scores = defaultdict(list)
    finished = [row.pk for row in last.values() if row.status == MatchStatus.FINISHED]
    # The version of a test has the first seat. Against a boss it loses the boards on which it failed.
    failed = Sitting.objects.filter(board__match__in=finished, fault_party=0) if rows.model is BossTest else None
    lost = set(failed.values_list("board", flat=True)) if failed is not None and finished else set()
    for board, match, result in Board.objects.filter(match__in=finished).values_list("pk", "match_id", "scores"):
        scores[match].append([0, 1] if board in lost else result)
    waiting = []
    for test in tests:
        row = last.get(_key(test))
        if row is not None and row.status not in OVER:
            continue
        if row is None or not _count(test, scores[row.pk], now):
            waiting.append(test)
    return waiting[:most]


def _key(test: SequentialTest) -> str:
    return f"{'b' if isinstance(test, BossTest) else 's'}:{test.pk}:{test.matches}"


def keys(test: SequentialTest) -> list[str]:
    """Return the keys of all matches of a test."""
    return [f"{_key(test).rpartition(':')[0]}:{number}" for number in range(1, test.matches + 1)]


def _count(test: SequentialTest, boards: Sequence[Sequence[int]], now: datetime) -> bool:
    """Count the boards of a test's last match; return True if they end the test.

    They are not counted again, since the test then has a next match, or has ended.
    """
    won, drawn, lost = test.won, test.drawn, test.lost
    for new, old, *_ in boards:
        won, drawn, lost = won + (new > old), drawn + (new == old), lost + (new < old)
    test.llr, decided = rules_of(test).decide(lost, drawn, won)
    test.won, test.drawn, test.lost, test.verdict = won, drawn, lost, decided
    if decided and _write(test, decided=now) and isinstance(test, BossTest):
        bosses.settle(test, now=now)
    return bool(decided)


def _write(test: SequentialTest, **columns: object) -> bool:
    """Write columns of the test, and return True; False if a newer version has just ended it."""
    counts = {name: getattr(test, name) for name in ("won", "drawn", "lost", "llr", "matches", "verdict")}
    return type(test)._default_manager.filter(pk=test.pk, verdict="").update(**counts, **columns) > 0


def plan_next(test: SequentialTest, *, priority: int) -> matches.MatchPlan | None:
    """Plan the next match of a test and note it in the test's row; None if its game has too few house bots. A few queries."""
    pool = pools.pool(test.game)
    seats = pools.parties(pool)
    table = [test.version, test.rival, *_company(test, seats - 2)]
    if len(table) < seats:
        return None
    test.matches += 1
    _write(test)
    return matches.MatchPlan(
        key=_key(test),
        kind=MatchKind.LADDER,
        pool=pool,
        table=_key(test),
        secret=bosses.secret_of(test) if isinstance(test, BossTest) else secrets.token_bytes(32),
        boards=min(BOARDS, rules_of(test).cap - count_boards(test)),
        versions=tuple(table),
        rated=False,
        priority=priority,
    )


def _company(test: SequentialTest, number: int) -> list[BotVersion]:
    """Return `number` house bots to fill the table, or fewer if there are not enough."""
    if number < 1:
        return []
    rows = Rung.objects.filter(willing(), game=test.game, bot__is_house=True)
    rows = rows.exclude(bot__in=[test.version.bot_id, test.rival.bot_id])
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

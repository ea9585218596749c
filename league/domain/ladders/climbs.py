"""The climb of bots through the boss leagues, and the boards that cost them most, for pages and the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from league.domain.core import clock
from league.domain.ladders import version_tests
from league.domain.ladders.version_tests import ShownTest
from league.domain.ratings import pools
from league.enums import BossLeague, VersionTestVerdict
from league.models import Board, Boss, BossTest, Bot, Match, Player, Rung, Sitting
from league.pure.bosses import season_of

MOST_BOARDS = 5


@dataclass(frozen=True)
class Climb:
    """A bot in the leagues of one game: its rung, the boss of its league, and its test against that boss, running or the latest; None: none."""

    rung: Rung
    boss: Boss | None
    test: ShownTest[BossTest] | None

    @property
    def league(self) -> BossLeague:
        """Return the league of the bot."""
        return BossLeague(self.rung.league)

    @property
    def margin(self) -> int:
        """Return the lead in Elo that the bot needs over the boss, or needed in its test."""
        if self.test is not None:
            return self.test.test.margin
        return self.boss.lead if self.boss is not None else 0

    @property
    def state(self) -> str:
        """Return "crown" above all bosses, "none" without a boss, "running", "failed", or "waits" for a test."""
        if self.league == BossLeague.CROWN:
            return "crown"
        if self.test is not None and not self.test.test.verdict:
            return "running"
        if self.boss is None:
            return "none"
        ended = (VersionTestVerdict.NOT_STRONGER, VersionTestVerdict.CAP)
        return "failed" if self.test is not None and self.test.test.verdict in ended else "waits"


@dataclass(frozen=True)
class CostlyBoard:
    """A board of a test: the match, its place in it, the sitting that cost most, and the points more of the boss."""

    match: Match
    number: int
    sitting: int
    lost: float


def read_bosses(game: str) -> list[tuple[BossLeague, Boss | None]]:
    """Return the leagues of a game with their bosses, wood first. One query."""
    rows = Boss.objects.filter(season=season_of(clock.present()), game=game)
    by_league = {boss.league: boss for boss in rows.select_related("version__bot__owner").defer("secret")}
    return [(league, by_league.get(league)) for league in BossLeague if league != BossLeague.CROWN]


def rungs_of_game(game: str) -> QuerySet[Rung]:
    """Select the bots in the leagues of a game. The index `rung_league` has the order by league."""
    return Rung.objects.filter(game=game, bot__is_house=False).select_related("bot__owner")


def climbs_of_bot(bot: Bot) -> list[Climb]:
    """Return a bot in all its games: running tests first, then the highest leagues. Three queries; none for a house bot."""
    if bot.is_house:
        return []
    climbs = read_climbs(list(Rung.objects.filter(bot=bot).select_related("bot")))
    return sorted(climbs, key=lambda climb: (climb.state != "running", -climb.league, climb.rung.game))


def read_climbs(rungs: Sequence[Rung]) -> list[Climb]:
    """Return these rungs with their bosses and tests. Two queries."""
    if not rungs:
        return []
    season = season_of(clock.present())
    rows = Boss.objects.filter(season=season, game__in={rung.game for rung in rungs})
    rows = rows.select_related("version__bot").defer("secret")
    by_place = {(boss.game, boss.league): boss for boss in rows}
    tests = BossTest.objects.filter(version__in={rung.version_id for rung in rungs}, boss__in=by_place.values())
    by_boss: dict[tuple[int, int], BossTest] = {}
    for test in tests.select_related("opponent__bot", "version__bot").order_by("pk"):
        by_boss[test.version_id, test.boss_id] = test
    climbs = []
    for rung in rungs:
        boss = by_place.get((rung.game, rung.league))
        latest = by_boss.get((rung.version_id, boss.pk)) if boss else None
        climbs.append(Climb(rung, boss, ShownTest(latest, version_tests.estimate(latest)) if latest else None))
    return climbs


def best_climb(player: Player) -> Climb | None:
    """Return the running test of a player's bots that is closest to a win, else None. Four queries at most."""
    running = BossTest.objects.filter(version__bot__owner=player, verdict="")
    test = running.order_by("-llr").values_list("game", "version__bot").first()
    rung = Rung.objects.filter(game=test[0], bot=test[1]).select_related("bot").first() if test else None
    return read_climbs([rung])[0] if rung else None


def digits(game: str) -> int:
    """Return the decimals that points of this game need."""
    return 0 if pools.load(game).score_size == 1 else 2


def costly_boards(test: BossTest) -> list[CostlyBoard]:
    """Return the boards of a test that the boss won by most. Three queries; a test has fifty matches at most."""
    matches = {row.pk: row for row in Match.objects.filter(key__in=version_tests.keys(test)).defer("secret")}
    rows = Board.objects.filter(match__in=matches).values_list("pk", "match_id", "number", "scores")
    lost = sorted((scores[0] - scores[1], match, number, pk) for pk, match, number, scores in rows)
    worst = [row for row in lost if row[0] < 0][:MOST_BOARDS]
    sittings: dict[int, list[tuple[int, int]]] = {}
    for board, number, seating, scores in Sitting.objects.filter(board__in=[pk for *_, pk in worst]).values_list(
        "board", "number", "seating", "scores"
    ):
        lead = scores[seating.index(0)] - scores[seating.index(1)]
        sittings.setdefault(board, []).append((lead, number))
    size = pools.load(test.game).score_size
    return [
        CostlyBoard(matches[match], number, min(sittings.get(pk, [(0, 0)]))[1], -lead / size)
        for lead, match, number, pk in worst
    ]

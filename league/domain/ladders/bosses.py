"""The boss leagues: who the bosses of a season are, whose bots are tested against them, and who rises.

Everything here runs in the transaction of a draw (`drawing`), under its lock: so a season starts once, and a bot rises once, also after a crash.
A test plays like a version test (`version_tests`), unrated. `league.pure.bosses` has the rules.
"""

from __future__ import annotations

import hmac
import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import F, Q, QuerySet

from league.domain.bots.willing import willing
from league.domain.core import journal
from league.domain.people import ownership
from league.domain.ratings import pools
from league.enums import BossLeague, VersionStatus, VersionTestVerdict
from league.models import Boss, BossTest, Bot, BotVersion, Rating, Rung
from league.pure import bosses
from league.pure.bosses import BossCandidate, BossChoice

HOUSE = ("random", "greedy", "counting", "deep", "champion")  # The house bots that may be bosses, weakest first.
MOST_OFFERED = 50  # The most offered bots of a game that are read, best first.


def appoint(*, now: datetime) -> None:
    """Appoint the bosses of this season that are missing, and replace those that may not play. Three queries if all is in order."""
    season = bosses.season_of(now)
    for game, (house, present) in _missing(season).items():
        if not present:
            _open_season(game, season, house, now)
        else:
            choices = bosses.choose_bosses(_candidates(house, {}), [])
            _add(game, season, [None if league in present else boss for league, boss in enumerate(choices)], now)
    for boss in _away(season):
        _end(BossTest.objects.filter(boss=boss), now)
        Boss.objects.filter(pk=boss.pk).update(version=boss.house_id, stand_in=None)
        _let_contend(boss.game, Q(league=boss.league), now)
        subject = f"game:{boss.game}"
        journal.append("boss.replaced", subject, now=now, actor="scheduler", league=boss.league, version=boss.house_id)


def is_due(*, now: datetime) -> bool:
    """Return True if `appoint` has something to do. Three queries."""
    season = bosses.season_of(now)
    return bool(_missing(season)) or _away(season).exists()


def _missing(season: int) -> dict[str, tuple[dict[str, int], set[int]]]:
    """Return the games that lack a boss: the versions of their house bots, by name, and the leagues that have one."""
    present: dict[str, set[int]] = defaultdict(set)
    for game, league in Boss.objects.filter(season=season).values_list("game", "league"):
        present[game].add(league)
    house: dict[str, dict[str, int]] = defaultdict(dict)
    rungs = Rung.objects.filter(willing(), bot__is_house=True, bot__slug__in=HOUSE)
    for game, slug, version in rungs.values_list("game", "bot__slug", "version"):
        house[game][slug] = version
    missing = {
        game: (versions, present[game]) for game, versions in house.items() if len(present[game]) < bosses.LEAGUES
    }
    # House bots that are about to enter may be weaker than those that have entered.
    soon = BotVersion.objects.filter(bot__is_house=True, status=VersionStatus.VALIDATING)
    return {} if missing and soon.exists() else missing


def _away(season: int) -> QuerySet[Boss]:
    """Select the bosses that may not play and that a house bot can replace."""
    rows = Boss.objects.filter(season=season).exclude(willing("version__bot__"))
    return rows.exclude(house=None).exclude(version=F("house"))


def _open_season(game: str, season: int, house: dict[str, int], now: datetime) -> None:
    """Choose the bosses of a game. Every bot keeps its league, loses its crown and may contend again."""
    pool = pools.pool(game)
    rated = Rating.objects.filter(pool=pool, version__in=house.values()).values_list("version", "elo")
    rows = Rung.objects.filter(willing(), game=game, bot__offered_as_boss=True, bot__is_house=False)
    offered = Rating.objects.filter(pool=pool, version__in=rows.values("version"), provisional=False)
    best = offered.order_by("-certain").values_list("version", "version__bot__owner", "certain")[:MOST_OFFERED]
    choices = bosses.choose_bosses(_candidates(house, dict(rated)), [BossCandidate(*row) for row in best])
    _end(BossTest.objects.filter(game=game), now)
    Rung.objects.filter(game=game, league=BossLeague.CROWN).update(league=BossLeague.GOLD)
    _add(game, season, choices, now)


def _candidates(house: dict[str, int], elo: dict[int, float]) -> list[BossCandidate]:
    return [BossCandidate(house[slug], 0, elo.get(house[slug])) for slug in HOUSE if slug in house]


def _add(game: str, season: int, choices: Sequence[BossChoice | None], now: datetime) -> None:
    """Add these bosses, by league, and let the bots of their leagues contend."""
    rows = [
        Boss(
            game=game,
            season=season,
            league=league,
            version_id=choice.version,
            house_id=choice.house,
            stand_in_id=choice.stand_in,
            margin=choice.margin,
            secret=secrets.token_bytes(32),
        )
        for league, choice in enumerate(choices)
        if choice is not None and choice.version is not None
    ]
    Boss.objects.bulk_create(rows)
    _let_contend(game, Q(league__in=[row.league for row in rows]), now)
    lines = [("boss.appointed", f"game:{game}", {"league": row.league, "version": row.version_id}) for row in rows]
    journal.append_all(lines, now=now, actor="scheduler")


def _let_contend(game: str, leagues: Q, now: datetime) -> None:
    Rung.objects.filter(leagues, game=game, bot__is_house=False).update(contends=now)


def _end(tests: QuerySet[BossTest], now: datetime) -> None:
    tests.filter(verdict="").update(verdict=VersionTestVerdict.SUPERSEDED, decided=now)


def running() -> QuerySet[BossTest]:
    """Select the running tests whose bots may play."""
    return BossTest.objects.filter(willing("version__bot__"), willing("opponent__bot__"), verdict="")


def waiting() -> QuerySet[Rung]:
    """Select the bots that wait for a test, except those whose owner has one running: low leagues first, since their tests are short."""
    rows = Rung.objects.filter(willing(), contends__isnull=False)
    rows = rows.exclude(bot__owner__in=running().values("version__bot__owner"))
    return rows.order_by("league", "contends", "pk")


def begin(most: int, *, now: datetime) -> int:
    """Start at most `most` tests, one for each owner; return their number. One query, and a few for each of them."""
    season, owners = bosses.season_of(now), set()
    for rung in waiting().select_related("bot")[:most]:
        if rung.bot.owner_id in owners:
            continue
        Rung.objects.filter(pk=rung.pk).update(contends=None)
        boss = Boss.objects.filter(season=season, game=rung.game, league=rung.league)
        row = boss.select_related("version__bot", "stand_in__bot").first()
        opponent = row and _opponent(rung.bot, row, now)
        if row is None or opponent is None:
            continue
        attempt = BossTest.objects.filter(boss=row, version__bot__owner=rung.bot.owner_id).count() + 1
        key = {"boss": row, "version_id": rung.version_id, "opponent_id": opponent}
        margin = row.margin if opponent == row.house_id else 0
        fresh = {"game": rung.game, "attempt": attempt, "margin": margin, "begun": now}
        if BossTest.objects.get_or_create(**key, defaults=fresh)[1]:
            owners.add(rung.bot.owner_id)
    return len(owners)


def _opponent(bot: Bot, boss: Boss, now: datetime) -> int | None:
    """Return the boss, or its stand-in, whichever first does not belong to the people of the bot; None if both do. One query."""
    versions = [version for version in (boss.version, boss.stand_in) if version is not None]
    people = ownership.people_of([bot, *(version.bot for version in versions)], now=now)
    apart = (version.pk for version in versions if ownership.are_apart([people[bot.pk], people[version.bot_id]]))
    return next(apart, None)


def enter(bot: Bot, games: Sequence[str], *, now: datetime) -> None:
    """Let a bot contend with the new version on its rungs, and end the tests of the versions before."""
    if not bot.is_house:
        _end(BossTest.objects.filter(game__in=games, version__bot=bot), now)
        Rung.objects.filter(bot=bot, game__in=games).update(contends=now)


def settle(test: BossTest, *, now: datetime) -> None:
    """Move the bot of a test that has just been won one league up, where it contends again."""
    if test.verdict != VersionTestVerdict.STRONGER:
        return
    league = test.boss.league
    rung = Rung.objects.filter(game=test.game, bot=test.version.bot_id, league=league)
    if rung.update(league=league + 1, risen=now, contends=now):
        subject = f"bot:{test.version.bot.slug}"
        journal.append("bot.rose", subject, now=now, actor="scheduler", game=test.game, league=league + 1)


def secret_of(test: BossTest) -> bytes:
    """Return the secret of the test's next match. It follows from the secret of the boss, which was fixed before the test started."""
    return hmac.digest(bytes(test.boss.secret), f"{test.version_id} {test.matches}".encode(), "sha256")

"""Draws for the standing ladders: the next tables, from the current ratings, when the queue is nearly empty.

Tables are drawn only while fewer than `AHEAD` matches of any kind per worker are queued, so the ladders use idle time only. Owners take turns;
among the bots of an owner, unplaced ones come first, then rested ones. `league.pure.pairing.standing` chooses its opponents.

A draw locks the row of `LadderDraw` until its transaction ends; meanwhile other processes do not draw. Matches and rest times are written
together or not at all.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Min, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from league.domain.bots.willing import willing, withheld
from league.domain.core import clock, hints, transitions
from league.domain.core.errors import IllegalMove
from league.domain.ladders import bosses, version_tests
from league.domain.matches import matches, workers
from league.domain.people import ownership
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus
from league.models import LadderDraw, Match, Party, Pool, Rating, Rung
from league.pure.pairing import standing
from league.pure.rating.leaderboard import BASE, ELO, Z95

PRIORITY = -2  # Below tournaments and challenges.
BOSS_PRIORITY = -3  # Tests against bosses, below everything else.
BOSS_SHARE = 8  # While other bots are due, one table in eight is a test against a boss.
AHEAD = 2  # The most queued tables for each worker.
BOARDS = 8  # The same at each table, version tests included: bots read this number, and it must not tell them whom they meet.
SPARE = 8  # Additional candidates that are read, because some find no opponents.
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
# A bot that could not be drawn for a long time is treated as due for at most this long, so it does not come before all others.
CATCH_UP = timedelta(hours=1)
ALONE = timedelta(minutes=1)  # When to look again for opponents of a bot without any.


def draw(*, now: datetime | None = None) -> int:
    """Draw and queue tables until AHEAD matches wait for each worker; return their number. Repeatable, also by several processes at once.

    Nine queries at most if the queue is full or nobody is due; else three for each game and some for each table, whatever the size of the league.
    """
    now = clock.now_or(now)
    if not settings.LADDERS or not room(now=now):
        return 0
    if not (_due(now).exists() or version_tests.is_open() or bosses.is_due(now=now)):
        return 0
    if not LadderDraw.objects.filter(pk=1).exists():
        LadderDraw.objects.get_or_create(pk=1)
    with transaction.atomic():
        ladder_draw = LadderDraw.objects.select_for_update(skip_locked=True).filter(pk=1).first()
        # Checked again, because another process may have drawn just before.
        free = 0 if ladder_draw is None else room(now=now)
        if ladder_draw is None or not free:
            return 0
        bosses.appoint(now=now)
        draw_round = _Round(ladder_draw.drawn, now)
        drawn = draw_round.play(free)
        if drawn:
            LadderDraw.objects.filter(pk=1).update(drawn=draw_round.number)
        if drawn:
            hints.matches_wait()
    return drawn


def room(*, now: datetime) -> int:
    """Return how many tables may be queued until AHEAD matches wait for each worker. Two queries."""
    most = AHEAD * workers.count_able(now=now)
    waiting = Match.work.filter(status=MatchStatus.QUEUED, held_back=False).exclude(not_before__gt=now)
    return most and max(0, most - len(waiting.values_list("pk")[:most]))


def tidy(*, now: datetime | None = None) -> int:
    """Cancel queued tables with a bot that the league withholds, or all tables if ladders are off; return their number. One query.

    The owner of a bot cannot take a drawn table back (`league.domain.bots.willing`).
    """
    now = clock.now_or(now)
    waiting = Match.objects.filter(kind=MatchKind.LADDER, status=MatchStatus.QUEUED, priority__lte=PRIORITY)
    if settings.LADDERS:
        parties = Party.objects.filter(withheld("version__bot__"), match=OuterRef("pk"))
        waiting = waiting.filter(Exists(parties))
    cancelled = 0
    for match in waiting:
        try:
            why = "the league withholds a bot at this table, or draws no ladders"
            transitions.move(match, MatchStatus.CANCELLED, now=now, why=why, reason=why, finished=now)
            cancelled += 1
        except IllegalMove:  # A worker has just claimed the match, so it is played.
            continue
    return cancelled


def _due(now: datetime) -> QuerySet[Rung]:
    return Rung.objects.filter(willing(), due__lte=now)


def _live() -> tuple[Counter[int], Counter[int]]:
    """Count the ladder tables whose result does not count yet, by version and by owner. Two queries."""
    tables = Match.objects.filter(kind=MatchKind.LADDER, priority=PRIORITY, rated=True)
    rows = tables.filter(status__in=LIVE) | tables.filter(status=MatchStatus.FINISHED, counted=None)
    owners = dict(rows.values_list("pk", "owner_id"))
    seats = Party.objects.filter(match__in=owners).values_list("version_id", flat=True)
    return Counter(seats), Counter(owner for owner in owners.values() if owner is not None)


class _Game:
    """The current ladder of one game."""

    def __init__(self, game: str, busy: Counter[int], now: datetime) -> None:
        self.pool: Pool = pools.pool(game)
        rows = Rung.objects.filter(willing(), game=game).order_by("pk").select_related("version__bot")
        self.rungs = list(rows)
        self.people = ownership.people_of((rung.version.bot for rung in self.rungs), now=now)
        self.place = {rung.version_id: place for place, rung in enumerate(self.rungs)}
        rows_of = rows.order_by().values("version")
        rated = Rating.objects.filter(pool=self.pool, version__in=rows_of).values_list(
            "version_id", "elo", "margin", "boards"
        )
        self.ratings: dict[int, tuple[float, float, int]] = {
            version: (elo, margin, boards) for version, elo, margin, boards in rated
        }
        self.busy = busy

    def counted(self, rung: Rung) -> int:
        """Return the number of counted boards of the rung's version."""
        return self.ratings[rung.version_id][2] if rung.version_id in self.ratings else 0

    @cached_property
    def ladder(self) -> standing.Ladder:
        """Return the ladder for the draw. If chains of matches connect no bot to the others, the oldest one counts as connected (`tied`)."""
        if self.rungs and not any(rung.tied for rung in self.rungs):
            first = min(self.rungs, key=lambda rung: (rung.version_id not in self.ratings, rung.entered, rung.pk))
            first.tied = True
        return standing.Ladder([self._bot(rung) for rung in self.rungs])

    def _bot(self, rung: Rung) -> standing.LadderBot:
        people = self.people[rung.version.bot_id]
        tables = self.busy[rung.version_id]
        if rung.version_id not in self.ratings:
            return standing.LadderBot(people, tables=tables, tied=rung.tied)
        elo, margin, _ = self.ratings[rung.version_id]
        return standing.LadderBot(people, (elo - BASE) / ELO, margin / Z95 / ELO, tables, rung.tied)

    def met(self, version: int) -> tuple[Counter[int], bool]:
        """Count the opponents at a version's latest tables, by place on the ladder; True if a counted table connects it to the others.

        Two queries.
        """
        parties = Party.objects.filter(version=version, match__pool=self.pool, match__rated=True)
        parties = parties.exclude(match__status__in=[MatchStatus.VOID, MatchStatus.CANCELLED]).order_by("-match_id")
        latest = dict(parties.values_list("match_id", "match__counted")[: standing.RECENT])
        others = Party.objects.filter(match__in=latest, version__in=self.place).exclude(version=version)
        rows = list(others.values_list("match_id", "version_id"))
        tied = any(latest[match] and self.ladder.tied[self.place[opponent]] for match, opponent in rows)
        return Counter(self.place[opponent] for _, opponent in rows), tied


@dataclass(frozen=True)
class _LadderTable:
    rungs: Sequence[Rung]
    plan: matches.MatchPlan


class _Round:
    """One draw of several tables. The caller holds the lock of `LadderDraw`."""

    def __init__(self, drawn: int, now: datetime) -> None:
        self.number, self.now = drawn, now
        self.busy, self.of_owner = _live()
        self.games: dict[str, _Game] = {}
        self.tables: list[_LadderTable] = []

    def play(self, free: int) -> int:
        """Draw and queue at most `free` tables; return their number. At most half of them test new versions, and more only if no other bot is due.

        Tests against bosses get one table in `BOSS_SHARE`, and those that nobody else needs.
        """
        tests = version_tests.ready(free, now=self.now)
        boss_tests = version_tests.ready_for_bosses(free, now=self.now)
        quota = min(len(boss_tests), (self.number + free) // BOSS_SHARE - self.number // BOSS_SHARE)
        share = min(len(tests), (free - quota + self.number % 2) // 2)
        most = free - quota - share
        for rung in self._first(most + SPARE):
            if len(self.tables) < most:
                self._seat(rung)
        moved = {rung.pk: rung for table in self.tables for rung in table.rungs}
        Rung.objects.bulk_update(moved.values(), ["due", "placed", "tied"])
        rest = free - len(self.tables) - quota
        tested = [version_tests.plan_next(test, priority=PRIORITY) for test in tests[:rest]]
        rest = free - len(self.tables) - len(tested)
        tested += [version_tests.plan_next(test, priority=BOSS_PRIORITY) for test in boss_tests[:rest]]
        plans = [*(table.plan for table in self.tables), *(plan for plan in tested if plan is not None)]
        # Tests count too, so that they alternate with other tables if only one table at a time is free.
        self.number += len(plans) - len(self.tables)
        return matches.insert(plans, now=self.now)

    def _first(self, free: int) -> list[Rung]:
        """Return the next rungs: first owners with an unplaced bot, then owners with the fewest tables, then the longest waiting.

        At most `free`.
        """
        full = [version for version, tables in self.busy.items() if tables >= standing.TABLES]
        due = _due(self.now).exclude(version__in=full)
        owners = due.order_by().values("bot__owner").annotate(new=Min("placed"), since=Min("due"))
        waiting = owners.values_list("bot__owner", "new", "since").order_by("new", "since")[: free + len(self.of_owner)]
        turns = sorted(waiting, key=lambda row: (row[1], self.of_owner[row[0]], row[2]))[:free]
        each = -(-free // max(1, len(turns)))
        of_each = [
            list(due.filter(bot__owner=owner).order_by("placed", "due", "pk").select_related("bot")[:each])
            for owner, _, _ in turns
        ]
        rounds = [rungs[turn] for turn in range(each) for rungs in of_each if turn < len(rungs)]
        return rounds[:free]

    def _seat(self, first: Rung) -> None:
        """Draw a table for `first`."""
        game = self.games.get(first.game)
        if game is None:
            game = self.games[first.game] = _Game(first.game, self.busy, self.now)
        if first.version_id not in game.place or self.busy[first.version_id] >= standing.TABLES:
            return
        place = game.place[first.version_id]
        met, tied = game.met(first.version_id)
        if tied:
            game.ladder.tied[place] = game.rungs[place].tied = True
        # Derived from the server's secret key: an owner who foresaw the draw could leave before a strong opponent.
        lot = salted_hmac("league.ladders", f"{game.pool.key} {self.number}", algorithm="sha256").hexdigest()
        rng = random.Random(lot)  # noqa: S311
        drawn = game.ladder.draw(rng, place, pools.parties(game.pool), met)
        if not drawn:
            Rung.objects.filter(pk=first.pk).update(due=self.now + ALONE)
            return
        self.number += 1
        rungs = [game.rungs[index] for index in drawn]
        for rung in rungs:
            self.busy[rung.version_id] += 1
            self._rest(rung, game.counted(rung) + BOARDS)
        self.tables.append(_LadderTable(rungs, self._plan(game, rungs)))

    def _rest(self, rung: Rung, boards: int) -> None:
        rest = standing.rest_s(boards)
        rung.placed = int(rest > 0)
        if rung.version.bot.is_house:
            rest = max(rest, settings.HOUSE_REST_S)
        rung.due = max(rung.due, self.now - CATCH_UP) + timedelta(seconds=rest) if rest else self.now

    def _plan(self, game: _Game, rungs: Sequence[Rung]) -> matches.MatchPlan:
        key = f"l:{self.number}"
        return matches.MatchPlan(
            key=key,
            kind=MatchKind.LADDER,
            pool=game.pool,
            table=key,
            secret=secrets.token_bytes(32),
            boards=BOARDS,
            versions=tuple(rung.version for rung in rungs),
            priority=PRIORITY,
        )

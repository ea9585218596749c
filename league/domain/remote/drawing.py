"""Draws of matches for connected remote bots: nobody chooses an opponent, and all matches count.

Opponents are remote bots of other people and the house bots, whose places in the remote pools make their ratings comparable.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

import engine
from league.domain.bots.willing import willing
from league.domain.core import clock, transitions
from league.domain.core.errors import IllegalMove
from league.domain.matches import kinds, matches, workers
from league.domain.people import ownership
from league.domain.ratings import pools
from league.domain.remote import links
from league.enums import BotState, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Match, Party, RemoteLink

# Seconds by the wall clock: from `hello` to `ready`, of each decision, and of the bank beyond them.
LIMITS = {"start_s": 30, "move_s": 10, "bank_s": 120}
PASSES = 2  # Boards of each seating.
HOUSE = 0.5  # The chance that a seat is offered to a house bot although a remote bot is free.
MOST = 200  # The most connected bots that one draw considers, drawn by chance.
PATIENCE = timedelta(minutes=1)  # A match that no worker begins is cancelled: its bots may have left.


def play(*, now: datetime | None = None) -> int:
    """Remove what is over, and draw matches for connected bots with room; return the number of drawn matches."""
    now = clock.now_or(now)
    links.tidy(now=now)
    _cancel_late(now)
    if not links.connected(now).exists():
        return 0
    candidates = links.connected(now).filter(willing("bot__")).order_by("?").values_list("pk", flat=True)[:MOST]
    with transaction.atomic():
        # The lock keeps another process from drawing the same bots.
        rows = RemoteLink.objects.filter(pk__in=list(candidates)).select_for_update(of=("self",)).order_by("pk")
        drawn = _Draw(list(rows.select_related("bot")), now).plans()
        return matches.insert(drawn, now=now)


def _cancel_late(now: datetime) -> None:
    late = Match.objects.filter(kinds.REMOTE_ROWS, status=MatchStatus.QUEUED, created__lt=now - PATIENCE)
    for match in late:
        try:
            why = "no worker was free for it"
            transitions.move(match, MatchStatus.CANCELLED, now=now, why=why, reason=why, finished=now)
        except IllegalMove:  # A worker has just claimed the match, so it is played.
            continue


class _Draw:
    """One draw. The caller holds the lock of the connections."""

    def __init__(self, connections: Sequence[RemoteLink], now: datetime) -> None:
        bots = {link.bot_id: link for link in connections}
        newest = BotVersion.objects.filter(status=VersionStatus.REMOTE, bot__in=bots).order_by("number")
        self.versions = {version.bot_id: version for version in newest.select_related("bot")}
        live = Match.objects.filter(kinds.REMOTE_ROWS, status__in=links.LIVE)
        self.room = settings.REMOTE_PER_WORKER * workers.count_able(now=now) - live.count()
        seats = list(Party.objects.filter(match__in=live).values_list("version__bot", "version__bot__owner"))
        busy = Counter(bot for bot, _ in seats)
        self.of_owner = Counter(owner for _, owner in seats)
        self.free = {pk: bots[pk].matches - busy[pk] for pk in self.versions}
        self.people = ownership.people_of((version.bot for version in self.versions.values()), now=now)
        house = BotVersion.objects.filter(bot__is_house=True, bot__state=BotState.ACTIVE, bot__stopped=None)
        accepted = house.filter(status=VersionStatus.ACCEPTED).order_by("number").select_related("bot")
        self.house = list({version.bot_id: version for version in accepted}.values())
        self.rng = random.SystemRandom()

    def plans(self) -> list[matches.MatchPlan]:
        """Return the matches to insert."""
        drawn: list[matches.MatchPlan] = []
        while len(drawn) < self.room:
            waiting = [pk for pk, free in self.free.items() if free > 0]
            if not waiting:
                break
            # Owners take turns, so that nobody takes all places with many bots.
            first = min(waiting, key=lambda pk: (self.of_owner[self.versions[pk].bot.owner_id], self.rng.random()))
            plan = self._plan(self.versions[first])
            if plan is None:
                self.free[first] = 0
                continue
            drawn.append(plan)
            for version in plan.versions:
                self.of_owner[version.bot.owner_id] += 1
                if version.bot_id in self.free:
                    self.free[version.bot_id] -= 1
        return drawn

    def _plan(self, version: BotVersion) -> matches.MatchPlan | None:
        """Return a match of one of the version's games; None if there are no opponents."""
        game = self.rng.choice([game for game in pools.single_games() if version.plays(game)])
        pool = pools.pool(game, remote=True)
        versions = [version]
        while len(versions) < pools.parties(pool):
            opponent = self._opponent(game, versions)
            if opponent is None:
                return None
            versions.append(opponent)
        self.rng.shuffle(versions)
        key = f"remote:{secrets.token_hex(8)}"
        return matches.MatchPlan(
            key=key,
            kind=MatchKind.REMOTE,
            pool=pool,
            table=key,
            secret=secrets.token_bytes(32),
            boards=PASSES * len(engine.load(game).sittings(len(versions))),
            versions=tuple(versions),
            limits=LIMITS,
            priority=kinds.REMOTE_PRIORITY,
            expected_s=1.0,
        )

    def _opponent(self, game: str, versions: Sequence[BotVersion]) -> BotVersion | None:
        people = [self.people[version.bot_id] for version in versions if version.bot_id in self.people]
        remote = [
            version
            for pk, version in self.versions.items()
            if self.free[pk] > 0 and version.plays(game) and ownership.are_apart([*people, self.people[pk]])
        ]
        house = [version for version in self.house if version.plays(game) and version not in versions]
        choices = house if house and (not remote or self.rng.random() < HOUSE) else remote
        return self.rng.choice(choices) if choices else None

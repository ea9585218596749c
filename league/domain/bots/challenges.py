"""Challenges: one unrated match between as many bots as a game has sides, requested by the owner of one of them.

A challenge changes no leaderboard, waits behind all tournaments, and never causes the league to pause a bot.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

import engine
from league.domain.bots import bots, consent
from league.domain.core import clock, hints, journal
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.people import ownership, quotas
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.enums import MatchKind
from league.models import Bot, BotVersion, Match, Player

PRIORITY = -1  # Below tournaments.
MOST_BOARDS = 16
BOARDS = 8


def challenge(
    player: Player,
    own: Bot | BotVersion,
    rivals: Sequence[Bot | BotVersion],
    game: str,
    boards: int = BOARDS,
    *,
    now: datetime | None = None,
) -> Match:
    """Queue an unrated match of the player's own bot against accepted versions; a bot stands for the version that it sends.

    Raise Refused if `own` belongs to somebody else, a bot may not be challenged, or the number of bots is wrong; TooMany at the quota.
    """
    now = clock.now_or(now)
    if game not in engine.games():
        raise Refused("there is no game {game!r}; choose one of {games}", game=game, games=", ".join(engine.games()))
    if type(boards) is not int or not 1 <= boards <= MOST_BOARDS:
        raise Refused("a challenge has 1 to {most} boards, not {boards!r}", most=MOST_BOARDS, boards=boards)
    sides = len(pools.load(game).sides)
    if 1 + len(rivals) != sides:
        raise Refused(
            "{game} is played by {sides} bots; name {rivals} besides yours, not {count}",
            game=game,
            sides=sides,
            rivals=sides - 1,
            count=len(rivals),
        )
    table = [bots.version_of(entrant, game) for entrant in (own, *rivals)]
    if not ownership.may(player, table[0].bot, BotAct.ENTER):
        raise Refused("the bot {bot!r} is not yours; challenge with one of yours", bot=table[0].bot.slug)
    for place, version in enumerate(table):
        # House bots fill as many seats as the game needs
        if version.pk in [earlier.pk for earlier in table[:place]] and not (place > 1 and version.bot.is_house):
            raise Refused("{version} cannot play against itself; choose another version or bot", version=version)
    with transaction.atomic():
        quotas.ask(player, quotas.CHALLENGES, now=now)
        consent.hold([version.bot for version in table[1:]], player)
        versions = tuple(BotVersion.objects.select_related("bot").get(pk=version.pk) for version in table)
        for version in versions:
            bots.check_playable(version, game)
            if version.bot.stopped or version.bot.owner_banned:
                raise Refused("an operator has paused the bot {bot!r}, so it cannot enter", bot=version.bot.slug)
            consent.is_willing(version.bot, player, None)
        key = f"c:{secrets.token_hex(8)}"
        plan = matches.MatchPlan(
            key=key,
            kind=MatchKind.CHALLENGE,
            pool=pools.pool(game),
            table=key,
            secret=secrets.token_bytes(32),
            boards=boards,
            versions=versions,
            rated=False,
            priority=PRIORITY,
            asker_id=player.pk,
        )
        matches.insert([plan], now=now)
        match = Match.objects.get(key=key)
        names = {"bot": str(versions[0]), "against": ", ".join(map(str, versions[1:]))}
        journal.append("match.challenged", f"match:{match.public_id}", now=now, actor=player.name, **names)
        hints.matches_wait()
    return match

"""Challenges: one unrated match of two bots at the wish of the owner of one. It counts in no table, waits behind all else, and pauses nobody."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import transaction

import engine
from league.domain.bots import bots, consent
from league.domain.core import clock, hints, journal
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.people import quotas
from league.domain.ratings import pools
from league.enums import MatchKind
from league.models import Bot, BotVersion, Match, Player

PRIORITY = -1  # behind the tournaments
MOST_BOARDS = 16
BOARDS = 8


def challenge(
    by: Player,
    own: Bot | BotVersion,
    rival: Bot | BotVersion,
    game: str,
    boards: int = BOARDS,
    *,
    now: datetime | None = None,
) -> Match:
    """Queue an unrated match of `by`'s bot with any accepted version; a bot stands for the version that it sends. The rival's owner is not asked.

    Refused or TooMany where it cannot be: another's bot in the place of `own`, one whose owner lets nobody play it, a game without two sides.
    """
    now = clock.given(now)
    if game not in engine.games():
        raise Refused("there is no game {game!r}; the games are {there}", game=game, there=", ".join(engine.games()))
    if type(boards) is not int or not 1 <= boards <= MOST_BOARDS:
        raise Refused("a challenge has 1 to {most} boards, not {boards!r}", most=MOST_BOARDS, boards=boards)
    pair = bots.version_of(own, game), bots.version_of(rival, game)
    if pair[0].bot.owner_id != by.pk:
        raise Refused("the bot {bot!r} is not yours; challenge with one of yours", bot=pair[0].bot.slug)
    if pair[0].pk == pair[1].pk:
        raise Refused("{version} cannot play against itself; choose another version or bot", version=pair[0])
    if len(pools.load(game).sides) != 2:
        raise Refused("{game} has not two sides, so two bots cannot meet in it; choose another game", game=game)
    with transaction.atomic():
        quotas.ask(by, quotas.CHALLENGES, now=now)
        consent.hold([pair[1].bot], by)
        versions = tuple(BotVersion.objects.select_related("bot").get(pk=version.pk) for version in pair)
        for version in versions:
            bots.check_playable(version, game)
            if version.bot.stopped or version.bot.owner_banned:
                raise Refused("the bot {bot!r} is held back by an operator, so it enters nothing", bot=version.bot.slug)
        consent.is_willing(versions[1].bot, by, None)
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
        )
        matches.insert([plan], now=now)
        made = Match.objects.get(key=key)
        names = {"bot": str(versions[0]), "against": str(versions[1])}
        journal.append("match.challenged", f"match:{made.public_id}", now=now, actor=by.name, **names)
        hints.matches_wait()
    return made

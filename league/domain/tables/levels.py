"""The levels at which people play: words for house bots, weakest first."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import models
from django.utils.translation import gettext_lazy as _

from league.models import BotVersion


class Level(models.TextChoices):
    """A level. Its value is the word in addresses."""

    VERY_EASY = "very-easy", _("Very easy")
    NORMAL = "normal", _("Normal")
    HARD = "hard", _("Hard")
    CHAMPION = "champion", _("Champion")


BOTS = {Level.VERY_EASY: "random", Level.NORMAL: "greedy", Level.HARD: "counting", Level.CHAMPION: "champion"}


def offered(bots: Sequence[BotVersion], game: str = "") -> dict[Level, BotVersion]:
    """Return the levels that these bots can play, weakest first, with their bots; with `game`, only bots that play it."""
    house = {version.bot.slug: version for version in bots if version.bot.is_house}
    played = {name: version for name, version in house.items() if not game or version.plays(game)}
    return {level: played[name] for level, name in BOTS.items() if name in played}


def of_bot(slug: str) -> Level | None:
    """Return the level of a house bot, if it is one of them."""
    return next((level for level, name in BOTS.items() if name == slug), None)


def bot(level: str, bots: Sequence[BotVersion], game: str) -> str:
    """Return the name of the bot of a level: the level's own bot, else that of the nearest level, else any house bot; "" if none plays the game."""
    playable = offered(bots, game)
    order = list(BOTS)
    if playable:
        wish = order.index(Level(level))
        nearest = min(playable, key=lambda other: (abs(order.index(other) - wish), order.index(other)))
        return playable[nearest].bot.slug
    return next((version.bot.slug for version in bots if version.bot.is_house and version.plays(game)), "")

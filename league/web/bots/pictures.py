"""The picture of a bot for link previews: its place and rating in its games, and the rating history in the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from django.utils.translation import gettext as _

from league.models import Bot, Rating, RatingPoint
from league.web.common.game_lines import game_title
from league.web.common.words import format_number
from league.web.previews.drawing import Picture, Row
from league.web.previews.links import MOST_POINTS

MOST_GAMES = 3


def of_bot(bot: Bot, ratings: Sequence[Rating], history: Sequence[RatingPoint]) -> Picture:
    """Return the picture of a bot. history: its rating points in the pool of the first rating, newest first."""
    rows = []
    for rating in ratings[:MOST_GAMES]:
        place = "–".join(map(str, dict.fromkeys((rating.rank_best, rating.rank_worst))))
        rows.append(Row(place, game_title(rating.pool.game), format_number(rating.elo, ".0f")))
    return Picture(
        bot.slug,
        head=_("A bot of %(owner)s") % {"owner": bot.owner.name},
        rows=rows,
        curve=[round(point.elo) for point in _sample(history)][::-1] if rows else [],
        foot=_("Place, game and rating") if rows else "",
    )


def _sample(history: Sequence[RatingPoint]) -> Sequence[RatingPoint]:
    """Return as many points as a picture has at most, evenly spread and including the newest."""
    return history[:: max(1, ceil(len(history) / MOST_POINTS))]

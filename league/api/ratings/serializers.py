"""Pools, leaderboards, histories; games and the queue."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.choices import KINDS
from league.api.http.output import Out
from league.api.http.serializers import PoolRef, TeamField, VersionRef


class PoolOut(PoolRef):
    """A pool with the numbers of its bots and matches."""

    bots = serializers.IntegerField(source="bot_count", help_text="Bots on the leaderboard.")
    uncounted = serializers.IntegerField(help_text="Finished rated matches that the leaderboard does not include yet.")
    uncounted_since = serializers.DateTimeField(
        allow_null=True, help_text="When the first of these matches finished; null if there is none."
    )
    fitted_until = serializers.DateTimeField(
        allow_null=True,
        help_text="Strengths include every result that finished before this time, except those in `uncounted`; null: they include all.",
    )
    ranked_until = serializers.DateTimeField(
        allow_null=True,
        help_text="The same for margins, ranks and likelihoods, which are computed later in a large pool.",
    )
    ratings_revision = serializers.IntegerField(
        allow_null=True,
        help_text="Revision of the rating model that fitted the leaderboard; null: no leaderboard yet, or the first revision.",
    )
    revised = serializers.DateTimeField(
        allow_null=True,
        help_text="When a new revision of the rating model last changed the leaderboard; null: never.",
    )


class MovedOut(Out):
    """The change of a bot's place since a day."""

    places = serializers.IntegerField(help_text="Places gained; negative: lost.")
    elo = serializers.FloatField()


class RatingOut(Out):
    """A row of a leaderboard. Elo predicts the results of boards; the anchor bot stands at 1000."""

    place = serializers.IntegerField(help_text="Place in the whole table, by `certain`; provisional rows count.")
    rank_best = serializers.IntegerField(
        source="rating.rank_best", help_text="Best rank that the 95% comparisons allow."
    )
    rank_worst = serializers.IntegerField(source="rating.rank_worst")
    version = VersionRef(source="rating.version")
    elo = serializers.FloatField(source="rating.elo")
    margin = serializers.FloatField(source="rating.margin", help_text="Half of the 95% interval, in Elo.")
    certain = serializers.FloatField(
        source="rating.certain",
        help_text="`elo` less two and a half margins: what is certain even of a bot that stopped after lucky boards.",
    )
    los_next = serializers.FloatField(
        source="rating.los_next", allow_null=True, help_text="Likelihood that the bot is stronger than the next row."
    )
    boards = serializers.IntegerField(source="rating.boards")
    opponents = serializers.IntegerField(source="rating.opponents")
    score = serializers.FloatField(source="rating.score", help_text="Share of the board points, 0 to 1.")
    points_per_board = serializers.FloatField(
        source="rating.points_per_board", help_text="Mean score per board, in the unit of the game."
    )
    faults = serializers.IntegerField(source="rating.faults")
    provisional = serializers.BooleanField(source="rating.provisional")
    estimated = serializers.BooleanField(
        source="rating.estimated",
        help_text="True if the bot has played since the last fit of all bots: `elo` comes from its own boards, with all opponents fixed; "
        "margin, ranks and `los_next` are older.",
    )
    played = serializers.DateTimeField(
        source="rating.played", allow_null=True, help_text="When the last match that counts finished; null: not known."
    )
    idle = serializers.BooleanField(
        source="rating.idle", help_text="True if no match has counted for 30 days. The bot keeps its place."
    )
    slowest_s = serializers.FloatField(
        source="rating.slowest_s",
        allow_null=True,
        help_text="CPU seconds of the version's slowest decision in all matches that count, by the worker's clock; null: not measured.",
    )
    day = MovedOut(
        allow_null=True,
        help_text="The change since the end of yesterday (UTC). Null if the bot had no place then, no table of that day is stored, "
        "or the rows show every version, a limit or a past time.",
    )
    week = MovedOut(allow_null=True, help_text="The same, since a week before that.")
    unsealed = serializers.BooleanField(
        help_text="True if the bot cannot be kept from reading a clock, by which bots could communicate."
    )
    updated = serializers.DateTimeField(source="rating.updated")


class VersionRatingOut(Out):
    """The rating of one version in one pool."""

    pool = PoolRef()
    elo = serializers.FloatField()
    margin = serializers.FloatField(help_text="Half of the 95% interval, in Elo.")
    rank_best = serializers.IntegerField()
    rank_worst = serializers.IntegerField()
    boards = serializers.IntegerField()
    opponents = serializers.IntegerField()
    score = serializers.FloatField()
    points_per_board = serializers.FloatField()
    faults = serializers.IntegerField()
    provisional = serializers.BooleanField()
    estimated = serializers.BooleanField(help_text="See the rows of a leaderboard.")
    updated = serializers.DateTimeField()


class PointOut(Out):
    """The rating of a version right after one of its matches."""

    version = VersionRef()
    match = serializers.CharField(source="match.public_id")
    elo = serializers.FloatField()
    margin = serializers.FloatField()
    change = serializers.FloatField(help_text="Difference of the fits before and after the match, in Elo.")
    at = serializers.DateTimeField()


class GameOut(Out):
    """A game, with its usual table."""

    key = serializers.CharField()
    title = serializers.CharField()
    players = serializers.ListField(
        child=serializers.IntegerField(), help_text="Possible numbers of seats; the usual one comes first."
    )
    score_unit = serializers.CharField()
    revision = serializers.IntegerField()


@extend_schema_field({"type": ["string", "number", "boolean", "null", "array", "object"]})
class AnyField(serializers.JSONField):
    """Any JSON value."""


class OptionOut(Out):
    """An option of a game: one of `values`, or, if that is null, a whole number in `range`."""

    name = serializers.CharField()
    default = AnyField()
    values = serializers.ListField(child=AnyField(), allow_null=True)
    range = serializers.CharField(allow_null=True, help_text="Allowed numbers, in words.")


class GameDetail(GameOut):
    """A game with its options at a table of `seats`."""

    seats = serializers.IntegerField()
    sides = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Seats of each side."
    )
    boards = serializers.IntegerField(help_text="Boards of a match if a tournament sets no other number.")
    options = OptionOut(many=True)


class QueueOut(Out):
    """The queue and the workers, and why nothing is played if that is so."""

    queued = serializers.IntegerField()
    playing = serializers.IntegerField()
    oldest = serializers.DateTimeField(
        allow_null=True, help_text="When the queued match that has waited longest was created."
    )
    workers = serializers.IntegerField()
    refusing = serializers.IntegerField(help_text="Workers that refuse to play, because their sandbox is not safe.")
    starved = serializers.CharField(help_text="Why nothing is played; empty while matches are played.")
    unbuilt = serializers.ListField(
        child=serializers.CharField(), help_text="Languages of bots that wait because no worker has the compiler."
    )
    waiting = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Queued matches by reason: turn, retry (our fault), paused, retest (of a bot), rules (of another release), worker, sandbox.",
    )


class OverallOut(Out):
    """A bot in the ranking over all games at their usual tables."""

    place = serializers.IntegerField(
        allow_null=True, help_text="Null if the bot has played fewer than half of the games."
    )
    bot = serializers.CharField(source="bot.slug")
    owner = serializers.CharField(source="bot.owner.name")
    team = TeamField(source="bot.team.name")
    score = serializers.FloatField(help_text="Expected share of the board points, 0 to 1, averaged over the games.")
    margin = serializers.FloatField(help_text="Half of the 95% interval.")
    games = serializers.DictField(
        child=serializers.FloatField(), help_text="Expected share in each game that the bot has played."
    )
    missing = serializers.ListField(
        child=serializers.CharField(), help_text="Games that the bot has not played; each counts one half."
    )


class ChoiceOut(Out):
    """A choice with a type of hand: its share, and what it brought (docs/explorer.md)."""

    pool = serializers.IntegerField(help_text="Id of the pool.")
    kind = serializers.ChoiceField(choices=KINDS)
    hand = serializers.CharField(help_text="Type of hand; every: all hands together.")
    band = serializers.IntegerField(
        help_text="Rating of the bot: 0 all bots, 1 new ones, 2 below 1000 Elo, 3 to 1149, 4 to 1299, 5 from 1300 on."
    )
    choice = serializers.CharField(help_text="Such as pass, bid 60-79, t1 (a trump, the highest) or 20 40 (songs).")
    number = serializers.IntegerField()
    matches = serializers.IntegerField()
    share = serializers.FloatField(help_text="Of all choices of this kind, hand and band.")
    low = serializers.FloatField(help_text="95% interval of the share.")
    high = serializers.FloatField()
    mean = serializers.FloatField(
        help_text="Score of the deal, less the mean of the other sides, in the unit of the game."
    )
    margin = serializers.FloatField(help_text="Half of the 95% interval of the mean.")

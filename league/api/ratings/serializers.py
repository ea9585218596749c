"""Pools, leaderboards, histories; games and the queue."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import PoolRef, VersionRef


class PoolOut(PoolRef):
    """A pool with the numbers of its bots and matches."""

    bots = serializers.IntegerField(source="bot_count", help_text="Bots on the leaderboard.")
    uncounted = serializers.IntegerField(help_text="Finished rated matches that the leaderboard does not count yet.")
    uncounted_since = serializers.DateTimeField(
        allow_null=True, help_text="When the first of them finished; null where the leaderboard counts every match."
    )
    fitted_until = serializers.DateTimeField(
        allow_null=True,
        help_text="All ratings were fitted together with every result that finished before, but for those that are not counted; null: none is.",
    )
    ranked_until = serializers.DateTimeField(
        allow_null=True, help_text="The same of margins, ranks and likelihoods, which follow later in a large pool."
    )
    ratings_revision = serializers.IntegerField(
        allow_null=True,
        help_text="Revision of the rating model that fitted the leaderboard; null: the leaderboard is empty, or of the first revision.",
    )
    revised = serializers.DateTimeField(
        allow_null=True,
        help_text="When a new revision of the ratings changed the leaderboard last, the same boards counting; null: never.",
    )


class MovedOut(Out):
    """The movement of a bot since a day."""

    places = serializers.IntegerField(help_text="Up; down where negative.")
    elo = serializers.FloatField()


class RatingOut(Out):
    """A line of a leaderboard. Elo of a board; the anchor bot stands at 1000."""

    place = serializers.IntegerField(help_text="In the whole table, by `elo`; provisional rows have one, too.")
    rank_best = serializers.IntegerField(source="rating.rank_best", help_text="Best rank that is possible (95%).")
    rank_worst = serializers.IntegerField(source="rating.rank_worst")
    version = VersionRef(source="rating.version")
    elo = serializers.FloatField(source="rating.elo")
    margin = serializers.FloatField(source="rating.margin", help_text="Half of the 95% interval, Elo.")
    los_next = serializers.FloatField(
        source="rating.los_next", allow_null=True, help_text="Likelihood that it is stronger than the next row."
    )
    boards = serializers.IntegerField(source="rating.boards")
    opponents = serializers.IntegerField(source="rating.opponents")
    score = serializers.FloatField(source="rating.score", help_text="Share of the board points, 0 to 1.")
    points_per_board = serializers.FloatField(source="rating.points_per_board", help_text="In the unit of the game.")
    faults = serializers.IntegerField(source="rating.faults")
    provisional = serializers.BooleanField(source="rating.provisional")
    estimated = serializers.BooleanField(
        source="rating.estimated",
        help_text="It has played since all were fitted together: `elo` follows from its own boards against opponents as they stood; "
        "margin, ranks and `los_next` are older.",
    )
    played = serializers.DateTimeField(
        source="rating.played", allow_null=True, help_text="When its last match that counts was over; null: not known."
    )
    idle = serializers.BooleanField(
        source="rating.idle", help_text="It has played no match that counts for 30 days. It keeps its place."
    )
    day = MovedOut(
        allow_null=True,
        help_text="Since the end of yesterday (UTC); null: it had no place then, or no table of then is kept, "
        "or rows are of every version or of the past.",
    )
    week = MovedOut(allow_null=True, help_text="The same since a week before that.")
    unsealed = serializers.BooleanField(
        help_text="Partners sit at these tables, and the bot cannot be sealed off from the clocks by which they could talk."
    )
    updated = serializers.DateTimeField(source="rating.updated")


class VersionRatingOut(Out):
    """The rating of one version in one pool."""

    pool = PoolRef()
    elo = serializers.FloatField()
    margin = serializers.FloatField(help_text="Half of the 95% interval, Elo.")
    rank_best = serializers.IntegerField()
    rank_worst = serializers.IntegerField()
    boards = serializers.IntegerField()
    opponents = serializers.IntegerField()
    score = serializers.FloatField()
    points_per_board = serializers.FloatField()
    faults = serializers.IntegerField()
    provisional = serializers.BooleanField()
    estimated = serializers.BooleanField(help_text="As in a leaderboard.")
    updated = serializers.DateTimeField()


class PointOut(Out):
    """The rating of a version right after one of its matches."""

    version = VersionRef()
    match = serializers.CharField(source="match.public_id")
    elo = serializers.FloatField()
    margin = serializers.FloatField()
    change = serializers.FloatField(help_text="Difference of the fits after and before the match, Elo.")
    at = serializers.DateTimeField()


class GameOut(Out):
    """A game at its usual table."""

    key = serializers.CharField()
    title = serializers.CharField()
    players = serializers.ListField(
        child=serializers.IntegerField(), help_text="Possible numbers of seats, the usual one first."
    )
    score_unit = serializers.CharField()
    revision = serializers.IntegerField()


@extend_schema_field({"type": ["string", "number", "boolean", "null", "array", "object"]})
class AnyField(serializers.JSONField):
    """Any JSON value."""


class OptionOut(Out):
    """An option of a game: a value of `values`, or where that is null a whole number of `range`."""

    name = serializers.CharField()
    default = AnyField()
    values = serializers.ListField(child=AnyField(), allow_null=True)
    range = serializers.CharField(allow_null=True, help_text="In words.")


class GameDetail(GameOut):
    """A game with its options at a table of `seats`."""

    seats = serializers.IntegerField()
    sides = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Seats by side."
    )
    boards = serializers.IntegerField(help_text="Boards of a match where a tournament names no other number.")
    options = OptionOut(many=True)


class QueueOut(Out):
    """The queue and the workers, and the reason if nothing is played."""

    queued = serializers.IntegerField()
    playing = serializers.IntegerField()
    oldest = serializers.DateTimeField(
        allow_null=True, help_text="The time since which the oldest match has been waiting."
    )
    workers = serializers.IntegerField()
    refusing = serializers.IntegerField(help_text="Workers that refuse to play because their sandbox is not safe.")
    starved = serializers.CharField(help_text="Empty while matches flow.")
    waiting = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Queued matches by why they wait: turn, retry (our fault), paused, retest (of a bot), rules (of another release), worker, sandbox.",
    )


class OverallOut(Out):
    """A bot over all games at their usual tables."""

    place = serializers.IntegerField(allow_null=True, help_text="Null below half of the games.")
    bot = serializers.CharField(source="bot.slug")
    owner = serializers.CharField(source="bot.owner.name")
    score = serializers.FloatField(help_text="Mean over the games of the expected share of the board points, 0 to 1.")
    margin = serializers.FloatField(help_text="Half of the 95% interval.")
    games = serializers.DictField(
        child=serializers.FloatField(), help_text="Expected share in each game it has played."
    )
    missing = serializers.ListField(child=serializers.CharField(), help_text="Games in which it counts one half.")

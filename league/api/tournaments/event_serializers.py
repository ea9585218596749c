"""Events of several stages, circuits and their seasons."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import MessageField, ObjectField, StrictSerializer
from league.api.tournaments.serializers import COUNTING, GameChoice
from league.domain.matches import sight
from league.domain.tournaments import circuits, events, releases, rule, waiting
from league.enums import Audience, Counting, TournamentStatus, format_choices
from league.models import Circuit, Event


class PartOut(Out):
    """A tournament that is a stage (or a group of it), or a division."""

    tournament = serializers.SlugField(source="slug")
    stage = serializers.IntegerField(allow_null=True, help_text="Number of the stage, from 1; null for a division.")
    group = serializers.IntegerField(
        help_text="Number of the group in its stage, or of the division in its season, from 1."
    )
    format = serializers.ChoiceField(choices=format_choices())
    status = serializers.ChoiceField(choices=TournamentStatus.choices)


class EventOut(Out):
    """An event: stages that follow one another."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    document = ObjectField(help_text="The document from which the event was created.")
    secret_sha256 = serializers.CharField(
        help_text="Published before the first deal; the secrets of the stages are derived from the event's secret."
    )
    secret = serializers.SerializerMethodField(
        help_text="In hexadecimal. Null until the event has finished and its replays are visible."
    )
    embargo = serializers.DateTimeField(allow_null=True, help_text="Until this time the replays are hidden.")
    audience = serializers.ChoiceField(
        choices=Audience.choices,
        help_text="Who sees matches and standings before they are released; the owner and operators always do.",
    )
    counting = serializers.SerializerMethodField(help_text=COUNTING)
    private = serializers.BooleanField(help_text="True if only people whom its link has let in know of the event.")
    release = serializers.DateTimeField(
        allow_null=True, help_text="When the owner wants to release the results; null: not decided yet."
    )
    pace_s = serializers.IntegerField(
        help_text="Seconds for which each board is shown after the release; 0: all boards at once."
    )
    due = serializers.DateTimeField(
        allow_null=True, help_text="When entries close and the event starts; null: the owner starts it."
    )
    opens = serializers.SerializerMethodField(
        help_text="When everything is visible; null if nothing is hidden, or the time is not known yet."
    )
    invitation = serializers.SerializerMethodField(help_text="For the owner of a private event: the path of its link.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    tournaments = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(choices=Counting.choices))
    def get_counting(self, event: Event) -> str:
        """Return the rule that applies."""
        return rule.counting(event).value

    def get_secret(self, event: Event) -> str | None:
        """Return the secret once all its deals have been played."""
        open_ = event.opens is None and not event.private
        return events.published_secret(event, is_visible=open_ or bool(event.tournaments.all()))

    @extend_schema_field({"type": ["string", "null"], "format": "date-time"})
    def get_opens(self, event: Event) -> str | None:
        """Return the time of full visibility, or None if it is not known."""
        is_known = event.opens is not None and event.opens != sight.NEVER
        return serializers.DateTimeField().to_representation(event.opens) if is_known and event.opens else None

    @extend_schema_field({"type": ["string", "null"]})
    def get_invitation(self, event: Event) -> str | None:
        """Return the path for the owner, None for all others."""
        viewer = self.context.get("viewer")
        if not event.invitation or viewer is None or viewer.pk != event.owner_id:
            return None
        return reverse("event-join", args=[event.slug, event.invitation])

    @extend_schema_field(PartOut(many=True))
    def get_tournaments(self, event: Event) -> list[dict[str, Any]]:
        """Return the tournaments by stage and group."""
        parts = sorted(event.tournaments.all(), key=lambda part: (part.stage, part.group))
        return list(PartOut(parts, many=True).data)


class StallOut(Out):
    """A match that could not be played, for which the event waits."""

    void = serializers.CharField(help_text="Public id of the void match.")
    again = serializers.CharField(
        help_text="Public id of the match that replaces it; empty if an operator has to request one."
    )


class WaitOut(Out):
    """A tournament for which an event waits."""

    tournament = serializers.SlugField(source="tournament.slug")
    paused = serializers.DateTimeField(source="tournament.paused", allow_null=True)
    left = serializers.IntegerField(source="unplayed", help_text="Number of queued and running matches.")
    stalls = StallOut(many=True)


class EventDetail(EventOut):
    """An event, with the tournaments for which it waits."""

    waits = serializers.SerializerMethodField(help_text="The running tournaments of the current stage.")
    why = serializers.SerializerMethodField(help_text="Why the event could not go on; empty otherwise.")

    @extend_schema_field(WaitOut(many=True))
    def get_waits(self, event: Event) -> list[dict[str, Any]]:
        """Return the waits, by group."""
        return list(WaitOut(waiting.waits(event), many=True).data)

    def get_why(self, event: Event) -> str:
        """Return the reason that the scheduler noted."""
        return waiting.why_cancelled(event)


class TermsNew(StrictSerializer):
    """The start of an event, its audience, and the time of its release."""

    due = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When entries close and the event starts; null: you start it. Not allowed after the start.",
    )

    audience = serializers.ChoiceField(
        choices=Audience.choices,
        help_text="Who sees matches and standings before the release. Matches that are hidden from anybody do not count for the ratings.",
    )
    release = serializers.DateTimeField(
        required=False, allow_null=True, default=None, help_text="When everybody sees them; null: when you decide."
    )
    pace_s = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=releases.PACE_S[1],
        help_text="Seconds for which each board is shown; 0: all boards at once.",
    )


class LinkNew(StrictSerializer):
    """A new link to a private event, or none."""

    close = serializers.BooleanField(
        required=False, default=False, help_text="True: close the event to further people."
    )


class JoinByLink(StrictSerializer):
    """The link of a private event."""

    link = serializers.CharField(max_length=40, help_text="The last part of the link.")


class EntrantNew(StrictSerializer):
    """A bot for a private event."""

    bot = serializers.SlugField(max_length=40)
    leave = serializers.BooleanField(required=False, default=False, help_text="True: withdraw the bot.")


class EventNew(TermsNew):
    """An event from its document (docs/event.schema.json)."""

    audience = serializers.ChoiceField(
        choices=Audience.choices,
        required=False,
        default=Audience.PUBLIC,
        help_text="Who sees matches and standings before the release. Matches that are hidden from anybody do not count for the ratings.",
    )
    private = serializers.BooleanField(
        required=False,
        default=False,
        help_text="True: only people with its link know of the event, and can enter bots until you start it. It does not count for the ratings.",
    )

    document = ObjectField(help_text="Name, game and stages; docs/event.schema.json is the schema.")
    bots = serializers.ListField(child=serializers.SlugField(max_length=40), max_length=settings.MAX_ENTRIES)
    message = MessageField()


class SeasonOut(Out):
    """One occurrence of a circuit."""

    number = serializers.IntegerField()
    due = serializers.DateTimeField()
    opened = serializers.DateTimeField()
    reason = serializers.CharField(help_text="Why the season was skipped; empty if it was played.")
    divisions = serializers.SerializerMethodField()

    @extend_schema_field(PartOut(many=True))
    def get_divisions(self, season: Any) -> list[dict[str, Any]]:
        """Return the divisions, the best first."""
        return list(PartOut(sorted(season.tournaments.all(), key=lambda part: part.group), many=True).data)


class CircuitOut(Out):
    """A league that recurs by a calendar."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    game = serializers.CharField()
    format = serializers.ChoiceField(choices=format_choices())
    parameters = ObjectField()
    boards = serializers.IntegerField(
        allow_null=True, help_text="Number of boards in each match; null: a number that suits the game."
    )
    size = serializers.IntegerField(help_text="Number of entries in a division.")
    moves = serializers.IntegerField(help_text="Number promoted and relegated between two divisions.")
    days = serializers.CharField()
    at = serializers.CharField()
    time_zone = serializers.CharField()
    active = serializers.BooleanField()
    bots = serializers.SerializerMethodField(help_text="Bots that take part in the next season.")
    created = serializers.DateTimeField()
    next_due = serializers.SerializerMethodField(
        help_text="When the next season is due; null while the league is paused."
    )

    @extend_schema_field(serializers.ListField(child=serializers.SlugField()))
    def get_bots(self, circuit: Circuit) -> list[str]:
        """Return the bots by name."""
        return sorted(bot.slug for bot in circuit.bots.all())

    @extend_schema_field({"type": ["string", "null"], "format": "date-time"})
    def get_next_due(self, circuit: Circuit) -> str | None:
        """Return when the next season is due."""
        due = circuits.next_due(circuit)
        return serializers.DateTimeField().to_representation(due) if due else None


class CircuitNew(GameChoice):
    """A recurring league to create."""

    name = serializers.CharField(max_length=60)
    size = serializers.IntegerField(required=False, default=8, min_value=2, max_value=settings.MAX_ENTRIES)
    moves = serializers.IntegerField(required=False, default=2, min_value=0, max_value=settings.MAX_ENTRIES)
    days = serializers.CharField(
        max_length=80, help_text="Weekdays such as mon,thu, or days of the month such as 1,15."
    )
    at = serializers.CharField(max_length=5, help_text="Local time, such as 20:00.")
    time_zone = serializers.CharField(max_length=60, help_text="Name of a time zone, such as Europe/Madrid.")


class CircuitChange(StrictSerializer):
    """A pause or resumption of a recurring league."""

    active = serializers.BooleanField()


class JoinNew(StrictSerializer):
    """A bot that takes part from the next season on."""

    bot = serializers.SlugField(max_length=40)
    message = MessageField()

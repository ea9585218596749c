"""Events of several stages, circuits and their seasons."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import MessageField, ObjectField, StrictSerializer
from league.api.tournaments.serializers import GameChoice
from league.domain.matches import sight
from league.domain.tournaments import circuits, events, releases, waiting
from league.enums import Audience, TournamentStatus, format_choices
from league.models import Circuit, Event


class PartOut(Out):
    """A tournament that is a stage (or a group of it), or a division."""

    tournament = serializers.SlugField(source="slug")
    stage = serializers.IntegerField(allow_null=True, help_text="From 1; null for a division.")
    group = serializers.IntegerField(help_text="Group of the stage or division of the season, from 1.")
    format = serializers.ChoiceField(choices=format_choices())
    status = serializers.ChoiceField(choices=TournamentStatus.choices)


class EventOut(Out):
    """Stages that follow from each other."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    status = serializers.ChoiceField(choices=TournamentStatus.choices)
    document = ObjectField(help_text="As it was created.")
    secret_sha256 = serializers.CharField(
        help_text="Published before the first deal; the secrets of the stages follow from the secret."
    )
    secret = serializers.SerializerMethodField(
        help_text="Hexadecimal. Null until the event has finished, and while replays are hidden."
    )
    embargo = serializers.DateTimeField(allow_null=True, help_text="The time until which its replays are hidden.")
    audience = serializers.ChoiceField(
        choices=Audience.choices,
        help_text="Who sees matches and standings before they are shown; the owner and operators always do.",
    )
    private = serializers.BooleanField(help_text="True if only people whom its link has let in can know of it.")
    release = serializers.DateTimeField(allow_null=True, help_text="When its owner wants it shown; null: not said yet.")
    pace_s = serializers.IntegerField(help_text="Seconds for which each board is shown from then on; 0: all at once.")
    due = serializers.DateTimeField(
        allow_null=True, help_text="The time when entries close and the event starts; null: its owner starts it."
    )
    opens = serializers.SerializerMethodField(
        help_text="The time when all of it is shown; null if nothing is hidden or the time is not known yet."
    )
    invitation = serializers.SerializerMethodField(help_text="The path of the link to a private event, for its owner.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    tournaments = serializers.SerializerMethodField()

    def get_secret(self, event: Event) -> str | None:
        """Return the secret once all its deals have been played."""
        open_ = event.opens is None and not event.private
        return events.published_secret(event, is_visible=open_ or bool(event.tournaments.all()))

    @extend_schema_field({"type": ["string", "null"], "format": "date-time"})
    def get_opens(self, event: Event) -> str | None:
        """Return the time, or None if it is not known."""
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
    """A match that could not be played, and nobody goes on until it is."""

    void = serializers.CharField(help_text="The match that was struck out.")
    again = serializers.CharField(
        help_text="The one that is tried in its place; empty where an operator has to ask for it."
    )


class WaitOut(Out):
    """A tournament that an event waits for."""

    tournament = serializers.SlugField(source="tournament.slug")
    paused = serializers.DateTimeField(source="tournament.paused", allow_null=True)
    left = serializers.IntegerField(source="unplayed", help_text="Matches that wait or are being played.")
    stalls = StallOut(many=True)


class EventDetail(EventOut):
    """An event with what it waits for."""

    waits = serializers.SerializerMethodField(help_text="The running tournaments of the present stage.")
    why = serializers.SerializerMethodField(help_text="Why it could not go on; empty otherwise.")

    @extend_schema_field(WaitOut(many=True))
    def get_waits(self, event: Event) -> list[dict[str, Any]]:
        """Return the waits by group."""
        return list(WaitOut(waiting.waits(event), many=True).data)

    def get_why(self, event: Event) -> str:
        """Return the reason that the scheduler noted."""
        return waiting.why_cancelled(event)


class TermsNew(StrictSerializer):
    """The start of an event, its audience, and the time at which it is shown."""

    due = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The time when entries close and the event starts; null: you start it. Not allowed after the start.",
    )

    audience = serializers.ChoiceField(
        choices=Audience.choices,
        help_text="Who sees matches and standings before everybody does; matches that are hidden from anybody are unrated.",
    )
    release = serializers.DateTimeField(
        required=False, allow_null=True, default=None, help_text="When they are shown; null: when you say so."
    )
    pace_s = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=releases.PACE_S[1],
        help_text="Seconds of each board; 0: all at once.",
    )


class LinkNew(StrictSerializer):
    """Another link to a private event, or none."""

    close = serializers.BooleanField(required=False, default=False, help_text="Let nobody else in.")


class JoinByLink(StrictSerializer):
    """The link of a private event."""

    link = serializers.CharField(max_length=40, help_text="The last part of its address.")


class EntrantNew(StrictSerializer):
    """A bot for a private event."""

    bot = serializers.SlugField(max_length=40)
    leave = serializers.BooleanField(required=False, default=False, help_text="Take it out again.")


class EventNew(TermsNew):
    """An event from its document (docs/event.schema.json)."""

    audience = serializers.ChoiceField(
        choices=Audience.choices,
        required=False,
        default=Audience.PUBLIC,
        help_text="Who sees matches and standings before everybody does; matches that are hidden from anybody are unrated.",
    )
    private = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Only who has its link knows of it, and enters bots until you start it. Unrated.",
    )

    document = ObjectField(help_text="name, game and stages; docs/event.schema.json is its schema.")
    bots = serializers.ListField(child=serializers.SlugField(max_length=40), max_length=settings.MAX_ENTRIES)
    message = MessageField()


class SeasonOut(Out):
    """One occurrence of a circuit."""

    number = serializers.IntegerField()
    due = serializers.DateTimeField()
    opened = serializers.DateTimeField()
    reason = serializers.CharField(help_text="Why it was not played; empty if it was.")
    divisions = serializers.SerializerMethodField()

    @extend_schema_field(PartOut(many=True))
    def get_divisions(self, season: Any) -> list[dict[str, Any]]:
        """Return the divisions, the best first."""
        return list(PartOut(sorted(season.tournaments.all(), key=lambda part: part.group), many=True).data)


class CircuitOut(Out):
    """A league that recurs by the calendar."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    owner = serializers.SlugField(source="owner.name")
    game = serializers.CharField()
    format = serializers.ChoiceField(choices=format_choices())
    parameters = ObjectField()
    boards = serializers.IntegerField(
        allow_null=True, help_text="Number of boards in each match; null: a number that suits the game."
    )
    size = serializers.IntegerField(help_text="Entries of a division.")
    moves = serializers.IntegerField(help_text="How many go up and down between neighbouring divisions.")
    days = serializers.CharField()
    at = serializers.CharField()
    time_zone = serializers.CharField()
    active = serializers.BooleanField()
    bots = serializers.SerializerMethodField(help_text="Those that take part in the next season.")
    created = serializers.DateTimeField()
    next_due = serializers.SerializerMethodField(help_text="Null while it rests.")

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
    """A league that recurs."""

    name = serializers.CharField(max_length=60)
    size = serializers.IntegerField(required=False, default=8, min_value=2, max_value=settings.MAX_ENTRIES)
    moves = serializers.IntegerField(required=False, default=2, min_value=0, max_value=settings.MAX_ENTRIES)
    days = serializers.CharField(
        max_length=80, help_text="Weekdays such as mon,thu, or days of the month such as 1,15."
    )
    at = serializers.CharField(max_length=5, help_text="Local time, such as 20:00.")
    time_zone = serializers.CharField(max_length=60, help_text="Such as Europe/Madrid.")


class CircuitChange(StrictSerializer):
    """Pause or resume it."""

    active = serializers.BooleanField()


class JoinNew(StrictSerializer):
    """A bot that takes part from the next season on."""

    bot = serializers.SlugField(max_length=40)
    message = MessageField()

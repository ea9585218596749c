"""Tables of events (several stages) and of circuits (leagues that recur by the calendar, in divisions). Rows hold facts; nothing decides."""

from __future__ import annotations

from django.db import models

from league.enums import TournamentFormat, TournamentStatus


class Event(models.Model):
    """Stages described in one document; each stage is one tournament, or one of each group."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="events")
    document = models.JSONField()  # as league.pure.stages reads it
    status = models.CharField(max_length=10, choices=TournamentStatus, default=TournamentStatus.RUNNING)
    secret = models.BinaryField(max_length=32)  # the secrets of its stages follow from it
    secret_sha256 = models.CharField(max_length=64)  # published before
    created = models.DateTimeField()
    finished = models.DateTimeField(null=True)


class Circuit(models.Model):
    """A league that recurs: at every due moment of its calendar a season of all its bots, in divisions."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=60)
    owner = models.ForeignKey("league.Player", on_delete=models.PROTECT, related_name="circuits")
    game = models.CharField(max_length=30)
    players = models.PositiveIntegerField(null=True)
    options = models.JSONField(default=dict)
    format = models.CharField(max_length=20, choices=TournamentFormat, default=TournamentFormat.ROUND_ROBIN)
    parameters = models.JSONField(default=dict)
    boards = models.PositiveIntegerField(null=True)
    size = models.PositiveIntegerField(default=8)  # entries of a division
    moves = models.PositiveIntegerField(default=2)  # promoted and relegated at each border
    days = models.CharField(max_length=80)  # "mon,thu", or days of the month "1,15"
    at = models.CharField(max_length=5)  # "20:00", wall clock
    time_zone = models.CharField(max_length=60)
    active = models.BooleanField(default=True)
    bots = models.ManyToManyField("league.Bot", related_name="circuits")
    created = models.DateTimeField()


class Season(models.Model):
    """One occurrence of a circuit. Its divisions are tournaments; without any it was passed over, for the `reason`."""

    circuit = models.ForeignKey(Circuit, on_delete=models.CASCADE, related_name="seasons")
    number = models.PositiveIntegerField()  # from 1
    due = models.DateTimeField()  # the moment of the calendar that it stands for
    opened = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["circuit", "number"], name="season_number_once"),
            models.UniqueConstraint(fields=["circuit", "due"], name="season_due_once"),
        ]

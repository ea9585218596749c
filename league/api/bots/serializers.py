"""Bots, versions, encounters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import FaultField, PoolRef, StrictSerializer
from league.domain.audits.results import Summary
from league.domain.matches import validation
from league.enums import BotState, CheckName, EntryPolicy, JudgementKind, VersionStatus
from league.models import BotVersion, Check, Player


class BotOut(Out):
    """A name under which its owner uploads versions."""

    slug = serializers.SlugField()
    owner = serializers.SlugField(source="owner.name")
    state = serializers.ChoiceField(choices=BotState.choices)
    stopped = serializers.DateTimeField(
        allow_null=True, help_text="The time when an operator paused it; null if none has. Independent of its state."
    )
    description = serializers.CharField()
    house = serializers.BooleanField(source="is_house", help_text="Shipped with the league.")
    created = serializers.DateTimeField()
    versions = serializers.IntegerField(source="version_count")
    newest_accepted = serializers.IntegerField(
        allow_null=True, help_text="Number of the version that tournaments enter, where `sends` is null."
    )
    sends = serializers.IntegerField(
        source="sends.number", default=None, allow_null=True, help_text="The version that its owner lets it send."
    )
    held_until = serializers.DateTimeField(
        allow_null=True, help_text="The time until which its owner's pause keeps its matches in the queue."
    )
    entry_policy = serializers.ChoiceField(
        choices=EntryPolicy.choices,
        help_text="Whom its owner lets enter it. usual: anybody into public leagues and unrated matches, into other rated events who has asked.",
    )
    on_ladders = serializers.BooleanField(
        help_text="Whether its owner lets it play on the standing ladders of its games."
    )


class BotChange(StrictSerializer):
    """A change of a bot by its owner. Leave out whatever stays."""

    description = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    state = serializers.ChoiceField(
        required=False, choices=BotState.choices, help_text="A retired bot cannot become active again."
    )

    sends = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the accepted version that it sends to tournaments from now on; null: its newest one.",
    )

    entry_policy = serializers.ChoiceField(
        required=False, choices=EntryPolicy.choices, help_text="Who may enter it from now on; what has entered stays."
    )

    on_ladders = serializers.BooleanField(
        required=False, help_text="Whether it plays on the standing ladders of its games from now on; results stay."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """An empty change is a mistake."""
        if not attrs:
            raise serializers.ValidationError(message("name at least one of: {names}", names=", ".join(self.fields)))
        return attrs


class CheckOut(Out):
    """One check of a version in one game of its validation."""

    game = serializers.CharField(help_text="Key of the game.")
    name = serializers.ChoiceField(
        choices=CheckName.choices,
        help_text="Whole boards, the start, rare decisions, a long match, one that is broken off, or, of a bot that declares itself "
        "deterministic, the same questions again.",
    )
    fault = FaultField(help_text="Why the version is refused in this game.")
    fault_detail = serializers.SerializerMethodField(help_text="For its owner; null for all others.")
    decisions = serializers.IntegerField(help_text="Asked of the bot.")
    max_cpu_s = serializers.FloatField(
        help_text="CPU seconds of the slowest decision; for the start, of the slowest start."
    )
    match = serializers.CharField(source="match.public_id", help_text="The match that holds the log of the game.")

    def get_fault_detail(self, check: Check) -> str | None:
        """Return the text of the fault, for viewers who may read the output of the bot."""
        return check.fault_detail if owns(check.version, self.context.get("viewer")) else None


class VersionOut(Out):
    """One upload, immutable."""

    id = serializers.IntegerField()
    bot = serializers.SlugField(source="bot.slug")
    number = serializers.IntegerField(help_text="1, 2, ... within the bot.")
    owner = serializers.SlugField(source="bot.owner.name")
    status = serializers.ChoiceField(choices=VersionStatus.choices)
    fault = FaultField(help_text="Why it was rejected.")
    fault_detail = serializers.SerializerMethodField(help_text="For its owner; null for all others.")
    runtime = serializers.CharField()
    entry = serializers.CharField()
    games = serializers.ListField(child=serializers.CharField(), help_text="Keys of the games it plays; empty: all.")
    refused = serializers.ListField(
        child=serializers.CharField(), help_text="Games that it declares and is not accepted for."
    )
    sealable = serializers.BooleanField(help_text="True if it can play without access to any clock of the host.")
    sha256 = serializers.CharField(
        source="package_id", help_text="Hash of the contents; versions with equal contents are one competitor."
    )
    size = serializers.IntegerField(source="package.size", help_text="Bytes of the packed contents.")
    deterministic = serializers.BooleanField(help_text="Declared in bot.toml: the same lines get the same answers.")
    created = serializers.DateTimeField()

    def get_fault_detail(self, version: BotVersion) -> str | None:
        """Return the text of the fault, for viewers who may read the output of the bot."""
        return version.fault_detail if owns(version, self.context.get("viewer")) else None


class VersionWithChecks(VersionOut):
    """One upload, with the checks of its last validation."""

    checks = serializers.SerializerMethodField(
        help_text="Results of its last validation, game by game; empty until the validation has finished."
    )

    @extend_schema_field(CheckOut(many=True))
    def get_checks(self, version: BotVersion) -> Any:
        """The checks, in the order in which they were made."""
        return CheckOut(validation.last_checks(version), many=True, context=self.context).data


class AuditsOut(Out):
    """Conversations of a version that were put to it again, by what came of them (docs/fairness.md, "Audits")."""

    deterministic = serializers.BooleanField(help_text="Declared in bot.toml.")
    reproducible = serializers.BooleanField(help_text="Declared, and each audit gave the same answers as its match.")
    same = serializers.IntegerField(help_text="The same answers three times.")
    alike = serializers.IntegerField(help_text="The match differs from the runs no more than these from each other.")
    differs = serializers.IntegerField(help_text="Cases for people; no verdict by themselves.")
    failed = serializers.IntegerField(help_text="The bot failed when it was run again; nothing is said.")

    @classmethod
    def of(cls, version: BotVersion, summary: Summary) -> AuditsOut:
        """Return the answer about a version with this summary."""
        return cls(asdict(summary) | {"deterministic": version.deterministic})


@extend_schema_serializer(component_name="Meeting")  # its public name
class EncounterOut(Out):
    """Two bots against each other in one pool, seen from the first. Rated boards only."""

    pool = PoolRef()
    boards = serializers.IntegerField()
    wins = serializers.IntegerField(help_text="Boards on which the first bot scored more.")
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    share = serializers.FloatField(help_text="Board points per board: 1 for a win, 1/2 for a draw.")
    share_interval = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, help_text="95% interval of the share (Wilson)."
    )
    difference = serializers.FloatField(help_text="Mean difference of the scores of a board, in the unit of the game.")
    margin = serializers.FloatField(allow_null=True, help_text="Half of the 95% interval of the difference.")
    superiority = serializers.FloatField(help_text="Likelihood that the first bot is the stronger one.")
    matches = serializers.ListField(child=serializers.CharField(), help_text="Their matches, newest first.")


class FiguresOut(Out):
    """Judged decisions."""

    boards = serializers.IntegerField()
    judged = serializers.IntegerField(help_text="Decisions.")
    lost = serializers.FloatField(
        help_text="By one of them on average, in the unit of the board scores, where 1000 make a game."
    )
    margin = serializers.FloatField(
        allow_null=True, help_text="Half of its 95 % interval over boards; null for fewer than two."
    )
    right = serializers.FloatField(help_text="The share that lost nothing.")


class JudgedPhase(Out):
    """One part of the deal, or all."""

    phase = serializers.CharField(help_text="all, auction, lead, follow or end.")
    mine = FiguresOut()
    everybody = FiguresOut(help_text="Figures of all bots that were judged in this pool.")


class JudgedOut(Out):
    """The losses of the newest analysed version in a pool, by one kind of analysis, over matches that somebody chose to have judged."""

    pool = PoolRef()
    kind = serializers.ChoiceField(choices=JudgementKind.choices)
    version = serializers.IntegerField(help_text="Its number.")
    phases = JudgedPhase(source="lines", many=True)


class Upload(StrictSerializer):
    """A package: one source file, or a zip with bot.toml."""

    file = serializers.FileField(allow_empty_file=True, max_length=200)
    games = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="Keys separated by commas; they replace those in bot.toml.",
    )


def owns(version: BotVersion, viewer: Player | None) -> bool:
    """Return True if `viewer` may read the private output of the bot."""
    return viewer is not None and (version.bot.owner_id == viewer.pk or viewer.user.is_staff)

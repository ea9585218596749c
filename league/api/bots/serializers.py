"""Bots, versions, encounters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.problems import message
from league.api.http.serializers import FaultField, PoolRef, StrictSerializer, TeamField, VersionRef
from league.domain.audits.results import Summary
from league.domain.bots import builds
from league.domain.core.errors import shown
from league.domain.matches import validation
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import BossLeague, BotState, CheckName, EntryPolicy, JudgementKind, VersionStatus
from league.models import BotVersion, Check, Player


class BotOut(Out):
    """A name under which its owner uploads versions."""

    slug = serializers.SlugField()
    owner = serializers.SlugField(source="owner.name")
    team = TeamField(source="team.name")
    state = serializers.ChoiceField(choices=BotState.choices)
    stopped = serializers.DateTimeField(
        allow_null=True, help_text="When an operator paused the bot; null if none has. Independent of `state`."
    )
    description = serializers.CharField()
    house = serializers.BooleanField(source="is_house", help_text="True if the bot is shipped with the league.")
    remote = serializers.BooleanField(source="is_remote", help_text="True if the bot plays from its author's machine.")
    created = serializers.DateTimeField()
    versions = serializers.IntegerField(source="version_count")
    newest_accepted = serializers.IntegerField(
        allow_null=True, help_text="The version that tournaments enter if `sends` is null, by number."
    )
    sends = serializers.IntegerField(
        source="sends.number",
        default=None,
        allow_null=True,
        help_text="The version that the owner has chosen for tournaments, by number; null: none chosen.",
    )
    held_until = serializers.DateTimeField(
        allow_null=True,
        help_text="Until this time the bot's challenges and tests wait in the queue, because its owner has paused it.",
    )
    entry_policy = serializers.ChoiceField(
        choices=EntryPolicy.choices,
        help_text="Who may enter the bot. usual: anybody in public leagues and unrated matches, but in other events only after a request.",
    )
    in_class = serializers.BooleanField(
        help_text="True if only its owner, its team and the owner's classes see the bot: it was made by a student of a class."
    )
    on_ladders = serializers.BooleanField(
        help_text="True if the owner lets the bot play on the standing ladders of its games."
    )
    offered_as_boss = serializers.BooleanField(
        help_text="True if the owner offers the bot as a boss of a boss league from the next season on."
    )
    away_until = serializers.DateTimeField(
        allow_null=True,
        help_text="Until this time the bot is not drawn for them, because its owner has taken it off; null: no such time.",
    )


class BotChange(StrictSerializer):
    """A change of a bot by its owner. Fields that are left out do not change."""

    description = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    state = serializers.ChoiceField(
        required=False, choices=BotState.choices, help_text="A retired bot cannot become active again."
    )

    sends = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the accepted version that tournaments get from now on; null: the newest one.",
    )

    entry_policy = serializers.ChoiceField(
        required=False,
        choices=EntryPolicy.choices,
        help_text="Who may enter the bot from now on. Existing entries stay.",
    )

    in_class = serializers.BooleanField(
        required=False,
        help_text="False: everybody sees the bot from now on, for good. True: a student keeps it in class, before it has played or entered anything.",
    )

    on_ladders = serializers.BooleanField(
        required=False,
        help_text="True: the bot plays on the standing ladders of its games from the next draw on. Matches that are drawn are played. "
        "A bot that leaves is drawn again after a day at the earliest.",
    )

    offered_as_boss = serializers.BooleanField(
        required=False,
        help_text="True: the bot may become a boss at the start of the next season. A boss stays one until its season ends.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change without fields."""
        if not attrs:
            raise serializers.ValidationError(message("name at least one of: {names}", names=", ".join(self.fields)))
        return attrs


class CheckOut(Out):
    """One check of a version in one game of its validation."""

    game = serializers.CharField(help_text="Key of the game.")
    name = serializers.ChoiceField(
        choices=CheckName.choices,
        help_text="The check: whole boards, the start, rare decisions, a long match, an interrupted match; for a bot that declares itself "
        "deterministic, also repeated requests.",
    )
    fault = FaultField(help_text="The fault for which the version was refused in this game.")
    fault_detail = serializers.SerializerMethodField(help_text="Only for the owner; null for all others.")
    decisions = serializers.IntegerField(help_text="Number of decisions that the bot was asked for.")
    max_cpu_s = serializers.FloatField(
        help_text="CPU seconds of the slowest decision; for the start, of the slowest start."
    )
    match = serializers.CharField(source="match.public_id", help_text="The match that has the log of the game.")

    def get_fault_detail(self, check: Check) -> str | None:
        """Return the text of the fault, for viewers who may read the output of the bot."""
        return check.fault_detail if owns(check.version, self.context.get("viewer")) else None


class GitOut(Out):
    """A commit of a Git repository."""

    url = serializers.CharField()
    folder = serializers.CharField()
    tag = serializers.CharField(help_text="The name at that time; a tag that moves changes no version.")
    commit = serializers.CharField()


class VersionOut(Out):
    """One upload of a bot. It never changes."""

    id = serializers.IntegerField()
    bot = serializers.SlugField(source="bot.slug")
    number = serializers.IntegerField(help_text="Number within the bot: 1, 2, ...")
    owner = serializers.SlugField(source="bot.owner.name")
    team = TeamField(source="bot.team.name")
    status = serializers.ChoiceField(choices=VersionStatus.choices)
    fault = FaultField(help_text="The fault for which the version was rejected.")
    fault_detail = serializers.SerializerMethodField(help_text="Only for the owner; null for all others.")
    runtime = serializers.CharField()
    entry = serializers.CharField()
    games = serializers.ListField(
        child=serializers.CharField(), help_text="Keys of the games that the version plays; empty: all."
    )
    refused = serializers.ListField(
        child=serializers.CharField(), help_text="Declared games for which the version was not accepted."
    )
    sealable = serializers.BooleanField(help_text="True if it can play without access to any clock of the host.")
    sha256 = serializers.CharField(
        source="uploaded_id", help_text="Hash of the uploaded contents; versions with equal hashes are one competitor."
    )
    size = serializers.IntegerField(source="package.size", help_text="Bytes of the packed contents.")
    deterministic = serializers.BooleanField(
        help_text="True if bot.toml declares that equal lines always get equal answers."
    )
    created = serializers.DateTimeField()
    opened = serializers.DateTimeField(
        allow_null=True, help_text="Since when everybody may read the source; null: it is not published."
    )
    licence = serializers.SerializerMethodField(
        help_text="SPDX identifier of the licence of published source, or null."
    )
    origin = VersionRef(
        allow_null=True, help_text="The published version of another bot from which this one comes, or null."
    )

    git = serializers.SerializerMethodField(
        help_text="The repository, tag and commit from which the league fetched it, for those who may read its source; or null."
    )

    @extend_schema_field(GitOut(allow_null=True))
    def get_git(self, version: BotVersion) -> Any:
        """Return where the version comes from."""
        fetch = getattr(version, "fetch", None)
        if fetch is None or not (version.opened or ownership.may(self.context.get("viewer"), version.bot, BotAct.CODE)):
            return None
        return GitOut(fetch).data

    def get_licence(self, version: BotVersion) -> str | None:
        """Return the licence; a plan to publish is only the owner's to know."""
        return version.licence if version.opened else None

    def get_fault_detail(self, version: BotVersion) -> str | None:
        """Return the text of the fault, for viewers who may read the output of the bot."""
        return version.fault_detail if owns(version, self.context.get("viewer")) else None


class VersionWithChecks(VersionOut):
    """One upload, with the checks of its last validation."""

    checks = serializers.SerializerMethodField(
        help_text="Results of its last validation, game by game; empty until the validation has finished."
    )

    waits = serializers.SerializerMethodField(
        help_text="Why the build of its source does not begin: no worker of the league has the compiler; null otherwise."
    )

    def get_waits(self, version: BotVersion) -> str | None:
        """Return the reason, and what to do."""
        reason = builds.why_waiting(version)
        return shown(reason) if reason else None

    @extend_schema_field(CheckOut(many=True))
    def get_checks(self, version: BotVersion) -> Any:
        """Return the checks, in the order in which they were made."""
        return CheckOut(validation.last_checks(version), many=True, context=self.context).data


class AuditsOut(Out):
    """The numbers of audited conversations of a version, by result (docs/audits.md)."""

    deterministic = serializers.BooleanField(help_text="True if bot.toml declares the bot deterministic.")
    reproducible = serializers.BooleanField(
        help_text="True if the bot declares itself deterministic, and every audit gave the answers of the match."
    )
    same = serializers.IntegerField(help_text="Audits with the same answers in the match and in both runs.")
    alike = serializers.IntegerField(
        help_text="Audits in which the match differs from the runs no more than they differ from each other."
    )
    differs = serializers.IntegerField(
        help_text="Audits with a larger difference, which a person has to look at. They prove nothing by themselves."
    )
    failed = serializers.IntegerField(
        help_text="Audits in which the bot failed when it was run again, and not in the match, which a person has to look at."
    )

    @classmethod
    def of(cls, version: BotVersion, summary: Summary) -> AuditsOut:
        """Return the answer about a version with this summary."""
        return cls(asdict(summary) | {"deterministic": version.deterministic})


@extend_schema_serializer(component_name="Meeting")  # The public name
class EncounterOut(Out):
    """The rated boards of two bots in one pool, from the view of the first bot."""

    pool = PoolRef()
    boards = serializers.IntegerField()
    wins = serializers.IntegerField(help_text="Boards on which the first bot scored more.")
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    share = serializers.FloatField(help_text="Mean points per board: 1 for a win, 1/2 for a draw.")
    share_interval = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, help_text="95% interval of the share (Wilson)."
    )
    difference = serializers.FloatField(help_text="Mean difference of the scores per board, in the unit of the game.")
    margin = serializers.FloatField(allow_null=True, help_text="Half of the 95% interval of the difference.")
    superiority = serializers.FloatField(help_text="Likelihood that the first bot is stronger.")
    matches = serializers.ListField(
        child=serializers.CharField(), help_text="Public ids of their matches, newest first."
    )


class FiguresOut(Out):
    """Losses of analysed decisions."""

    boards = serializers.IntegerField()
    judged = serializers.IntegerField(help_text="Number of analysed decisions.")
    lost = serializers.FloatField(
        help_text="Mean loss of a decision, in the unit of the board scores; if a game is the unit, 1000 make one."
    )
    margin = serializers.FloatField(
        allow_null=True, help_text="Half of the 95 % interval of `lost`, over boards; null for fewer than two boards."
    )
    right = serializers.FloatField(help_text="Share of decisions that lost nothing.")


class JudgedPhase(Out):
    """The losses in one phase of the deal, or in all."""

    phase = serializers.CharField(help_text="all, auction, lead, follow or end.")
    mine = FiguresOut()
    everybody = FiguresOut(help_text="Figures of all analysed bots in this pool.")


class JudgedOut(Out):
    """The losses of the newest analysed version in a pool, from one kind of analysis.

    Analyses are made on request, so the matches are no random sample.
    """

    pool = PoolRef()
    kind = serializers.ChoiceField(choices=JudgementKind.choices)
    version = serializers.IntegerField(help_text="Number of the version.")
    phases = JudgedPhase(source="lines", many=True)


class ClimbOut(Out):
    """A bot in the boss leagues of one game."""

    game = serializers.CharField(source="rung.game", help_text="Key of the game.")
    league = serializers.ChoiceField(
        source="league.value",
        choices=BossLeague.choices,
        help_text="0 wood, 1 bronze, 2 silver, 3 gold, 4 gold with its boss beaten.",
    )
    boss = serializers.SlugField(
        source="boss.version.bot.slug",
        default=None,
        allow_null=True,
        help_text="The boss of that league; null: none yet.",
    )
    state = serializers.ChoiceField(
        choices=["crown", "none", "running", "failed", "waits"],
        help_text="crown: above all bosses; none: the league has no boss; failed: this version did not beat the boss; waits: the test has not "
        "started.",
    )
    opponent = serializers.SlugField(
        source="test.test.opponent.bot.slug",
        default=None,
        allow_null=True,
        help_text="The bot of the test: the boss, or a house bot if the boss has the same owner; null: no test.",
    )
    margin = serializers.IntegerField(
        help_text="The lead in Elo that the bot needs over that opponent; above 0 if a house bot guards two leagues."
    )
    progress = serializers.IntegerField(
        source="test.progress", default=None, allow_null=True, help_text="Evidence for a win in percent; null: no test."
    )
    won = serializers.IntegerField(source="test.test.won", default=None, allow_null=True, help_text="Boards won.")
    drawn = serializers.IntegerField(source="test.test.drawn", default=None, allow_null=True, help_text="Boards drawn.")
    lost = serializers.IntegerField(source="test.test.lost", default=None, allow_null=True, help_text="Boards lost.")


class Upload(StrictSerializer):
    """A package: one source file, or a zip with bot.toml."""

    file = serializers.FileField(allow_empty_file=True, max_length=200)
    games = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="Keys of games, separated by commas; they replace those in bot.toml.",
    )


def owns(version: BotVersion, viewer: Player | None) -> bool:
    """Return True if `viewer` may read the private output of the bot."""
    return ownership.may(viewer, version.bot, BotAct.LOOK)

"""Matches, boards, sittings, replays."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.analysis import PHASES
from league.api.http.output import Out
from league.api.http.serializers import (
    FaultField,
    ObjectField,
    OptionalObjectField,
    OptionalWordField,
    PoolRef,
    StrictSerializer,
    VersionRef,
)
from league.domain.audits import results
from league.domain.bots import challenges, languages, tries
from league.domain.judgements.reading import ALL
from league.domain.matches import replays
from league.domain.upkeep import open_data
from league.enums import (
    AuditConclusion,
    AuditReason,
    AuditVerdict,
    ConsultationStatus,
    JudgementKind,
    JudgementStatus,
    MatchKind,
    MatchStatus,
)
from league.models import DataFile, Match, Party, Try

MOST_SEATS = 20
# The part of `Match.host` that is needed to reproduce a result. The rest is for operators.
HOST = (
    "engine",
    "commit",
    "revision",
    "compiled",
    "tier",
    "sealed",
    "runtime_hash",
    "python",
)


class VersionNumberField(serializers.IntegerField):
    """The number of a version of the bot in the field before it."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs |= {"required": False, "allow_null": True, "default": None, "min_value": 1, "max_value": 2**31 - 1}
        super().__init__(help_text="Number of the version; null: the version that the bot sends.", **kwargs)


class RivalNew(StrictSerializer):
    """A further bot of a challenge."""

    bot = serializers.SlugField(max_length=40)
    version = VersionNumberField()


class ChallengeNew(StrictSerializer):
    """An unrated match with as many bots as the game has sides."""

    bot = serializers.SlugField(max_length=40, help_text="Slug of your bot.")
    version = VersionNumberField()
    against = serializers.SlugField(max_length=40, help_text="Slug of the other bot.")
    against_version = VersionNumberField()
    others = serializers.ListField(
        child=RivalNew(),
        max_length=MOST_SEATS,
        required=False,
        default=list,
        help_text="The further bots of a game with more than two sides; they may be yours or not.",
    )
    game = serializers.CharField(max_length=30)
    boards = serializers.IntegerField(
        required=False, default=challenges.BOARDS, min_value=1, max_value=challenges.MOST_BOARDS
    )


class PartyOut(Out):
    """A bot version at the table, with a side (all its seats) or one seat."""

    number = serializers.IntegerField(help_text="Number of the party, from 0, as in seatings and scores.")
    version = VersionRef()
    points = serializers.IntegerField(
        allow_null=True, help_text="Sum of the board scores; if a game is the unit, 1000 make one."
    )
    wins = serializers.IntegerField(allow_null=True, help_text="Boards won against each other party, added up.")
    draws = serializers.IntegerField(allow_null=True)
    losses = serializers.IntegerField(allow_null=True)
    fault = FaultField(help_text="The first fault of the bot.")
    fault_at = OptionalObjectField(help_text="Board, sitting and step of the first fault; step -1: while starting.")
    decisions = serializers.IntegerField(allow_null=True)
    cpu_s = serializers.FloatField(allow_null=True, help_text="CPU seconds of all decisions.")
    max_cpu_s = serializers.FloatField(allow_null=True, help_text="CPU seconds of the slowest decision.")
    wall_s = serializers.FloatField(allow_null=True)
    sealed = serializers.BooleanField(
        allow_null=True,
        help_text="True if the bot played without access to any clock of the host; null before the match.",
    )


class MatchOut(Out):
    """A table of bot versions that plays some boards."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=MatchKind.choices)
    status = serializers.ChoiceField(choices=MatchStatus.choices)
    pool = PoolRef()
    tournament = serializers.SlugField(source="tournament.slug", allow_null=True, default=None)
    round = serializers.IntegerField(source="round.number", allow_null=True, default=None)
    rated = serializers.BooleanField()
    boards_planned = serializers.IntegerField()
    progress = serializers.IntegerField(help_text="Percentage of the sittings that the running attempt has played.")
    attempts = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why the match waits, was retried or is void; empty otherwise.")
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    parties = PartyOut(many=True)


class PartyDetail(PartyOut):
    """A party with private fields for its owner."""

    faults = serializers.SerializerMethodField(
        help_text="Every fault of the bot; for the owner with request and answer."
    )
    fault_detail = serializers.SerializerMethodField(help_text="Only for the owner; null for all others.")
    stderr = serializers.SerializerMethodField(help_text="Only for the owner; null for all others.")

    def _view(self, party: Party) -> replays.PartyView:
        return replays.party_view(party, self.context.get("viewer"))

    @extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": True}})
    def get_faults(self, party: Party) -> list[dict[str, Any]]:
        """Return the faults, as far as the viewer may read them."""
        return self._view(party).faults

    def get_fault_detail(self, party: Party) -> str | None:
        """Return the text of the first fault."""
        view = self._view(party)
        return view.fault_detail if view.private else None

    def get_stderr(self, party: Party) -> str | None:
        """Return the output of the bot to stderr."""
        view = self._view(party)
        return view.stderr if view.private else None


class AuditOut(Out):
    """One conversation of a match (a seat in a pass), repeated twice with its bot (docs/audits.md)."""

    id = serializers.CharField(source="work.public_id")
    sitting = serializers.IntegerField(help_text="Number of the audited pass, from 0.")
    seat = serializers.IntegerField()
    version = VersionRef()
    reason = serializers.ChoiceField(choices=AuditReason.choices, help_text="Why this conversation was audited.")
    verdict = serializers.ChoiceField(
        choices=AuditVerdict.choices, help_text="If it is `differs` or `failed`, a person has to look at it."
    )
    decisions = serializers.IntegerField(help_text="Number of decisions compared.")
    log_odd = serializers.IntegerField(help_text="Decisions in which the two runs agreed and the match differed.")
    run_odd = serializers.IntegerField(help_text="Decisions in which the match agreed with one run only.")
    all_differ = serializers.IntegerField(help_text="Decisions in which all three answers differed.")
    chance = serializers.FloatField(
        allow_null=True, help_text="Probability that the match has at least this many odd answers by chance."
    )
    first = OptionalObjectField(
        help_text="The first difference, or the line at which a run failed: board, step, request, legal, logged, runs (a failure in brackets)."
    )
    finished = serializers.DateTimeField()
    conclusion = OptionalWordField(
        choices=AuditConclusion.choices,
        help_text="A person's conclusion about a case; null until somebody has drawn it.",
    )
    why = serializers.CharField(help_text="Reason for the conclusion; empty if there is none.")
    closed_by = serializers.CharField(help_text="Name of the person who drew the conclusion; empty if there is none.")
    closed = serializers.DateTimeField(allow_null=True)


class MatchDetail(MatchOut):
    """A match with all details of its parties."""

    parties = PartyDetail(many=True)
    audits = serializers.SerializerMethodField(help_text="The finished audits of conversations of this match.")
    host = serializers.SerializerMethodField(
        help_text="Engine, commit and rules revision; if the rules ran compiled; sandbox tier; sealed bots; runtime; Python."
    )

    @extend_schema_field(AuditOut(many=True))
    def get_audits(self, match: Match) -> list[dict[str, Any]]:
        """Return the finished audits; none while the cards are hidden."""
        if replays.reason_closed(match):
            return []
        return [dict(AuditOut(row).data) for row in results.of_match(match)]

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_host(self, match: Match) -> dict[str, Any]:
        """Return the public part of the host."""
        return {name: match.host[name] for name in HOST if name in match.host}


class SittingOut(Out):
    """One playing of a board."""

    number = serializers.IntegerField(help_text="Number of the pass, from 0.")
    seating = serializers.ListField(child=serializers.IntegerField(), help_text="Number of the party at each seat.")
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Scores by seat.")
    fault = FaultField(help_text="The fault that ended the sitting early, or prevented it.")
    fault_party = serializers.IntegerField(allow_null=True)


class BoardOut(Out):
    """A seeded deal or stream of deals, played in all its sittings: the unit of rating."""

    match = serializers.CharField(source="match.public_id")
    number = serializers.IntegerField(help_text="Number of the board, from 1.")
    scores = serializers.ListField(
        child=serializers.IntegerField(), help_text="Scores by party, summed over the sittings."
    )
    sittings = SittingOut(many=True)


class CommentOut(Out):
    """A comment on a sitting."""

    id = serializers.IntegerField()
    author = serializers.CharField(source="author.name")
    created = serializers.DateTimeField()
    step = serializers.CharField(help_text='Such as "d1p4"; empty: about the whole sitting.')
    answers = serializers.IntegerField(source="answers_id", allow_null=True, help_text="Id of the answered comment.")
    text = serializers.CharField(help_text='Plain text; a card in brackets, such as "[Rb]".')


class DataFileOut(Out):
    """A file of open data: zstd-compressed JSON lines, a replay each. It never changes."""

    name = serializers.CharField(source="__str__")
    game = serializers.CharField()
    month = serializers.DateField(format="%Y-%m", help_text="The month (UTC) in which its matches became visible.")
    matches = serializers.IntegerField()
    replays = serializers.IntegerField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    licence = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def get_licence(self, _file: DataFile) -> str:
        """Return the licence, the same for all files."""
        return open_data.LICENCE

    def get_url(self, file: DataFile) -> str:
        """Return the path of the file on this site."""
        return reverse("data-file", args=[str(file)])


class ReplayOut(Out):
    """The record of a sitting (format tute-replay/1). A restricted view has `view`, and neither `seed` nor `actions`."""

    format = serializers.CharField()
    engine = serializers.CharField()
    game = serializers.CharField()
    revision = serializers.IntegerField()
    options = ObjectField()
    players = serializers.IntegerField()
    deals = serializers.IntegerField(allow_null=True)
    seed = serializers.CharField(required=False, help_text="In hexadecimal; the deal is derived from it.")
    suits = serializers.CharField(required=False)
    over = serializers.BooleanField(required=False, help_text="True if the sitting was played to its end.")
    faults = serializers.ListField(
        child=ObjectField(), required=False, help_text="The faults that ended the sitting early."
    )
    timings = ObjectField(required=False, help_text="Time of the bots' decisions, by seat.")
    meta = ObjectField(required=False)
    view = serializers.JSONField(required=False, help_text='The seat, or "public".')
    actions = serializers.ListField(child=serializers.CharField(), required=False)
    events = serializers.ListField(child=ObjectField())
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Scores by seat.")
    notes = serializers.ListField(child=ObjectField(), help_text="The notes of your own bots, by step.")


class JudgementOut(Out):
    """The state of an analysis of a match. The numbers of an `open` and a `fair` analysis cannot be compared."""

    match = serializers.CharField(source="match.public_id")
    kind = serializers.ChoiceField(
        choices=JudgementKind.choices,
        help_text="open: exact, with all cards open, so a decision without loss may be luck. fair: an estimate over deals that agree with "
        "what the seat knew; it ignores the value of bluffing and caution.",
    )
    judge = serializers.CharField(help_text="The version of the analysis program.")
    samples = serializers.IntegerField(help_text="Deals over which each decision is averaged; 0: only the real deal.")
    status = serializers.ChoiceField(choices=JudgementStatus.choices)
    progress = serializers.IntegerField(help_text="Percentage of the sittings that have been analysed.")
    reason = serializers.CharField(help_text="Why the analysis failed, or will be tried again; empty otherwise.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    cpu_s = serializers.FloatField(help_text="CPU seconds of the analysis.")
    decisions = serializers.IntegerField(help_text="Number of decisions in the analysed sittings.")
    judged = serializers.IntegerField(
        help_text="Number of decisions with a proven value. The others exceed the limits, or are not between two sides."
    )
    limited = serializers.BooleanField(help_text="True if the time ran out before all sittings were analysed.")


class TallyOut(Out):
    """The losses of a party's decisions, in one phase or in all."""

    phase = serializers.ChoiceField(choices=[(name, name) for name in (ALL, *PHASES)])
    decisions = serializers.IntegerField()
    judged = serializers.IntegerField()
    right = serializers.IntegerField(help_text="Number of decisions that lost nothing.")
    lost = serializers.FloatField(allow_null=True, help_text="Mean loss of an analysed decision.")
    margin = serializers.FloatField(
        allow_null=True, help_text="Half of the 95 % interval of `lost`, over boards; null for fewer than two boards."
    )


class MoveOut(Out):
    """One action of a line of play."""

    seat = serializers.IntegerField()
    action = serializers.CharField()


class VerdictOut(Out):
    """One decision. If it could not be analysed, `lost`, `par` and `worth` are null."""

    board = serializers.IntegerField()
    sitting = serializers.IntegerField()
    party = serializers.IntegerField()
    step = serializers.IntegerField(source="verdict.step", help_text="Number of actions before the decision.")
    event = serializers.IntegerField(
        source="verdict.at", help_text="Number of events of the replay before the decision."
    )
    deal = serializers.IntegerField(source="verdict.deal")
    seat = serializers.IntegerField(source="verdict.seat")
    phase = serializers.ChoiceField(source="verdict.phase", choices=[(name, name) for name in PHASES])
    action = serializers.CharField(source="verdict.action")
    first = serializers.BooleanField(
        source="verdict.first",
        allow_null=True,
        help_text="True if the deciding seat belongs to the first of the two sides of the deal.",
    )
    lost = serializers.FloatField(source="verdict.lost", allow_null=True, help_text="Loss against the best action.")
    best = serializers.ListField(
        source="verdict.best",
        child=serializers.CharField(),
        help_text="The best action, and all that are equally good.",
    )
    par = serializers.FloatField(
        source="verdict.par", allow_null=True, help_text="Value of the deal before the decision, for the first side."
    )
    worth = serializers.FloatField(
        source="verdict.worth", allow_null=True, help_text="Value of the deal after the decision, for the first side."
    )
    error = serializers.FloatField(source="verdict.error", help_text="Standard error of `lost`; 0 with open cards.")
    line = MoveOut(
        source="verdict.line",
        many=True,
        help_text="With open cards, if something was lost: the best play of all seats after the first action of `best`, as far as proven.",
    )


class PartyTallies(Out):
    """The losses of one party, by phase."""

    party = serializers.IntegerField()
    phases = TallyOut(many=True)


class JudgementDetail(JudgementOut):
    """An analysis with its decisions, which it has when it is done."""

    unit = serializers.CharField(
        help_text="Unit of the losses and of the board scores; if a game is the unit, 1000 make one."
    )
    compiled = serializers.BooleanField(
        help_text="True if compiled rules were used: they analyse whole deals, other rules only the endings in most games."
    )
    nodes = serializers.IntegerField(help_text="The largest number of nodes searched for each action.")
    parties = PartyTallies(many=True)
    verdicts = VerdictOut(many=True)


class ConsultationOut(Out):
    """The state of a house bot's answers for one seat of a sitting."""

    match = serializers.CharField(source="match.public_id")
    board = serializers.IntegerField()
    sitting = serializers.IntegerField()
    seat = serializers.IntegerField()
    bot = serializers.CharField(source="version.bot.slug")
    version = serializers.IntegerField(source="version.number")
    package = serializers.CharField(source="version.package_id", help_text="SHA-256 of the files of this version.")
    status = serializers.ChoiceField(choices=ConsultationStatus.choices)
    progress = serializers.IntegerField(help_text="Percentage of the decisions that have been answered.")
    reason = serializers.CharField(help_text="Why the consultation failed, or will be tried again; empty otherwise.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    cpu_s = serializers.FloatField(help_text="CPU seconds of the bot.")
    compiled = serializers.BooleanField(help_text="True if the engine beside the bot was compiled.")
    limited = serializers.BooleanField(help_text="True if the time ran out before all decisions were answered.")


class AnswerOut(Out):
    """One decision of the seat."""

    step = serializers.IntegerField(help_text="Number of actions of the sitting before the decision.")
    deal = serializers.IntegerField()
    action = serializers.CharField(help_text="The action in the match.")
    would = serializers.CharField(help_text="The action that the house bot would have chosen.")
    differs = serializers.BooleanField()


class ConsultationDetail(ConsultationOut):
    """A consultation with its answers, which it has when it is done."""

    answers = AnswerOut(many=True, source="told")


class TryNew(StrictSerializer):
    """The text of a bot to try. It becomes no version, and is deleted after a week."""

    text = serializers.CharField(
        trim_whitespace=False, help_text=f"One file; {tries.MOST_SOURCE // 1024} KB of UTF-8 at most."
    )
    language = serializers.ChoiceField(
        choices=[(language.key, language.title) for language in languages.LANGUAGES.values()],
        default=languages.PYTHON.key,
        help_text="A text in JavaScript is a module (bot.mjs) and has the kit's tute.mjs beside it.",
    )
    game = serializers.CharField(max_length=30)
    against = serializers.SlugField(max_length=40, help_text="Slug of a house bot; it plays all other parties.")
    name = serializers.CharField(
        max_length=60, required=False, default="", allow_blank=True, help_text="Name of your bot."
    )


class AskedOut(Out):
    """One line that the bot was sent, and its answer."""

    number = serializers.IntegerField(
        help_text="Number of the decision in its sitting, from 1; 0: the start or the end."
    )
    seat = serializers.SerializerMethodField(help_text="Number of the seat, from 0.")
    request = serializers.CharField()
    answer = serializers.CharField()
    legal = serializers.ListField(child=serializers.CharField())
    did = serializers.CharField()
    cpu_ms = serializers.FloatField(source="cpu", allow_null=True)
    wall_ms = serializers.FloatField(source="wall", allow_null=True)

    def get_seat(self, question: tries.Asked) -> int:
        """Return the seat, from 0 as in seatings."""
        return question.seat - 1


class TriedSitting(Out):
    """One sitting of the board of a try."""

    number = serializers.IntegerField(help_text="Number of the sitting, from 0.")
    seating = serializers.ListField(
        child=serializers.IntegerField(), help_text="For each seat 0 (your text) or the number of a rival."
    )
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Scores by seat.")
    asked = AskedOut(many=True, help_text="Each line to the bot, in order.")
    replay = ReplayOut()


class TriedOut(Out):
    """The result of a try."""

    stopped = serializers.BooleanField(help_text="True if the time ran out before all sittings were played.")
    scores = serializers.ListField(
        child=serializers.IntegerField(), help_text="Score of the text, then of each rival, summed over the sittings."
    )
    decisions = serializers.IntegerField()
    faults = serializers.ListField(child=ObjectField(), help_text="Each fault with the request and the answer.")
    stderr = serializers.CharField()
    tier = serializers.CharField(help_text="Tier of the sandbox.")
    asked = AskedOut(many=True, help_text="Lines of a sitting that was not finished.")
    sittings = TriedSitting(many=True)


class TryOut(Out):
    """One of your tries. Nobody else can see it."""

    id = serializers.CharField(source="work.public_id")
    status = serializers.ChoiceField(source="work.status", choices=MatchStatus.choices)
    reason = serializers.CharField(
        source="work.reason", help_text="Why the try waits, was retried or is void; empty otherwise."
    )
    game = serializers.CharField(source="work.pool.game")
    against = VersionRef(source="rival")
    language = serializers.CharField()
    name = serializers.CharField()
    at = OptionalObjectField(help_text="For a try at a decision of a match: match, board, sitting, seat, step.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    result = serializers.SerializerMethodField(help_text="Null until the try has finished.")

    @extend_schema_field(TriedOut(allow_null=True))
    def get_result(self, row: Try) -> dict[str, Any] | None:
        """Return the whole result."""
        result = tries.opened(row)
        if result is None:
            return None
        sittings = [
            {
                **sitting,
                "number": number,
                "asked": tries.asked(result, number),
                "replay": tries.record_of(result, number),
            }
            for number, sitting in enumerate(result.sittings)
        ]
        cut = sorted({line[0] for line in result.lines if line[0] >= len(sittings)})
        fields = {
            "stopped": result.stopped,
            "scores": result.scores,
            "decisions": result.decisions,
            "faults": result.faults,
            "stderr": result.stderr,
            "tier": result.tier,
            "asked": [line for number in cut for line in tries.asked(result, number)],
            "sittings": sittings,
        }
        return dict(TriedOut(fields).data)

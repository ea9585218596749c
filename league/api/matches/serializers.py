"""Matches, boards, sittings, replays."""

from __future__ import annotations

from typing import Any

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
from league.domain.bots import challenges, tries
from league.domain.judgements.reading import ALL
from league.domain.matches import replays
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
from league.models import Match, Party, Try

MOST_SEATS = 20
# The part of `Match.host` that makes a result reproducible. The rest is for operators.
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
    """The number of a version, of the bot in the field before it."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs |= {"required": False, "allow_null": True, "default": None, "min_value": 1, "max_value": 2**31 - 1}
        super().__init__(help_text="Null: the one that it sends.", **kwargs)


class RivalNew(StrictSerializer):
    """A further bot of a challenge."""

    bot = serializers.SlugField(max_length=40)
    version = VersionNumberField()


class ChallengeNew(StrictSerializer):
    """An unrated match of as many bots as the game has sides."""

    bot = serializers.SlugField(max_length=40, help_text="Yours.")
    version = VersionNumberField()
    against = serializers.SlugField(max_length=40, help_text="The other bot.")
    against_version = VersionNumberField()
    others = serializers.ListField(
        child=RivalNew(),
        max_length=MOST_SEATS,
        required=False,
        default=list,
        help_text="In a game of more than two sides: the further bots, yours or others'.",
    )
    game = serializers.CharField(max_length=30)
    boards = serializers.IntegerField(
        required=False, default=challenges.BOARDS, min_value=1, max_value=challenges.MOST_BOARDS
    )


class PartyOut(Out):
    """One bot version at the table; it holds a side (all its seats), or a seat."""

    number = serializers.IntegerField(help_text="From 0, as in seatings and scores.")
    version = VersionRef()
    points = serializers.IntegerField(
        allow_null=True, help_text="Sum of its board scores; where a game is the unit, 1000 make one."
    )
    wins = serializers.IntegerField(allow_null=True, help_text="Boards won, pair by pair.")
    draws = serializers.IntegerField(allow_null=True)
    losses = serializers.IntegerField(allow_null=True)
    fault = FaultField(help_text="The first fault of the bot.")
    fault_at = OptionalObjectField(help_text="board, sitting and step of it; step -1: while starting.")
    decisions = serializers.IntegerField(allow_null=True)
    cpu_s = serializers.FloatField(allow_null=True, help_text="CPU seconds of all decisions.")
    max_cpu_s = serializers.FloatField(allow_null=True, help_text="CPU seconds of the slowest decision.")
    wall_s = serializers.FloatField(allow_null=True)
    sealed = serializers.BooleanField(
        allow_null=True,
        help_text="True if it played without access to any clock of the host; null until it has played.",
    )


class MatchOut(Out):
    """One table of bot versions that plays some boards."""

    id = serializers.CharField(source="public_id")
    kind = serializers.ChoiceField(choices=MatchKind.choices)
    status = serializers.ChoiceField(choices=MatchStatus.choices)
    pool = PoolRef()
    tournament = serializers.SlugField(source="tournament.slug", allow_null=True, default=None)
    round = serializers.IntegerField(source="round.number", allow_null=True, default=None)
    rated = serializers.BooleanField()
    boards_planned = serializers.IntegerField()
    progress = serializers.IntegerField(help_text="Percent of the sittings of the running attempt.")
    attempts = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why it waits, was retried or is void; empty otherwise.")
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    parties = PartyOut(many=True)


class PartyDetail(PartyOut):
    """A party with the private fields of its owner."""

    faults = serializers.SerializerMethodField(help_text="Every fault; with request and answer for the owner.")
    fault_detail = serializers.SerializerMethodField(help_text="For its owner; null for all others.")
    stderr = serializers.SerializerMethodField(help_text="For its owner; null for all others.")

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
    """One conversation of a match, that is a seat in a pass, put to its bot twice again (docs/fairness.md, "Audits")."""

    id = serializers.CharField(source="work.public_id")
    sitting = serializers.IntegerField(help_text="The pass: from 0.")
    seat = serializers.IntegerField()
    version = VersionRef()
    reason = serializers.ChoiceField(choices=AuditReason.choices, help_text="Why it was drawn.")
    verdict = serializers.ChoiceField(choices=AuditVerdict.choices, help_text="A difference is a case for people.")
    decisions = serializers.IntegerField(help_text="Number of decisions compared.")
    log_odd = serializers.IntegerField(help_text="Decisions in which the two runs agreed and the match differed.")
    run_odd = serializers.IntegerField(help_text="Decisions in which the match agreed with one run only.")
    all_differ = serializers.IntegerField(help_text="Decisions in which all three answers differed.")
    chance = serializers.FloatField(
        allow_null=True, help_text="Probability that so many of the odd answers are those of the match."
    )
    first = OptionalObjectField(help_text="The first difference: board, step, request, legal, logged, runs.")
    finished = serializers.DateTimeField()
    conclusion = OptionalWordField(
        choices=AuditConclusion.choices,
        help_text="What a person found about a difference; null until someone has looked.",
    )
    why = serializers.CharField(help_text="Reason for the conclusion; empty without one.")
    closed_by = serializers.CharField(help_text="The person who looked at it; empty until someone has.")
    closed = serializers.DateTimeField(allow_null=True)


class MatchDetail(MatchOut):
    """A match with its parties in full."""

    parties = PartyDetail(many=True)
    audits = serializers.SerializerMethodField(help_text="Conversations of it that were put to their bots again.")
    host = serializers.SerializerMethodField(
        help_text="Engine, commit and revision of the rules that played it, whether they ran compiled, tier, who played sealed, runtime, Python."
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

    number = serializers.IntegerField(help_text="From 0.")
    seating = serializers.ListField(child=serializers.IntegerField(), help_text="Party number per seat.")
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Per seat.")
    fault = FaultField(help_text="The fault that ended the sitting early, or prevented it.")
    fault_party = serializers.IntegerField(allow_null=True)


class BoardOut(Out):
    """One seeded deal or stream of deals, played in all its sittings: the rated unit."""

    match = serializers.CharField(source="match.public_id")
    number = serializers.IntegerField(help_text="From 1.")
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Per party, summed over the sittings.")
    sittings = SittingOut(many=True)


class ReplayOut(Out):
    """The record of a sitting (format tute-replay/1). A restricted view has `view`, and neither `seed` nor `actions`."""

    format = serializers.CharField()
    engine = serializers.CharField()
    game = serializers.CharField()
    revision = serializers.IntegerField()
    options = ObjectField()
    players = serializers.IntegerField()
    deals = serializers.IntegerField(allow_null=True)
    seed = serializers.CharField(required=False, help_text="Hexadecimal; the deal follows from it.")
    suits = serializers.CharField(required=False)
    over = serializers.BooleanField(required=False, help_text="Whether it was played to its end.")
    faults = serializers.ListField(child=ObjectField(), required=False, help_text="The faults that ended it early.")
    timings = ObjectField(required=False, help_text="Time of the bots' decisions, by seat.")
    meta = ObjectField(required=False)
    view = serializers.JSONField(required=False, help_text='The seat, or "public".')
    actions = serializers.ListField(child=serializers.CharField(), required=False)
    events = serializers.ListField(child=ObjectField())
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Per seat.")
    notes = serializers.ListField(child=ObjectField(), help_text="What your own bots noted, by step.")


class JudgementOut(Out):
    """The state of the analysis of a match. `open` and `fair` are two analyses, whose numbers cannot be compared."""

    match = serializers.CharField(source="match.public_id")
    kind = serializers.ChoiceField(
        choices=JudgementKind.choices,
        help_text="open: exact, with all cards open, so who lost nothing may have been lucky. fair: over deals that agree with what "
        "the seat knew, an estimate; bluff and caution count for nothing.",
    )
    judge = serializers.CharField(help_text="The version of the judge.")
    samples = serializers.IntegerField(help_text="Deals over which each decision is judged; 0: the real one.")
    status = serializers.ChoiceField(choices=JudgementStatus.choices)
    progress = serializers.IntegerField(help_text="Percent of the sittings.")
    reason = serializers.CharField(help_text="Why it has failed, or is tried again; empty otherwise.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    cpu_s = serializers.FloatField(help_text="Seconds of a core that it took.")
    decisions = serializers.IntegerField(help_text="In the sittings that were looked at.")
    judged = serializers.IntegerField(
        help_text="The others could not be proved within the limits, or are not between two sides."
    )
    limited = serializers.BooleanField(help_text="True if time ran out with sittings left.")


class TallyOut(Out):
    """Decisions of a party, in one phase or in all."""

    phase = serializers.ChoiceField(choices=[(name, name) for name in (ALL, *PHASES)])
    decisions = serializers.IntegerField()
    judged = serializers.IntegerField()
    right = serializers.IntegerField(help_text="In which nothing was lost.")
    lost = serializers.FloatField(allow_null=True, help_text="Lost a decision, over those that were judged.")
    margin = serializers.FloatField(
        allow_null=True, help_text="Half of its 95 % interval, over boards; null for fewer than two."
    )


class MoveOut(Out):
    """An action of a line."""

    seat = serializers.IntegerField()
    action = serializers.CharField()


class VerdictOut(Out):
    """One decision. What could not be judged has null in `lost`, `par` and `worth`."""

    board = serializers.IntegerField()
    sitting = serializers.IntegerField()
    party = serializers.IntegerField()
    step = serializers.IntegerField(source="verdict.step", help_text="Actions before it.")
    event = serializers.IntegerField(source="verdict.at", help_text="Events of the replay before it.")
    deal = serializers.IntegerField(source="verdict.deal")
    seat = serializers.IntegerField(source="verdict.seat")
    phase = serializers.ChoiceField(source="verdict.phase", choices=[(name, name) for name in PHASES])
    action = serializers.CharField(source="verdict.action")
    first = serializers.BooleanField(
        source="verdict.first",
        allow_null=True,
        help_text="True if its seat is on the first of the two sides of the deal.",
    )
    lost = serializers.FloatField(source="verdict.lost", allow_null=True, help_text="Against the best action.")
    best = serializers.ListField(
        source="verdict.best", child=serializers.CharField(), help_text="All actions as good as the best."
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
        help_text="With open cards, if something was lost: the best play of all seats after the first of `best`, as far as proved.",
    )


class PartyTallies(Out):
    """The losses of one party, by phase."""

    party = serializers.IntegerField()
    phases = TallyOut(many=True)


class JudgementDetail(JudgementOut):
    """A judgement with its decisions, which are there when it is done."""

    unit = serializers.CharField(help_text="Unit of the losses, the same as of board scores, where 1000 make a game.")
    compiled = serializers.BooleanField(
        help_text="Compiled rules judge whole deals, others only endings of most games."
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
    progress = serializers.IntegerField(help_text="Percent of the decisions.")
    reason = serializers.CharField(help_text="Why it has failed, or is tried again; empty otherwise.")
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    cpu_s = serializers.FloatField(help_text="Seconds of a core that the bot took.")
    compiled = serializers.BooleanField(help_text="Whether the rules beside the bot were compiled.")
    limited = serializers.BooleanField(help_text="True if time ran out with decisions left.")


class AnswerOut(Out):
    """One decision of the seat."""

    step = serializers.IntegerField(help_text="Actions of the sitting before it.")
    deal = serializers.IntegerField()
    action = serializers.CharField(help_text="The action in the match.")
    would = serializers.CharField(help_text="The action that the bot would have chosen.")
    differs = serializers.BooleanField()


class ConsultationDetail(ConsultationOut):
    """A consultation with its answers, which are there when it is done."""

    answers = AnswerOut(many=True, source="told")


class TryNew(StrictSerializer):
    """The text of a bot to be tried: it is no version of any, and is kept for a week."""

    text = serializers.CharField(
        trim_whitespace=False, help_text=f"Python, one file; {tries.MOST_SOURCE // 1024} KB of UTF-8 at most."
    )
    game = serializers.CharField(max_length=30)
    against = serializers.SlugField(max_length=40, help_text="A house bot; it takes all other places.")
    name = serializers.CharField(
        max_length=60, required=False, default="", allow_blank=True, help_text="Name of your bot."
    )


class AskedOut(Out):
    """One line that the bot was sent, and its answer."""

    number = serializers.IntegerField(help_text="From 1, of the decisions of a sitting; 0: the start, or the end.")
    seat = serializers.SerializerMethodField(help_text="From 0.")
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
    """One playing of the board of a try."""

    number = serializers.IntegerField(help_text="From 0.")
    seating = serializers.ListField(child=serializers.IntegerField(), help_text="Per seat 0, the text, or its rivals.")
    scores = serializers.ListField(child=serializers.IntegerField(), help_text="Per seat.")
    asked = AskedOut(many=True, help_text="Each line to the bot, in order.")
    replay = ReplayOut()


class TriedOut(Out):
    """The result of a try."""

    stopped = serializers.BooleanField(help_text="True if time ran out before all sittings were played.")
    scores = serializers.ListField(
        child=serializers.IntegerField(), help_text="Score of the text, then of each rival, summed over the sittings."
    )
    decisions = serializers.IntegerField()
    faults = serializers.ListField(child=ObjectField(), help_text="Each with the request and the answer.")
    stderr = serializers.CharField()
    tier = serializers.CharField(help_text="Tier of the sandbox.")
    asked = AskedOut(many=True, help_text="Lines of a sitting that did not come to its end.")
    sittings = TriedSitting(many=True)


class TryOut(Out):
    """A try of yours. Nobody else sees it."""

    id = serializers.CharField(source="work.public_id")
    status = serializers.ChoiceField(source="work.status", choices=MatchStatus.choices)
    reason = serializers.CharField(source="work.reason", help_text="Why it waits, was retried or is void; else empty.")
    game = serializers.CharField(source="work.pool.game")
    against = VersionRef(source="rival")
    name = serializers.CharField()
    at = OptionalObjectField(
        help_text="The decision of a match that a try on the pages repeats: match, board, sitting, seat, step."
    )
    created = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)
    result = serializers.SerializerMethodField(help_text="Null until it has finished.")

    @extend_schema_field(TriedOut(allow_null=True))
    def get_result(self, row: Try) -> dict[str, Any] | None:
        """All of it."""
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

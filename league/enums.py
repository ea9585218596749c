"""The words that rows of the league carry: states, kinds and roles. Full words, each explained; transitions in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from league.pure.formats import FORMATS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


class TokenScope(models.TextChoices):
    """What a token may do, each also what those before it may."""

    READ = "read", _("read: see what your account can see")
    SUBMIT = "submit", _("submit: also upload bots, enter and withdraw them")
    MANAGE = "manage", _("manage: everything that you can do on the site")

    def covers(self, needed: TokenScope) -> bool:
        """Whether this is enough where `needed` is asked for."""
        order = list(TokenScope)
        return order.index(self) >= order.index(needed)


class Right(models.TextChoices):
    """What an operator may be given, one by one. The words are those of Django's permissions: `league.void`."""

    VOID = "void", _("void results, cancel tournaments")
    RERUN = "rerun", _("replay matches")
    PAUSE = "pause", _("suspend and resume bots and tournaments")
    BAN = "ban", _("ban and unban players")
    QUOTA = "quota", _("change the limits of players")
    EMBARGO = "embargo", _("hide and show replays")
    AUDIT = "audit", _("close audits that differ")


class Period(models.TextChoices):
    """How long a digest looks back: a whole day, or a whole week from Monday on, UTC."""

    DAY = "day", _("day")
    WEEK = "week", _("week")


class BotState(models.TextChoices):
    """What the owner or the operator has decided about a bot."""

    ACTIVE = "active", _("active")  # may be entered and scheduled
    PAUSED = "paused", _("paused")  # keeps its place, is not scheduled
    RETIRED = "retired", _("retired")  # shown, never scheduled again


class EntryPolicy(models.TextChoices):
    """Whom the owner of a bot lets enter it, besides themselves (league.domain.bots.consent)."""

    USUAL = "usual", _("default: anyone in public leagues; with your permission in other rated events")
    ANYBODY = "anybody", _("anyone")
    ASK = "ask", _("only with your permission")
    NOBODY = "nobody", _("nobody")


class RequestStatus(models.TextChoices):
    """The life of a request to enter another's bot."""

    ASKED = "asked", _("waiting for the owner")
    GRANTED = "granted", _("granted")
    REFUSED = "refused", _("refused")  # or granted, and the owner took the bot out again: nobody asks once more
    WITHDRAWN = "withdrawn", _("withdrawn")  # by who asked
    EXPIRED = "expired", _("expired")  # entries were closed before there was an answer


REQUEST_TRANSITIONS: dict[str, frozenset[str]] = {
    RequestStatus.ASKED: frozenset(RequestStatus) - {RequestStatus.ASKED},
    RequestStatus.GRANTED: frozenset({RequestStatus.REFUSED, RequestStatus.WITHDRAWN}),
    RequestStatus.REFUSED: frozenset({RequestStatus.GRANTED}),
    RequestStatus.WITHDRAWN: frozenset(),
    RequestStatus.EXPIRED: frozenset(),
}


class VersionStatus(models.TextChoices):
    """The life of one upload."""

    VALIDATING = "validating", _("validating")  # its validation is queued or running
    ACCEPTED = "accepted", _("accepted")  # came through it without a fault, in one of its games at least
    REJECTED = "rejected", _("rejected")  # made a fault in each of its games; the owner sees which and why


VERSION_TRANSITIONS: dict[str, frozenset[str]] = {
    VersionStatus.VALIDATING: frozenset({VersionStatus.ACCEPTED, VersionStatus.REJECTED}),
    VersionStatus.ACCEPTED: frozenset(),
    VersionStatus.REJECTED: frozenset({VersionStatus.VALIDATING}),
}


class MatchStatus(models.TextChoices):
    """The life of one match, the unit of work."""

    QUEUED = "queued", _("queued")  # waiting for a worker
    LEASED = "leased", _("assigned")  # a worker holds it until its lease runs out
    RUNNING = "running", _("running")  # the worker has started the bots
    FINISHED = "finished", _("finished")  # every board is stored
    VOID = "void", _("void")  # could not be played for a reason of ours; counts for nobody
    CANCELLED = "cancelled", _("cancelled")  # taken back by a person before it finished


MATCH_TRANSITIONS: dict[str, frozenset[str]] = {
    MatchStatus.QUEUED: frozenset({MatchStatus.LEASED, MatchStatus.CANCELLED, MatchStatus.VOID}),
    MatchStatus.LEASED: frozenset({MatchStatus.RUNNING, MatchStatus.QUEUED, MatchStatus.VOID, MatchStatus.CANCELLED}),
    MatchStatus.RUNNING: frozenset({MatchStatus.FINISHED, MatchStatus.QUEUED, MatchStatus.VOID, MatchStatus.CANCELLED}),
    MatchStatus.FINISHED: frozenset({MatchStatus.VOID}),
    MatchStatus.VOID: frozenset(),
    MatchStatus.CANCELLED: frozenset(),
}


class CheckName(models.TextChoices):
    """What a version is put to in each game that it declares (engine.runner.trial)."""

    BOARDS = "boards", _("whole boards")
    START = "start", _("start")
    AWKWARD = "awkward", _("rare decisions")
    LONG = "long", _("a long match")
    CANCELLED = "cancelled", _("an interrupted match")
    REPEATED = "repeated", _("repeated requests")  # of a version that declares itself deterministic


class MatchKind(models.TextChoices):
    """Why a match is played."""

    TOURNAMENT = "tournament", _("tournament")
    VALIDATION = "validation", _("validation")  # proves an upload; never rated
    CHALLENGE = "challenge", _("unrated challenge")  # at the wish of the owner of one bot; never rated
    LADDER = "ladder", _("standing ladder")  # drawn by the league where nothing else waits (league.domain.ladders)
    TRY = "try", _("try")  # no match: an author looks how a text plays, nobody else sees it (league.domain.bots.tries)
    AUDIT = "audit", _("audit")  # no match: a conversation of one is put to its bot again (league.domain.audits)


class AuditReason(models.TextChoices):
    """Why a conversation was drawn."""

    SAMPLE = "sample", _("sample")
    RISE = "rise", _("rising bot")
    FINAL = "final", _("final")


class AuditVerdict(models.TextChoices):
    """What came of an audit (engine.runner.audit)."""

    SAME = "same", _("the same answers")
    ALIKE = "alike", _("differs no more than two runs of the bot")
    DIFFERS = "differs", _("differs")  # a case for people
    FAILED = "failed", _("failed when repeated")


class AuditConclusion(models.TextChoices):
    """What a person found in an audit that differs."""

    HONEST = "honest", _("harmless difference")
    BENT = "bent", _("outside help suspected")
    UNCLEAR = "unclear", _("unexplained")


class JudgementKind(models.TextChoices):
    """In which of two ways the decisions of a match are judged; they are never mixed (engine.analysis)."""

    OPEN = "open", _("with open cards")
    FAIR = "fair", _("with what the seat knew")


class JudgementStatus(models.TextChoices):
    """The life of one judgement."""

    ASKED = "asked", _("queued")
    WORKING = "working", _("running")
    DONE = "done", _("analysed")
    FAILED = "failed", _("analysis failed")


class ConsultationStatus(models.TextChoices):
    """The life of one consultation, in the words of that of a judgement, so that JUDGEMENT_TRANSITIONS holds for both."""

    ASKED = "asked", _("queued")
    WORKING = "working", _("running")
    DONE = "done", _("answered")
    FAILED = "failed", _("failed")


JUDGEMENT_TRANSITIONS: dict[str, frozenset[str]] = {
    JudgementStatus.ASKED: frozenset({JudgementStatus.WORKING, JudgementStatus.FAILED}),
    JudgementStatus.WORKING: frozenset({JudgementStatus.ASKED, JudgementStatus.DONE, JudgementStatus.FAILED}),
    JudgementStatus.DONE: frozenset({JudgementStatus.ASKED}),  # found damaged
    JudgementStatus.FAILED: frozenset(),
}


class TableStatus(models.TextChoices):
    """The life of a table at which a person sits."""

    WAITING = "waiting", _("waiting for a worker")  # its bots are to answer
    HELD = "held", _("running")  # a worker has its bots
    RESTING = "resting", _("waiting for the player")  # who thinks; no worker has it
    FINISHED = "finished", _("finished")
    LEFT = "left", _("left")  # by its player
    ABANDONED = "abandoned", _("abandoned")  # its player has not answered for long
    VOID = "void", _("void")  # could not be played for a reason of ours


TABLE_TRANSITIONS: dict[str, frozenset[str]] = {
    TableStatus.WAITING: frozenset({TableStatus.HELD, TableStatus.LEFT, TableStatus.VOID}),
    TableStatus.HELD: frozenset(set(TableStatus) - {TableStatus.HELD, TableStatus.ABANDONED}),
    TableStatus.RESTING: frozenset({TableStatus.WAITING, TableStatus.LEFT, TableStatus.ABANDONED}),
    TableStatus.FINISHED: frozenset(),
    TableStatus.LEFT: frozenset(),
    TableStatus.ABANDONED: frozenset(),
    TableStatus.VOID: frozenset(),
}


class TournamentStatus(models.TextChoices):
    """The life of a tournament."""

    OPEN = "open", _("open")  # entries may still change
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")


TOURNAMENT_TRANSITIONS: dict[str, frozenset[str]] = {
    TournamentStatus.OPEN: frozenset({TournamentStatus.RUNNING, TournamentStatus.CANCELLED}),
    TournamentStatus.RUNNING: frozenset({TournamentStatus.FINISHED, TournamentStatus.CANCELLED}),
    TournamentStatus.FINISHED: frozenset({TournamentStatus.RUNNING}),  # a repair plays some of its matches again
    TournamentStatus.CANCELLED: frozenset(),
}


DEFAULT_FORMAT = "round_robin"


def format_choices() -> list[tuple[str, StrPromise]]:
    """The formats of tournaments with their titles. They follow from `league.pure.formats`, so that a new one needs no migration."""
    return [(form.key, _(form.title)) for form in FORMATS.values()]


class Audience(models.TextChoices):
    """Who sees the matches and standings of an event before they are shown."""

    PUBLIC = "public", _("everyone")
    ENTRANTS = "entrants", _("participants")
    HIDDEN = "hidden", _("only the owner and operators")


class Seeding(models.TextChoices):
    """What the seeds of a tournament follow: who is met first, who gets a bye."""

    RATING = "rating", _("by rating")  # in the pool at the start; who has none comes after, in the order of entry
    ENTRY = "entry", _("by order of entry")


class Ending(models.TextChoices):
    """What ended a tournament, where it was not simply its last match."""

    SETTLED = "settled", _("the winner is clear")  # with the probability that was asked for
    CO_CHAMPIONS = "co_champions", _("co-champions: still level at the maximum number of boards")
    CAP = "cap", _("the maximum number of boards is reached")
    STRONGER = "stronger", _("the test accepts that the challenger is stronger")
    NOT_STRONGER = "not_stronger", _("the test rejects that the challenger is stronger")
    BUDGET = "budget", _("all planned boards are played")
    CLOSED = "closed", _("ended by its owner")  # a ladder


class SuccessionVerdict(models.TextChoices):
    """What came of the test of a version against the one before it."""

    STRONGER = "stronger", _("better than the previous version")
    NOT_STRONGER = "not_stronger", _("not better than the previous version")
    CAP = "cap", _("no difference found")  # by as many boards as the test may take
    SUPERSEDED = "superseded", _("ended by a newer version")


class FaultKind(models.TextChoices):
    """What a bot did wrong. `infrastructure` is ours and never costs a bot anything."""

    CRASH = "crash", _("crash")
    TIMEOUT = "timeout", _("timeout")
    START_TIMEOUT = "start_timeout", _("start timeout")
    MEMORY = "memory", _("memory limit")
    OUTPUT_FLOOD = "output_flood", _("output flood")
    PROTOCOL = "protocol", _("protocol error")
    ILLEGAL_ACTION = "illegal_action", _("illegal action")
    PONDERING = "pondering", _("pondering")
    DISCONNECT = "disconnect", _("disconnect")
    UNPLAYABLE = "unplayable", _("unplayable")
    INFRASTRUCTURE = "infrastructure", _("infrastructure")

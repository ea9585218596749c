"""Words that rows carry: states, kinds and roles, each explained, and the tables of allowed transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from league.pure.formats import FORMATS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


class TokenScope(models.TextChoices):
    """The scope of a token. Each scope of a player's own keys includes those before it."""

    READ = "read", _("read: see what your account can see")
    SUBMIT = "submit", _("submit: also upload bots, enter and withdraw them")
    MANAGE = "manage", _("manage: everything that you can do on the site")
    # Of a key that an operator creates; it stands apart from the others.
    VOLUNTEER = "volunteer", _("volunteer: only compute for the league")

    def covers(self, needed: TokenScope) -> bool:
        """Return True if this scope is enough where `needed` is required."""
        if self not in OWN_SCOPES or needed not in OWN_SCOPES:
            return self == needed
        return OWN_SCOPES.index(self) >= OWN_SCOPES.index(needed)


# The scopes of keys that players create for themselves, in order.
OWN_SCOPES = (TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE)


class TeamRole(models.TextChoices):
    """A role in a team: what a member may do with its bots (league.domain.people.ownership)."""

    OWNER = "owner", _("owner")
    UPLOADER = "uploader", _("uploader")
    READER = "reader", _("reader")


class Right(models.TextChoices):
    """A right of an operator, granted separately. The words are Django permissions: `league.void`."""

    VOID = "void", _("void results, cancel tournaments")
    RERUN = "rerun", _("replay matches")
    PAUSE = "pause", _("suspend and resume bots and tournaments")
    BAN = "ban", _("ban and unban players")
    QUOTA = "quota", _("change the limits of players")
    EMBARGO = "embargo", _("hide and show replays")
    AUDIT = "audit", _("close audits that differ")
    MODERATE = "moderate", _("hide and show comments")


class ReportReason(models.TextChoices):
    """The reason for which a player reports a comment."""

    INSULT = "insult", _("insult or threat")
    SPAM = "spam", _("advertising or flooding")
    PRIVATE = "private", _("private data of somebody")
    OTHER = "other", _("something else against the rules")


class ReportOutcome(models.TextChoices):
    """A decision of the operators about a reported comment."""

    HIDDEN = "hidden", _("hidden")
    LEFT = "left", _("left as it is")


class ChallengeAnswer(models.TextChoices):
    """The answer to a challenge to a table. An unanswered one ends by itself (league.domain.tables.challenges)."""

    ACCEPTED = "accepted", _("accepted")
    DECLINED = "declined", _("declined")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Period(models.TextChoices):
    """The length of a digest: a whole day, or a whole week from Monday on, UTC."""

    DAY = "day", _("day")
    WEEK = "week", _("week")


class NoticeKind(models.TextChoices):
    """The kinds of notices; a player chooses a way for each (league.domain.notices.kinds)."""

    FAILED = "failed", _("One of my bots fails")
    OVERTAKEN = "overtaken", _("One of my bots is overtaken")
    ASKED = "asked", _("Somebody asks for one of my bots or challenges it")
    TABLE = "table", _("A table waits for me")
    EVENT = "event", _("A tournament that I play in or follow starts or ends")
    ASSIGNMENT = "assignment", _("An assignment of my class is due")
    FOLLOWED = "followed", _("A bot or player that I follow has news")
    TALK = "talk", _("Somebody comments on what is mine, or answers me")
    PUZZLE = "puzzle", _("The puzzle of the day")


class NoticeWay(models.TextChoices):
    """The ways by which a player gets notices. Each but `never` also shows them on the site."""

    NEVER = "never", _("never")
    SITE = "site", _("on the site only")
    DIGEST = "digest", _("in the digest")
    ONCE = "once", _("by email at once")


class BotState(models.TextChoices):
    """The state of a bot, set by its owner or the league."""

    ACTIVE = "active", _("active")  # May be entered and scheduled.
    PAUSED = "paused", _("paused")  # Keeps its place on leaderboards, but is not scheduled.
    RETIRED = "retired", _("retired")  # Shown, but never scheduled again.


class EntryPolicy(models.TextChoices):
    """The policy of a bot: which players may enter it (league.domain.bots.consent)."""

    USUAL = "usual", _("default: anyone in public leagues; with your permission in other events")
    ANYBODY = "anybody", _("anyone")
    ASK = "ask", _("only with your permission")
    NOBODY = "nobody", _("nobody")


class RequestStatus(models.TextChoices):
    """The life of a request to enter another player's bot."""

    ASKED = "asked", _("waiting for the owner")
    GRANTED = "granted", _("granted")
    REFUSED = "refused", _("refused")  # Or granted, and later withdrawn by the owner of the bot; nobody may ask again.
    WITHDRAWN = "withdrawn", _("withdrawn")  # By the player who asked.
    REMOVED = "removed", _("removed by the organiser")  # It entered, and the owner of the tournament removed it.
    EXPIRED = "expired", _("expired")  # Entries closed before the owner answered.


REQUEST_TRANSITIONS: dict[str, frozenset[str]] = {
    RequestStatus.ASKED: frozenset(RequestStatus) - {RequestStatus.ASKED, RequestStatus.REMOVED},
    RequestStatus.GRANTED: frozenset({RequestStatus.REFUSED, RequestStatus.WITHDRAWN, RequestStatus.REMOVED}),
    RequestStatus.REFUSED: frozenset({RequestStatus.GRANTED}),
    RequestStatus.WITHDRAWN: frozenset(),
    RequestStatus.REMOVED: frozenset(),
    RequestStatus.EXPIRED: frozenset(),
}


class Licence(models.TextChoices):
    """A licence under which an author publishes source, by its SPDX identifier. Each allows forks."""

    MIT = "MIT", _("MIT: any use, if it names you")
    APACHE = "Apache-2.0", _("Apache 2.0: any use, if it names you; with patents")
    GPL = "GPL-3.0-or-later", _("GPL 3 or later: published forks stay open")
    CC0 = "CC0-1.0", _("CC0: any use, without conditions")


class VersionStatus(models.TextChoices):
    """The life of one upload."""

    VALIDATING = "validating", _("validating")  # The validation is queued or running.
    ACCEPTED = "accepted", _("accepted")  # The validation found no fault in at least one game.
    REJECTED = "rejected", _("rejected")  # The validation found a fault in each game; the owner sees which and why.
    # The bot runs on its author's machine; it meets others in remote pools only (league.domain.remote).
    REMOTE = "remote", _("remote")


VERSION_TRANSITIONS: dict[str, frozenset[str]] = {
    VersionStatus.VALIDATING: frozenset({VersionStatus.ACCEPTED, VersionStatus.REJECTED}),
    VersionStatus.ACCEPTED: frozenset(),
    VersionStatus.REJECTED: frozenset({VersionStatus.VALIDATING}),
    VersionStatus.REMOTE: frozenset(),
}


class MatchStatus(models.TextChoices):
    """The life of one match, the unit of work."""

    QUEUED = "queued", _("queued")  # Waiting for a worker.
    LEASED = "leased", _("assigned")  # A worker has the match until its lease ends.
    RUNNING = "running", _("running")  # The worker has started the bots.
    FINISHED = "finished", _("finished")  # Every board is stored.
    VOID = "void", _("void")  # The league could not play it; it does not count.
    CANCELLED = "cancelled", _("cancelled")  # By a person, before the match finished.


MATCH_TRANSITIONS: dict[str, frozenset[str]] = {
    MatchStatus.QUEUED: frozenset({MatchStatus.LEASED, MatchStatus.CANCELLED, MatchStatus.VOID}),
    MatchStatus.LEASED: frozenset({MatchStatus.RUNNING, MatchStatus.QUEUED, MatchStatus.VOID, MatchStatus.CANCELLED}),
    MatchStatus.RUNNING: frozenset({MatchStatus.FINISHED, MatchStatus.QUEUED, MatchStatus.VOID, MatchStatus.CANCELLED}),
    MatchStatus.FINISHED: frozenset({MatchStatus.VOID}),
    MatchStatus.VOID: frozenset(),
    MatchStatus.CANCELLED: frozenset(),
}


class CheckName(models.TextChoices):
    """A check of a version in each game that it declares (engine.runner.trial)."""

    BOARDS = "boards", _("whole boards")
    START = "start", _("start")
    AWKWARD = "awkward", _("rare decisions")
    LONG = "long", _("a long match")
    CANCELLED = "cancelled", _("an interrupted match")
    REPEATED = "repeated", _("repeated requests")  # Only for versions that declare themselves deterministic.


class MatchKind(models.TextChoices):
    """The purpose of a match."""

    TOURNAMENT = "tournament", _("tournament")
    VALIDATION = "validation", _("validation")  # Checks an upload; never rated.
    CHALLENGE = "challenge", _("unrated challenge")  # Requested by the owner of one of its bots; never rated.
    LADDER = "ladder", _("standing ladder")  # Drawn by the league for idle time (league.domain.ladders).
    REMOTE = "remote", _("remote match")  # Drawn by the league for a connected remote bot (league.domain.remote).
    TRY = "try", _("try")  # Not a match: an author tries a text in private (league.domain.bots.tries).
    # Measures a version that a student has handed in (league.domain.classes). Only the class sees it; never rated.
    ASSIGNMENT = "assignment", _("class assignment")
    AUDIT = "audit", _("audit")  # Not a match: a conversation is repeated with its bot (league.domain.audits).


class AuditReason(models.TextChoices):
    """The reason why a conversation was drawn for an audit."""

    SAMPLE = "sample", _("sample")
    RISE = "rise", _("rising bot")
    FINAL = "final", _("final")


class AuditVerdict(models.TextChoices):
    """The result of an audit (engine.runner.audit)."""

    SAME = "same", _("the same answers")
    ALIKE = "alike", _("differs no more than two runs of the bot")
    DIFFERS = "differs", _("differs")
    FAILED = "failed", _("failed when repeated")


CASES = (AuditVerdict.DIFFERS, AuditVerdict.FAILED)  # A person has to look at them.


class AuditConclusion(models.TextChoices):
    """A person's conclusion about a case."""

    HONEST = "honest", _("harmless difference")
    BENT = "bent", _("outside help suspected")
    UNCLEAR = "unclear", _("unexplained")


class JudgementKind(models.TextChoices):
    """The two kinds of analysis, which are never mixed (engine.analysis)."""

    OPEN = "open", _("with open cards")
    FAIR = "fair", _("with what the seat knew")


class JudgementStatus(models.TextChoices):
    """The life of an analysis."""

    ASKED = "asked", _("queued")
    WORKING = "working", _("running")
    DONE = "done", _("analysed")
    FAILED = "failed", _("analysis failed")


class ConsultationStatus(models.TextChoices):
    """The life of a consultation, with the statuses of an analysis, so that JUDGEMENT_TRANSITIONS applies to both."""

    ASKED = "asked", _("queued")
    WORKING = "working", _("running")
    DONE = "done", _("answered")
    FAILED = "failed", _("failed")


JUDGEMENT_TRANSITIONS: dict[str, frozenset[str]] = {
    JudgementStatus.ASKED: frozenset({JudgementStatus.WORKING, JudgementStatus.FAILED}),
    JudgementStatus.WORKING: frozenset({JudgementStatus.ASKED, JudgementStatus.DONE, JudgementStatus.FAILED}),
    JudgementStatus.DONE: frozenset({JudgementStatus.ASKED}),  # The stored analysis was found damaged.
    JudgementStatus.FAILED: frozenset({JudgementStatus.ASKED}),  # An operator has it tried again.
}


class JobState(models.TextChoices):
    """The life of a job, which is deleted when it is done."""

    QUEUED = "queued", _("queued")
    LEASED = "leased", _("running")  # A worker is doing it.


JOB_TRANSITIONS: dict[str, frozenset[str]] = {
    JobState.QUEUED: frozenset({JobState.LEASED}),
    JobState.LEASED: frozenset({JobState.QUEUED}),
}


class TableStatus(models.TextChoices):
    """The life of a table where a person plays."""

    WAITING = "waiting", _("waiting for a worker")  # The bots are to move.
    HELD = "held", _("running")  # A worker runs the bots.
    RESTING = "resting", _("waiting for the player")  # The person is thinking, and no worker runs the bots.
    FINISHED = "finished", _("finished")
    LEFT = "left", _("left")  # By the player.
    ABANDONED = "abandoned", _("abandoned")  # The player did not answer for a long time.
    VOID = "void", _("void")  # It could not be played because of a fault of ours.


class TableWatching(models.TextChoices):
    """The spectators of a shared table in play: who may watch, and when they see hidden cards."""

    NOBODY = "nobody", _("nobody")
    HIDDEN = "hidden", _("anyone with the link, without the hands")
    LATER = "later", _("anyone with the link, with all hands 12 decisions later")
    OVER = "over", _("anyone with the link, with all hands when a hand is over")


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

    OPEN = "open", _("open")  # Entries may still change.
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")


TOURNAMENT_TRANSITIONS: dict[str, frozenset[str]] = {
    TournamentStatus.OPEN: frozenset({TournamentStatus.RUNNING, TournamentStatus.CANCELLED}),
    TournamentStatus.RUNNING: frozenset({TournamentStatus.FINISHED, TournamentStatus.CANCELLED}),
    TournamentStatus.FINISHED: frozenset({TournamentStatus.RUNNING}),  # A repair plays some of its matches again.
    TournamentStatus.CANCELLED: frozenset(),
}


DEFAULT_FORMAT = "round_robin"


def format_choices() -> list[tuple[str, StrPromise]]:
    """Return the formats of tournaments with their titles. They come from `league.pure.formats`, so a new one needs no migration."""
    return [(form.key, _(form.title)) for form in FORMATS.values()]


class Audience(models.TextChoices):
    """The audience of an event: who sees its matches and standings before the release."""

    PUBLIC = "public", _("everyone")
    ENTRANTS = "entrants", _("participants")
    HIDDEN = "hidden", _("only the owner and operators")


class Counting(models.TextChoices):
    """The reason why the results of a tournament or event count for the ratings or not (league.domain.tournaments.rule)."""

    LEAGUE = "league", _("Results count for the ratings, because the league or one of its operators runs this event.")
    PLAYER = (
        "player",
        _("Results do not count for the ratings: the organiser chose who plays, on how many boards and when."),
    )
    HIDDEN = (
        "hidden",
        _("Results do not count for the ratings: they were hidden, so some people saw them before others."),
    )


class Entrance(models.TextChoices):
    """The entrance of a tournament or event: who may enter bots while it is open. In a private event only people with its link can."""

    ANYBODY = "anybody", _("anyone with a bot")
    OWNER = "owner", _("only bots that I choose")


class Seeding(models.TextChoices):
    """The order of a tournament's seeds, which decide first opponents and byes."""

    # By rating in the pool at the start; unrated bots come last, in the order of entry.
    RATING = "rating", _("by rating")
    ENTRY = "entry", _("by order of entry")


class Ending(models.TextChoices):
    """The reason for which a tournament ended, unless it simply played its last match."""

    SETTLED = "settled", _("the winner is clear")  # The winner is clear with the requested probability.
    CO_CHAMPIONS = "co_champions", _("co-champions: still level at the maximum number of boards")
    CAP = "cap", _("the maximum number of boards is reached")
    STRONGER = "stronger", _("the test accepts that the challenger is stronger")
    NOT_STRONGER = "not_stronger", _("the test rejects that the challenger is stronger")
    BUDGET = "budget", _("all planned boards are played")
    CLOSED = "closed", _("ended by its owner")  # A ladder, which only its owner ends.


class VersionTestVerdict(models.TextChoices):
    """The result of a version test: is a version better than the one before it?"""

    STRONGER = "stronger", _("better than the previous version")
    NOT_STRONGER = "not_stronger", _("not better than the previous version")
    CAP = "cap", _("no difference found")  # The test used up its boards without a decision.
    SUPERSEDED = "superseded", _("ended by a newer version")


class BossLeague(models.IntegerChoices):
    """The boss leagues of a game, from the lowest up. A bot rises to the next one by beating the boss of its own."""

    WOOD = 0, _("Wood")
    BRONZE = 1, _("Bronze")
    SILVER = 2, _("Silver")
    GOLD = 3, _("Gold")
    CROWN = 4, _("Gold")  # Above all bosses, until the season ends.


class ClassRole(models.TextChoices):
    """The role of a member of a class."""

    TEACHER = "teacher", _("teacher")
    STUDENT = "student", _("student")


class PassRule(models.TextChoices):
    """The pass mark of an assignment."""

    BETTER = "better", _("better than a house bot, 95 % sure, without a fault")
    CLEAN = "clean", _("no fault")


class HandInVerdict(models.TextChoices):
    """The result of a version that was handed in."""

    PASSED = "passed", _("passed")
    NOT_BETTER = "not_better", _("not better")  # The boards show that the bot is not better than the house bot.
    UNSURE = "unsure", _("not sure")  # All boards are played, and they do not show which one is better.
    FAULT = "fault", _("fault")


class FaultKind(models.TextChoices):
    """A fault. `infrastructure` is a fault of the league and never counts against a bot."""

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
    BUILD = "build", _("build failed")  # Of a version that is source (league.domain.bots.builds).
    INFRASTRUCTURE = "infrastructure", _("infrastructure")

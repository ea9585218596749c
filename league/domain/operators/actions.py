"""The table of operators' actions.

Each has the right that it needs, the kinds of subjects, and a function that carries it out and reports its effects. A dry run does the same and
rolls it back (`acting`), so it cannot predict anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop

from league.domain.audits import cases
from league.domain.bots import bots
from league.domain.core import queue
from league.domain.core.errors import Refused
from league.domain.judgements import asking
from league.domain.matches import embargoes, leases
from league.domain.notices import letters
from league.domain.operators.fields import CONCLUSION, DEFAULT, LIMIT, UNTIL, UNTIL_OR_NEVER, VALUE, ActionField
from league.domain.operators.subjects import (
    AUDIT,
    BOT,
    CASE,
    COMMENT,
    CONSULTATION,
    EVENT,
    JOB,
    JUDGEMENT,
    MATCH,
    PLAYER,
    TOURNAMENT,
    Subject,
)
from league.domain.people import bans, quotas
from league.domain.talk import comments
from league.domain.tournaments import progress
from league.domain.upkeep import repair
from league.enums import MatchKind, MatchStatus, Right, TournamentStatus
from league.models import Audit, Bot, Case, Comment, Consultation, Job, Judgement, Match, Player, Tournament
from league.pure.refusal import Message

WAITING = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)


@dataclass(frozen=True)
class ActionCall:
    """One call of an action: subjects, values of its fields, reason, actor and time."""

    subjects: tuple[Subject, ...]
    values: dict[str, Any]
    why: str
    actor: str
    now: datetime

    @property
    def context(self) -> dict[str, Any]:
        """Return the arguments that the functions of the domain expect."""
        return {"why": self.why, "actor": self.actor, "now": self.now}


@dataclass(frozen=True)
class Undo:
    """The name and the values of the action that takes another one back."""

    action: str
    values: dict[str, str] = field(default_factory=dict)


def _by(name: str) -> Callable[[ActionCall], Undo]:
    return lambda call: Undo(name)


@dataclass(frozen=True, kw_only=True)
class Action:
    """An action. `do` carries it out and yields its effects, none if nothing changed. `command`: its name in `manage.py`."""

    name: str
    right: Right
    title: str
    sentence: str
    kinds: tuple[str, ...]
    do: Callable[[ActionCall], Iterator[Message]]
    command: str
    example: str  # Arguments of the command, without the reason.
    # Returns the call that takes this one back; called before it is carried out. None: nothing takes it back.
    undo: Callable[[ActionCall], Undo | None] | None = None
    lasting: str = ""  # A sentence that says what no later action takes back.
    fields: tuple[ActionField, ...] = ()
    many: bool = False  # True if the action takes several subjects at once.


def _strike(call: ActionCall, *, again: bool) -> Iterator[Message]:
    rows: list[Match] = [subject.row for subject in call.subjects]
    changes = repair.strike(rows, why=call.why, actor=call.actor, again=again, now=call.now)
    for sentence, names in (
        (gettext_noop("voided: {count} ({names})"), changes.struck),
        (gettext_noop("to be played again: {count} ({names})"), changes.again),
        (gettext_noop("tournaments running again: {count} ({names})"), changes.reopened),
    ):
        if names:
            yield Message(sentence, count=len(names), names=", ".join(names))
    for change in changes.changes:
        was, becomes = ("–" if elo is None else f"{elo:.1f}" for elo in (change.before, change.after))
        yield Message("{pool}: {version}: {was} -> {becomes}", pool=change.pool, version=change.version, was=was, becomes=becomes)  # fmt: skip


def _void(call: ActionCall) -> Iterator[Message]:
    return _strike(call, again=False)


def _rerun(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        match: Match = subject.row
        if match.kind != MatchKind.TOURNAMENT or match.tournament is None:
            raise Refused(
                "match {match} validates an upload; validate it again with `manage.py revalidate BOT`",
                match=match.public_id,
            )
        if match.tournament.status == TournamentStatus.CANCELLED:
            raise Refused(
                "match {match} belongs to the tournament {tournament!r}, which was cancelled; its matches are not played again",
                match=match.public_id,
                tournament=match.tournament.name,
            )
    yield from _strike(call, again=True)


def _cancel(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        row: Tournament = subject.row
        if row.status == TournamentStatus.CANCELLED:
            continue
        waiting = row.matches.filter(status__in=WAITING).count()
        progress.cancel(row, **call.context)
        yield Message(
            "cancelled the tournament {tournament!r} permanently; cancelled matches: {count}; finished matches count",
            tournament=row.name,
            count=waiting,
        )


def _pause(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if isinstance(subject.row, Tournament):
            if progress.stop(subject.row, **call.context):
                yield _waits(subject.row)
        elif bots.stop(subject.row, **call.context):
            yield Message(
                "paused the bot {bot!r}, whatever its owner does: it enters nothing and starts no match; running matches are "
                "played to the end",
                bot=subject.row.slug,
            )
            yield from _waiting_with([subject.row])


def _waits(tournament: Tournament) -> Message:
    return Message(
        "paused the tournament {tournament!r}, whatever its owner does; queued matches: {count}; running matches are "
        "played to the end",
        tournament=tournament.name,
        count=tournament.matches.filter(status=MatchStatus.QUEUED).count(),
    )


def _waiting_with(bots_held: list[Bot]) -> Iterator[Message]:
    """Report who is affected by the absence of these bots."""
    queued = Match.objects.filter(status=MatchStatus.QUEUED, parties__version__bot__in=bots_held).distinct()
    cups = Tournament.objects.filter(status=TournamentStatus.RUNNING, entries__version__bot__in=bots_held).distinct()
    yield Message(
        "queued matches that wait for these bots: {count}; running tournaments that cannot finish without "
        "them: {names}",
        count=queued.count(),
        names=", ".join(cups.order_by("pk").values_list("slug", flat=True)) or Message("none"),
    )


def _resume(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        row = subject.row
        if isinstance(row, Tournament) and progress.release(row, **call.context):
            yield Message(
                "resumed the tournament {tournament!r}; its matches are played in turn",
                tournament=row.name,
            )
        elif isinstance(row, Bot) and bots.release(row, **call.context):
            yield Message("resumed the bot {bot!r}; it plays again, unless its owner has paused it, too", bot=row.slug)


def _ban(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        player: Player = subject.row
        ended = bans.ban(player, until=call.values["until"], **call.context)
        if ended is None:
            continue
        if player.banned_until is None:
            yield Message("signed out {name} and banned the account permanently", name=player.name)
        else:
            yield Message(
                "signed out {name} and banned the account until {until} UTC",
                name=player.name,
                until=f"{player.banned_until:%Y-%m-%d %H:%M}",
            )
        yield Message("ended sessions: {sessions}; revoked keys: {keys}", sessions=ended.sessions, keys=ended.keys)
        bots_held = list(player.bots.order_by("pk"))
        yield Message(
            "paused bots: {count} ({names}); they enter nothing and start no match, except those of running tournaments",
            count=ended.bots,
            names=", ".join(bot.slug for bot in bots_held) or Message("none"),
        )
        cups = Tournament.objects.filter(status=TournamentStatus.RUNNING, entries__version__bot__in=bots_held)
        yield Message(
            "running tournaments in which they play on: {names}",
            names=", ".join(cups.distinct().order_by("pk").values_list("slug", flat=True)) or Message("none"),
        )
        yield Message("results stay; tournaments and circuits of {name} go on", name=player.name)


def _unban(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if bans.lift(subject.row, **call.context):
            yield Message(
                "{name} may sign in again with the password and create new keys; the bots of {name} play again, except those "
                "that are paused themselves",
                name=subject.row.name,
            )


def _quota(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        name = call.values["limit"]
        before = quotas.limit(subject.row, name, now=call.now)
        if quotas.set_quota(subject.row, name, call.values["value"], **call.context):
            after = quotas.limit(subject.row, name, now=call.now)
            yield Message(
                "{player}: {name} {used} of {most} (before: {before}); the default is {default}",
                player=subject.row.name,
                name=name,
                used=after.used,
                most=after.most,
                before=before.most,
                default=after.default,
            )


def _embargo(call: ActionCall) -> Iterator[Message]:
    until: datetime = call.values["until"]
    for subject in call.subjects:
        was_published = _has_published_secret(subject.row, call.now)
        if embargoes.change(subject.row, until, **call.context):
            yield Message(
                "withheld the replays of {subject} until {until} UTC, together with the secret of the deals; results "
                "stay visible",
                subject=subject.name,
                until=f"{until:%Y-%m-%d %H:%M}",
            )
            if was_published:
                yield Message("the secret was published before: anyone who has a copy can reproduce the hands")


def _has_published_secret(row: Any, now: datetime) -> bool:
    above = row.tournament if isinstance(row, Match) else row
    return above is not None and above.finished is not None and not embargoes.hides_secret(above, now=now)


def _lift(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if embargoes.change(subject.row, None, **call.context):
            yield Message(
                "the replays of {subject} are shown as soon as its matches are finished", subject=subject.name
            )


def _conclude(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        row: Audit | Case = subject.row
        if not cases.close(row, conclusion=call.values["conclusion"], **call.context):
            continue
        if isinstance(row, Case):
            yield Message(
                "closed the case of {loser} against {winner}: {conclusion}; no result changes",
                loser=row.loser.name,
                winner=row.winner.name,
                conclusion=row.conclusion,
            )
        else:
            yield Message(
                "closed the case of {version} in match {match}: {conclusion}; no result changes",
                version=str(row.version),
                match=row.match.public_id,
                conclusion=row.conclusion,
            )


def _retry(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if isinstance(subject.row, Player):
            if letters.retry(subject.row, now=call.now):
                yield Message("the mail of {name} is sent within half a minute", name=subject.row.name)
            continue
        if isinstance(subject.row, Job):
            if queue.end_pause(subject.row, now=call.now):
                yield Message("{subject} waits no longer after its last attempt", subject=subject.name)
            continue
        if isinstance(subject.row, Judgement | Consultation):
            if asking.retry(subject.row, **call.context):
                yield Message("{subject} is queued again", subject=subject.name)
            continue
        match: Match = subject.row
        worker = match.worker
        if not leases.retry(match, why=call.why, now=call.now):
            continue
        if worker:
            yield Message(
                "took match {match} back from {worker}; it is queued again, with the same deals",
                match=match.public_id,
                worker=worker,
            )
        else:
            yield Message("match {match} waits no longer after its last attempt", match=match.public_id)


def _reopen(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if cases.reopen(subject.row, **call.context):
            yield Message("opened {subject} again", subject=subject.name)


def _undo_unban(call: ActionCall) -> Undo | None:
    player: Player = call.subjects[0].row
    return Undo("ban", {"until": _time(player.banned_until)}) if player.banned else None


def _undo_quota(call: ActionCall) -> Undo:
    own = quotas.own_limit(call.subjects[0].row, call.values["limit"])
    return Undo("quota", {"limit": call.values["limit"], "value": DEFAULT if own is None else str(own)})


def _undo_embargo(call: ActionCall) -> Undo:
    until = call.subjects[0].row.embargo
    return Undo("embargo", {"until": _time(until)}) if until and until > call.now else Undo("lift_embargo")


def _undo_lift(call: ActionCall) -> Undo | None:
    until = call.subjects[0].row.embargo
    return Undo("embargo", {"until": _time(until)}) if until and until > call.now else None


def _undo_conclude(call: ActionCall) -> Undo:
    before = call.subjects[0].row.conclusion
    return Undo("conclude", {"conclusion": before}) if before else Undo("reopen")


def _undo_reopen(call: ActionCall) -> Undo | None:
    before = call.subjects[0].row.conclusion
    return Undo("conclude", {"conclusion": before}) if before else None


def _time(value: datetime | None) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%MZ}" if value else ""


def _hide(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        comment: Comment = subject.row
        if comments.hide(comment, **call.context):
            yield Message(
                "hid comment {number} by {author}; only its author still sees it, with the reason",
                **_named(comment),
            )


def _show(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if comments.show(subject.row):
            yield Message("comment {number} by {author} is shown again", **_named(subject.row))


def _leave(call: ActionCall) -> Iterator[Message]:
    for subject in call.subjects:
        if count := comments.leave(subject.row, actor=call.actor, now=call.now):
            yield Message(
                "closed {count} reports of comment {number} by {author}; it stays", count=count, **_named(subject.row)
            )


def _named(comment: Comment) -> dict[str, object]:
    return {"number": comment.pk, "author": comment.author.name}


ACTIONS = {
    action.name: action
    for action in (
        Action(
            name="void",
            right=Right.VOID,
            title=gettext_noop("Void results"),
            sentence=gettext_noop(
                "The matches can still be replayed but no longer count; their rating lists are computed again."
            ),
            kinds=(MATCH,),
            many=True,
            lasting=gettext_noop(
                "Cannot be undone: voided results never count again. The matches can be played again with the same deals."
            ),
            do=_void,
            command="void_match",
            example="8f3k2pq7ab",
        ),
        Action(
            name="rerun",
            right=Right.RERUN,
            title=gettext_noop("Play matches again"),
            sentence=gettext_noop("With the same deals and versions. Finished results are voided first."),
            kinds=(MATCH,),
            many=True,
            lasting=gettext_noop("Cannot be undone: the first results stay void."),
            do=_rerun,
            command="rerun_match",
            example="8f3k2pq7ab",
        ),
        Action(
            name="cancel",
            right=Right.VOID,
            title=gettext_noop("Cancel a tournament"),
            sentence=gettext_noop("Permanently. Queued and running matches are cancelled, finished ones count."),
            kinds=(TOURNAMENT,),
            lasting=gettext_noop("Cannot be undone: a cancelled tournament never continues."),
            do=_cancel,
            command="cancel_tournament",
            example="copa",
        ),
        Action(
            name="pause",
            right=Right.PAUSE,
            title=gettext_noop("Pause a bot or a tournament"),
            sentence=gettext_noop("None of its matches starts until an operator resumes it; its owner cannot."),
            kinds=(BOT, TOURNAMENT),
            undo=_by("resume"),
            do=_pause,
            command="pause",
            example="bot:rufo",
        ),
        Action(
            name="resume",
            right=Right.PAUSE,
            title=gettext_noop("Resume a bot or a tournament"),
            sentence=gettext_noop("The bot or tournament continues, unless its owner has paused it, too."),
            kinds=(BOT, TOURNAMENT),
            undo=_by("pause"),
            do=_resume,
            command="resume",
            example="bot:rufo",
        ),
        Action(
            name="ban",
            right=Right.BAN,
            title=gettext_noop("Ban a player"),
            sentence=gettext_noop(
                "Sessions and keys end, nobody can sign in, the bots pause. After a correct password the login page shows the reason. Results stay."
            ),
            kinds=(PLAYER,),
            undo=_by("unban"),
            lasting=gettext_noop("Sessions and API keys that it ends do not come back."),
            do=_ban,
            command="ban",
            example="ana --until 2026-12-31T12:00Z",
            fields=(UNTIL_OR_NEVER,),
        ),
        Action(
            name="unban",
            right=Right.BAN,
            title=gettext_noop("End a ban"),
            sentence=gettext_noop("The player may sign in again, and the bots play."),
            kinds=(PLAYER,),
            undo=_undo_unban,
            do=_unban,
            command="unban",
            example="ana",
        ),
        Action(
            name="quota",
            right=Right.QUOTA,
            title=gettext_noop("Change a player's limit"),
            sentence=gettext_noop("Set the player's own limit, or go back to the default."),
            kinds=(PLAYER,),
            undo=_undo_quota,
            do=_quota,
            command="set_quota",
            example="ana boards 500000",
            fields=(LIMIT, VALUE),
        ),
        Action(
            name="embargo",
            right=Right.EMBARGO,
            title=gettext_noop("Withhold replays"),
            sentence=gettext_noop(
                "For a match, a tournament or an event: nobody sees the cards before the time that you set; results "
                "are shown."
            ),
            kinds=(MATCH, TOURNAMENT, EVENT),
            undo=_undo_embargo,
            do=_embargo,
            command="embargo",
            example="tournament:copa 2026-12-31T12:00Z",
            fields=(UNTIL,),
        ),
        Action(
            name="lift_embargo",
            right=Right.EMBARGO,
            title=gettext_noop("Show withheld replays"),
            sentence=gettext_noop("The replays are shown before the time that was set."),
            kinds=(MATCH, TOURNAMENT, EVENT),
            undo=_undo_lift,
            lasting=gettext_noop("Replays that somebody has copied stay known."),
            do=_lift,
            command="lift_embargo",
            example="tournament:copa",
        ),
        Action(
            name="conclude",
            right=Right.AUDIT,
            title=gettext_noop("Close a case"),
            sentence=gettext_noop(
                "For an audit with a difference or a failure, or results that ratings do not explain. It changes no result."
            ),
            kinds=(AUDIT, CASE),
            undo=_undo_conclude,
            do=_conclude,
            command="close_audit",
            example="audit:7hq2mx9c4k honest",
            fields=(CONCLUSION,),
        ),
        Action(
            name="reopen",
            right=Right.AUDIT,
            title=gettext_noop("Open a case again"),
            sentence=gettext_noop("Its conclusion is removed, and it is listed as open."),
            kinds=(AUDIT, CASE),
            undo=_undo_reopen,
            do=_reopen,
            command="reopen_case",
            example="audit:7hq2mx9c4k",
        ),
        Action(
            name="retry",
            right=Right.RERUN,
            title=gettext_noop("Try again now"),
            sentence=gettext_noop(
                "A match that pauses after a failed attempt is played as soon as a worker is free; one that a worker does not finish "
                "goes back to the queue. An analysis or a consultation that failed is queued again. For a player: the mail that could not be sent."
            ),
            kinds=(MATCH, PLAYER, JOB, JUDGEMENT, CONSULTATION),
            many=True,
            lasting=gettext_noop("Cannot be undone, and loses nothing: it only happens sooner."),
            do=_retry,
            command="try_again",
            example="match:8f3k2pq7ab",
        ),
        Action(
            name="hide",
            right=Right.MODERATE,
            title=gettext_noop("Hide a comment"),
            sentence=gettext_noop("Nobody but its author sees it, with the reason. Its reports are closed."),
            kinds=(COMMENT,),
            many=True,
            undo=_by("show"),
            do=_hide,
            command="hide_comment",
            example="12",
        ),
        Action(
            name="show",
            right=Right.MODERATE,
            title=gettext_noop("Show a hidden comment"),
            sentence=gettext_noop("Everybody sees it again."),
            kinds=(COMMENT,),
            many=True,
            undo=_by("hide"),
            do=_show,
            command="show_comment",
            example="12",
        ),
        Action(
            name="leave",
            right=Right.MODERATE,
            title=gettext_noop("Leave a reported comment"),
            sentence=gettext_noop("Its reports are closed, and it stays as it is."),
            kinds=(COMMENT,),
            many=True,
            lasting=gettext_noop("Cannot be undone; the comment can still be hidden."),
            do=_leave,
            command="leave_comment",
            example="12",
        ),
    )
}

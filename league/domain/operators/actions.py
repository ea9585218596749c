"""The table of what operators do. Each action says who may do it, to what, and what came of it, sentence by sentence.

An action is tried by carrying it out and taking it back (`acting`), so there is no second description of it that could be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop

from league.domain.audits import cases
from league.domain.bots import bots
from league.domain.core.errors import Refused
from league.domain.matches import embargoes
from league.domain.operators.fields import CONCLUSION, LIMIT, UNTIL, UNTIL_OR_NEVER, VALUE, Field
from league.domain.operators.subjects import AUDIT, BOT, EVENT, MATCH, PLAYER, TOURNAMENT, Subject
from league.domain.people import bans, quotas
from league.domain.tournaments import progress
from league.domain.upkeep import repair
from league.enums import MatchKind, MatchStatus, Right, TournamentStatus
from league.models import Audit, Bot, Match, Player, Tournament
from league.pure.refusal import Message

WAITING = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)


@dataclass(frozen=True)
class Deed:
    """One use of an action: on what, with which values of its fields, why, by whom, when."""

    subjects: tuple[Subject, ...]
    given: dict[str, Any]
    why: str
    actor: str
    now: datetime

    @property
    def by(self) -> dict[str, Any]:
        """What the functions of the league ask for."""
        return {"why": self.why, "actor": self.actor, "now": self.now}


@dataclass(frozen=True, kw_only=True)
class Action:
    """`do` does it and tells what came of it; nothing where all is so already. `command`: what `manage.py` calls it."""

    name: str
    right: Right
    title: str
    sentence: str
    kinds: tuple[str, ...]
    do: Callable[[Deed], Iterator[Message]]
    command: str
    example: str  # of the command, without the reason
    fields: tuple[Field, ...] = ()
    many: bool = False  # whether it takes several subjects at once


def _strike(deed: Deed, *, again: bool) -> Iterator[Message]:
    rows: list[Match] = [subject.row for subject in deed.subjects]
    found = repair.strike(rows, why=deed.why, actor=deed.actor, again=again, now=deed.now)
    for sentence, names in (
        (gettext_noop("struck out: {count} ({names})"), found.struck),
        (gettext_noop("to be played again: {count} ({names})"), found.again),
        (gettext_noop("tournaments running again: {count} ({names})"), found.reopened),
    ):
        if names:
            yield Message(sentence, count=len(names), names=", ".join(names))
    for change in found.changes:
        was, becomes = ("–" if elo is None else f"{elo:.1f}" for elo in (change.before, change.after))
        yield Message("{pool}: {version}: {was} -> {becomes}", pool=change.pool, version=change.version, was=was, becomes=becomes)  # fmt: skip


def _void(deed: Deed) -> Iterator[Message]:
    return _strike(deed, again=False)


def _rerun(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        match: Match = subject.row
        if match.kind != MatchKind.TOURNAMENT or match.tournament is None:
            raise Refused(
                "match {match} validates an upload; `manage.py revalidate BOT` tries that again", match=match.public_id
            )
        if match.tournament.status == TournamentStatus.CANCELLED:
            raise Refused(
                "match {match} belongs to the tournament {tournament!r}, which was cancelled: nothing of it is played again",
                match=match.public_id,
                tournament=match.tournament.name,
            )
    yield from _strike(deed, again=True)


def _cancel(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        row: Tournament = subject.row
        if row.status == TournamentStatus.CANCELLED:
            continue
        waiting = row.matches.filter(status__in=WAITING).count()
        progress.cancel(row, **deed.by)
        yield Message(
            "the tournament {tournament!r} is cancelled for good; matches that are taken back: {count}; what is finished counts",
            tournament=row.name,
            count=waiting,
        )


def _pause(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        if isinstance(subject.row, Tournament):
            if progress.stop(subject.row, **deed.by):
                yield _waits(subject.row)
        elif bots.stop(subject.row, **deed.by):
            yield Message(
                "the bot {bot!r} is held back, whatever its owner does: it enters nothing, and nothing with it is begun; what is being "
                "played is played to its end",
                bot=subject.row.slug,
            )
            yield from _waiting_with([subject.row])


def _waits(tournament: Tournament) -> Message:
    return Message(
        "nothing of the tournament {tournament!r} is begun, whatever its owner does; matches in the queue that wait: {count}; what is being "
        "played is played to its end",
        tournament=tournament.name,
        count=tournament.matches.filter(status=MatchStatus.QUEUED).count(),
    )


def _waiting_with(held: list[Bot]) -> Iterator[Message]:
    """Whom it costs that these bots do not play."""
    queued = Match.objects.filter(status=MatchStatus.QUEUED, parties__version__bot__in=held).distinct()
    cups = Tournament.objects.filter(status=TournamentStatus.RUNNING, entries__version__bot__in=held).distinct()
    yield Message(
        "matches in the queue that wait: {count}; running tournaments that cannot end without them: {names}",
        count=queued.count(),
        names=", ".join(cups.order_by("pk").values_list("slug", flat=True)) or Message("none"),
    )


def _resume(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        row = subject.row
        if isinstance(row, Tournament) and progress.let_go(row, **deed.by):
            yield Message(
                "the tournament {tournament!r} is no longer held back by the operators; its matches are played in their turn",
                tournament=row.name,
            )
        elif isinstance(row, Bot) and bots.let_go(row, **deed.by):
            yield Message(
                "the bot {bot!r} is no longer held back by the operators; it plays as its owner lets it", bot=row.slug
            )


def _ban(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        player: Player = subject.row
        ended = bans.ban(player, until=deed.given["until"], **deed.by)
        if ended is None:
            continue
        if player.banned_until is None:
            yield Message("nobody is signed in as {name} any more, for good", name=player.name)
        else:
            yield Message(
                "nobody is signed in as {name} until {until} UTC",
                name=player.name,
                until=f"{player.banned_until:%Y-%m-%d %H:%M}",
            )
        yield Message(
            "sessions that end: {sessions}; keys that are revoked: {keys}", sessions=ended.sessions, keys=ended.keys
        )
        held = list(player.bots.order_by("pk"))
        yield Message(
            "bots that are held back: {count} ({names}); they enter nothing, and nothing with them is begun",
            count=ended.bots,
            names=", ".join(bot.slug for bot in held) or Message("none"),
        )
        yield from _waiting_with(held)
        yield Message("results stay; tournaments and leagues of {name} go on", name=player.name)


def _unban(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        if bans.lift(subject.row, **deed.by):
            yield Message(
                "{name} may sign in again, with the password and new keys; the bots of {name} play on, but for those that are held back "
                "by themselves",
                name=subject.row.name,
            )


def _quota(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        name = deed.given["limit"]
        before = quotas.limit(subject.row, name, now=deed.now)
        if quotas.set_quota(subject.row, name, deed.given["value"], **deed.by):
            found = quotas.limit(subject.row, name, now=deed.now)
            yield Message(
                "{player}: {name} {used} of {most} (before: {before}); the default is {default}",
                player=subject.row.name,
                name=name,
                used=found.used,
                most=found.most,
                before=before.most,
                default=found.default,
            )


def _embargo(deed: Deed) -> Iterator[Message]:
    until: datetime = deed.given["until"]
    for subject in deed.subjects:
        shown = _shows_secret(subject.row, deed.now)
        if embargoes.change(subject.row, until, **deed.by):
            yield Message(
                "the replays of {subject} are held back until {until} UTC, on every way, and the secret from which the hands follow; results "
                "are shown",
                subject=subject.name,
                until=f"{until:%Y-%m-%d %H:%M}",
            )
            if shown:
                yield Message("the secret was published already: who has kept it can deal the hands again")


def _shows_secret(row: Any, now: datetime) -> bool:
    above = row.tournament if isinstance(row, Match) else row
    return above is not None and above.finished is not None and not embargoes.hides_secret(above, now=now)


def _lift(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        if embargoes.change(subject.row, None, **deed.by):
            yield Message("the replays of {subject} are shown as soon as its matches are over", subject=subject.name)


def _conclude(deed: Deed) -> Iterator[Message]:
    for subject in deed.subjects:
        audit: Audit = subject.row
        if cases.close(audit, conclusion=deed.given["conclusion"], **deed.by):
            yield Message(
                "the case of {version} in match {match} is closed: {conclusion}; no result is changed by it",
                version=str(audit.version),
                match=audit.match.public_id,
                conclusion=audit.conclusion,
            )


ACTIONS = {
    action.name: action
    for action in (
        Action(
            name="void",
            right=Right.VOID,
            title=gettext_noop("Strike out results"),
            sentence=gettext_noop("The matches stay readable and count for nobody; their pools are rated anew."),
            kinds=(MATCH,),
            many=True,
            do=_void,
            command="void_match",
            example="8f3k2pq7ab",
        ),
        Action(
            name="rerun",
            right=Right.RERUN,
            title=gettext_noop("Have matches played again"),
            sentence=gettext_noop("On the same deals, by the same versions. What was finished is struck out first."),
            kinds=(MATCH,),
            many=True,
            do=_rerun,
            command="rerun_match",
            example="8f3k2pq7ab",
        ),
        Action(
            name="cancel",
            right=Right.VOID,
            title=gettext_noop("Cancel a tournament"),
            sentence=gettext_noop("For good. What waits or is being played is taken back, what is finished counts."),
            kinds=(TOURNAMENT,),
            do=_cancel,
            command="cancel_tournament",
            example="copa",
        ),
        Action(
            name="pause",
            right=Right.PAUSE,
            title=gettext_noop("Hold back a bot or a tournament"),
            sentence=gettext_noop("Nothing of it is begun until it is let go; its owner cannot end that."),
            kinds=(BOT, TOURNAMENT),
            do=_pause,
            command="pause",
            example="bot:rufo",
        ),
        Action(
            name="resume",
            right=Right.PAUSE,
            title=gettext_noop("Let a bot or a tournament go on"),
            sentence=gettext_noop("What an operator has held back plays again, as far as its owner lets it."),
            kinds=(BOT, TOURNAMENT),
            do=_resume,
            command="resume",
            example="bot:rufo",
        ),
        Action(
            name="ban",
            right=Right.BAN,
            title=gettext_noop("Ban a player"),
            sentence=gettext_noop(
                "Sessions and keys end, nobody signs in, the bots are held back. The reason is shown at the door. Results stay."
            ),
            kinds=(PLAYER,),
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
            do=_unban,
            command="unban",
            example="ana",
        ),
        Action(
            name="quota",
            right=Right.QUOTA,
            title=gettext_noop("Give a player another limit"),
            sentence=gettext_noop("Or the default again, which everybody has."),
            kinds=(PLAYER,),
            do=_quota,
            command="set_quota",
            example="ana boards 500000",
            fields=(LIMIT, VALUE),
        ),
        Action(
            name="embargo",
            right=Right.EMBARGO,
            title=gettext_noop("Hold back replays"),
            sentence=gettext_noop(
                "Of a match, a tournament or an event, until a moment: nobody sees the cards before, results are shown."
            ),
            kinds=(MATCH, TOURNAMENT, EVENT),
            do=_embargo,
            command="embargo",
            example="tournament:copa 2026-12-31T12:00Z",
            fields=(UNTIL,),
        ),
        Action(
            name="lift_embargo",
            right=Right.EMBARGO,
            title=gettext_noop("Show replays that are held back"),
            sentence=gettext_noop("Before the moment that was named."),
            kinds=(MATCH, TOURNAMENT, EVENT),
            do=_lift,
            command="lift_embargo",
            example="tournament:copa",
        ),
        Action(
            name="conclude",
            right=Right.AUDIT,
            title=gettext_noop("Say what came of an audit"),
            sentence=gettext_noop("Of one that differs: everybody reads it beside the audit. It changes no result."),
            kinds=(AUDIT,),
            do=_conclude,
            command="close_audit",
            example="7hq2mx9c4k honest",
            fields=(CONCLUSION,),
        ),
    )
}

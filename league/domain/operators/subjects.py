"""The subjects of actions: their names, how to find them, and the players concerned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from league.domain.core.errors import Refused
from league.domain.people import ownership
from league.models import (
    Audit,
    Bot,
    Case,
    Comment,
    Consultation,
    Event,
    Job,
    Judgement,
    Match,
    Player,
    Tournament,
)


@dataclass(frozen=True)
class SubjectKind:
    """A kind of subject. `find` returns the row with a name, or None; `concerned` returns the players who have a bot at stake in it."""

    name: str
    find: Callable[[str], Any]
    concerned: Callable[[Any], set[int]]


@dataclass(frozen=True)
class Subject:
    """One row, and its name in the journal, such as "match:8f3k2pq7ab"."""

    name: str
    row: Any


def _whole_number(name: str) -> int:
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 16 else 0


def _match(name: str) -> Match | None:
    rows = Match.objects.select_related("pool", "tournament__event")
    return rows.filter(public_id=name).first()


def _owners(match: Match) -> set[int]:
    """Return the owners of the bots in the match and in its tournament: a result concerns the rivals, too."""
    seated = _people(Bot.objects.filter(versions__parties__match=match))
    return seated | (_entrants(match.tournament) if match.tournament else set())


def _people(bots: Iterable[Bot]) -> set[int]:
    """Return the players who count as owners of one of these bots. Two queries."""
    bots = list(bots)
    owners = {bot.owner_id for bot in bots}
    return owners.union(*ownership.people_of(bots).values())


def _entrants(tournament: Tournament) -> set[int]:
    return _people(Bot.objects.filter(versions__entries__tournament=tournament))


def _entrants_of_event(event: Event) -> set[int]:
    return _people(Bot.objects.filter(versions__entries__tournament__event=event))


def _background_work(model: type[Judgement] | type[Consultation]) -> Callable[[str], Any]:
    rows = model._default_manager.select_related("match__tournament__event", "match__pool", "asked_by")
    return lambda name: rows.filter(pk=_whole_number(name)).first()


MATCH, TOURNAMENT, EVENT, BOT, PLAYER, AUDIT, CASE = "match", "tournament", "event", "bot", "player", "audit", "case"
COMMENT, JOB, JUDGEMENT, CONSULTATION = "comment", "job", "judgement", "consultation"
KINDS = {
    kind.name: kind
    for kind in (
        SubjectKind(MATCH, _match, _owners),
        SubjectKind(
            TOURNAMENT,
            lambda name: Tournament.objects.select_related("owner", "event").filter(slug=name).first(),
            _entrants,
        ),
        SubjectKind(EVENT, lambda name: Event.objects.filter(slug=name).first(), _entrants_of_event),
        SubjectKind(BOT, lambda name: Bot.objects.filter(slug=name).first(), lambda bot: _people([bot])),
        SubjectKind(
            PLAYER,
            lambda name: Player.objects.select_related("user").filter(name=name).first(),
            lambda player: {player.pk},
        ),
        SubjectKind(
            AUDIT,
            lambda name: Audit.objects.select_related("work", "match__tournament").filter(work__public_id=name).first(),
            lambda audit: _owners(audit.match),
        ),
        SubjectKind(
            CASE,
            lambda name: Case.objects.select_related("loser", "winner").filter(pk=_whole_number(name)).first(),
            lambda case: {case.loser_id, case.winner_id},
        ),
        SubjectKind(
            COMMENT,
            lambda name: Comment.objects.select_related("author").filter(pk=_whole_number(name)).first(),
            lambda comment: {comment.author_id},
        ),
        SubjectKind(
            JOB,
            lambda name: Job.objects.filter(pk=_whole_number(name)).first(),
            lambda job: {job.owner_id} - {None},
        ),
        *(
            SubjectKind(name, _background_work(model), lambda row: _owners(row.match) | {row.asked_by_id} - {None})
            for name, model in ((JUDGEMENT, Judgement), (CONSULTATION, Consultation))
        ),
    )
}


def find(text: str, kinds: tuple[str, ...]) -> tuple[SubjectKind, Subject]:
    """Return the row that a text names: "bot:rufo", or just "rufo" if only one kind is possible. Raise Refused if it does not exist."""
    kind, colon, name = text.strip().partition(":")
    if not colon:
        if len(kinds) > 1:
            raise Refused(
                "say what {name!r} is, such as {example}",
                name=kind[:80],
                example=" / ".join(f"{known_kind}:{kind[:80]}" for known_kind in kinds),
            )
        kind, name = kinds[0], kind
    if kind not in kinds:
        raise Refused("{kind!r} cannot be used here; choose one of {kinds}", kind=kind[:80], kinds=", ".join(kinds))
    row = KINDS[kind].find(name) if len(name) <= 80 and name.isprintable() else None
    if row is None:
        raise Refused("there is no {kind} {name!r}", kind=kind, name=name[:80])
    return KINDS[kind], Subject(f"{kind}:{name}", row)

"""Storing notices: each once for its player, kind and subject, however often it is stored.

A notice about something that happens again, such as a failing bot, is not repeated: the stored one counts, and is unread again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from league.domain.notices import ways
from league.domain.notices.kinds import TEXTS
from league.domain.people import players, subscriptions
from league.enums import NoticeKind, NoticeWay
from league.models import Block, Notice, Player


@dataclass(frozen=True, slots=True)
class Note:
    """A notice to store. player, actor: ids; mark: names the occurrence, so that each is counted once; empty: the notice is never repeated."""

    player: int
    text: str
    about: str
    words: dict[str, Any] = field(default_factory=dict)
    actor: int | None = None
    mark: str = ""

    @property
    def kind(self) -> NoticeKind:
        """Return the kind to which the sentence belongs."""
        return TEXTS[self.text]


def notify(
    recipients: Iterable[Player],
    text: str,
    about: str,
    *,
    now: datetime,
    mark: str = "",
    actor: Player | None = None,
    **words: Any,
) -> int:
    """Notify a few players, in the transaction in which the thing happens; return the number of new ones. Repeatable.

    actor: the other player whom the sentence names.
    """
    actor_id = actor.pk if actor else None
    return store([Note(player.pk, text, about, words, actor_id, mark) for player in recipients], now=now)


def store(notes: Sequence[Note], *, now: datetime) -> int:
    """Store notices by the ways that their players chose; return the number of stored ones. A few queries, two more for each repeated one.

    Nobody gets a notice about a player whom they have blocked.
    """
    notes = _unblocked(notes)
    open_players = _open({note.player for note in notes})
    chosen = ways.chosen(open_players, {note.kind for note in notes})
    due_notes = [
        note for note in notes if note.player in open_players and chosen[note.player, note.kind] != NoticeWay.NEVER
    ]
    if not due_notes:
        return 0
    at_once = {note.player for note in due_notes if chosen[note.player, note.kind] == NoticeWay.ONCE}
    reachable = set(subscriptions.reachable(now).filter(player__in=at_once).values_list("player", flat=True))
    with transaction.atomic():
        rows = Notice.objects.filter(
            player__in={note.player for note in due_notes},
            kind__in={note.kind for note in due_notes},
            about__in={note.about for note in due_notes},
        )
        stored = {
            (player, kind, about): mark
            for player, kind, about, mark in rows.values_list("player", "kind", "about", "mark")
        }
        fresh = [note for note in due_notes if (note.player, note.kind, note.about) not in stored]
        Notice.objects.bulk_create(
            (
                Notice(
                    player_id=note.player,
                    kind=note.kind,
                    about=note.about,
                    text=note.text,
                    words=note.words,
                    actor_id=note.actor,
                    mark=note.mark,
                    created=now,
                    due=now if note.player in reachable and chosen[note.player, note.kind] == NoticeWay.ONCE else None,
                )
                for note in fresh
            ),
            ignore_conflicts=True,
        )
        again = [
            note
            for note in due_notes
            if note.mark and stored.get((note.player, note.kind, note.about), note.mark) != note.mark
        ]
        return len(fresh) + sum(_count(note) for note in again)


def _unblocked(notes: Sequence[Note]) -> Sequence[Note]:
    actors = {note.actor for note in notes if note.actor is not None}
    if not actors:
        return notes
    rows = Block.objects.filter(owner__in={note.player for note in notes}, blocked__in=actors)
    blocked = set(rows.values_list("owner", "blocked"))
    return [note for note in notes if (note.player, note.actor) not in blocked]


def _open(of_players: Collection[int]) -> set[int]:
    """Return those of these players who can sign in: nobody else gets notices, nor does the house."""
    rows = Player.objects.filter(pk__in=of_players, user__is_active=True).exclude(name=players.HOUSE)
    return set(rows.values_list("pk", flat=True))


def _count(note: Note) -> bool:
    """Count an occurrence in the stored notice, from one again if the player has read it."""
    row = Notice.objects.filter(player=note.player, kind=note.kind, about=note.about).exclude(mark=note.mark)
    latest: dict[str, Any] = {"mark": note.mark, "text": note.text, "words": note.words, "actor": note.actor}
    if row.filter(read=None).update(count=F("count") + 1, **latest):
        return True
    return bool(row.exclude(read=None).update(count=1, read=None, **latest))

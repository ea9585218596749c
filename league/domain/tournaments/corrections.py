"""Corrections by the owner of a tournament, event or recurring league: its name and text, who may enter, its entries, and its deletion.

Corrections never change a result or a rating. Each one is in the journal, and the page shows it to everybody who may see the tournament
(`domain.tournaments.log`).
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Model

from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names, search_words
from league.domain.core.errors import Refused, TooMany
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tournaments import circuits, enrolment, progress, shares, tournaments
from league.enums import Entrance, TournamentStatus
from league.models import BotVersion, Circuit, Entry, Event, LeagueEvent, Player, Season, Tournament

Contest = Tournament | Event | Circuit
Row = TypeVar("Row", bound=Model)
MOST_DESCRIPTION = 2000
MOST_REASON = 300
MOST_NAMES, MOST_STEPS = 5, 100  # The most renames, and the most other corrections, of a row by one player in a day.
STEPS = frozenset(
    {
        "talk_opened",
        "talk_closed",
        "described",
        "shared",
        "entries_opened",
        "entries_closed",
        "disqualified",
        "reinstated",
        "replaced",
    }
)
STARTED = frozenset({TournamentStatus.RUNNING, TournamentStatus.FINISHED})


def subject(row: Contest) -> str:
    """Return the name of a row in the journal."""
    return f"{type(row).__name__.lower()}:{row.slug}"


def checked_description(text: str) -> str:
    """Return the text as it is stored. Raise Refused if it is too long or cannot be stored."""
    text = text.strip()
    if len(text) > MOST_DESCRIPTION:
        raise Refused(
            "the description has {length} characters; shorten it to {most} at most",
            length=len(text),
            most=MOST_DESCRIPTION,
        )
    if "\0" in text:
        raise Refused("the description contains the character NUL, which cannot be stored; remove it")
    return text


def describe(row: Contest, text: str, *, actor: str, now: datetime | None = None) -> None:
    """Set the description. Repeatable."""
    text = checked_description(text)
    with transaction.atomic():
        locked = _lock(row)
        if locked.description != text:
            type(row).objects.filter(pk=row.pk).update(description=text)
            _note(locked, "described", now=clock.now_or(now), actor=actor)
    row.refresh_from_db(fields=["description"])


def rename(row: Contest, name: str, *, actor: str, now: datetime | None = None) -> None:
    """Change the name; the address stays. A stage or division has the name of its event or league. Repeatable.

    Nobody else gets the old name for a time (names.HELD), so that nobody can pass for the tournament that had it. At most MOST_NAMES a day.
    """
    now = clock.now_or(now)
    name = names.checked(name)
    most = 80 if isinstance(row, Tournament) else 60
    if not 1 <= len(name) <= most:
        raise Refused("The name has {length} characters; use 1 to {most}.", length=len(name), most=most)
    if isinstance(row, Tournament) and (row.event_id or row.season_id):
        raise Refused("A stage has the name of its tournament; rename that.")
    with transaction.atomic():
        locked = _lock(row)
        old = locked.name
        if old == name:
            return
        is_private = isinstance(locked, Event) and locked.private
        if not is_private:
            tournaments.take_name(locked.owner, name, now=now)
        type(row).objects.filter(pk=row.pk).update(name=name)
        if isinstance(locked, Event):
            Event.objects.filter(pk=row.pk).update(document={**locked.document, "name": name})
            for stage in locked.tournaments.all():
                Tournament.objects.filter(pk=stage.pk).update(name=(name + stage.name.removeprefix(old))[-80:])
        if not is_private:
            tournaments.give_up_name(locked.owner, old, now=now)
            search_words.put(locked, name, locked.slug)
        _note(locked, "renamed", now=now, actor=actor, old=old, new=name)
    row.refresh_from_db()


def set_entrance(row: Tournament | Event, to: str, *, actor: str, now: datetime | None = None) -> None:
    """Open the entries to everybody, or only to the owner. Existing entries stay. Repeatable."""
    if to not in Entrance.values:
        raise Refused("choose who may enter: one of {allowed}", allowed=", ".join(Entrance.values))
    with transaction.atomic():
        locked = _lock(row)
        if locked.status != TournamentStatus.OPEN:
            raise Refused("{tournament!r} has started, so its entries are fixed", tournament=locked.name)
        if locked.entrance != to:
            type(row).objects.filter(pk=row.pk).update(entrance=to)
            kind = "entries_opened" if to == Entrance.ANYBODY else "entries_closed"
            _note(locked, kind, now=clock.now_or(now), actor=actor)
    row.refresh_from_db(fields=["entrance"])


def set_talk(row: Tournament | Event, *, on: bool, actor: str) -> None:
    """Allow comments under it, or none; none hides those that are there. Repeatable."""
    with transaction.atomic():
        locked = _lock(row)
        if locked.talk != on:
            type(row).objects.filter(pk=row.pk).update(talk=on)
            _note(locked, "talk_opened" if on else "talk_closed", now=clock.present(), actor=actor)
    row.refresh_from_db(fields=["talk"])


def set_share(row: Contest, per_player: int, *, actor: str, now: datetime | None = None) -> None:
    """Set how many bots each player may enter. Existing entries stay. Repeatable."""
    per_player = shares.checked(per_player)
    with transaction.atomic():
        locked = _lock(row)
        if locked.per_player != per_player:
            type(row).objects.filter(pk=row.pk).update(per_player=per_player)
            _note(locked, "shared", now=clock.now_or(now), actor=actor, most=str(per_player))
    row.refresh_from_db(fields=["per_player"])


def disqualify(entry: Entry, why: str, *, player: Player, now: datetime | None = None) -> None:
    """Rank an entry last, with a reason that everybody reads. Repeatable.

    Its results stand and its remaining matches are played, so the owner cannot decide who gains or loses points by it. The entry does not advance
    to a later stage. Ratings do not change.
    """
    why = " ".join(why.split())
    if not 1 <= len(why) <= MOST_REASON or "\0" in why:
        raise Refused("Write a reason of 1 to {most} characters. Everybody can read it.", most=MOST_REASON)
    now = clock.now_or(now)
    with transaction.atomic():
        row = _lock(entry.tournament)
        if row.owner_id != player.pk:
            raise Refused("Only the owner of the tournament can disqualify a bot.")
        if row.status not in STARTED:
            raise Refused("{tournament!r} has not started. Withdraw the bot instead.", tournament=row.name)
        changed = Entry.objects.filter(pk=entry.pk, tournament=row, disqualified=None).update(
            disqualified=now, disqualified_for=why
        )
        if changed:
            progress.rank_again(row)
            _note(row, "disqualified", now=now, actor=player.name, version=str(entry.version), why=why)
    entry.refresh_from_db()


def reinstate(entry: Entry, *, player: Player, now: datetime | None = None) -> None:
    """Undo a disqualification. Repeatable.

    Raise Refused once a later stage or season has begun without the bot, because that cannot be undone.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = _lock(entry.tournament)
        if row.owner_id != player.pk:
            raise Refused("Only the owner of the tournament can undo this.")
        if _has_successor(row):
            raise Refused("The next stage or season has begun without this bot, so its disqualification stands.")
        gone = Entry.objects.filter(pk=entry.pk, tournament=row, disqualified__isnull=False)
        if gone.update(disqualified=None, disqualified_for=""):
            progress.rank_again(row)
            _note(row, "reinstated", now=now, actor=player.name, version=str(entry.version))
    entry.refresh_from_db()


def _has_successor(row: Tournament) -> bool:
    if row.event_id is not None and Tournament.objects.filter(event=row.event_id, stage__gt=row.stage).exists():
        return True
    if row.season is None:
        return False
    later = Season.objects.filter(circuit=row.season.circuit_id, number__gt=row.season.number)
    return later.exists()


def replace_version(entry: Entry, version: BotVersion, *, player: Player, now: datetime | None = None) -> None:
    """Let another accepted version of the same bot play, before the tournament starts. Repeatable.

    After the start nobody may, because the field, a bye or the first boards could guide the choice. The owner of the bot may choose any of its
    versions; the owner of the tournament only the version that the bot sends now, so that nobody can weaken another player's bot.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = _lock(entry.tournament)
        entry.refresh_from_db()
        if row.status != TournamentStatus.OPEN:
            raise Refused("{tournament!r} has started, so its entries are fixed", tournament=row.name)
        bot = version.bot
        if bot.pk != entry.version.bot_id:
            raise Refused("{version} is no version of {bot!r}", version=version, bot=entry.version.bot.slug)
        if not ownership.may(player, bot, BotAct.ENTER) and not (
            player.pk == row.owner_id and version.pk == bots.sent_version(bot, row.pool.game).pk
        ):
            raise Refused(
                "Only the owner of {bot!r} can choose another version of it. The owner of the tournament can take its newest one.",
                bot=bot.slug,
            )
        if version.pk == entry.version_id:
            return
        if row.entries.filter(version=version).exists():
            raise Refused("{version} is entered already", version=version)
        if entry.withdrawn is not None or enrolment.is_shut_out(bot):
            raise Refused("{bot!r} may not play now, so its version stays", bot=bot.slug)
        bots.check_playable(version, row.pool.game)
        if row.sealed and not version.sealable:
            raise Refused("{version} cannot be sealed, as this tournament requires", version=version)
        old = str(entry.version)
        Entry.objects.filter(pk=entry.pk).update(version=version)
        _note(row, "replaced", now=now, actor=player.name, old=old, new=str(version))
    entry.refresh_from_db()


def delete(row: Contest, *, actor: str, now: datetime | None = None) -> None:
    """Delete a contest that never had a match. Its name becomes free after names.HELD, and the journal keeps its lines."""
    now = clock.now_or(now)
    with transaction.atomic():
        locked = _lock(row)
        if isinstance(locked, Tournament):
            began = locked.matches.exists() or locked.event_id or locked.season_id
        elif isinstance(locked, Event):
            began = locked.tournaments.exists()
        else:
            began = locked.seasons.exists()
        if began:
            raise Refused(
                "{tournament!r} has begun, so it cannot be deleted. You can cancel it.", tournament=locked.name
            )
        _note(locked, "deleted", now=now, actor=actor, name=locked.name)
        if isinstance(locked, Circuit):
            circuits.forget(locked)
        else:
            consent.lapse(locked, now=now)
        is_private = isinstance(locked, Event) and locked.private
        search_words.remove(locked)
        locked.delete()
        if not is_private:
            tournaments.give_up_name(locked.owner, locked.name, now=now)


def _lock(row: Row) -> Row:
    return type(row)._default_manager.select_for_update(of=("self",)).select_related("owner").get(pk=row.pk)


def _note(row: Contest, word: str, *, now: datetime, actor: str, **data: str) -> LeagueEvent:
    """Add a line to the journal, in the transaction that changes the row. Raise TooMany beyond the limit of a day."""
    kind = type(row).__name__.lower()
    most, words = (MOST_NAMES, {word}) if word == "renamed" else (MOST_STEPS, STEPS)
    again = journal.again_at(subject(row), [f"{kind}.{step}" for step in sorted(words)], actor, most, now=now)
    if again is not None:
        raise TooMany(
            "you have changed this {count} times in the last day; change it again tomorrow",
            retry_after=max(1, int((again - now).total_seconds())),
            count=most,
        )
    return journal.append(f"{type(row).__name__.lower()}.{word}", subject(row), now=now, actor=actor, **data)

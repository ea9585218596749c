"""The rule of what counts for the ratings: matches for which the league chose the bots, the boards and the time.

Those are the tables of the standing ladders, and the events of the house and of operators. The owner of any other event chooses all three, and could
so farm a rating between two accounts; such events have tables and winners of their own, and never count. An event that was ever hidden from anybody
does not count either: those who see the results early could publish only the ones that suit them. Nor does a tournament of an operator with a bot of
their own (nor any stage of such an event), or a table with two bots of one player (`league.domain.matches.matches`).
"""

from __future__ import annotations

from collections.abc import Iterable

from league.domain.bots import consent
from league.domain.people import ownership
from league.enums import Counting
from league.models import BotVersion, Circuit, Event, Tournament


def counting(occasion: Event | Tournament) -> Counting:
    """Return whether an event or tournament counts for the ratings, and why. No query."""
    if occasion.opens is not None:
        return Counting.HIDDEN
    return Counting.LEAGUE if occasion.counts else Counting.PLAYER


def counting_of_circuit(circuit: Circuit) -> Counting:
    """Return whether the next season counts, and why. No query if the circuit was read with its owner and their account."""
    return Counting.LEAGUE if consent.is_public(circuit.owner) else Counting.PLAYER


def note_entry(tournament: Tournament, version: BotVersion) -> None:
    """Let a tournament count no longer if its owner enters a bot of their own: then they are a player like any other."""
    if not tournament.counts or version.bot.is_house:
        return
    if tournament.owner_id in ownership.people_of([version.bot])[version.bot_id]:
        Tournament.objects.filter(pk=tournament.pk).update(counts=False)
        tournament.counts = False


def note_start(event: Event, line: Iterable[BotVersion]) -> None:
    """Let no group or stage of an event count if its owner has entered a bot of their own. Call this before the first stage is created."""
    if not event.counts:
        return
    bots = [version.bot for version in line if not version.bot.is_house]
    if any(event.owner_id in people for people in ownership.people_of(bots).values()):
        Event.objects.filter(pk=event.pk).update(counts=False)
        event.counts = False

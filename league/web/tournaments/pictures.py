"""The pictures of tournaments and recurring leagues for link previews: the first places, as everybody may see them."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from league.domain.matches import sight
from league.domain.tournaments.standings import Standing
from league.enums import TournamentStatus
from league.models import Bot, Circuit, Event, Tournament
from league.web.common.game_lines import game_title
from league.web.common.words import format_number
from league.web.previews import links
from league.web.previews.drawing import Picture, Row

MOST_PLACES = 4


def of_tournament(tournament: Tournament, table: Sequence[Standing]) -> Picture:
    """Return the picture of a tournament with this table; if not everybody may see the tournament, the general picture."""
    if not sight.is_public(tournament):
        return links.general()
    return _picture(tournament, game_title(tournament.pool.game), table)


def of_event(event: Event, table: Sequence[Standing]) -> Picture:
    """Return the picture of an event with the table of its last stage.

    Without a table if results are withheld; the general picture if the event is private.
    """
    if event.private:
        return links.general()
    is_shown = sight.sees_results(event, None)
    return _picture(event, game_title(event.document["game"]), table if is_shown else ())


def of_circuit(circuit: Circuit, bots: Sequence[Bot]) -> Picture:
    """Return the picture of a recurring league with the bots that play in it."""
    entries = ngettext("%(n)s bot", "%(n)s bots", len(bots)) % {"n": len(bots)}
    return Picture(
        circuit.name,
        head=f"{game_title(circuit.game)} · {_('Every week')}",
        rows=[Row("", bot.slug, "") for bot in bots[:MOST_PLACES]],
        foot=entries if circuit.active else f"{entries} · {_('paused')}",
    )


def _picture(row: Tournament | Event, game: str, table: Sequence[Standing]) -> Picture:
    played = [standing for standing in table if standing.result.boards and standing.entry.disqualified is None]
    entries = ngettext("%(n)s bot", "%(n)s bots", len(table)) % {"n": len(table)}
    state = _("Open for entries") if row.status == TournamentStatus.OPEN else capfirst(row.get_status_display())
    return Picture(
        row.name,
        head=game,
        rows=[
            Row(
                str(standing.result.place),
                standing.entry.version.bot.slug,
                format_number(standing.result.points, "g"),
                wins=row.status == TournamentStatus.FINISHED and standing.result.place == 1,
            )
            for standing in played[:MOST_PLACES]
        ],
        foot=" · ".join([state, *([entries] if table else [])]),
    )

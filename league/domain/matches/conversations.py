"""The lines to and from a bot in a finished match, for its owner, reconstructed from the log (engine.runner.rebuild)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from engine.analysis import decisions, ply_of
from engine.replay import ReplayError
from engine.runner.rebuild import Exchange, exchanges, passes
from league.domain.core.errors import Refused
from league.domain.matches import replays
from league.models import Match, Player, Sitting


def conversation(match: Match, board: int, sitting: int, seat: int) -> list[Exchange]:
    """Return every line to a seat in a pass, from its start to the end of a board. Two queries.

    Later boards do not change these lines. Raise Unreadable, ReplayError or ValueError if the log cannot be replayed.
    """
    played = Sitting.objects.filter(board__match=match, number=sitting, board__number__lte=board)
    rows = list(played.select_related("board").order_by("board__number"))
    for row in rows:
        row.board.match = match  # All rows share this object, so that its log is read once
    (group,) = passes(map(replays.unpack, rows))
    return [line for line in exchanges(group) if line.seat == seat]


def told(match: Match, board: int, sitting: int, seat: int, player: Player) -> list[Exchange]:
    """Return the lines to a bot of `player`.

    Raise Refused if the player had no bot at this seat, the cards are hidden, or the log cannot be replayed.
    """
    with _open_log(match):
        row = Sitting.objects.filter(board__match=match, board__number=board, number=sitting).first()
        owners = dict(match.parties.values_list("number", "version__bot__owner"))
        if row is None or not 0 <= seat < len(row.seating) or owners[row.seating[seat]] != player.pk:
            raise Refused("none of your bots sat at this seat in match {match}", match=match.public_id)
        return conversation(match, board, sitting, seat)


def decision_before(match: Match, sitting: Sitting, seats: Sequence[int], until: tuple[int, int]) -> tuple[int, int]:
    """Return seat and step of the last decision of these seats up to a position (deal, number of its moves); if there is none, their first one.

    Raise Refused if the cards of the match are hidden, the seats had no decision, or the log cannot be replayed.
    """
    sitting.board.match = match
    chosen: tuple[int, int] | None = None
    with _open_log(match):
        for decision in decisions(replays.unpack(sitting)):
            state = decision.state
            if state.turn not in seats:
                continue
            if chosen is not None and (state.deal_no, ply_of(state)) > until:
                break
            chosen = (state.turn, decision.step)
    if chosen is None:
        raise Refused("the bot had no choice in this deal, so there is no decision to open")
    return chosen


@contextmanager
def _open_log(match: Match) -> Iterator[None]:
    """Raise Refused while the cards of a match are hidden, and for a log that cannot be replayed."""
    if why := replays.reason_closed(match):
        raise why
    try:
        yield
    except Refused:
        raise
    except (ReplayError, ValueError):
        raise Refused(
            "this league cannot reconstruct the lines that the bot was sent in match {match}", match=match.public_id
        ) from None

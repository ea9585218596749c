"""The longest wall-clock time of a pass and a match, computed before play from the limits, the game and the boards.

Every decision has its own limits, so a bot that sleeps in each of them could hold a table for hours. Therefore all answers of one process, that
is of one seat in one pass, share a bank of wall time: start, bank, and `move_s` for as many decisions as a board usually has.
"""

from __future__ import annotations

import engine
from engine.runner import metering
from engine.runner.limits import Limits

DEAL = 32  # Decisions of one deal, all seats together: 8 each for four seats, 16 each for two.
GAME, ELIMINATION = 4, 8  # Deals of a board that is played until a player has won, and until all but one are out.


def decisions(game: engine.Game, deals: int | None = None) -> int:
    """Return the number of decisions for which one seat has time on a board. deals: deals of a board, if not the game's own."""
    lasts = game.board_deals if deals is None else deals
    if lasts is None:
        lasts = GAME if len(game.sides) == 2 else ELIMINATION
    return -(-DEAL * lasts // game.players)


def pass_s(limits: Limits, game: engine.Game, boards: int, deals: int | None = None) -> float:
    """Return the wall-clock seconds that all answers of one process may take together, from its start to the end of its pass."""
    return limits.total_cpu_s(boards * decisions(game, deals))


def grid_s(limits: Limits, game: engine.Game, boards: int, deals: int | None = None) -> float:
    """Return the wall-clock seconds from the start of one pass to that of the next where passes begin on a grid: all that its bots may take."""
    return game.players * pass_s(limits, game, boards, deals)


def match_s(
    limits: Limits, game: engine.Game, parties: int, boards: int, deals: int | None = None, *, metered: bool = False
) -> float:
    """Return the wall-clock seconds that all bots of a match may take together. The referee and a busy machine may add to them.

    metered: True if instructions of bots are counted: their real time may be `metering.ROOM` times the counted one.
    """
    room = metering.ROOM if metered else 1
    return room * len(game.sittings(parties)) * grid_s(limits, game, boards, deals)

"""How long a pass and a match may last at most, by the wall clock: it follows from the limits, the game and the boards, before anything is played.

Every decision has its own limits, so a bot that sleeps in each of them could hold a table for hours. Therefore all answers of one process, that is
of one seat in one pass, share a bank of wall time: that of its start, of its bank, and `move_s` for as many decisions as a board usually asks for.
"""

from __future__ import annotations

import engine
from engine.runner.limits import Limits

DEAL = 32  # decisions that one deal asks for, of all seats together: 8 of each of four, 16 of each of two
GAME, ELIMINATION = 4, 8  # deals of a board that lasts until somebody has won; until all but one are out


def decisions(game: engine.Game, deals: int | None = None) -> int:
    """For how many decisions of one seat a board has time. `deals`: of one board, where they are not the game's own."""
    lasts = game.board_deals if deals is None else deals
    if lasts is None:
        lasts = GAME if len(game.sides) == 2 else ELIMINATION
    return -(-DEAL * lasts // game.players)


def pass_s(limits: Limits, game: engine.Game, boards: int, deals: int | None = None) -> float:
    """Wall-clock seconds that all answers of one process may take together, from its start to the end of its pass."""
    return limits.total_cpu_s(boards * decisions(game, deals))


def match_s(limits: Limits, game: engine.Game, parties: int, boards: int, deals: int | None = None) -> float:
    """Wall-clock seconds that all bots of a match may take together: it ends by then, but for the referee's own time and a busy machine."""
    processes = len(game.sittings(parties)) * game.players
    return processes * pass_s(limits, game, boards, deals)

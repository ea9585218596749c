"""Tables printed by commands."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

import engine
from league.domain.ratings import leaderboards, pools
from league.models import Tournament


def print_leaderboard(console: Console, tournament: Tournament) -> None:
    """Print the leaderboard of the tournament's pool."""
    pool = tournament.pool
    game: engine.Game = pools.game_of(pool)
    unit = "places" if game.score_unit == "rank" else game.score_unit  # The first column is a rank already.
    table = Table(
        title=f"{game.title} ({pool.game}, {pool.players} players)", title_justify="left", header_style="bold"
    )
    table.caption = (
        f"Elo of a board with its 95% interval; {unit} per board; LOS: likelihood of being stronger than the next row"
    )
    table.caption_justify = "left"
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("bot", no_wrap=True)
    for name in ("Elo", "95%", "boards", "score", unit, "faults", "LOS"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in leaderboards.leaderboard(pool):
        rating = row.rating
        table.add_row(
            f"({row.ranks})" if rating.provisional else row.ranks,
            str(rating.version),
            f"{rating.elo:.0f}",
            f"±{rating.margin:.0f}",
            str(rating.boards),
            f"{rating.score:.1%}",
            f"{rating.points_per_board:.{1 if game.score_size == 1 else 2}f}",
            str(rating.faults),
            "" if rating.los_next is None else f"{rating.los_next:.1%}",
        )
    console.print(table)

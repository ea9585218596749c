"""Pages that start with the choice of a game."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

import engine
from league.web.common.game_lines import describe_game
from league.web.tournaments.forms import usable_formats


def choose_game(request: HttpRequest, template: str) -> HttpResponse:
    """Show the page that asks for the game."""
    return render(request, template, {"games": [describe_game(key) for key in engine.games()]})


def chosen_game(game: engine.Game) -> dict[str, Any]:
    """Return the template context of the chosen game."""
    return {
        "game": describe_game(game.key),
        "seats": game.players,
        "players": game.declared.players,
        "formats": usable_formats(game),
    }

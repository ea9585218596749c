"""`tute games`: list the games and their options."""

from __future__ import annotations

import argparse
from typing import Any

from engine.cli.output import command, json_flag, print_json, print_table
from engine.cli.problem import OK

EXAMPLE = """
tute games
tute games partnership
tute games --json
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "games", "list the games, their players and options", EXAMPLE)
    parser.add_argument("game", nargs="?", help="show the options of one game")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Print the games, or the options of one."""
    from engine.cli import table
    from engine.game import declared, games

    keys = [table.find_game(args.game)] if args.game else games()
    descriptions = [_description(declared(key)) for key in keys]
    if args.json:
        print_json({"games": descriptions})
        return OK
    if args.game:
        _print_one(descriptions[0])
        return OK
    rows = [(g["key"], g["title"], _numbers(g["players"]), g["score_unit"], len(g["options"])) for g in descriptions]
    print_table(("game", "title", "players", "score unit", "options"), rows, left_columns=4)
    print("\nOptions of one game: tute games KEY. Play: tute play BOT BOT -g KEY -o option=value")
    return OK


def _description(rules: Any) -> dict[str, Any]:
    from engine.game import load
    from engine.rules.resolving import choices

    options: dict[str, dict[str, Any]] = {}
    for players in rules.players:
        game = load(rules.key, players=players)
        values = game.options_all
        for name, choice in choices(rules, players).items():
            entry = options.setdefault(name, {"values": _choice(choice), "default": {}})
            entry["default"][str(players)] = values[name]
    return {
        "key": rules.key,
        "title": rules.title,
        "revision": rules.revision,
        "players": list(rules.players),
        "score_unit": rules.score_unit,
        "suits_named": rules.suits_named,
        "board_deals": rules.board_deals,
        "options": options,
    }


def _choice(choice: Any) -> Any:
    from engine.rules.options import Range, word

    if isinstance(choice, Range):
        return {"from": choice.low, "to": choice.high, "step": choice.step, "null": choice.none}
    return [word(value) for value in choice]


def _print_one(game: dict[str, Any]) -> None:
    print(f"{game['key']}: {game['title']}, {_numbers(game['players'])} players, rules revision {game['revision']}")
    print(f"boards compare {game['score_unit']}\n")
    rows = []
    for name, option in game["options"].items():
        defaults = option["default"]
        alike = len({repr(value) for value in defaults.values()}) == 1
        default = (
            _word(next(iter(defaults.values())))
            if alike
            else ", ".join(f"{n}: {_word(v)}" for n, v in defaults.items())
        )
        rows.append((name, default, _values(option["values"])))
    print_table(("option", "default", "values"), rows, left_columns=3)


def _values(values: Any) -> str:
    if isinstance(values, dict):
        upper = "or more" if values["to"] is None else f"to {values['to']}"
        return (
            f"{values['from']} {upper}"
            + (f" in steps of {values['step']}" if values["step"] > 1 else "")
            + (" or null" if values["null"] else "")
        )
    return ", ".join(_word(value) for value in values)


def _word(value: Any) -> str:
    return (
        {True: "true", False: "false", None: "null"}.get(value, str(value))
        if isinstance(value, bool | None)
        else str(value)
    )


def _numbers(players: list[int]) -> str:
    if len(players) > 2 and players == list(range(players[0], players[-1] + 1)):
        return f"{players[0]}-{players[-1]}"
    return ", ".join(map(str, players))

"""`tute rules`: print or write the rules pages."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.cli import table
from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import OK

EXAMPLE = """
tute rules cabrero --lang en
tute rules --write pages
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "rules", "print the rules page of a game, or write all of them", EXAMPLE)
    parser.add_argument("game", nargs="?", metavar="KEY", help="one game; without it the list of the pages")
    parser.add_argument("--lang", choices=("es", "en"), help="one language; without it both")
    parser.add_argument(
        "--write", type=Path, metavar="DIR", help="write DIR/KEY.md and DIR/img/KEY.svg for every game (or for KEY)"
    )
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Print rules pages, or write them."""
    from engine import rulebook
    from engine.game import games

    if args.game:
        args.game = table.find_game(args.game)
    if args.json:
        print_json(document(args.game, args.lang or "es"))
        return OK
    if args.write is None:
        print(rulebook.page(args.game, args.lang) if args.game else rulebook.index(), end="")
        return OK
    (args.write / "img").mkdir(parents=True, exist_ok=True)
    for key in [args.game] if args.game else games():
        (args.write / "img" / f"{key}.svg").write_text(rulebook.picture(rulebook.worked_trick(key)), encoding="utf-8")
        (args.write / f"{key}.md").write_text(rulebook.page(key, args.lang), encoding="utf-8")
    if not args.game:
        (args.write / "README.md").write_text(rulebook.index(), encoding="utf-8")
    return OK


def document(key: str | None, lang: str) -> dict[str, Any]:
    """Return the page of one game, or the list of all games, as data for scripts."""
    from engine import rulebook
    from engine.game import declared, games

    if key is None:
        return {"format": "tute-rules/1", "games": games()}
    return {
        "format": "tute-rules/1",
        "game": key,
        "title": declared(key).title,
        "source": declared(key).source,
        "language": lang,
        "prose": rulebook.prose(key, lang),
        "deal": [asdict(step) for step in rulebook.deal_steps(key, lang)],
        "differences": [asdict(line) for line in rulebook.lines(key, lang)],
        "options": [asdict(line) for line in rulebook.option_lines(key, lang)],
        "trick": asdict(rulebook.worked_trick(key)),
    }

"""`tute status`: show your bots in a league, or one bot: versions, ratings, latest matches."""

from __future__ import annotations

import argparse
from typing import Any
from urllib.parse import quote

from engine.cli.output import command, json_flag, print_json, print_table
from engine.cli.problem import OK

EXAMPLE = """
tute status
tute status rufo
tute status counting --league https://tute.example --json
"""
DETAILS = """
Without a name: all your bots, and your usage of your limits (tute login first). With a name: the bot's versions, ratings and latest matches; you
can name any bot of the league.
"""
BOTS = 200
LATEST = 10


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    from engine.cli import remote

    parser = command(commands, "status", "show your bots in a league", EXAMPLE, DETAILS)
    parser.add_argument("bot", nargs="?", metavar="BOT")
    remote.add_league_flag(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Fetch the bots, or one bot, from the league and print them."""
    from engine.cli import remote

    league = remote.chosen(args.league, signed_in=args.bot is None)
    document = _one_bot(league, args.bot) if args.bot else _own_bots(league)
    if args.json:
        print_json(document)
    elif args.bot:
        _print_one(document)
    else:
        _print_mine(document)
    return OK


def _own_bots(league: Any) -> dict[str, Any]:
    name = league.get("me")["name"]
    bots = list(league.pages("bots", BOTS, owner=name))
    return {"league": league.url, "player": name, "bots": bots, "limits": league.get("me/limits")}


def _one_bot(league: Any, bot: str) -> dict[str, Any]:
    from engine.packages.manifest import slug

    bot_document = league.get(f"bots/{quote(slug(bot) or bot, safe='')}")
    versions = list(league.pages(f"bots/{bot_document['slug']}/versions", LATEST))
    accepted = bot_document["sends"] or bot_document["newest_accepted"]
    playing = next((version for version in versions if version["number"] == accepted), None)
    ratings = list(league.pages(f"versions/{playing['id']}/ratings", BOTS)) if playing else []
    matches = list(league.pages("matches", LATEST, bot=bot_document["slug"]))
    return {"league": league.url, "bot": bot_document, "versions": versions, "ratings": ratings, "matches": matches}


def _print_mine(document: dict[str, Any]) -> None:
    print(f"{document['player']} at {document['league']}\n")
    if document["bots"]:
        rows = [
            (bot["slug"], _state(bot), bot["versions"], bot["sends"] or bot["newest_accepted"] or "none accepted")
            for bot in document["bots"]
        ]
        print_table(("bot", "state", "versions", "plays"), rows, left_columns=2)
    else:
        print("no bot yet: tute submit PATH")
    limits = [
        (row["name"], row["used"], "none" if row["limit"] is None else row["limit"]) for row in document["limits"]
    ]
    print()
    print_table(("limit", "used", "at most"), limits)


def _state(bot: dict[str, Any]) -> str:
    return "stopped by an operator" if bot["stopped"] else str(bot["state"])


def _print_one(document: dict[str, Any]) -> None:
    bot = document["bot"]
    print(f"{bot['slug']} of {bot['owner']}, {_state(bot)}\n")
    print_table(
        ("version", "status", "fault", "uploaded"),
        [(v["number"], v["status"], v["fault"] or "", v["created"][:16]) for v in document["versions"]],
        left_columns=4,
    )
    if document["ratings"]:
        print()
        print_table(
            ("game", "elo", "±", "rank", "boards"),
            [
                (
                    f"{r['pool']['game']}, {r['pool']['players']} players",
                    f"{r['elo']:.0f}",
                    f"{r['margin']:.0f}",
                    f"{r['rank_best']}-{r['rank_worst']}" + (" provisional" if r["provisional"] else ""),
                    r["boards"],
                )
                for r in document["ratings"]
            ],
        )
    if document["matches"]:
        print()
        print_table(
            ("match", "game", "status", "against"),
            [(m["id"], m["pool"]["game"], _course(m), _others(m, bot["slug"])) for m in document["matches"]],
            left_columns=4,
        )


def _course(match: dict[str, Any]) -> str:
    return f"{match['status']} {match['progress']} %" if match["status"] == "running" else str(match["status"])


def _others(match: dict[str, Any], slug: str) -> str:
    names = [party["version"]["bot"] for party in match["parties"]]
    return ", ".join(name for name in names if name != slug) or slug

"""`tute login`: which league, and who asks."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import OK, Problem

EXAMPLE = """
tute login https://tute.example
tute login http://127.0.0.1:8000 < token.txt
tute login https://tute.example --forget
"""
DETAILS = """
Asks for a token of yours, tries it, and keeps both for tute submit and tute status. Make a token on the page of your account, with the scope
submit. It is read from the terminal without being shown, or from a pipe; never give it as an argument, where others could read it. Programs may
set TUTE_LEAGUE and TUTE_TOKEN instead.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "login", "sign in at a league, for submit and status", EXAMPLE, DETAILS)
    parser.add_argument("league", metavar="ADDRESS", help="where the league's site is")
    parser.add_argument("--forget", action="store_true", help="forget the league and its token")
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Keep a league and a token that it knows."""
    from engine.cli import remote

    url = remote.at(args.league)
    if args.forget:
        remote.keep(None, forget=url)
        _told(args, {"league": url, "player": None}, f"{url} is forgotten here; revoke its token on your account page")
        return OK
    if sys.stdin.isatty():
        print(
            f"Make a token with the scope submit on {url}/accounts/me/ and paste it here; it is not shown.",
            file=sys.stderr,
        )
        token = getpass.getpass("token: ", stream=sys.stderr)
    else:
        token = sys.stdin.readline()
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise Problem("no token was given; one looks like tute_ and many letters and digits")
    league = remote.League(url, token)
    name = str(league.get("me")["name"])
    remote.keep(league)
    _told(args, {"league": url, "player": name}, f"signed in at {url} as {name}; kept in {remote.leagues_file()}")
    return OK


def _told(args: argparse.Namespace, document: dict[str, Any], text: str) -> None:
    if args.json:
        print_json(document)
    else:
        print(text)

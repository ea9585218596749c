"""`tute submit`: send a bot to a league, and show its validation."""

from __future__ import annotations

import argparse
import json
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from engine.cli.output import BAD, GOOD, command, json_flag, paint, print_json
from engine.cli.problem import FAILED, OK, Problem
from engine.client import API

EXAMPLE = """
tute submit my_bot
tute submit rufo.py --as rufo --games partnership,guinote
tute submit my_bot.zip --no-wait --json
tute submit --git https://codeberg.org/ana/rufo@v1.2
"""
DETAILS = """
Sends a file, folder or zip as a new version of one of your bots (tute login first) and waits for its validation. Repeating the command finds the
version that the first one created. Exit code 1 if the league refuses it. With --git the league fetches the bot itself from a tag of a public
repository, if its operator allows that (docs/git.md); the version then shows its commit.
"""
LOOK_S = 2.0
PATIENCE_S = 600.0


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    from engine.cli import remote

    parser = command(commands, "submit", "send a bot to a league", EXAMPLE, DETAILS)
    parser.add_argument("path", type=Path, nargs="?", metavar="PATH", help="file, folder or zip")
    parser.add_argument("--git", metavar="URL@TAG", help="tag of a public Git repository, in place of PATH")
    parser.add_argument("--folder", default="", metavar="FOLDER", help="folder of the bot in the repository of --git")
    parser.add_argument(
        "--as",
        dest="name",
        metavar="NAME",
        help="name of the bot (default: that of the package, of the folder or of the repository); My Bot becomes my-bot",
    )
    parser.add_argument(
        "--games", metavar="KEYS", help="games that it plays, separated by commas, if the package does not say"
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the validation")
    remote.add_league_flag(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Upload the bot, wait for its validation and show the checks. Return exit code 1 if the version was refused."""
    from engine.cli import remote

    if (args.path is None) == (args.git is None):
        raise Problem("name a bot: a file, folder or zip, or a tag of a repository with --git URL@TAG")
    if args.folder and args.git is None:
        raise Problem("--folder is for a repository: add --git URL@TAG")
    league = remote.chosen(args.league, signed_in=True)
    version = _uploaded(league, args) if args.git is None else _fetched(league, args)
    if not args.no_wait and "status" in version:
        version = _decided(league, version, quiet=args.json)
    if args.json:
        print_json(version)
    elif "status" in version:
        _print(league.url, version)
    else:
        print(f"{version['bot']}: the league fetches {version['url']} at {version['tag']}")
    return FAILED if version.get("status") == "rejected" else OK


def _uploaded(league: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Send the package. Return the new version."""
    from engine.cli import table
    from engine.packages.archive import read_path
    from engine.packages.manifest import UNNAMED, PackageRefused

    try:
        games = [table.find_game(game) for game in args.games.split(",")] if args.games else None
        package = read_path(args.path, games)
    except PackageRefused as refused:
        raise Problem(f"{args.path}: {refused}", FAILED) from None
    except ValueError as error:
        raise Problem(str(error)) from None
    if not args.name and package.manifest.name.lower() in UNNAMED:
        raise Problem(f"{args.path} does not say what your bot is called; add a name, such as --as rufo")
    name = _slug(args.name or package.manifest.name)
    where = f"{API}/bots/{quote(name, safe='')}/versions"
    headers = {
        "Content-Type": "application/octet-stream",
        # With this key a repeated command finds the version that it uploaded before.
        "Idempotency-Key": f"submit-{sha256(f'{name} {package.sha256}'.encode()).hexdigest()[:48]}",
    }
    answer = league.ask("POST", f"{where}?{urlencode({'filename': 'bot.zip'})}", package.zip(), headers)
    return dict(answer.data())


def _fetched(league: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Let the league fetch the bot from Git. Return the new version; with --no-wait the fetch. Raise Problem if there is no version."""
    url, _, tag = args.git.rpartition("@")
    if not url or not tag:
        raise Problem("name a tag of a repository, such as --git https://codeberg.org/ana/rufo@v1.2")
    if args.games:
        raise Problem("--games is for one source file; bot.toml names the games of a repository")
    last = (args.folder.strip("/") or url.rstrip("/").removesuffix(".git")).rpartition("/")[2]
    where = f"{API}/bots/{quote(_slug(args.name or last), safe='')}/fetches"
    body = json.dumps({"url": url, "tag": tag, "folder": args.folder}).encode()
    fetch = dict(league.ask("POST", where, body, {"Content-Type": "application/json"}).data())
    until = time.monotonic() + PATIENCE_S
    while not args.no_wait and not fetch["version"] and not fetch["why"] and time.monotonic() < until:
        time.sleep(LOOK_S)
        fetch = league.get(f"fetches/{fetch['id']}")
    if fetch["why"]:
        raise Problem(f"{args.git}: {fetch['why']}", FAILED)
    return dict(league.get(f"versions/{fetch['version']}")) if fetch["version"] else fetch


def _slug(name: str) -> str:
    """Return a name as in addresses. Raise Problem if nothing remains."""
    from engine.packages.manifest import slug

    short = slug(name)
    if not short:
        raise Problem("the bot's name has no letters or digits for its address; give another name, such as --as rufo-2")
    return short


def _decided(league: Any, version: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Wait until the version is validated, the time limit passes, or no worker can build it; return the version."""
    until = time.monotonic() + PATIENCE_S
    reported = 0
    while version["status"] == "validating" and not version.get("waits") and time.monotonic() < until:
        time.sleep(LOOK_S)
        version = league.get(f"versions/{version['id']}")
        checks = len(version.get("checks", ()))
        if checks > reported and not quiet:
            print(f"{checks} checks done", file=sys.stderr)
        reported = checks
    return version


def _print(url: str, version: dict[str, Any]) -> None:
    code = {"accepted": GOOD, "rejected": BAD}.get(version["status"])
    status = paint(version["status"], code) if code else version["status"]
    print(f"{version['bot']} version {version['number']}: {status}")
    for check in version.get("checks", ()):
        if check["fault"]:
            print(f"  {check['game']}, {check['name']}: {check['fault']}. {check['fault_detail'] or ''}".rstrip())
    if version["fault"]:
        print(f"  {version['fault']}: {version['fault_detail'] or ''}".rstrip())
    if version["refused"]:
        print(f"  not accepted for: {', '.join(version['refused'])}")
    if version.get("waits"):
        print(f"  {version['waits']}")
    elif version["status"] == "validating":
        print("  the validation continues; see its result with tute status")
    if version.get("git"):
        print(f"  commit {version['git']['commit']}")
    print(f"  {url}/bots/{version['bot']}/")

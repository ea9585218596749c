"""`tute probe`: by how much a bot can be exploited, by the best response that was found."""

from __future__ import annotations

import argparse
import math
import os
import secrets
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, USAGE, Problem

if TYPE_CHECKING:
    from engine.probing import Probe
    from engine.runner import BotSpec, MatchSpec

EXAMPLE = """
tute probe my_bot.py -g partnership
tute probe greedy -g brisca --seconds 120 --boards 200
tute probe my_bot.zip -g two_player --tries 200 --seed 7 --json
"""
DETAILS = """
Looks for whoever wins most against BOT, and says by how many points a board. Candidates are the house bots, bots that --with names, and a player
that learns the habits of BOT from what it does and tries its own actions out against them. They play BOT for training; the best of them plays
other boards, from which nothing is learned, for the test. Boards are played in both seatings, so BOT has 0 against itself.

The result is a lower bound: a better response may exist. Where none that wins was found, nothing is proved.
BOT is a file, a folder, a zip, or the name of a house bot, in the sandbox and with the limits of the league. It must be a game of two sides.

--seconds is the time of training. With --tries, boards of training, the same seed gives the same answer, on any number of jobs, for every bot
whose chance follows from the seed that it is given.

exit codes:
  0  probed, whatever was found
  1  the bot failed; the report says how
  2  the command or its input is wrong
  3  something of this machine failed
"""
SECONDS, BOARDS = 60.0, 100
FORMAT = "tute-probe/1"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "probe", "how much a bot can be exploited", EXAMPLE, DETAILS)
    parser.add_argument("bot", metavar="BOT", help="file, folder, zip or house bot")
    table.add_game_flags(parser)
    parser.add_argument(
        "--with",
        dest="responses",
        action="append",
        default=[],
        metavar="BOT",
        help="let this bot be a candidate, too; may be repeated",
    )
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--seconds", type=float, metavar="S", help=f"train for so long ({SECONDS:.0f})")
    how_long.add_argument("--tries", type=int, metavar="N", help="train on so many boards instead")
    parser.add_argument("--boards", type=int, default=BOARDS, metavar="N", help=f"boards of the test ({BOARDS})")
    table.add_seed_flag(parser)
    parser.add_argument("--jobs", type=int, metavar="N", help="boards played at a time (as many as there are cores)")
    table.add_sandbox_flags(parser)
    table.add_limit_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Probe and print; exit code 1 where the bot failed."""
    from engine.probing import NotTwoSidedBoardError, fewest, probe
    from engine.runner import Infrastructure

    for name, least in (("seconds", 0.0), ("tries", 1), ("boards", 2), ("jobs", 1)):
        given = getattr(args, name)
        if given is not None and not least <= given < math.inf:
            raise Problem(f"--{name} {given:g}: at least {least:g}")
    seconds = None if args.tries is not None else SECONDS if args.seconds is None else args.seconds
    jobs = args.jobs if args.jobs is not None else len(os.sched_getaffinity(0))
    seed = args.seed if args.seed is not None else secrets.token_hex(4)
    spec = _spec(args, seed)
    responses = _responses(args, spec)
    if args.tries is not None and args.tries < fewest(responses):
        raise Problem(
            f"--tries {args.tries}: with these candidates at least {fewest(responses)}, so that each of them plays"
        )
    box = table.open_sandbox(args.sandbox)
    try:
        with progress(f"probing {spec.parties[0].name}") as advance:
            found = probe(
                spec,
                responses,
                box,
                seconds=seconds,
                tries=args.tries,
                boards=args.boards,
                jobs=jobs,
                advance=advance,
            )
    except NotTwoSidedBoardError as error:
        raise Problem(
            f"{error}: it cannot be probed, for no response is the best against several at once; tute games --json has the sides"
        ) from None
    except Infrastructure as error:
        raise Problem(f"{error}. This is no fault of a bot: probe again", INFRASTRUCTURE) from None
    if args.json:
        print_json(document(spec, found, seed))
    else:
        _print(spec, found, seed)
    return FAILED if found.fault else OK


def _spec(args: argparse.Namespace, seed: str) -> MatchSpec:
    import engine
    from engine.cards import chance
    from engine.runner import MatchSpec
    from engine.runner.match import load

    bot = table.find_bot(args.bot, refused=USAGE)
    game, players, options = table.chosen_game(args)
    try:
        spec = MatchSpec(
            match_id=f"probe {seed}",
            game=game,
            players=players,
            options=options,
            secret=chance.as_seed(seed),
            table="probe",
            boards=[1],
            parties=(bot,),
            limits=table.limits(args),
        )
        load(spec)
    except engine.OptionError as error:
        raise Problem(str(error)) from None
    if bot.games and game not in bot.games:
        raise Problem(f"{args.bot} plays {', '.join(bot.games)}, not {game}: see games in its bot.toml")
    return spec


def _responses(args: argparse.Namespace, spec: MatchSpec) -> list[BotSpec]:
    """The bots that are candidates: those of the house and those named, which play this game and are not the bot itself."""
    found: dict[str, BotSpec] = {}
    for name in [*args.responses, *table.house_names()]:
        bot = table.find_bot(name, refused=USAGE)
        if bot.sha256 != spec.parties[0].sha256 and (not bot.games or spec.game in bot.games):
            found.setdefault(bot.sha256, bot)
    return list(found.values())


def document(spec: MatchSpec, found: Probe, seed: str) -> dict[str, Any]:
    """The result as data for scripts, format tute-probe/1. seconds: of training and of the test."""
    from dataclasses import asdict

    from engine.game import load

    game = load(spec.game, **({} if spec.players is None else {"players": spec.players}), **spec.options)
    candidates = [
        {
            "name": one.name,
            "boards": len(one.ahead),
            "ahead": one.mean if one.ahead else None,
            "error": one.error if one.error < math.inf else None,
            "fault": asdict(one.fault) if one.fault else None,
        }
        for one in found.candidates
    ]
    return {
        "format": FORMAT,
        "game": spec.game,
        "players": game.players,
        "options": dict(spec.options),
        "bot": spec.parties[0].name,
        "sha256": spec.parties[0].sha256,
        "seed": seed,
        "unit": str(game.score_unit),
        "response": found.response,
        "ahead": found.mean,
        "margin": found.margin,
        "clear": found.clear,
        "boards": len(found.ahead),
        "trained": found.trained,
        "foreseen": found.foreseen,
        "candidates": candidates,
        "seconds": list(found.seconds),
        "fault": asdict(found.fault) if found.fault else None,
    }


def _print(spec: MatchSpec, found: Probe, seed: str) -> None:
    from engine.cli.explain import explain

    told = document(spec, found, seed)
    name, unit = told["bot"], told["unit"]
    print(f"{name} at {spec.game}, seed {seed}\n")
    rows = [
        [
            one["name"],
            one["boards"],
            "-" if one["ahead"] is None else f"{one['ahead']:+.2f}",
            "-" if one["error"] is None else f"{one['error']:.2f}",
        ]
        for one in told["candidates"]
    ]
    print_table(["candidate", "boards", f"{unit}/board", "standard error"], rows)
    trained_s, tested_s = found.seconds
    print(
        f"\ntrained on {found.trained} boards in {trained_s:.1f} s; a choice flatters whoever is chosen, so this is no result"
    )
    if found.foreseen is not None:
        print(f"search foresaw {found.foreseen:.0%} of the bot's choices by the end")
    if found.fault is not None:
        print()
        explain(name, found.fault)
        return
    for one in found.candidates:
        if one.fault is not None:
            print(f"{one.name} failed ({one.fault.kind}), and forfeited boards by it")
    print(
        f"\n{found.response} against {name} on {len(found.ahead)} other boards ({tested_s:.1f} s):"
        f" {found.mean:+.2f} ± {found.margin:.2f} {unit} a board (95 %)\n"
    )
    if found.clear:
        paragraph(
            f"{name} can be exploited by at least {found.mean:.2f} ± {found.margin:.2f} {unit} a board. A better response may exist: this is a"
            " lower bound. Against itself it has 0."
        )
    else:
        paragraph(
            f"No response was found that wins against {name} with certainty. That proves nothing of others: train for longer, or name candidates"
            " (--with)."
        )

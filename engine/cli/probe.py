"""`tute probe`: measure how much a bot can be exploited, by the best response that the command finds."""

from __future__ import annotations

import argparse
import math
import os
import secrets
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, USAGE, Problem, require

if TYPE_CHECKING:
    from engine.probing import Probe
    from engine.runner import BotSpec, MatchSpec

EXAMPLE = """
tute probe my_bot.py -g partnership
tute probe greedy -g brisca --seconds 120 --boards 200
tute probe greedy -g two_player --learned --seconds 300
tute probe my_bot.zip -g two_player --tries 200 --seed 7 --json
"""
DETAILS = """
Searches for the strongest opponent of BOT and reports how many points per board it wins. The candidates are the house bots, the bots of --with,
and a player that learns the habits of BOT from its choices and tries its own actions against them. They play BOT for training; the best of them
plays other boards for the test, from which nothing is learned. Boards are played in both seatings, so BOT scores 0 against itself.

--learned trains one more such player for as long again: its own habits begin with those of the best candidate and improve in practice, on whole
boards against the habits of BOT (policy gradient). A few boards against BOT in between teach it these habits better. It plays the same test boards;
the larger result counts.

The result is a lower bound: a better response may exist. If no winning response was found, that proves nothing.
BOT is a file, a folder, a zip, or the name of a house bot, in the sandbox and with the limits of the league. The game must have two sides.

--seconds is the time of training. With --tries, the number of training boards, and --episodes, that of practice, the same seed gives the same answer
on any number of jobs, for every bot whose random choices follow from its seed.

exit codes:
  0  the probe finished, whatever it found
  1  the bot failed; the report says how
  2  the command or its input is wrong
  3  something on this machine failed
"""
SECONDS, BOARDS, EPISODES = 60.0, 100, 10_000
FORMAT = "tute-probe/1"
TESTED = ("response", "ahead", "margin", "clear", "boards", "elo")


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "probe", "measure how much a bot can be exploited", EXAMPLE, DETAILS)
    parser.add_argument("bot", metavar="BOT", help="file, folder, zip or house bot")
    table.add_game_flags(parser)
    parser.add_argument(
        "--with",
        dest="responses",
        action="append",
        default=[],
        metavar="BOT",
        help="add this bot to the candidates; may be repeated",
    )
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--seconds", type=float, metavar="S", help=f"time of training ({SECONDS:.0f})")
    how_long.add_argument("--tries", type=int, metavar="N", help="number of training boards instead")
    parser.add_argument("--learned", action="store_true", help="train a learned response, too")
    parser.add_argument(
        "--episodes",
        type=int,
        metavar="N",
        help=f"boards of its practice, instead of a time (with --tries: {EPISODES:,})",
    )
    parser.add_argument("--boards", type=int, default=BOARDS, metavar="N", help=f"boards of the test ({BOARDS})")
    table.add_seed_flag(parser)
    parser.add_argument("--jobs", type=int, metavar="N", help="boards played in parallel (default: one per core)")
    table.add_sandbox_flags(parser)
    table.add_limit_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Probe and print. Return exit code 1 if the bot failed."""
    from engine.probing import NotTwoSidedBoardError, fewest, probe
    from engine.runner import Infrastructure

    require(args, seconds=0, tries=1, boards=2, jobs=1, episodes=1)
    if args.episodes is not None and not args.learned:
        raise Problem("--episodes is the practice of the learned response: add --learned")
    seconds = None if args.tries is not None else SECONDS if args.seconds is None else args.seconds
    jobs = args.jobs if args.jobs is not None else len(os.sched_getaffinity(0))
    seed = args.seed if args.seed is not None else secrets.token_hex(4)
    spec = table.match_spec(args, "probe", seed, [args.bot], boards=[1])
    responses = _responses(args, spec)
    if args.tries is not None and args.tries < fewest(responses):
        raise Problem(
            f"--tries {args.tries} is too small: these candidates need at least {fewest(responses)}, so that each of them plays"
        )
    box = table.open_sandbox(args.sandbox)
    try:
        with progress(f"probing {spec.parties[0].name}") as advance:
            result = probe(
                spec,
                responses,
                box,
                seconds=seconds,
                tries=args.tries,
                boards=args.boards,
                episodes=args.episodes if args.tries is None else args.episodes or EPISODES,
                learned=args.learned,
                jobs=jobs,
                advance=advance,
            )
    except NotTwoSidedBoardError as error:
        raise Problem(
            f"{error}. It cannot be probed, because no response is best against several sides at once; tute games --json lists the sides"
        ) from None
    except Infrastructure as error:
        raise Problem(f"{error}. This is not the bot's fault: probe again", INFRASTRUCTURE) from None
    if args.json:
        print_json(document(spec, result, seed))
    else:
        _print(spec, result, seed)
    return FAILED if result.fault else OK


def _responses(args: argparse.Namespace, spec: MatchSpec) -> list[BotSpec]:
    """Return the candidates: the house bots and the named bots that play this game, without the probed bot."""
    bots_by_hash: dict[str, BotSpec] = {}
    for name in [*args.responses, *table.house_names()]:
        bot = table.find_bot(name, refused=USAGE)
        if bot.sha256 != spec.parties[0].sha256 and (not bot.games or spec.game in bot.games):
            bots_by_hash.setdefault(bot.sha256, bot)
    return list(bots_by_hash.values())


def document(spec: MatchSpec, result: Probe, seed: str) -> dict[str, Any]:
    """Return the result as data for scripts, format tute-probe/1. seconds: the duration of training and of the test."""
    from dataclasses import asdict

    from engine.game import load

    game = load(spec.game, **({} if spec.players is None else {"players": spec.players}), **spec.options)
    candidates = [
        {
            "name": candidate.name,
            "boards": len(candidate.ahead),
            "ahead": candidate.mean if candidate.ahead else None,
            "error": candidate.error if candidate.error < math.inf else None,
            "fault": asdict(candidate.fault) if candidate.fault else None,
        }
        for candidate in result.candidates
    ]
    tested: list[dict[str, Any]] = [
        {
            "response": response.name,
            "ahead": response.mean,
            "margin": response.margin,
            "clear": response.clear,
            "boards": len(response.ahead),
            "elo": response.elo,
        }
        for response in result.tested
    ]
    best = max(tested, key=lambda response: response["ahead"], default=dict.fromkeys(TESTED))
    return {
        "format": FORMAT,
        "game": spec.game,
        "players": game.players,
        "options": dict(spec.options),
        "bot": spec.parties[0].name,
        "sha256": spec.parties[0].sha256,
        "seed": seed,
        "unit": str(game.score_unit),
        **best,
        "tested": tested,
        "trained": result.trained,
        "practised": result.practised,
        "foreseen": result.foreseen,
        "candidates": candidates,
        "seconds": list(result.seconds),
        "fault": asdict(result.fault) if result.fault else None,
    }


def _print(spec: MatchSpec, result: Probe, seed: str) -> None:
    from engine.cli.explain import explain

    document_of_result = document(spec, result, seed)
    name, unit = document_of_result["bot"], document_of_result["unit"]
    print(f"{name} at {spec.game}, seed {seed}\n")
    rows = [
        [
            candidate["name"],
            candidate["boards"],
            "-" if candidate["ahead"] is None else f"{candidate['ahead']:+.2f}",
            "-" if candidate["error"] is None else f"{candidate['error']:.2f}",
        ]
        for candidate in document_of_result["candidates"]
    ]
    print_table(["candidate", "boards", f"{unit}/board", "standard error"], rows)
    trained_s, tested_s = result.seconds
    practice = f" and {result.practised:,} of practice" if result.practised else ""
    print(
        f"\ntrained on {result.trained} boards{practice} in {trained_s:.1f} s; the selection flatters the best candidate, so these are not results"
    )
    if result.foreseen is not None:
        print(f"the habits predicted {result.foreseen:.0%} of the bot's choices at the end")
    if result.fault is not None:
        print()
        explain(name, result.fault)
        return
    for candidate in result.candidates:
        if candidate.fault is not None:
            print(f"{candidate.name} failed ({candidate.fault.kind}) and so forfeited boards")
    print(f"\nAgainst {name} on {len(result.tested[0].ahead)} other boards ({tested_s:.1f} s), with 95% intervals:\n")
    print_table(
        ["response", f"{unit}/board", "Elo"],
        [
            [
                response.name,
                f"{response.mean:+.2f} ± {response.margin:.2f}",
                "{:+.0f}, {:.0f} to {:.0f}".format(*response.elo),
            ]
            for response in result.tested
        ],
    )
    print()
    best = result.best
    if best is not None and best.clear:
        paragraph(
            f"{name} can be exploited by at least {best.mean:.2f} ± {best.margin:.2f} {unit} per board. This is a lower bound: a better"
            " response may exist. Against itself the bot scores 0."
        )
    else:
        paragraph(
            f"No response was found that certainly wins against {name}. That proves nothing: others may exist. Train for longer, name"
            " candidates (--with), or let one learn (--learned)."
        )

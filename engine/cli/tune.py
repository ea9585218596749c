"""`tute tune`: search better values of a bot's declared parameters by SPSA, and test the result against the start."""

from __future__ import annotations

import argparse
import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, USAGE, Problem, require

if TYPE_CHECKING:
    from engine.packages.archive import BotPackage

EXAMPLE = """
tute tune my_bot -g partnership
tute tune my_bot -g brisca --boards 4000 --against counting
tute tune my_bot.zip -g two_player --boards 800 --test 0 --seed 7 --json
"""
DETAILS = """
BOT declares its parameters in bot.toml (docs/tuning.md). Pairs of boards are played between the bot with all parameters moved a little one way,
and the bot with all moved the other way; the side that wins more boards pulls the parameters. Afterwards the result plays the start until a
sequential test decides, or for --test boards. The last lines are for bot.toml. A league tunes with the same code, on its workers.

exit codes:
  0  the tuning finished, whatever it found
  1  the bot failed; the report says how
  2  the command or its input is wrong
  3  something on this machine failed
"""
BOARDS, TEST = 2000, 1000
ELO0, ELO1 = 0.0, 30.0  # The hypotheses of the test, as in a league.
FORMAT = "tute-tune/1"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "tune", "tune the parameters of a bot", EXAMPLE, DETAILS)
    parser.add_argument("bot", metavar="BOT", help="file, folder, zip or house bot")
    table.add_game_flags(parser)
    parser.add_argument("--against", metavar="BOT", help="tune against this bot (default: against itself)")
    parser.add_argument("--boards", type=int, default=BOARDS, metavar="N", help=f"boards of the search ({BOARDS})")
    parser.add_argument("--test", type=int, default=TEST, metavar="N", help=f"most boards of the test ({TEST})")
    table.add_seed_flag(parser)
    table.add_sandbox_flags(parser)
    table.add_limit_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Tune and print. Return exit code 1 if the bot failed."""
    from engine import spsa
    from engine.cli.series import Sequential
    from engine.packages.manifest import parameters_toml
    from engine.runner import Infrastructure
    from engine.tuning import BOARDS as EACH
    from engine.tuning import PairResult, play_pair

    require(args, boards=EACH, test=0)
    seed = args.seed if args.seed is not None else secrets.token_hex(4)
    spec = table.match_spec(args, "tune", seed, [args.bot], boards=[1])
    parameters = _package(args.bot).manifest.parameters
    if not parameters:
        raise Problem(f"{args.bot} declares no parameters; add [parameters] to its bot.toml (docs/tuning.md)", USAGE)
    opponent = table.find_bot(args.against, refused=USAGE) if args.against else None
    box = table.open_sandbox(args.sandbox)
    start = spsa.start_values(parameters)
    values, played, fault = dict(start), 0, None
    course: list[list[float]] = []
    scores: list[tuple[int, int]] = []

    def play(first: int, plus: spsa.Values, minus: spsa.Values, rival: Any = None) -> PairResult:
        boards = range(1 + first, 1 + first + EACH)
        match = replace(spec, match_id=f"{spec.match_id}, boards from {boards[0]}", boards=boards)
        return play_pair(match, plus, minus, box, opponent=rival) or PairResult()

    test = Sequential(ELO0, ELO1)
    try:
        with progress(f"tuning {spec.parties[0].name}") as advance:
            while played < args.boards and fault is None:
                pair = spsa.draw_pair(parameters, values, played=played, boards=args.boards, seed=f"{seed}:{played}")
                outcome = play(played, pair.plus, pair.minus, opponent)
                values = spsa.learn(parameters, values, pair.change, outcome.won - outcome.lost)
                played, fault = played + EACH, outcome.fault
                course.append([played, *values.values()])
                advance(min(played, args.boards), args.boards)
        final = spsa.final_values(parameters, values)
        with progress("testing the result") as advance:
            while len(scores) < args.test and final != start and fault is None and not test.result(scores)["accepted"]:
                outcome = play(played + len(scores), final, start)
                scores += [(1, 0)] * outcome.won + [(0, 0)] * outcome.drawn + [(0, 1)] * outcome.lost
                fault = outcome.fault
                advance(len(scores), args.test)
    except Infrastructure as error:
        raise Problem(f"{error}. This is not the bot's fault: tune again", INFRASTRUCTURE) from None
    toml = parameters_toml(parameters, final)
    result = test.result(scores)
    if args.json:
        document = {"format": FORMAT, "game": spec.game, "bot": spec.parties[0].name, "seed": seed, "boards": played}
        print_json({**document, "start": start, "values": final, "course": course, "test": result, "toml": toml})
    elif fault is None:
        print(f"{spec.parties[0].name} at {spec.game}, seed {seed}, {played} boards\n")
        rows = [[each.name, f"{start[each.name]:g}", f"{final[each.name]:g}"] for each in parameters]
        print_table(["parameter", "start", "tuned"], rows)
        print()
        if scores:
            verdicts = {"elo1": "The result is better.", "elo0": "The result is not better.", None: "Not decided."}
            paragraph(
                f"{len(scores)} boards of the result against the start: {result['elo']:+.0f} ± {result['elo_margin']:.0f} Elo. "
                f"{verdicts[result['accepted']]}"
            )
            print()
        print(toml, end="")
    if fault is not None:
        from engine.cli.explain import explain

        explain(spec.parties[0].name, fault)
    return FAILED if fault else OK


def _package(text: str) -> BotPackage:
    """Read the package of a bot that `find_bot` has found."""
    from engine.packages.archive import read_path

    path = Path(text)
    return read_path(path if path.exists() else (table.house_folder() or Path()) / text)

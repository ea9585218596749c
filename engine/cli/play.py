"""`tute play`: a match between bots, here and now."""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import INFRASTRUCTURE, OK, Problem

if TYPE_CHECKING:
    from engine.runner import MatchResult, MatchSpec

EXAMPLE = """
tute play greedy random -g partnership -n 100 --seed 7
tute play my_bot.py bots/house/counting greedy random -g cabrero --players 4 -n 20
tute play my_bot.zip greedy -g corriente -o match_games=3 --log games.jsonl
"""
DETAILS = """
BOT is a source file, a folder with a bot.toml, a zip, or the name of a house bot. Two bots at a table of pairs hold a side each; elsewhere
every bot holds one seat. A board is played once in each seating with the same cards. The same seed deals the same cards.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "play", "play bots against each other", EXAMPLE, DETAILS)
    parser.add_argument("bots", nargs="+", metavar="BOT", help="file, folder, zip or house bot")
    parser.add_argument("-g", "--game", required=True, help="key of the game (tute games)")
    parser.add_argument("-n", "--boards", type=int, default=16, help="boards to play (16)")
    parser.add_argument("--players", type=int, help="seats at the table, where the game has several sizes")
    parser.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the game; may be repeated",
    )
    parser.add_argument("--seed", help="any text; the same text deals the same cards (a random one, which is printed)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write the replays, one a line (.jsonl)")
    table.add_sandbox_flags(parser)
    parser.add_argument(
        "--sealed",
        action="store_true",
        help="keep every clock of the host from the bots, as the league does where partners sit (docs/sandbox.md)",
    )
    table.add_limit_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play a match and print its standings; exit code 3 where something of ours fails."""
    from engine.runner import Infrastructure
    from engine.runner.match import play_match

    seed = args.seed if args.seed is not None else secrets.token_hex(4)
    spec = _spec(args, seed)
    if args.log is not None and args.log.suffix != ".jsonl":
        raise Problem(f"--log {args.log}: the log holds one replay a line; give it a name that ends in .jsonl")
    box = table.open_sandbox(args.sandbox)
    if args.sealed and box.report.unsealed:
        raise Problem(f"no bot is sealed in the tier {box.tier} here: {box.report.unsealed}", INFRASTRUCTURE)
    try:
        with progress(f"{spec.game}, {len(spec.boards)} boards") as advance:
            result = play_match(spec, box, progress=advance)
    except ValueError as error:
        raise Problem(str(error)) from None
    except Infrastructure as error:
        raise Problem(f"{error}. This is no fault of a bot: play again", INFRASTRUCTURE) from None
    if args.log is not None:
        _write_log(args.log, result)
    names = table.labels(spec.parties)
    if args.json:
        print_json(document(spec, result, names, seed))
    else:
        _print(spec, result, names, seed)
    return OK


def _spec(args: argparse.Namespace, seed: str) -> MatchSpec:
    import engine
    from engine.cards import chance
    from engine.cli.problem import USAGE
    from engine.runner import MatchSpec
    from engine.runner.match import load
    from engine.runner.spec import ALWAYS, NEVER

    if args.boards < 1:
        raise Problem(f"-n {args.boards}: play at least one board")
    bots = tuple(table.find_bot(bot, refused=USAGE) for bot in args.bots)
    options = table.option_values(args.option)
    players = args.players if args.players is not None else options.pop("players", None)
    try:
        if (
            players is None
            and len(bots) in engine.game.declared(args.game).players
            and len(engine.load(args.game).sides) != len(bots)
        ):
            players = len(bots)
        spec = MatchSpec(
            match_id=f"local {seed}",
            game=args.game,
            players=players,
            options=options,
            secret=chance.as_seed(seed),
            table="local",
            boards=range(1, args.boards + 1),
            parties=bots,
            limits=table.limits(args),
            sealing=ALWAYS if args.sealed else NEVER,
        )
        load(spec).sittings(len(bots))
    except engine.OptionError as error:
        raise Problem(str(error)) from None
    for bot, given in zip(bots, args.bots, strict=True):
        if bot.games and args.game not in bot.games:
            raise Problem(f"{given} plays {', '.join(bot.games)}, not {args.game}: see games in its bot.toml")
    return spec


def _write_log(path: Path, result: MatchResult) -> None:
    with path.open("w", encoding="utf-8") as file:
        for board in result.boards:
            for sitting in board.sittings:
                file.write(json.dumps(sitting.replay, ensure_ascii=False, separators=(",", ":")) + "\n")


def document(spec: MatchSpec, result: MatchResult, names: Sequence[str], seed: str) -> dict[str, Any]:
    """The result as data for scripts, format tute-play/1."""
    from dataclasses import asdict

    from engine.cli.stats import standing
    from engine.game import load

    size = load(spec.game).score_size
    scores = [board.scores for board in result.boards if board.complete]
    parties = []
    for number, (name, report) in enumerate(zip(names, result.parties, strict=True)):
        entry: dict[str, Any] = {"name": name, "sha256": spec.parties[number].sha256}
        if scores:
            found = standing(scores, number, size)
            entry |= {**asdict(found), "clear": found.clear}
        entry |= {
            "sealed": report.sealed,
            "decisions": report.decisions,
            "cpu_s": report.cpu_s,
            "max_cpu_s": report.max_cpu_s,
        }
        entry |= {"faults": [asdict(fault) for fault in report.faults], "stderr": report.stderr}
        parties.append(entry)
    boards = [
        {
            "number": board.number,
            "complete": board.complete,
            "scores": board.scores,
            "sittings": [
                {
                    "seating": list(sitting.seating),
                    "scores": sitting.scores,
                    "fault": sitting.fault.kind if sitting.fault else None,
                }
                for sitting in board.sittings
            ],
        }
        for board in result.boards
    ]
    return {
        "format": "tute-play/1",
        "game": spec.game,
        "players": spec.players,
        "options": dict(spec.options),
        "seed": seed,
        "parties": parties,
        "boards": boards,
        "decisions": result.decisions,
        "seconds": result.seconds,
        "host": result.host,
    }


def _print(spec: MatchSpec, result: MatchResult, names: Sequence[str], seed: str) -> None:
    from engine.cli.stats import standing
    from engine.game import load

    scores = [board.scores for board in result.boards if board.complete]
    game = load(spec.game)
    unit = game.score_unit
    found = [standing(scores, number, game.score_size) for number in range(len(names))]
    rows = []
    for name, party in zip(names, found, strict=True):
        margin = "" if party.margin is None else f"{party.difference:+.2f} ± {party.margin:.2f}"
        verdict = "" if party.margin is None else "yes" if party.clear else "no"
        rows.append(
            (name, party.won, party.drawn, party.lost, f"{party.share:.1%}", f"{party.mean:.2f}", margin, verdict)
        )
    sittings = sum(len(board.sittings) for board in result.boards)
    host = result.host
    print(
        f"{spec.game}: {len(scores)} boards, {sittings} sittings, seed {seed}, sandbox {host['tier']}, sealed: {host['sealed']}\n"
    )
    print_table(("bot", "won", "drawn", "lost", "share", f"{unit}/board", "ahead by (95%)", "certain"), rows)
    if len(scores) > 1:
        print(
            f"\nahead by: {unit} per board more than the others' mean, interval over boards; certain: the interval excludes zero"
        )
        if len(names) == 2:
            paragraph(_verdict(names, found))
    for name, report in zip(names, result.parties, strict=True):
        print_faults(name, report)
    rate = result.decisions / result.seconds if result.seconds else 0.0
    each = 1000 * result.seconds / result.decisions if result.decisions else 0.0
    print(
        f"\n{result.decisions} decisions in {result.seconds:.2f} s: {rate:.0f} decisions/s, {each:.3f} ms each, starts included"
    )


def _verdict(names: Sequence[str], found: Sequence[Any]) -> str:
    first = found[0]
    if not first.clear:
        interval = f"{first.difference:+.2f} ± {first.margin:.2f}"
        return f"No difference shown between {names[0]} and {names[1]}: the 95% interval of {interval} holds zero; play more boards."
    better, worse = (names[0], names[1]) if first.difference > 0 else (names[1], names[0])
    return f"{better} is better than {worse}: the 95% interval of {abs(first.difference):.2f} ± {first.margin:.2f} excludes zero."


def print_faults(name: str, report: Any) -> None:
    """A paragraph for each fault of a party, and the end of its log."""
    from engine.cli.explain import explain

    for fault in report.faults:
        print()
        explain(name, fault)
    if report.faults and report.stderr:
        print(f"\nend of the log (stderr) of {name}:")
        for line in report.stderr.splitlines()[-12:]:
            print("  " + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line[:200]))

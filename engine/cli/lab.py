"""`tute lab`: what the rules of a variant do, measured over many boards, side by side with its game."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import series, table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, USAGE, Problem, require
from engine.lab.words import NUMBER, WORDS, interval
from engine.studying import NAME, PAIRS, SEED, inputs_of, key_of, parts_of

if TYPE_CHECKING:
    from engine.lab.variants import Variant
    from engine.sandbox import Sandbox

EXAMPLE = """
tute lab guinote --boards 400 --bot counting --against greedy
tute lab without-exchange.toml --boards 1000 --no-sandbox
tute lab without-exchange.toml --json > report.json
"""
MEASURES = "\n".join(f"  {words.en}: {words.en_note}" for words in WORDS.values())
DETAILS = f"""
VARIANT is a game, or a file of options:

  game = "guinote"
  players = 2

  [options]
  exchange = "none"

Plays boards between two bots, each in every seating, by the variant and by the usual rules of its game, with the same cards where both deal alike.
Reports each measure with its 95% interval over boards, and the advantage of each place over the mean of the table:

{MEASURES}

Finished boards are stored (STATE_DIR/lab). Stop at any time with Ctrl-C; the same command goes on. The same seed gives the same report, with the
same digest, on any number of cores.

exit codes:
  0  reported
  1  a bot failed
  2  the command or the file of options is wrong
  3  something on this machine failed
"""
BOARDS = 10_000


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "lab", "measure what the rules of a game or variant do", EXAMPLE, DETAILS)
    parser.add_argument("variant", metavar="VARIANT", help="file of options (.toml), or a game")
    parser.add_argument("-n", "--boards", type=int, default=BOARDS, help=f"boards to play ({BOARDS})")
    parser.add_argument("--bot", metavar="BOT", help="the better bot (champion; counting where champion does not play)")
    parser.add_argument("--against", metavar="BOT", help="the bot of all other seats (counting; greedy)")
    parser.add_argument("--seed", default=SEED, help=f"any text; the same text deals the same cards ({SEED})")
    parser.add_argument("--alone", action="store_true", help="leave out the usual rules of the game")
    parser.add_argument("--jobs", type=int, metavar="N", help="matches played in parallel (default: one per core)")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the shares as a picture")
    table.add_sandbox_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Play what is not stored yet, and print the reports."""
    require(args, boards=2, jobs=1)
    variant = _variant(args.variant)
    variants = [variant] if args.alone or variant == variant.parent else [variant, variant.parent]
    box = table.open_sandbox(args.sandbox)
    pair = _pair(args, variant.game)
    reports = [measure(each, pair, args.boards, args.seed, box, args.jobs)[0] for each in variants]
    if args.svg is not None:
        from engine.lab.picture import compare

        args.svg.write_text(compare(reports, [_head(report) for report in reports]), encoding="utf-8")
    if args.json:
        print_json(reports)
    else:
        _print(reports)
    return OK


def _variant(text: str) -> Variant:
    from engine.errors import OptionError
    from engine.lab.variants import Variant, read

    path = Path(text)
    if path.suffix != ".toml" and not path.exists():
        return Variant(table.find_game(text))
    try:
        return read(path)
    except OptionError as error:
        raise Problem(str(error)) from None


def _pair(args: argparse.Namespace, game: str) -> tuple[str, str]:
    """Return the two bots: those of the command line, else of the strongest pair of house bots that plays the game."""
    for better, worse in PAIRS:
        pair = (args.bot or better, args.against or worse)
        if all(not (bot := table.find_bot(name, refused=USAGE)).games or game in bot.games for name in pair):
            break
    return pair


def measure(
    variant: Variant, pair: tuple[str, str], boards: int, seed: str, box: Sandbox, jobs: int | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the report of a variant and its boards; those of earlier calls are stored. jobs: None for one per core.

    Raise Problem, after an explanation, if a bot failed.
    """
    from engine.cli.explain import explain
    from engine.lab.facts import facts
    from engine.lab.report import build
    from engine.runner.result import FaultReport
    from engine.version import VERSION

    game = variant.load()
    options = [f"{name}={json.dumps(value)}" for name, value in variant.options.items()]
    at_table = argparse.Namespace(game=variant.game, players=game.players, option=options)
    bots = [pair[0], *[pair[1]] * (len(game.sides) - 1)]
    spec = table.match_spec(at_table, NAME, seed, bots, boards=range(1, boards + 1))
    inputs = inputs_of(VERSION, [(bot.name, bot.sha256) for bot in spec.parties[:2]], seed)
    store = table.state_dir() / "lab" / f"{key_of(game, inputs)}.jsonl"
    store.parent.mkdir(parents=True, exist_ok=True)
    cores = jobs if jobs is not None else len(os.sched_getaffinity(0))
    with (
        store.with_suffix(".lock").open("w") as lock,
        progress(f"{table.title(spec.game)}, {boards} boards") as advance,
    ):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"another tute lab is playing these boards of {game.key}; wait for it", INFRASTRUCTURE
            ) from None
        journal = series.SeriesJournal(store, spec, seed, None)
        played = series.play(parts_of(spec), box, cores, journal=journal, facts=facts, advance=advance)
    for bot, party in zip(spec.parties, played.parties, strict=True):
        if party["faults"]:
            explain(bot.name, FaultReport(**party["faults"][0]))
            raise Problem(f"{bot.name} failed, so there is no report", FAILED)
    cpu_s = round(sum(party["cpu_s"] for party in played.parties), 1)
    return build(game, played.boards, {**inputs, "cpu_s": cpu_s}), played.boards


def _head(report: dict[str, Any]) -> str:
    return ", ".join(
        [f"{report['players']} players", *(f"{name} {value}" for name, value in report["options"].items())]
    )


def _print(reports: list[dict[str, Any]]) -> None:
    first = reports[0]
    print(f"{table.title(first['game'])}: {first['boards']} boards, seed {first['seed']}\n")
    rows = [
        [words.en, *(interval(words.form, report["measures"][name]) for report in reports)]
        for name, words in WORDS.items()
        if any(report["measures"][name] for report in reports)
    ]
    for place in range(max(len(report["seats"]) for report in reports)):
        seats = [report["seats"][place] if place < len(report["seats"]) else None for report in reports]
        label = f"Advantage of the first lead, {first['unit']}" if place == 0 else f"{place} after the first lead"
        rows.append([label, *(interval(NUMBER, seat, signed=True) for seat in seats)])
    print_table(["measure", *map(_head, reports)], rows)
    print()
    names = " against ".join(bot["name"] for bot in first["bots"])
    digests = ", ".join(report["digest"][:16] for report in reports)
    paragraph(f"{names}; 95% intervals over boards; digest {digests}. tute lab --help explains the measures.")

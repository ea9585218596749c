"""`tute lab`: what the rules of a variant do, measured over many boards, side by side with its game."""

from __future__ import annotations

import argparse
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import series, table
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, OK, Problem, require

if TYPE_CHECKING:
    from engine.lab.variants import Variant
    from engine.runner import MatchSpec
    from engine.sandbox import Sandbox

EXAMPLE = """
tute lab guinote --boards 400 --bot counting --against greedy
tute lab without-exchange.toml --boards 1000 --no-sandbox
tute lab without-exchange.toml --json > report.json
"""
DETAILS = """
VARIANT is a game, or a file of options:

  game = "guinote"
  players = 2

  [options]
  exchange = "none"

Plays boards between two bots, each in every seating, by the variant and by the usual rules of its game, with the same cards where both deal alike.
Reports with 95% intervals over boards: the advantage of each seat; luck; how often songs, tute, capote, exchanges and the last trick decide; how
many boards tell the two bots apart; length, choices, draws, and how often a lead at half time lasts.

Finished boards are stored (STATE_DIR/lab). Stop at any time with Ctrl-C; the same command goes on. The same seed gives the same report, with the
same digest, on any number of cores.

exit codes:
  0  reported
  1  a bot failed
  2  the command or the file of options is wrong
  3  something on this machine failed
"""
BOARDS, BOT, AGAINST, SEED = 10_000, "champion", "counting", "lab"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "lab", "measure what the rules of a game or variant do", EXAMPLE, DETAILS)
    parser.add_argument("variant", metavar="VARIANT", help="file of options (.toml), or a game")
    parser.add_argument("-n", "--boards", type=int, default=BOARDS, help=f"boards to play ({BOARDS})")
    parser.add_argument("--bot", default=BOT, metavar="BOT", help=f"the better bot ({BOT})")
    parser.add_argument("--against", default=AGAINST, metavar="BOT", help=f"the bot of all other seats ({AGAINST})")
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
    specs = [_spec(args, each) for each in variants]
    box = table.open_sandbox(args.sandbox)
    reports = []
    for each, spec in zip(variants, specs, strict=True):
        report = _measure(args, each, spec, box)
        if report is None:
            return FAILED
        reports.append(report)
    if args.svg is not None:
        from engine.lab.picture import compare

        args.svg.write_text(compare(reports), encoding="utf-8")
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


def _spec(args: argparse.Namespace, variant: Variant) -> MatchSpec:
    game = variant.load()
    options = [f"{name}={json.dumps(value)}" for name, value in variant.options.items()]
    at_table = argparse.Namespace(game=variant.game, players=game.players, option=options)
    bots = [args.bot, *[args.against] * (len(game.sides) - 1)]
    return table.match_spec(at_table, "lab", args.seed, bots, boards=range(1, args.boards + 1))


def _measure(args: argparse.Namespace, variant: Variant, spec: MatchSpec, box: Sandbox) -> dict[str, Any] | None:
    """Return the report of one table; None, after an explanation, if a bot failed."""
    from engine.cli.explain import explain
    from engine.lab.facts import facts
    from engine.lab.report import build
    from engine.runner.result import FaultReport
    from engine.version import VERSION

    game = variant.load()
    inputs = {
        "engine": VERSION,
        "bots": [{"name": bot.name, "sha256": bot.sha256} for bot in spec.parties[:2]],
        "seed": args.seed,
    }
    table_of_game = [game.key, game.revision, game.players, dict(game.options)]
    name = sha256(json.dumps([inputs, table_of_game], sort_keys=True).encode()).hexdigest()[:24]
    store = table.state_dir() / "lab" / f"{name}.jsonl"
    store.parent.mkdir(parents=True, exist_ok=True)
    journal = series.SeriesJournal(store, spec, args.seed, None)
    jobs = args.jobs if args.jobs is not None else len(os.sched_getaffinity(0))
    with progress(f"{table.title(spec.game)}, {args.boards} boards") as advance:
        played = series.play(series.matches(spec), box, jobs, journal=journal, facts=facts, advance=advance)
    for bot, party in zip(spec.parties, played.parties, strict=True):
        if party["faults"]:
            explain(bot.name, FaultReport(**party["faults"][0]))
            return None
    cpu_s = sum(party["cpu_s"] for party in played.parties)
    return build(game, played.boards, {**inputs, "cpu_s": round(cpu_s, 1), "host": played.host.get("cpu", "")})


def _print(reports: list[dict[str, Any]]) -> None:
    from engine.lab.words import NUMBER, WORDS, interval

    first = reports[0]
    heads = [", ".join([f"{r['players']} players", *(f"{n} {v}" for n, v in r["options"].items())]) for r in reports]
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
    print_table(["measure", *heads], rows)
    print()
    names = " against ".join(bot["name"] for bot in first["bots"])
    digests = ", ".join(report["digest"][:12] for report in reports)
    paragraph(f"{names}; 95% intervals over boards; digest {digests}. tute lab --help explains the measures.")
